/* SPDX-License-Identifier: ISC */
#include "program.h"

#include "fcgi_rec.h"
#include "given.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLES_MAX 16

static char *const set[] = {
	"PHP_VALUE=a=b", "HTTP_SET=ours", "CONTENT_TYPE=set/it",
	"HTTP_SET=again", "SCRIPT_NAME=/set", NULL
};
static const struct program_rule plain = { .kind = PROGRAM_FASTCGI };
static const struct program_rule sets = { .kind = PROGRAM_FASTCGI, .set = set };
static const struct program as_sent;
static const struct program walked = {
	.script_name = "/a", .path_info = "/b", .script_filename = "/srv/a"
};

static const struct params_row {
	const char *what;
	const struct program_rule *rule;
	const struct program *program;
	uint64_t body_len;
	unsigned dropped;
	const char *in[VARIABLES_MAX];	/* NULL last */
	const char *out[VARIABLES_MAX];
} streams[] = {
	{ "a front's words stay as they were sent", &plain, &as_sent, 0, 0,
	  { "SCRIPT_FILENAME=proxy:fcgi://h/x.php/%41", "PATH=/x", "A.B=1",
	    "LD_PRELOAD=x", "HTTP_X=() { :;}; id", "PHP_ADMIN_VALUE=x\ny",
	    "HTTP_CONTENT_LENGTH=3", "REMOTE_USER=jo", "EMPTY=" },
	  { "SCRIPT_FILENAME=proxy:fcgi://h/x.php/%41", "PATH=/x", "A.B=1",
	    "LD_PRELOAD=x", "HTTP_X=() { :;}; id", "PHP_ADMIN_VALUE=x\ny",
	    "HTTP_CONTENT_LENGTH=3", "REMOTE_USER=jo", "EMPTY=" } },
	{ "an empty PATH_INFO stays empty [cgi:C30]", &plain, &as_sent, 0, 0,
	  { "PATH_INFO=", "SCRIPT_NAME=/x" },
	  { "PATH_INFO=", "SCRIPT_NAME=/x" } },
	{ "an absent one stays absent [cgi:C30]", &plain, &as_sent, 0, 0,
	  { "SCRIPT_NAME=/x" }, { "SCRIPT_NAME=/x" } },
	{ "both names of a user are sent [cgi:C33]", &plain, &as_sent, 0, 0,
	  { "REMOTE_USER=jo", "REDIRECT_REMOTE_USER=jo" },
	  { "REMOTE_USER=jo", "REDIRECT_REMOTE_USER=jo" } },
	{ "encodings are not touched [cgi:C48]", &plain, &as_sent, 0, 0,
	  { "PATH_INFO=/a%2Fb\n\xc3\xa9", "REQUEST_URI=/%2F%00" },
	  { "PATH_INFO=/a%2Fb\n\xc3\xa9", "REQUEST_URI=/%2F%00" } },
	{ "two of a name stay two [cgi:C73]", &plain, &as_sent, 0, 0,
	  { "HTTP_A=1", "HTTP_B=2", "HTTP_A=3", "HTTP_A=1" },
	  { "HTTP_A=1", "HTTP_B=2", "HTTP_A=3", "HTTP_A=1" } },
	{ "no length is none", &plain, &as_sent, 0, 0,
	  { "REQUEST_METHOD=GET" }, { "REQUEST_METHOD=GET" } },
	{ "an empty one stays empty without a body", &plain, &as_sent, 0, 0,
	  { "CONTENT_LENGTH=" }, { "CONTENT_LENGTH=" } },
	{ "and a zero stays zero", &plain, &as_sent, 0, 0,
	  { "CONTENT_LENGTH=0" }, { "CONTENT_LENGTH=0" } },
	{ "a body has its length [R4 R10]", &plain, &as_sent, 5000000000, 0,
	  { "HTTP_TRANSFER_ENCODING=chunked", "A=1" },
	  { "CONTENT_LENGTH=5000000000", "A=1" } },
	{ "once [R4 R10]", &plain, &as_sent, 1350880, 0,
	  { "CONTENT_LENGTH=", "A=1", "CONTENT_LENGTH=3", "CONTENT_LENGTHY=" },
	  { "CONTENT_LENGTH=1350880", "A=1", "CONTENT_LENGTHY=" } },
	{ "nobody says for us what we say, nor our proxy", &plain, &as_sent, 0,
	  5, { "IDEMPOTENCY_KEY=x", "IDEMPOTENCY_ATTEMPT=7", "HTTP_PROXY=x",
	    "IDEMPOTENCY_DEADLINE=1", "IDEM_RECOVERY=1", "HTTP_PROXY_X=1" },
	  { "HTTP_PROXY_X=1" } },
	{ "what the operator sets goes before all, once", &sets, &as_sent, 0, 0,
	  { "HTTP_SET=theirs", "PHP_VALUE=x", "PHP_VALUE_X=1",
	    "CONTENT_TYPE=a/b" },
	  { "PHP_VALUE=a=b", "HTTP_SET=ours", "CONTENT_TYPE=set/it",
	    "SCRIPT_NAME=/set", "PHP_VALUE_X=1" } },
	{ "also before what was found", &sets, &walked, 0, 0, { "X=1" },
	  { "PHP_VALUE=a=b", "HTTP_SET=ours", "CONTENT_TYPE=set/it",
	    "SCRIPT_NAME=/set", "SCRIPT_FILENAME=/srv/a", "PATH_INFO=/b",
	    "X=1" } },
	{ "what was found goes before what the front says [R6]", &plain,
	  &walked, 0, 0,
	  { "SCRIPT_NAME=/a/b", "X=1", "SCRIPT_FILENAME=/srv/a/b" },
	  { "SCRIPT_FILENAME=/srv/a", "SCRIPT_NAME=/a", "PATH_INFO=/b",
	    "X=1" } },
	{ "a text that is no pair is not sent", &plain, &as_sent, 0, 0,
	  { "A", "B=" }, { "B=" } },
};

