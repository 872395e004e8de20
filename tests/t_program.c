/* SPDX-License-Identifier: ISC */
#include "program.h"

#include "tap.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIABLES_MAX 16
#define PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* What a front sends, and what of it a program without a key gets. */
static const struct {
	const char *what;
	const char *in[VARIABLES_MAX];	/* NULL last */
	const char *out[VARIABLES_MAX];	/* after PATH */
} environments[] = {
	{ "without parameters there is PATH", { NULL }, { NULL } },
	{ "what the specification names is passed, in its order",
	  { "REQUEST_METHOD=POST", "SCRIPT_NAME=/a", "QUERY_STRING=a=b&c",
	    "PATH_INFO=", "AUTH_TYPE=Basic", "REMOTE_USER=jo" },
	  { "REQUEST_METHOD=POST", "SCRIPT_NAME=/a", "QUERY_STRING=a=b&c",
	    "PATH_INFO=", "AUTH_TYPE=Basic", "REMOTE_USER=jo" } },
	{ "what fronts add is passed",
	  { "DOCUMENT_ROOT=/srv", "REQUEST_URI=/a?b", "HTTPS=on",
	    "REQUEST_SCHEME=https", "SCRIPT_FILENAME=/srv/a", "UNIQUE_ID=x" },
	  { "DOCUMENT_ROOT=/srv", "REQUEST_URI=/a?b", "HTTPS=on",
	    "REQUEST_SCHEME=https", "SCRIPT_FILENAME=/srv/a", "UNIQUE_ID=x" } },
	{ "fields, TLS and redirections are passed whatever their names",
	  { "HTTP_X_1=a", "HTTP_COOKIE=b", "SSL_CLIENT_S_DN=c",
	    "REDIRECT_STATUS=200", "HTTP_IDEMPOTENCY_KEY=\"k\"" },
	  { "HTTP_X_1=a", "HTTP_COOKIE=b", "SSL_CLIENT_S_DN=c",
	    "REDIRECT_STATUS=200", "HTTP_IDEMPOTENCY_KEY=\"k\"" } },
	{ "nothing else is passed",
	  { "LD_PRELOAD=/x.so", "IFS=x", "BASH_ENV=/x", "PERL5LIB=/x",
	    "FCGI_ROLE=RESPONDER", "FOO=1", "PHP_VALUE=x", "HTTP=1", "SSL=1",
	    "request_method=GET", "REQUEST_METHOD2=GET", "REQUEST_METHO=GET" },
	  { NULL } },
	{ "PATH is ours", { "PATH=/tmp" }, { NULL } },
	{ "a client does not choose our proxy (httpoxy)",
	  { "HTTP_PROXY=http://evil", "HTTP_PROXY_X=1", "HTTP_PROX=2" },
	  { "HTTP_PROXY_X=1", "HTTP_PROX=2" } },
	{ "no value is one that a shell would run (shellshock)",
	  { "HTTP_A=() { :;}; id", "QUERY_STRING=() {", "HTTP_B=()",
	    "HTTP_C=(){", "HTTP_D= () {" },
	  { "HTTP_B=()", "HTTP_C=(){", "HTTP_D= () {" } },
	{ "no name is one that no shell could hold",
	  { "HTTP_A-B=1", "HTTP_BASH_FUNC_x%%=1", "HTTP_\xe9=1", "HTTP_A B=1",
	    "=1", "HTTP_A", "HTTP_B=2" },
	  { "HTTP_B=2" } },
	{ "what we say of the key nobody says for us",
	  { "IDEMPOTENCY_KEY=x", "IDEMPOTENCY_ATTEMPT=7",
	    "IDEMPOTENCY_DEADLINE=1", "IDEM_RECOVERY=1", "IDEMPOTENCY_X=1" },
	  { NULL } },
	{ "of two values the first is passed",
	  { "HTTP_A=1", "REMOTE_USER=jo", "HTTP_A=2", "REMOTE_USER=root",
	    "HTTP_AB=3" },
	  { "HTTP_A=1", "REMOTE_USER=jo", "HTTP_AB=3" } },
	{ "how the body was framed is over",
	  { "CONTENT_LENGTH=99", "HTTP_TRANSFER_ENCODING=chunked",
	    "CONTENT_TYPE=text/plain" },
	  { "CONTENT_TYPE=text/plain" } },
};

