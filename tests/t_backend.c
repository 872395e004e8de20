/* SPDX-License-Identifier: ISC */
#include "backend.h"

#include "backend_app.h"
#include "backend_rig.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/* One request to an application that plays a script, and what came of it. */
struct row {
	const char *what;
	const char *script;
	const char *how;
	const char *out;	/* text; NULL: out_len bytes of the pattern */
	uint64_t out_len;
	const char *err;	/* text; NULL: err_len bytes */
	uint64_t err_len;
	uint64_t body_len;
	size_t params_len;	/* 0: 40 */
	bool unix_only;		/* TCP resets, and so loses what is under way */
};

#define ALL "accept params body "

static const struct row rows[] = {
	{ "an answer is told and ends",
	  ALL "STDOUT/1:hello STDOUT/1 END/1:0.0", "ended 0",
	  .out = "hello", .err = "" },
	{ "a GET has an end of STDIN too [cgi:C61 F21]",
	  "accept params body END/1:0.0", "ended 0", .out = "", .err = "" },
	{ "a POST of one byte is sent whole [cgi:C61]",
	  ALL "END/1:0.0", "ended 0", .out = "", .err = "", .body_len = 1 },
	{ "the end needs no empty STDOUT [F15]",
	  ALL "STDOUT/1:x END/1:0.0", "ended 0", .out = "x", .err = "" },
	{ "its exit status is told [F16]",
	  ALL "STDOUT/1:x STDOUT/1 END/1:300.0", "ended 300",
	  .out = "x", .err = "" },
	{ "STDERR may come first, eight times [cgi:C64]",
	  ALL "STDERR/1:a STDERR/1:b STDERR/1:c STDERR/1:d STDERR/1:e "
	  "STDERR/1:f STDERR/1:g STDERR/1:h STDOUT/1:x STDOUT/1 END/1:0.0",
	  "ended 0", .out = "x", .err = "abcdefgh" },
	{ "between the halves of a head [cgi:C64 F14]",
	  ALL "STDOUT/1:Stat STDERR/1:a STDOUT/1:us STDERR/1 STDOUT/1 "
	  "END/1:0.0", "ended 0", .out = "Status", .err = "a" },
	{ "and after the empty STDOUT [cgi:C64]",
	  ALL "STDOUT/1:x STDOUT/1 STDERR/1:late STDERR/1 END/1:0.0",
	  "ended 0", .out = "x", .err = "late" },
	{ "a flood of STDERR first is read [cgi:C64]",
	  ALL "errs:1000000 STDOUT/1:x END/1:0.0", "ended 0",
	  .out = "x", .err_len = 1000000 },
	{ "records of other ids and of management are passed over",
	  ALL "STDOUT/2:no TYPE10:values TYPE11:12345678 STDOUT/1:x "
	  "END/2:9.0 TYPE99/1:what STDERR/7:no END/1:0.0",
	  "ended 0", .out = "x", .err = "" },
	{ "padding of every record is passed over [F3]",
	  ALL "STDOUT/1:a+255 STDOUT/1+255 STDERR/1:e+1 END/1:0.0+255",
	  "ended 0", .out = "a", .err = "e" },
	{ "an answer of nothing ends",
	  ALL "END/1:0.0", "ended 0", .out = "", .err = "" },
	{ "16,383 bytes are told exactly [cgi:C66]",
	  ALL "out:16383 END/1:0.0", "ended 0", .out_len = 16383, .err = "" },
	{ "16,384 bytes are told exactly [cgi:C66]",
	  ALL "out:16384 END/1:0.0", "ended 0", .out_len = 16384, .err = "" },
	{ "16,385 bytes are told exactly [cgi:C66]",
	  ALL "out:16385 END/1:0.0", "ended 0", .out_len = 16385, .err = "" },
	{ "31,592 bytes are told exactly [cgi:C66]",
	  ALL "out:31592 END/1:0.0", "ended 0", .out_len = 31592, .err = "" },
	{ "65,534 bytes are told exactly [cgi:C66]",
	  ALL "out:65534 END/1:0.0", "ended 0", .out_len = 65534, .err = "" },
	{ "65,535 bytes are told exactly [cgi:C66]",
	  ALL "out:65535 END/1:0.0", "ended 0", .out_len = 65535, .err = "" },
	{ "65,536 bytes are told exactly [cgi:C66]",
	  ALL "out:65536 END/1:0.0", "ended 0", .out_len = 65536, .err = "" },
	{ "10 MB are told exactly, the end after the last byte [cgi:C66]",
	  ALL "out:10485760 END/1:0.0 close", "ended 0",
	  .out_len = 10485760, .err = "" },
	{ "a body of 65,527 bytes is sent exactly [cgi:C62]",
	  ALL "END/1:0.0", "ended 0", .out = "", .err = "",
	  .body_len = 65527 },
	{ "a body of 65,528 bytes, one full record [cgi:C62]",
	  ALL "END/1:0.0", "ended 0", .out = "", .err = "",
	  .body_len = 65528 },
	{ "a body of 65,529 bytes [cgi:C62]",
	  ALL "END/1:0.0", "ended 0", .out = "", .err = "",
	  .body_len = 65529 },
	{ "a body of 131,056 bytes, two full records [cgi:C62]",
	  ALL "END/1:0.0", "ended 0", .out = "", .err = "",
	  .body_len = 131056 },
	{ "a body of 10 MB [cgi:C62]",
	  ALL "END/1:0.0", "ended 0", .out = "", .err = "",
	  .body_len = 10485760 },
	{ "both directions at once",
	  "accept params out:3000000 body END/1:0.0", "ended 0",
	  .out_len = 3000000, .err = "", .body_len = 3000000 },
	{ "300 KB written before 1 MB is read, no deadlock [cgi:C18]",
	  "accept params some:1 out:300000 body END/1:0.0", "ended 0",
	  .out_len = 300000, .err = "", .body_len = 1000000 },
	{ "an answer before the body is read ends the call [cgi:C17 cgi:C68]",
	  "accept params STDOUT/1:no STDOUT/1 END/1:0.0 left", "ended 0",
	  .out = "no", .err = "", .body_len = 1000000 },
	{ "so does one that closes without reading it [cgi:C17]",
	  "accept params STDOUT/1:no STDOUT/1 END/1:3.0 close", "ended 3",
	  .out = "no", .err = "", .body_len = 1000000 },
	{ "and one that is long, and closes [cgi:C17]",
	  "accept params out:150000 END/1:0.0 close", "ended 0",
	  .out_len = 150000, .err = "", .body_len = 1000000,
	  .unix_only = true },
	{ "and one that no longer takes input",
	  "accept params deaf out:150000 wait END/1:0.0 left", "ended 0",
	  .out_len = 150000, .err = "", .body_len = 1000000,
	  .unix_only = true },
	{ "PARAMS of 65,527 bytes arrive [cgi:C80]",
	  ALL "END/1:0.0", "ended 0", .out = "", .err = "",
	  .params_len = 65527 },
	{ "PARAMS of 65,534 bytes arrive [cgi:C80]",
	  ALL "END/1:0.0", "ended 0", .out = "", .err = "",
	  .params_len = 65534 },
	{ "PARAMS of 65,535 bytes arrive [cgi:C80]",
	  ALL "END/1:0.0", "ended 0", .out = "", .err = "",
	  .params_len = 65535 },
	{ "PARAMS of 65,536 bytes arrive [cgi:C80 F3]",
	  ALL "END/1:0.0", "ended 0", .out = "", .err = "",
	  .params_len = 65536 },
	{ "PARAMS of 65,543 bytes arrive [cgi:C80]",
	  ALL "END/1:0.0", "ended 0", .out = "", .err = "",
	  .params_len = 65543 },
	{ "PARAMS of 200 KB arrive [cgi:C80]",
	  ALL "END/1:0.0", "ended 0", .out = "", .err = "",
	  .params_len = 200000, .body_len = 200000 },
	{ "OVERLOADED before an answer: not started, and busy",
	  ALL "STDERR/1:full END/1:0.2", "not-started busy",
	  .out = "", .err = "full" },
	{ "CANT_MPX_CONN: the same",
	  ALL "END/1:0.1", "not-started busy", .out = "", .err = "" },
	{ "UNKNOWN_ROLE: the same",
	  ALL "END/1:0.3", "not-started busy", .out = "", .err = "" },
	{ "OVERLOADED after a byte of answer: it may have run",
	  ALL "STDOUT/1:x END/1:0.2", "died", .out = "x", .err = "" },
	{ "a protocolStatus that there is not: died",
	  ALL "END/1:0.4", "died", .out = "", .err = "" },
	{ "closed without a word: died [F16]",
	  ALL "close", "died", .out = "", .err = "" },
	{ "closed in the middle of an answer: died, and that much was told",
	  ALL "out:100000 close", "died", .out_len = 100000, .err = "" },
	{ "closed in the middle of a record: died",
	  ALL "STDOUT/1:abc RAW:01060001000a00 close", "died",
	  .out = "abc", .err = "" },
	{ "closed in the middle of END: died",
	  ALL "STDOUT/1:abc RAW:01030001000800000000 close", "died",
	  .out = "abc", .err = "" },
	{ "closed before it read the body: died",
	  "accept params close", "died", .out = "", .err = "",
	  .body_len = 1000000 },
	{ "not FastCGI: died",
	  ALL "STDOUT/1:a RAW:485454502f312e31", "died",
	  .out = "a", .err = "" },
	{ "a version that is not 1: died",
	  ALL "RAW:0206000100000000", "died", .out = "", .err = "" },
	{ "END_REQUEST too short: died",
	  ALL "RAW:010300010004000000000000", "died", .out = "", .err = "" },
};

