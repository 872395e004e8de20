/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "ear.h"
#include "rig_watch.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/*
 * What a web server, or somebody who is none, may say to our socket: the right
 * answer or a closed connection, never an exit, a hang, memory without bound,
 * or a request that is run with a part of its parameters.
 */
#define WAIT_MS 30000
#define MEMORY_KB (16 * 1024)

static const char place[] = COUNT
    "printf 'Status: 201 Created\\nContent-Type: text/plain\\n\\n'\n";

/* --- rows ----------------------------------------------------------------- */

#define GET "REQUEST_METHOD=GET,SCRIPT_NAME=/p"
#define POST "REQUEST_METHOD=POST,SCRIPT_NAME=/p"
#define ASK(id) "BEGIN/" id " PARAMS/" id ":" POST ",CONTENT_LENGTH=1 " \
	"PARAMS/" id " STDIN/" id ":x STDIN/" id
#define TEN(name) name name name name name name name name name name

/*
 * Said and heard in turns: what follows a | is said when all before its own |
 * has been heard.  In the end the connection is open or closed.
 */
static const struct {
	const char *what, *says, *hears;
	long starts;
} rows[] = {
	{ "GET_VALUES alone [cgi:C50 F8]",
	  "VALUES:FCGI_MAX_CONNS,FCGI_MAX_REQS,FCGI_MPXS_CONNS",
	  "values:FCGI_MAX_CONNS=10000,FCGI_MAX_REQS=10000,FCGI_MPXS_CONNS=0",
	  0 },
	{ "GET_VALUES of unknown names [cgi:C50 F8]",
	  "VALUES:PHP_VALUE,fcgi_max_reqs,X", "values:", 0 },
	{ "GET_VALUES of a name among others, with a value [cgi:C50 F8]",
	  "VALUES:X,FCGI_MPXS_CONNS=7", "values:FCGI_MPXS_CONNS=0", 0 },
	{ "GET_VALUES of repeated names [cgi:C50 F8]",
	  "VALUES:" TEN("FCGI_MAX_REQS,") TEN("FCGI_MAX_REQS,")
	  TEN("FCGI_MAX_REQS,"), "values:FCGI_MAX_REQS=10000", 0 },
	{ "GET_VALUES many times at once",
	  TEN("VALUES ") TEN("VALUES "),
	  "values: values: values: values: values: values: values: values: "
	  "values: values: values: values: values: values: values: values: "
	  "values: values: values: values:", 0 },
	{ "GET_VALUES within a request, before and after its parameters "
	  "[cgi:C50 F8]",
	  "BEGIN/1 VALUES:FCGI_MPXS_CONNS PARAMS/1:" POST " VALUES PARAMS/1 "
	  "STDIN/1:x VALUES STDIN/1",
	  "values:FCGI_MPXS_CONNS=0 values: values: 201/1", 1 },
	{ "GET_VALUES after a request", ASK("1") " | VALUES:FCGI_MPXS_CONNS",
	  "201/1 | values:FCGI_MPXS_CONNS=0", 1 },
	{ "GET_VALUES with a request's id is none of management's [F4]",
	  "TYPE9/1:x", "", 0 },
	{ "GET_VALUES cut within a name", "TYPE9:\017FCGI", "closed", 0 },
	{ "GET_VALUES with lengths over its record [cgi:C49 F6]",
	  "RAW:0109000000080000 RAW:ffffffffffffffff", "closed", 0 },

	{ "an unknown management type [F4 F9]", "TYPE99:some+3", "unknown:99",
	  0 },
	{ "the highest type, and the lowest [F9]", "TYPE255 TYPE0",
	  "unknown:255 unknown:0", 0 },
	{ "a type of ours to send", "TYPE10:x TYPE11:x",
	  "unknown:10 unknown:11", 0 },
	{ "an unknown management type within a request [F4 F9]",
	  "BEGIN/1 TYPE99:some PARAMS/1:" POST " TYPE12 PARAMS/1 STDIN/1:x "
	  "TYPE99 STDIN/1", "unknown:99 unknown:12 unknown:99 201/1", 1 },
	{ "a request for management's id",
	  "BEGIN PARAMS:" POST " PARAMS STDIN:x STDIN",
	  "unknown:1 unknown:4 unknown:4 unknown:5 unknown:5", 0 },

	{ "an authorizer, kept [F10 F19]",
	  "AUTHORIZER/1 PARAMS/1:" POST " PARAMS/1 STDIN/1 | " ASK("2"),
	  "role/1 | 201/2", 1 },
	{ "a filter, not kept [F10 F19]",
	  "FILTER/1 PARAMS/1:" POST " PARAMS/1 STDIN/1:x STDIN/1 DATA/1:y "
	  "DATA/1", "role/1 closed", 0 },
	{ "roles that nobody knows [F10]",
	  "RAW:0101000100080000 RAW:0000010000000000 "
	  "RAW:0101000200080000 RAW:ffff010000000000 " ASK("3"),
	  "role/1 role/2 201/3", 1 },

	{ "a second request within the parameters of the first [F11]",
	  "BEGIN/1 PARAMS/1:" POST " " ASK("2") " PARAMS/1 STDIN/1:x STDIN/1",
	  "cant/2 201/1", 1 },
	{ "a second request within the body of the first [F11]",
	  "BEGIN/1 PARAMS/1:" POST " PARAMS/1 STDIN/1:x " ASK("2")
	  " STDIN/1", "cant/2 201/1", 1 },
	{ "two whose records come in turns [F11]",
	  "BEGIN/1 BEGIN/2 PARAMS/1:" POST " PARAMS/2:" POST
	  ",HTTP_X_ROW=other PARAMS/1 PARAMS/2 STDIN/2:y STDIN/1:x STDIN/2 "
	  "STDIN/1 | " ASK("2"), "cant/2 201/1 | 201/2", 2 },
	{ "one within another, and then again [F11]",
	  "BEGIN/1 BEGIN/2 | BEGIN/2 BEGIN/3 ABORT/2 ABORT/1",
	  "cant/2 | cant/2 cant/3 end/1", 0 },
	{ "the same id within itself", "BEGIN/1 BEGIN/1", "closed", 0 },

	{ "requests sent ahead", ASK("1") " " ASK("2") " " ASK("3"),
	  "201/1 201/2 201/3", 3 },
	{ "requests of one id sent ahead", ASK("1") " " ASK("1") " " ASK("1"),
	  "201/1 201/1 201/1", 3 },
	{ "one sent ahead of one that is not kept [F7]",
	  ASK("1") " CLOSING/2 PARAMS/2:" POST " PARAMS/2 STDIN/2:x STDIN/2 "
	  ASK("3"), "201/1 201/2 closed", 2 },

	{ "an abort before the parameters [cgi:C70 F13]",
	  "BEGIN/1 ABORT/1 | " ASK("2"), "end/1 | 201/2", 1 },
	{ "an abort within the parameters [cgi:C70 F13]",
	  "BEGIN/1 PARAMS/1:" POST " ABORT/1 PARAMS/1 STDIN/1:x STDIN/1 | "
	  ASK("1"), "end/1 | 201/1", 1 },
	{ "an abort within the body [cgi:C70 F13]",
	  "BEGIN/1 PARAMS/1:" POST ",CONTENT_LENGTH=2 PARAMS/1 STDIN/1:x "
	  "ABORT/1 STDIN/1:y STDIN/1 | " ASK("2"), "end/1 | 201/2", 1 },
	{ "an abort after the answer [cgi:C70]",
	  ASK("1") " | ABORT/1 ABORT/1 VALUES", "201/1 | values:", 1 },
	{ "an abort of what is unknown [cgi:C70]",
	  "ABORT/7 ABORT/65535 BEGIN/1 ABORT/2 PARAMS/1:" POST " PARAMS/1 "
	  "ABORT/2 STDIN/1:x STDIN/1", "201/1", 1 },
	{ "an abort of one that is not kept [cgi:C70 F13]",
	  "CLOSING/1 PARAMS/1:" POST " ABORT/1", "end/1 closed", 0 },

	{ "version 0 [cgi:C72]", "RAW:0001000100080000", "closed", 0 },
	{ "version 2 within the parameters [cgi:C72]",
	  "BEGIN/1 PARAMS/1:" POST " RAW:0204000100000000", "closed", 0 },
	{ "version 255 after the body [cgi:C72]",
	  ASK("1") " | RAW:ff05000100000000", "201/1 | closed", 1 },
	{ "version 0 within a body", "BEGIN/1 PARAMS/1:" POST
	  " PARAMS/1 STDIN/1:x RAW:0005000100000000", "closed", 0 },

	{ "a length of 31 bits, twice [cgi:C49 F6]",
	  "BEGIN/1 RAW:0104000100080000 RAW:ffffffffffffffff PARAMS/1 STDIN/1",
	  "closed", 0 },
	{ "a length of one less, twice [cgi:C49 F6]",
	  "BEGIN/1 RAW:0104000100080000 RAW:fffffffefffffffe PARAMS/1 STDIN/1",
	  "closed", 0 },
	{ "a length of half of it, twice [cgi:C49 F6]",
	  "BEGIN/1 RAW:0104000100080000 RAW:c0000000c0000000 PARAMS/1 STDIN/1",
	  "closed", 0 },
	{ "a name's length near the end of memory [cgi:C49 F6]",
	  "BEGIN/1 RAW:0104000100050000 RAW:fffffff001 PARAMS/1 STDIN/1",
	  "closed", 0 },
	{ "a value of no bytes, and one with lengths of 4 bytes [F6]",
	  "BEGIN/1 PARAMS/1:" POST ",HTTP_A= RAW:01040001000f0000 "
	  "RAW:8000000680000001 RAW:485454505f4278 PARAMS/1 STDIN/1:x STDIN/1",
	  "201/1", 1 },

	{ "a name of no bytes", "BEGIN/1 PARAMS/1:" POST " "
	  "RAW:0104000100030000 RAW:000178 PARAMS/1 STDIN/1", "400/1", 0 },
	{ "a NUL in a value [R24]", "BEGIN/1 PARAMS/1:" POST " "
	  "RAW:0104000100090000 RAW:0502485454505f6100 PARAMS/1 STDIN/1:x "
	  "STDIN/1 | " ASK("2"), "400/1 | 201/2", 1 },
	{ "a NUL in a path [cgi:C48 R24]", "BEGIN/1 PARAMS/1:" POST " "
	  "RAW:01040001000e0000 RAW:0903504154485f494e464f2f0061 PARAMS/1 "
	  "STDIN/1:x STDIN/1", "400/1", 0 },

	{ "the end of PARAMS is missing [cgi:C52]",
	  "BEGIN/1 PARAMS/1:" POST " STDIN/1:x STDIN/1", "closed", 0 },
	{ "PARAMS end within a pair [cgi:C52]",
	  "BEGIN/1 PARAMS/1:" POST " TYPE4/1:\005\005HTTP PARAMS/1 STDIN/1",
	  "closed", 0 },
	{ "PARAMS after their end", "BEGIN/1 PARAMS/1:" POST " PARAMS/1 "
	  "PARAMS/1:HTTP_X_ROW=late STDIN/1", "closed", 0 },
	{ "a BEGIN_REQUEST that is too short",
	  "RAW:0101000100070000 RAW:00010000000000", "closed", 0 },
	{ "records of inactive ids [F4]",
	  "PARAMS/5:" POST " STDIN/5:x STDIN/5 DATA/6:z TYPE77/7:w "
	  "BEGIN/1 PARAMS/5 STDIN/9:n PARAMS/1:" POST " PARAMS/1 DATA/1:d "
	  "STDIN/1:x STDOUT/1:o STDIN/1", "201/1", 1 },
	{ "padding everywhere [F3]",
	  "BEGIN/1+255 PARAMS/1:" POST "+1 PARAMS/1+9 STDIN/1:x+254 "
	  "STDIN/1+7 VALUES+255", "values: 201/1", 1 },

	{ "no STDIN at all for a GET [cgi:C61]",
	  "BEGIN/1 PARAMS/1:" GET " PARAMS/1 | " ASK("2"), "201/1 | 201/2",
	  2 },
	{ "none for a POST of no bytes [cgi:C61]",
	  "BEGIN/1 PARAMS/1:" POST ",CONTENT_LENGTH=0 PARAMS/1", "201/1", 1 },
	{ "none for a HEAD with a length of nothing [cgi:C61]",
	  "BEGIN/1 PARAMS/1:REQUEST_METHOD=HEAD,SCRIPT_NAME=/p,CONTENT_LENGTH= "
	  "PARAMS/1", "201/1", 1 },
	{ "no end of STDIN after CONTENT_LENGTH bytes [cgi:C61]",
	  "BEGIN/1 PARAMS/1:" POST ",CONTENT_LENGTH=3 PARAMS/1 STDIN/1:xyz | "
	  "STDIN/1 " ASK("2"), "201/1 | 201/2", 2 },
	{ "an empty STDIN that comes late [cgi:C61]",
	  "BEGIN/1 PARAMS/1:" GET " PARAMS/1 | STDIN/1 VALUES",
	  "201/1 | values:", 1 },
	{ "the rest of a body after its answer [cgi:C68]",
	  "BEGIN/1 PARAMS/1:" POST ",CONTENT_LENGTH=9 RAW:0104000100090000 "
	  "RAW:0502485454505f6100 PARAMS/1 | STDIN/1:12345 STDIN/1:6789 "
	  "STDIN/1 " ASK("1"), "400/1 | 201/1", 1 },
};