static struct params
params_of(const char *const *in)
{
	struct params p = { 0 };

	while (in[p.len] != NULL)
		p.len++;
	p.at = calloc(p.len + 1, sizeof *p.at);
	if (p.at == NULL)
		bail_out("out of memory");
	memcpy(p.at, in, p.len * sizeof *p.at);
	return p;
}

/* One line, so that a difference is seen. */
static const char *
joined(char *const *env, char *to, size_t size)
{
	size_t len = 0;

	to[0] = '\0';
	for (; *env != NULL && len < size; env++)
		len += (size_t)snprintf(to + len, size - len, "%s|", *env);
	return to;
}

static void
check_environment(const char *const *in, const struct program_more *more,
    const char *want, const char *what)
{
	struct params p = params_of(in);
	char **env = program_environment(&p, more);
	char got[2048];

	is(env != NULL ? joined(env, got, sizeof got) : NULL, want, "%s", what);
	free(env);
	params_free(&p);
}

static void
check_environments(void)
{
	const struct program_more more = { 0 };
	char want[2048];
	size_t i, j, len;

	setenv("HTTP_FROM_THE_DAEMON", "secret", 1);
	setenv("REMOTE_USER", "secret", 1);
	for (i = 0; i < sizeof environments / sizeof *environments; i++) {
		len = (size_t)snprintf(want, sizeof want, PATH "|");
		for (j = 0; environments[i].out[j] != NULL; j++)
			len += (size_t)snprintf(want + len, sizeof want - len,
			    "%s|", environments[i].out[j]);
		check_environment(environments[i].in, &more, want,
		    environments[i].what);
	}
}

static void
check_ours(void)
{
	static const char *const forged[] = {
		"CONTENT_LENGTH=1", "IDEMPOTENCY_KEY=x", "HTTP_A=1", NULL
	};
	struct program_more more = { .body_len = 12 };

	check_environment(forged, &more, PATH "|CONTENT_LENGTH=12|HTTP_A=1|",
	    "CONTENT_LENGTH is what was received");
	more.body_len = UINT64_C(5000000000);
	check_environment(forged, &more,
	    PATH "|CONTENT_LENGTH=5000000000|HTTP_A=1|",
	    "also beyond 32 bits");
	more = (struct program_more){
		.keyed = true, .key = { { 0xab, 1 } }, .attempt = 3,
		.deadline_ms = INT64_C(1800000000123)
	};
	check_environment(forged, &more, PATH "|IDEMPOTENCY_KEY=ab01"
	    "000000000000000000000000000000000000000000000000000000000000|"
	    "IDEMPOTENCY_ATTEMPT=3|IDEMPOTENCY_DEADLINE=1800000000123|"
	    "HTTP_A=1|", "a keyed run has key, attempt and deadline, ours");
}

/* As many as a front may send. */
static void
check_many(void)
{
	enum { MANY = 4096 };
	static char text[MANY][16];
	static const char *in[MANY + 1];
	const struct program_more more = { .body_len = 1, .keyed = true };
	struct params p;
	size_t i, n = 0;
	char **env;

	for (i = 0; i < MANY; i++) {
		snprintf(text[i], sizeof text[i], "HTTP_%zu=1", i);
		in[i] = text[i];
	}
	p = params_of(in);
	env = program_environment(&p, &more);
	while (env != NULL && env[n] != NULL)
		n++;
	is_int((long long)n, MANY + 5, "4,096 fields are passed, with ours");
	free(env);
	params_free(&p);
}

/* --- which program -------------------------------------------------------- */

/*
 *	top/secret	a program outside
 *	top/cgi/order	a program; there are also a folder, links and a fifo
 *	top/cgi-bin/x	beside the root, with a name that begins like it
 */
