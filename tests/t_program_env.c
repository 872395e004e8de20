/* SPDX-License-Identifier: ISC */
#include "program.h"

#include "given.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLES_MAX 16
#define PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static const struct program nothing_found;

/* --- what of a front's words is passed ------------------------------------ */

/* Which rule: nothing said, "pass" and "set", or all parameters. */
enum rule { CLEAN, PASS, ALL, RULES };

static char *const pass[] = {
	"GIT_*", "FOO", "LD_PRELOAD", "PATH", "IDEM_*", NULL
};
static char *const set[] = {
	"GIT_PROJECT_ROOT=/srv/git", "HTTP_SET=ours", "PERL5LIB=/opt/lib", NULL
};
static const struct program_rule rules[RULES] = {
	[PASS] = { .pass = pass, .set = set },
	[ALL] = { .all_params = true }
};

/*
 * After what is set, before what is there anyway: that is left out unless it
 * is what the row is about.
 */
static const struct env_row {
	const char *what;
	enum rule rule;
	unsigned dropped;
	const char *in[VARIABLES_MAX];	/* NULL last */
	const char *out[VARIABLES_MAX];
} environments[] = {
	{ "what the specification names is passed, in its order [R3 R5]",
	  CLEAN, 0,
	  { "REQUEST_METHOD=POST", "SCRIPT_NAME=/a", "QUERY_STRING=a=b&c",
	    "PATH_INFO=/x y", "AUTH_TYPE=Basic", "REMOTE_USER=jo",
	    "CONTENT_TYPE=a/b", "SERVER_PROTOCOL=HTTP/1.1",
	    "GATEWAY_INTERFACE=CGI/1.1", "REMOTE_IDENT=", "SERVER_PORT=80" },
	  { "REQUEST_METHOD=POST", "SCRIPT_NAME=/a", "QUERY_STRING=a=b&c",
	    "PATH_INFO=/x y", "AUTH_TYPE=Basic", "REMOTE_USER=jo",
	    "CONTENT_TYPE=a/b", "SERVER_PROTOCOL=HTTP/1.1",
	    "GATEWAY_INTERFACE=CGI/1.1", "REMOTE_IDENT=", "SERVER_PORT=80" } },
	{ "what fronts add is passed", CLEAN, 0,
	  { "DOCUMENT_ROOT=/srv", "REQUEST_URI=/a?b", "HTTPS=on", "HTTP2=on",
	    "REQUEST_SCHEME=https", "SCRIPT_FILENAME=/srv/a", "UNIQUE_ID=x",
	    "CONTEXT_PREFIX=/a", "SERVER_SIGNATURE=", "REMOTE_PORT=1" },
	  { "DOCUMENT_ROOT=/srv", "REQUEST_URI=/a?b", "HTTPS=on", "HTTP2=on",
	    "REQUEST_SCHEME=https", "SCRIPT_FILENAME=/srv/a", "UNIQUE_ID=x",
	    "CONTEXT_PREFIX=/a", "SERVER_SIGNATURE=", "REMOTE_PORT=1" } },
	{ "an empty SERVER_NAME stays empty [cgi:C32]", CLEAN, 0,
	  { "SERVER_NAME=", "HTTP_HOST=e" },
	  { "SERVER_NAME=", "HTTP_HOST=e" } },
	{ "a user is nobody's invention [cgi:C33]", CLEAN, 0,
	  { "REDIRECT_REMOTE_USER=jo" }, { "REDIRECT_REMOTE_USER=jo" } },
	{ "both of its names are passed [cgi:C33]", CLEAN, 0,
	  { "REMOTE_USER=jo", "REDIRECT_REMOTE_USER=jo" },
	  { "REMOTE_USER=jo", "REDIRECT_REMOTE_USER=jo" } },
	{ "an unverified user is passed as one, without AUTH_TYPE [cgi:C34]",
	  CLEAN, 0, { "REMOTE_USER=foo" }, { "REMOTE_USER=foo" } },
	{ "credentials are passed if the front does [R8]", CLEAN, 0,
	  { "HTTP_AUTHORIZATION=Basic x" }, { "HTTP_AUTHORIZATION=Basic x" } },
	{ "what git reads is passed [cgi:C45]", CLEAN, 0,
	  { "HTTP_CONTENT_ENCODING=gzip", "HTTP_GIT_PROTOCOL=version=2" },
	  { "HTTP_CONTENT_ENCODING=gzip", "HTTP_GIT_PROTOCOL=version=2" } },
	{ "fields, TLS and redirections are passed whatever their names",
	  CLEAN, 0,
	  { "HTTP_X_1=a", "HTTP_COOKIE=b", "SSL_CLIENT_S_DN=c",
	    "REDIRECT_STATUS=200", "HTTP_IDEMPOTENCY_KEY=\"k\"" },
	  { "HTTP_X_1=a", "HTTP_COOKIE=b", "SSL_CLIENT_S_DN=c",
	    "REDIRECT_STATUS=200", "HTTP_IDEMPOTENCY_KEY=\"k\"" } },
	{ "nothing else is passed [cgi:C76]", CLEAN, 0,
	  { "FOO=1", "GIT_PROJECT_ROOT=/x", "HOME=/x", "FCGI_ROLE=RESPONDER",
	    "NO_BUFFERING=", "FCGI_CHDIR=/", "PHP_VALUE=x", "HTTP=1", "SSL=1",
	    "request_method=GET", "REQUEST_METHOD2=GET", "REQUEST_METHO=GET",
	    "UNIQUE_ID2=x", "SERVERX=1" }, { NULL } },
	{ "what a loader, shell or interpreter obeys is dropped [cgi:C76]",
	  CLEAN, 14,
	  { "LD_PRELOAD=/x.so", "LD_LIBRARY_PATH=/x", "IFS=x", "BASH_ENV=/x",
	    "ENV=/x", "PERL5LIB=/x", "PERL5OPT=-Mx", "PYTHONPATH=/x",
	    "RUBYOPT=-rx", "NODE_OPTIONS=x", "LUA_INIT_5_4=x", "PHPRC=/x",
	    "GLIBC_TUNABLES=x", "GCONV_PATH=/x" }, { NULL } },
	{ "also where all parameters are passed [cgi:C76]", ALL, 14,
	  { "LD_PRELOAD=/x.so", "LD_LIBRARY_PATH=/x", "IFS=x", "BASH_ENV=/x",
	    "ENV=/x", "PERL5LIB=/x", "PERL5OPT=-Mx", "PYTHONHOME=/x",
	    "RUBYLIB=/x", "NODE_PATH=x", "LUA_CPATH=x", "MALLOC_CHECK_=1",
	    "BASH_FUNC_ls=x", "PS4=$(id)" }, { NULL } },
	{ "and where the rule passes it", PASS, 2,
	  { "LD_PRELOAD=/x.so", "IDEM_RECOVERY=1" }, { NULL } },
	{ "a name that only begins like those is none of them", ALL, 0,
	  { "ENVIRON=1", "IFS2=1", "NODE_PATHS=1", "PERL=1" },
	  { "ENVIRON=1", "IFS2=1", "NODE_PATHS=1", "PERL=1" } },
	{ "PATH is ours [cgi:C76]", CLEAN, 0, { "PATH=/tmp" }, { NULL } },
	{ "a client does not choose our proxy (httpoxy)", CLEAN, 1,
	  { "HTTP_PROXY=http://evil", "HTTP_PROXY_X=1", "HTTP_PROX=2" },
	  { "HTTP_PROXY_X=1", "HTTP_PROX=2" } },
	{ "not for any program", ALL, 1, { "HTTP_PROXY=http://evil" },
	  { NULL } },
	{ "no value is one that a shell would run [cgi:C36]", CLEAN, 2,
	  { "HTTP_A=() { :;}; touch /tmp/p", "QUERY_STRING=() {", "HTTP_B=()",
	    "HTTP_C=(){", "HTTP_D= () {" },
	  { "HTTP_B=()", "HTTP_C=(){", "HTTP_D= () {" } },
	{ "not where all are passed, either [cgi:C36]", ALL, 1,
	  { "X=() { :;}; id" }, { NULL } },
	{ "what is not passed does not count as dropped", CLEAN, 0,
	  { "X=() { :;}; id" }, { NULL } },
	{ "no name is one that no shell could hold [cgi:C36]", CLEAN, 7,
	  { "HTTP_A-B=1", "HTTP_BASH_FUNC_x%%=1", "HTTP_\xe9=1", "HTTP_A B=1",
	    "=1", "HTTP_() { :;}; id=1", "1HTTP_A=1", "HTTP_B=2" },
	  { "HTTP_B=2" } },
	{ "also where all are passed [cgi:C36]", ALL, 3,
	  { "proxy-nokeepalive=1", "A.B=1", "() { :;}; id=1", "_a1=2" },
	  { "_a1=2" } },
	{ "what we say of the key nobody says for us", ALL, 4,
	  { "IDEMPOTENCY_KEY=x", "IDEMPOTENCY_ATTEMPT=7",
	    "IDEMPOTENCY_DEADLINE=1", "IDEM_RECOVERY=1", "IDEMPOTENCY_X=1" },
	  { "IDEMPOTENCY_X=1" } },
	{ "several fields of a name are one variable [R7 cgi:C73]", CLEAN, 0,
	  { "HTTP_A=1", "HTTP_AB=3", "HTTP_A=2", "HTTP_A=", "HTTP_A=4" },
	  { "HTTP_A=1, 2, , 4", "HTTP_AB=3" } },
	{ "cookies are joined as cookies are [R7]", CLEAN, 0,
	  { "HTTP_COOKIE=a=b", "HTTP_COOKIE=c=d" },
	  { "HTTP_COOKIE=a=b; c=d" } },
	{ "of two values of another name the first is passed [R3]", CLEAN, 0,
	  { "REMOTE_USER=jo", "HTTP_A=1", "REMOTE_USER=root" },
	  { "REMOTE_USER=jo", "HTTP_A=1" } },
	{ "of names that differ in case both are passed", CLEAN, 0,
	  { "HTTP_A=1", "HTTP_a=2" }, { "HTTP_A=1", "HTTP_a=2" } },
	{ "how the body was framed is over [R4 R10 cgi:C22]", CLEAN, 0,
	  { "CONTENT_LENGTH=99", "HTTP_TRANSFER_ENCODING=chunked",
	    "HTTP_CONTENT_LENGTH=99", "CONTENT_TYPE=text/plain" },
	  { "CONTENT_TYPE=text/plain" } },
	{ "for every program [R4]", ALL, 0,
	  { "CONTENT_LENGTH=", "HTTP_TRANSFER_ENCODING=chunked" }, { NULL } },
	{ "the type of the body is said once [R8]", CLEAN, 0,
	  { "CONTENT_TYPE=a/b", "HTTP_CONTENT_TYPE=a/b" },
	  { "CONTENT_TYPE=a/b" } },
	{ "PATH_TRANSLATED is passed with a PATH_INFO [R6]", CLEAN, 0,
	  { "PATH_TRANSLATED=/srv/x", "PATH_INFO=/x" },
	  { "PATH_TRANSLATED=/srv/x", "PATH_INFO=/x" } },
	{ "and not without one [R6]", CLEAN, 0,
	  { "PATH_TRANSLATED=/srv" }, { NULL } },
	{ "nor with an empty one [R6]", CLEAN, 0,
	  { "PATH_TRANSLATED=/srv", "PATH_INFO=" }, { "PATH_INFO=" } },
	{ "but where all are passed it is", ALL, 0,
	  { "PATH_TRANSLATED=/srv" }, { "PATH_TRANSLATED=/srv" } },
	{ "encodings of a path are not touched [cgi:C48]", CLEAN, 0,
	  { "PATH_INFO=/a%2Fb\n\xc3\xa9", "REQUEST_URI=/%2F%00" },
	  { "PATH_INFO=/a%2Fb\n\xc3\xa9", "REQUEST_URI=/%2F%00" } },
	{ "what the rule passes is passed", PASS, 0,
	  { "GIT_HTTP_EXPORT_ALL=", "FOO=1", "FOOT=1", "GIT=1" },
	  { "GIT_HTTP_EXPORT_ALL=", "FOO=1" } },
	{ "what it sets goes before what the front says", PASS, 0,
	  { "GIT_PROJECT_ROOT=/x", "HTTP_SET=theirs", "HTTP_A=1" },
	  { "HTTP_A=1" } },
	{ "all parameters with a usable name are passed", ALL, 0,
	  { "FOO=1", "HOME=/x", "FCGI_CHDIR=-", "a=b", "HTTP_A=1" },
	  { "FOO=1", "HOME=/x", "FCGI_CHDIR=-", "a=b", "HTTP_A=1" } },
	{ "but not the front's PATH", ALL, 0, { "PATH=/tmp" }, { NULL } },
	{ "nor a text that is no variable", ALL, 2, { "A1", "HTTP_B" },
	  { NULL } },
};