#define ROWS (sizeof rows / sizeof *rows)

/* The next of the turns, behind what was; false: there was none. */
static bool
turn(const char **at, char *out, size_t size)
{
	const char *bar = strstr(*at, " | ");
	size_t len = bar != NULL ? (size_t)(bar - *at) : strlen(*at);
	size_t had = strlen(out);

	snprintf(out + had, size - had, "%s%.*s",
	    had > 0 && len > 0 ? " " : "", (int)len, *at);
	*at += bar != NULL ? len + 3 : len;
	return bar != NULL;
}

static bool
ends_closed(const char *words)
{
	size_t len = strlen(words);

	return len >= 6 && strcmp(words + len - 6, "closed") == 0;
}

/* Still open?  Asked, so that nothing needs to be waited for. */
static void
probe(struct ear *ear, char *want, size_t size)
{
	size_t len = strlen(want);

	snprintf(want + len, size - len, "%svalues:", len > 0 ? " " : "");
	ear_say(ear, "VALUES");
	ear_hears(ear, want);
}

static void
row(struct rig *rig, size_t i)
{
	const char *says = rows[i].says, *hears = rows[i].hears;
	char words[2048] = "", want[2048] = "";
	long before = starts(rig);
	struct ear ear;
	bool more;

	ear_open(&ear, rig);
	do {
		words[0] = '\0';
		more = turn(&says, words, sizeof words);
		turn(&hears, want, sizeof want);
		ear_say(&ear, words);
	} while (ear_hears(&ear, want) && more);
	if (!ends_closed(want))
		probe(&ear, want, sizeof want);
	is(ear.words, want, "%s", rows[i].what);
	is_int(starts(rig) - before, rows[i].starts, "and so many starts: %ld",
	    rows[i].starts);
	ear_close(&ear);
}