static void
is_told(const struct got *g, const struct row *row)
{
	if (row->out != NULL)
		is_bytes(g->out.at, g->out.len, row->out, strlen(row->out),
		    "... its STDOUT is told");
	else
		ok(g->out_len == row->out_len && !g->out_wrong,
		    "... its STDOUT is told, byte for byte");
	if (row->err != NULL)
		is_bytes(g->err.at, g->err.len, row->err, strlen(row->err),
		    "... and its STDERR");
	else
		is_int((long long)g->err_len, (long long)row->err_len,
		    "... and its STDERR");
}

static void
is_seen(const struct app_seen *seen, const struct row *row, uint64_t hash)
{
	bool read = strstr(row->script, "body") != NULL;

	if (strstr(row->script, "params") != NULL)
		ok(seen->params_hash == hash && !seen->keep,
		    "... it was sent all PARAMS");
	if (read)
		ok(seen->body_len == row->body_len && !seen->body_wrong,
		    "... and all of the body");
}

static void
play_row(enum app_kind kind, const struct row *row)
{
	struct idem_buf params = { 0 };
	size_t files = back_descriptors();
	struct got g = { 0 };
	struct app app;
	struct back b;
	uint64_t hash;

	app_open(&app, kind, 16);
	app_play(&app, row->script);
	back_open(&b);
	back_params(&params, row->params_len != 0 ? row->params_len : 40);
	hash = app_hash(idem_buf_bytes(&params));
	app_go(&app);
	if (!back_start(&b, &g, &(struct backend_request){
	    .addresses = (char *[]){ app.address, NULL },
	    .params = idem_buf_bytes(&params),
	    .body = back_body(row->body_len), .body_len = row->body_len,
	    .fresh = true, .connections_max = 1, .kept_max = 1,
	    .connect_ms = 100000, .first_ms = 100000, .limit_ms = 110000 }))
		bail_out("no call");
	idem_buf_free(&params);	/* they were copied */
	back_await(&g);
	got_is(&g, row->how, "%s (%s)", row->what,
	    kind == APP_UNIX ? "unix" : "tcp");
	is_told(&g, row);
	back_close(&b);
	ok(app_end(&app), "... and the application played to its end");
	is_seen(&app.was, row, hash);
	is_int((long long)back_descriptors(), (long long)files,
	    "... no descriptor is left");
	got_free(&g);
}