/* What the operator sets, first. */
static size_t
set_line(const struct program_rule *rule, char *to, size_t size)
{
	to[0] = '\0';
	return rule->set == NULL ? 0 : strlen(given_line(rule->set, to, size));
}

/* What nobody has said, last. */
static void
defaults_line(const char *said, char *to, size_t size)
{
	static const char *const defaults[] = {
		PATH, "GATEWAY_INTERFACE=CGI/1.1", "QUERY_STRING=",
		"SCRIPT_NAME="
	};
	char name[32];
	size_t len = 0, i;

	to[0] = '\0';
	for (i = 0; i < sizeof defaults / sizeof *defaults; i++) {
		snprintf(name, sizeof name, "|%.*s",
		    (int)strcspn(defaults[i], "=") + 1, defaults[i]);
		if (strstr(said, name) == NULL &&
		    strncmp(said, name + 1, strlen(name + 1)) != 0)
			len += (size_t)snprintf(to + len, size - len, "%s|",
			    defaults[i]);
	}
}

/* The environment; dropped is told. */
static const char *
environment_line(const char *const *in, struct program_more *more, char *to,
    size_t size)
{
	struct idem_params p = given(in);
	char **env = program_environment(&p, more);

	if (env == NULL)
		bail_out("out of memory");
	given_line(env, to, size);
	free(env);
	idem_params_free(&p);
	return to;
}