int
main(void)
{
	struct rig_request request = { .method = "POST", .path = "/p",
		.key = "last", .body = idem_bytes_text("x") };
	long before_kb, after_kb;
	struct rig rig;
	pid_t lobby;
	size_t i;

	rig_open(&rig);
	rig_program(&rig, "place", place);
	ask_start(&rig, (const char *[]){ "--workers", "1", "-c", "2", "--",
	    rig_at(&rig, "place"), NULL });
	rig_watch_lobbies(&rig, &lobby, 1);
	row(&rig, 0);
	before_kb = rig_watch_memory_kb(lobby);
	for (i = 1; i < ROWS; i++)
		row(&rig, i);
	after_kb = rig_watch_memory_kb(lobby);
	if (rig_watch_sanitized)
		skip("a sanitizer's memory is not ours", "memory stays");
	else
		ok(after_kb - before_kb < MEMORY_KB, "all that has taken "
		    "%ld kB of memory [cgi:C49]", after_kb - before_kb);
	ask(&rig, &request, "201 stored", "and the next request");
	is_int((long long)rig_watch_count(&rig, SHM_LOBBY_DEATHS), 0,
	    "no worker has died");
	is_int(rig_stop(&rig, WAIT_MS), 0, "idemd ends with status 0");
	rig_end(&rig);
	return done();
}