/* A PARAMS stream in one line; "cut" if it is. */
static const char *
stream_line(struct idem_bytes left, char *to, size_t size)
{
	struct idem_fcgi_pair pair;
	size_t len = 0;
	int got;

	to[0] = '\0';
	while ((got = idem_fcgi_pair_next(&left, &pair)) > 0 && len < size)
		len += (size_t)snprintf(to + len, size - len, "%.*s=%.*s|",
		    (int)pair.name.len, (const char *)pair.name.at,
		    (int)pair.value.len, (const char *)pair.value.at);
	return got == 0 ? to : "cut";
}

static void
check_stream(const struct params_row *row)
{
	struct program_more more = {
		.rule = row->rule, .program = row->program,
		.body_len = row->body_len, .dropped = 77
	};
	struct idem_params params = given(row->in);
	struct idem_buf stream = { 0 };
	char got[1024], want[1024];

	program_params(&params, &more, &stream);
	is(stream_line(idem_buf_bytes(&stream), got, sizeof got),
	    given_line((char *const *)(uintptr_t)row->out, want, sizeof want),
	    "%s", row->what);
	is_int((long long)more.dropped, row->dropped, "%s: %u dropped",
	    row->what, row->dropped);
	idem_buf_free(&stream);
	idem_params_free(&params);
}

static void
check_key(void)
{
	static const char *const in[] = { "IDEMPOTENCY_KEY=x", "A=1", NULL };
	struct program_more more = {
		.rule = &plain, .program = &as_sent, .body_len = 2,
		.keyed = true, .key = { { 0xab, 1 } }, .attempt = 3,
		.deadline_ms = INT64_C(1800000000123)
	};
	struct idem_params params = given(in);
	struct idem_buf stream = { 0 }, small = { .max = 40 };
	char got[1024];

	program_params(&params, &more, &stream);
	is(stream_line(idem_buf_bytes(&stream), got, sizeof got),
	    "CONTENT_LENGTH=2|IDEMPOTENCY_KEY=ab01"
	    "000000000000000000000000000000000000000000000000000000000000|"
	    "IDEMPOTENCY_ATTEMPT=3|IDEMPOTENCY_DEADLINE=1800000000123|A=1|",
	    "a keyed run has key, attempt and deadline, ours");
	program_params(&params, &more, &small);
	ok(!idem_buf_ok(&small), "a buf without room says so");
	idem_buf_free(&stream);
	idem_buf_free(&small);
	idem_params_free(&params);
}

/* --- around the size of a record ------------------------------------------ */

/* Send a stream as records, and read it as an application does. */
static bool
comes_through(struct idem_bytes stream)
{
	struct idem_fcgi_reader reader = { .params_max = 1 << 20 };
	struct idem_buf wire = { 0 };
	struct idem_bytes left, body;
	bool same = false;

	idem_fcgi_begin_write(&wire, 1, IDEM_FCGI_RESPONDER, false);
	idem_fcgi_stream_write(&wire, IDEM_FCGI_PARAMS, 1, stream);
	idem_fcgi_stream_end(&wire, IDEM_FCGI_PARAMS, 1);
	left = idem_buf_bytes(&wire);
	if (idem_buf_ok(&wire) &&
	    idem_fcgi_read(&reader, &left, &body) == IDEM_FCGI_BEGUN &&
	    idem_fcgi_read(&reader, &left, &body) == IDEM_FCGI_PARAMS_WHOLE)
		same = idem_bytes_equal(idem_buf_bytes(&reader.params), stream);
	idem_fcgi_reader_free(&reader);
	idem_buf_free(&wire);
	return same;
}

/*
 * Field after field, and the script's name last, which a length that is wrong
 * would let a client write.
 */
static void
check_size(size_t len, const char *fill)
{
	static const char script[] = "SCRIPT_FILENAME=/srv/x.php";
	char *first = malloc(len + 1);
	const char *in[] = { first, "HTTP_A=1", script, NULL };
	/* Lengths: four bytes and one for the first, one and one else. */
	size_t rest = 4 + 1 + 2 + strlen("HTTP_A1") + 2 + strlen(script) - 1;
	struct program_more more = { .rule = &plain, .program = &as_sent };
	struct idem_fcgi_pair pair = { 0 };
	struct idem_buf stream = { 0 };
	struct idem_params params;
	struct idem_bytes left;
	size_t pairs = 0;

	if (first == NULL)
		bail_out("out of memory");
	snprintf(first, len + 1, "HTTP_B=%0*d", (int)(len - rest - 6), 0);
	memset(first + 7, *fill, strlen(first + 7));
	params = given(in);
	program_params(&params, &more, &stream);
	for (left = idem_buf_bytes(&stream);
	    idem_fcgi_pair_next(&left, &pair) > 0; pairs++)
		;
	ok(stream.len == len && pairs == 3 && left.len == 0 &&
	    idem_bytes_is(pair.name, "SCRIPT_FILENAME") &&
	    idem_bytes_is(pair.value, "/srv/x.php") &&
	    comes_through(idem_buf_bytes(&stream)),
	    "of %zu bytes no pair is lost or merged [cgi:C80]", len);
	idem_buf_free(&stream);
	idem_params_free(&params);
	free(first);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof streams / sizeof *streams; i++)
		check_stream(&streams[i]);
	check_key();
	for (i = 0; i < 17; i++)
		check_size(65535 - 8 + i, i % 2 == 0 ? "x" : "\x0f");
	check_size(2 * 65535, "\x0f");
	return done();
}