static void
check_environment(const struct env_row *row)
{
	struct program_more more = {
		.rule = &rules[row->rule], .program = &nothing_found,
		.dropped = 77
	};
	char got[2048], want[2048], defaults[256];
	size_t len;

	len = set_line(more.rule, want, sizeof want);
	given_line((char *const *)(uintptr_t)row->out, want + len,
	    sizeof want - len);
	defaults_line(want, defaults, sizeof defaults);
	len = strlen(want);
	snprintf(want + len, sizeof want - len, "%s", defaults);
	is(environment_line(row->in, &more, got, sizeof got), want, "%s",
	    row->what);
	is_int((long long)more.dropped, row->dropped, "%s: %u dropped",
	    row->what, row->dropped);
}

static void
check_environments(void)
{
	static char *none[] = { NULL };
	char **before = environ;
	size_t i;

	environ = none;
	for (i = 0; i < sizeof environments / sizeof *environments; i++)
		check_environment(&environments[i]);
	environ = before;
}

/* --- the daemon's own ----------------------------------------------------- */

static void
check_daemon(void)
{
	static char *ours[] = {
		"SECRET=1", "HTTP_A=secret", "LD_LIBRARY_PATH=/opt",
		"PATH=/opt/bin", "IDEMPOTENCY_KEY=x", "CONTENT_LENGTH=7", NULL
	};
	static const char *const in[] = { "HTTP_A=1", "HTTP_A=2", NULL };
	struct program_more more = {
		.rule = &rules[CLEAN], .program = &nothing_found
	};
	char **before = environ;
	char got[1024];

	environ = ours;
	is(environment_line(in, &more, got, sizeof got), "HTTP_A=1, 2|" PATH
	    "|GATEWAY_INTERFACE=CGI/1.1|QUERY_STRING=|SCRIPT_NAME=|",
	    "nothing of ours is in it [cgi:C14]");
	more.rule = &rules[ALL];
	is(environment_line(in, &more, got, sizeof got),
	    "HTTP_A=1, 2|SECRET=1|LD_LIBRARY_PATH=/opt|PATH=/opt/bin|"
	    "GATEWAY_INTERFACE=CGI/1.1|QUERY_STRING=|SCRIPT_NAME=|",
	    "as fcgiwrap, all of it is; parameters go before [cgi:C14]");
	is_int((long long)more.dropped, 0, "none of it counts as dropped");
	environ = before;
}