static const struct {
	const char *what;
	const char *file;	/* below top; "" is the parameter's absence */
	const char *root;	/* below top */
	enum idem_problem problem;
} finds[] = {
	{ "a program below the root is found", "cgi/order", "cgi",
	  IDEM_PROBLEM_NONE },
	{ "one in a folder below it, too", "cgi/folder/deep", "cgi",
	  IDEM_PROBLEM_NONE },
	{ "a root may end in slashes", "cgi/order", "cgi//",
	  IDEM_PROBLEM_NONE },
	{ "a root may be a link", "cgi/order", "link-to-cgi",
	  IDEM_PROBLEM_NONE },
	{ "a program may be reached through the link", "link-to-cgi/order",
	  "cgi", IDEM_PROBLEM_NONE },
	{ "a link within the root is followed", "cgi/link", "cgi",
	  IDEM_PROBLEM_NONE },
	{ ".. that stays below the root is followed",
	  "cgi/folder/../order", "cgi", IDEM_PROBLEM_NONE },
	{ "a program that may not be executed is for the start to refuse",
	  "cgi/data", "cgi", IDEM_PROBLEM_NONE },
	{ "a link out of the root is forbidden", "cgi/link-out", "cgi",
	  IDEM_PROBLEM_FORBIDDEN_PROGRAM },
	{ ".. out of the root is forbidden", "cgi/../secret", "cgi",
	  IDEM_PROBLEM_FORBIDDEN_PROGRAM },
	{ "what lies elsewhere is forbidden", "secret", "cgi",
	  IDEM_PROBLEM_FORBIDDEN_PROGRAM },
	{ "a folder that only begins like the root is elsewhere",
	  "cgi-bin/x", "cgi", IDEM_PROBLEM_FORBIDDEN_PROGRAM },
	{ "the root itself is forbidden", "cgi", "cgi",
	  IDEM_PROBLEM_FORBIDDEN_PROGRAM },
	{ "a folder is forbidden", "cgi/folder", "cgi",
	  IDEM_PROBLEM_FORBIDDEN_PROGRAM },
	{ "a fifo is forbidden", "cgi/fifo", "cgi",
	  IDEM_PROBLEM_FORBIDDEN_PROGRAM },
	{ "without the root nothing is allowed", "cgi/order", "none",
	  IDEM_PROBLEM_FORBIDDEN_PROGRAM },
	{ "what is missing is said to be so", "cgi/none", "cgi",
	  IDEM_PROBLEM_NO_PROGRAM },
	{ "so is what lies below a file", "cgi/order/x", "cgi",
	  IDEM_PROBLEM_NO_PROGRAM },
	{ "and a link to nothing", "cgi/link-to-nothing", "cgi",
	  IDEM_PROBLEM_NO_PROGRAM },
	{ "and a link to itself", "cgi/link-loop", "cgi",
	  IDEM_PROBLEM_NO_PROGRAM },
	{ "and a request that names none", "", "cgi",
	  IDEM_PROBLEM_NO_PROGRAM },
};

static void
make_file(const char *name, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, mode);

	if (fd == -1)
		bail_out("%s", name);
	close(fd);
}

static void
make_top(char *top, size_t size)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(top, size, "%s/idem-program-XXXXXX",
	    tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
	if (mkdtemp(top) == NULL || chdir(top) != 0 ||
	    mkdir("cgi", 0755) != 0 || mkdir("cgi/folder", 0755) != 0 ||
	    mkdir("cgi-bin", 0755) != 0 ||
	    symlink("cgi", "link-to-cgi") != 0 ||
	    symlink("order", "cgi/link") != 0 ||
	    symlink("../secret", "cgi/link-out") != 0 ||
	    symlink("nothing", "cgi/link-to-nothing") != 0 ||
	    symlink("link-loop", "cgi/link-loop") != 0 ||
	    mkfifo("cgi/fifo", 0755) != 0)
		bail_out("%s cannot be made", top);
	make_file("secret", 0755);
	make_file("cgi/order", 0755);
	make_file("cgi/data", 0644);
	make_file("cgi/folder/deep", 0755);
	make_file("cgi-bin/x", 0755);
}