/* A head cut at every byte over two records, with padding. */
static void
test_cut_heads(enum app_kind kind)
{
	static const char head[] = "Status:201\r\nX-A:b\r\n\r\nbody";
	struct backend_request r = { .body = -1, .fresh = true };
	size_t cut, right = 0, ends = 0;
	char script[200];
	struct app app;
	struct back b;

	back_open(&b);
	for (cut = 1; cut < strlen(head); cut++) {
		struct got g = { 0 };

		snprintf(script, sizeof script, ALL
		    "STDOUT/1:%.*s+%zu STDERR/1:e STDOUT/1:%s+3 END/1:0.0",
		    (int)cut, head, cut, head + cut);
		app_open(&app, kind, 16);
		app_play(&app, script);
		r.addresses = (char *[]){ app.address, NULL };
		if (!back_start(&b, &g, &r))
			bail_out("no call");
		back_await(&g);
		ends += g.end.how == BACKEND_ENDED;
		right += idem_bytes_is(idem_buf_bytes(&g.out), head);
		got_free(&g);
		app_end(&app);
	}
	is_int((long long)ends, (long long)strlen(head) - 1,
	    "a head cut at each byte over two records ends [cgi:C65 F5]");
	is_int((long long)right, (long long)strlen(head) - 1,
	    "... and is told the same [cgi:C65]");
	back_close(&b);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		play_row(APP_UNIX, &rows[i]);
		if (!rows[i].unix_only)
			play_row(APP_TCP, &rows[i]);
	}
	test_cut_heads(APP_UNIX);
	test_cut_heads(APP_TCP);
	return done();
}