/* --- what we say ---------------------------------------------------------- */

static void
check_ours(void)
{
	static const char *const forged[] = {
		"CONTENT_LENGTH=1", "IDEMPOTENCY_KEY=x", "SCRIPT_NAME=/a/b",
		"GATEWAY_INTERFACE=CGI/1.1", "QUERY_STRING=",
		"PATH_TRANSLATED=/old", "SCRIPT_FILENAME=//a/b", NULL
	};
	static char *const path_set[] = {
		"PATH=/opt/bin", "PATH=/second", "SCRIPT_NAME=/set", "X", NULL
	};
	struct program walked = {
		.script_name = "/a", .path_info = "/b", .script_filename = "/a"
	};
	struct program_rule rule = { 0 };
	struct program_more more = {
		.rule = &rule, .program = &nothing_found, .body_len = 12
	};
	char got[1024];

	is(environment_line(forged, &more, got, sizeof got),
	    "CONTENT_LENGTH=12|SCRIPT_NAME=/a/b|GATEWAY_INTERFACE=CGI/1.1|"
	    "QUERY_STRING=|SCRIPT_FILENAME=//a/b|" PATH "|",
	    "CONTENT_LENGTH is what was received [R4 R10]");
	more.body_len = UINT64_C(5000000000);
	ok(strstr(environment_line(forged, &more, got, sizeof got),
	    "CONTENT_LENGTH=5000000000|") != NULL, "also beyond 32 bits");
	more.body_len = 0;
	ok(strstr(environment_line(forged, &more, got, sizeof got),
	    "CONTENT_LENGTH") == NULL, "without a body there is none [R4]");
	more.program = &walked;
	is(environment_line(forged, &more, got, sizeof got),
	    "SCRIPT_FILENAME=/a|SCRIPT_NAME=/a|PATH_INFO=/b|"
	    "GATEWAY_INTERFACE=CGI/1.1|QUERY_STRING=|" PATH "|",
	    "what was found goes before what the front says [R6]");
	rule.set = path_set;
	is(environment_line(forged, &more, got, sizeof got),
	    "PATH=/opt/bin|SCRIPT_NAME=/set|SCRIPT_FILENAME=/a|PATH_INFO=/b|"
	    "GATEWAY_INTERFACE=CGI/1.1|QUERY_STRING=|",
	    "and what the operator sets before all, once");
}

static void
check_key(void)
{
	static const char *const forged[] = { "IDEMPOTENCY_KEY=x", NULL };
	struct program_more more = {
		.rule = &rules[CLEAN], .program = &nothing_found,
		.keyed = true, .key = { { 0xab, 1 } }, .attempt = 3,
		.deadline_ms = INT64_C(1800000000123)
	};
	char got[1024];

	is(environment_line(forged, &more, got, sizeof got),
	    "IDEMPOTENCY_KEY=ab01"
	    "000000000000000000000000000000000000000000000000000000000000|"
	    "IDEMPOTENCY_ATTEMPT=3|IDEMPOTENCY_DEADLINE=1800000000123|" PATH
	    "|GATEWAY_INTERFACE=CGI/1.1|QUERY_STRING=|SCRIPT_NAME=|",
	    "a keyed run has key, attempt and deadline, ours");
}

int
main(void)
{
	check_environments();
	check_daemon();
	check_ours();
	check_key();
	return done();
}