static void
remove_top(const char *top)
{
	static const char *const names[] = {
		"cgi/folder/deep", "cgi/folder", "cgi/order", "cgi/data",
		"cgi/link", "cgi/link-out", "cgi/link-to-nothing",
		"cgi/link-loop", "cgi/fifo", "cgi", "cgi-bin/x", "cgi-bin",
		"link-to-cgi", "secret"
	};
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		remove(names[i]);
	if (chdir("/") != 0 || rmdir(top) != 0)
		note("%s is left", top);
}

static enum idem_problem
find(struct program *program, const char *root, const char *file)
{
	char text[2 * PATH_MAX];
	const char *const in[] = { *file != '\0' ? text : NULL, NULL };
	const struct options options = { .root = root };
	enum idem_problem problem;
	struct params p;

	snprintf(text, sizeof text, "SCRIPT_FILENAME=%s", file);
	p = params_of(in);
	problem = program_find(program, &options, &p);
	params_free(&p);
	return problem;
}

/* Found: the path as it was given, and its folder. */
static bool
is_at(const struct program *p, const char *file)
{
	size_t folder_len = (size_t)(strrchr(file, '/') - file);

	return p->path != NULL && strcmp(p->path, file) == 0 &&
	    strlen(p->folder) == folder_len &&
	    strncmp(p->folder, file, folder_len) == 0;
}

static void
check_finds(const char *top)
{
	char file[PATH_MAX], root[PATH_MAX];
	struct program p;
	size_t i;

	for (i = 0; i < sizeof finds / sizeof *finds; i++) {
		snprintf(file, sizeof file, "%s/%s", top, finds[i].file);
		snprintf(root, sizeof root, "%s/%s", top, finds[i].root);
		is_int(find(&p, root, *finds[i].file != '\0' ? file : ""),
		    finds[i].problem, "%s", finds[i].what);
		ok(finds[i].problem == IDEM_PROBLEM_NONE ? is_at(&p, file) :
		    p.path == NULL && p.folder == NULL,
		    "%s: and its folder", finds[i].what);
		program_free(&p);
		ok(p.path == NULL && p.folder == NULL,
		    "%s: and can be freed", finds[i].what);
	}
}

static void
check_odd_names(const char *top)
{
	char name[PATH_MAX + 16];
	struct program p;

	is_int(find(&p, top, "cgi/order"), IDEM_PROBLEM_NO_PROGRAM,
	    "a path that is not absolute is none");
	program_free(&p);
	memset(name, '/', sizeof name);
	name[sizeof name - 1] = '\0';
	is_int(find(&p, top, name), IDEM_PROBLEM_NO_PROGRAM,
	    "a path that is too long is none");
	program_free(&p);
	snprintf(name, sizeof name, "%s/cgi/order", top);
	is_int(find(&p, "/", name), IDEM_PROBLEM_NONE,
	    "the root may be that of all files");
	program_free(&p);
}

static void
check_named(void)
{
	static char *const one[] = { "/usr/bin/order", "-x", NULL };
	static char *const top[] = { "/order", NULL };
	struct options options = { .program = one };
	struct params none = { 0 };
	struct program p;

	ok(program_find(&p, &options, &none) == IDEM_PROBLEM_NONE &&
	    is_at(&p, "/usr/bin/order"),
	    "the options' program needs no parameter");
	program_free(&p);
	options.program = top;
	ok(program_find(&p, &options, &none) == IDEM_PROBLEM_NONE &&
	    strcmp(p.path, "/order") == 0 && strcmp(p.folder, "/") == 0,
	    "the folder of \"/order\" is \"/\"");
	program_free(&p);
	program_free(&p);
}

int
main(void)
{
	char top[PATH_MAX / 2];

	check_environments();
	check_ours();
	check_many();
	make_top(top, sizeof top);
	check_finds(top);
	check_odd_names(top);
	remove_top(top);
	check_named();
	return done();
}
