/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/* Which requests are one, and that the answer is the same wherever it is. */

#define WAIT_MS 20000

static const char place[] = COUNT
    "printf 'Status: 201 Created\\nX-Order: %s\\nContent-Type: text/plain\\n"
    "\\norder %s\\n' $$ $$\nprintf '\\000\\001\\377\\r\\n'\n";

static const struct rig_request base = {
	.method = "POST",
	.path = "/place",
	.type = "application/json",
	.body = { "{\"item\":\"tea\",\"n\":1}", 20 }
};

static void
start(struct rig *rig)
{
	ask_start(rig, (const char *[]){ "--workers", "2", "--",
	    rig_at(rig, "place"), NULL });
}

/* --- the same answer from each place -------------------------------------- */

/* Twice: the second time somebody may remember the first. */
static void
same(struct rig *rig, const struct rig_request *request,
    const struct rig_answer *first, const char *where)
{
	struct rig_answer again;
	size_t i;

	for (i = 0; i < 2; i++) {
		rig_request(rig, request, &again);
		told(&again, "201 replayed", "%s", where);
		is(rig_field(&again, "X-Order"), rig_field(first, "X-Order"),
		    "its field, %s", where);
		is_bytes(again.body.at, again.body.len, first->body.at,
		    first->body.len, "every byte is the same, %s", where);
		rig_answer_free(&again);
	}
}

static void
everywhere(struct rig *rig)
{
	struct rig_request request = base, other = base;
	struct rig second = *rig;
	struct rig_answer first;
	long before = starts(rig);

	snprintf(second.socket, sizeof second.socket, "%s/second",
	    rig->folder);
	start(&second);
	request.key = "everywhere";
	rig_request(rig, &request, &first);
	told(&first, "201 stored", "an order");
	same(rig, &request, &first, "where it ran [idem:H1]");

	/* Who knows it from the ledger alone has not seen the request. */
	other.key = request.key;
	other.body = idem_bytes_text("{}");
	ask(&second, &other, "422 mismatch", "another request first, where it "
	    "did not run [idem:D3]");
	same(&second, &request, &first,
	    "then itself, where it did not run [idem:D3 idem:H1 idem:H3]");
	ask(&second, &other, "422 mismatch", "and the other again [idem:D3]");

	is_int(rig_stop(rig, WAIT_MS), 0, "idemd ends with status 0");
	start(rig);
	same(rig, &request, &first,
	    "after a restart, which remembers nothing [idem:D1 idem:H1]");
	is_int(starts(rig) - before, 1, "there was one start [idem:H3]");
	rig_answer_free(&first);
	is_int(rig_stop(&second, WAIT_MS), 0, "the second ends, too");
}

/* --- what counts as the same request -------------------------------------- */

/* Bytes are compared, not what they might mean. */
static void
json(struct rig *rig)
{
	static const char *const others[] = {
		"{\"n\":1,\"item\":\"tea\"}", "{\"item\": \"tea\", \"n\": 1}",
		"{\"item\":\"tea\",\"n\":1.0}"
	};
	struct rig_request request = base;
	size_t i;

	request.key = "json";
	ask(rig, &request, "201 stored", "an order in JSON");
	for (i = 0; i < sizeof others / sizeof *others; i++) {
		request.body = idem_bytes_text(others[i]);
		ask(rig, &request, "422 mismatch", "written as %s [idem:D5]",
		    others[i]);
	}
	request.body = base.body;
	ask(rig, &request, "201 replayed", "as it was at first [idem:D5]");
}

/* --- who asks ------------------------------------------------------------- */

/* Nothing tells them apart: they are one, and say so to each other. */
static void
anonymous(struct rig *rig)
{
	static const char *const one[] = {
		"REMOTE_ADDR=192.0.2.1", "HTTP_USER_AGENT=one", NULL
	};
	static const char *const two[] = {
		"REMOTE_ADDR=192.0.2.2", "HTTP_USER_AGENT=two", NULL
	};
	struct rig_request request = base;
	long before = starts(rig);

	request.key = "anonymous";
	request.more = one;
	ask(rig, &request, "201 stored", "somebody");
	request.more = two;
	ask(rig, &request, "201 replayed", "somebody else with that key and "
	    "request [idem:D11]");
	request.body = idem_bytes_text("{}");
	ask(rig, &request, "422 mismatch", "with that key and another request "
	    "[idem:D11]");
	is_int(starts(rig) - before, 1, "there was one start [idem:D11]");
}

/* CGI makes Remote-User and Remote_User HTTP_REMOTE_USER; neither is
   REMOTE_USER, and two spellings of the key are two fields. */
static void
spoofed(struct rig *rig)
{
	static const struct {
		const char *what, *want;
		const char *more[5];
	} rows[] = {
		{ "ann, whom the server knows", "201 stored",
		    { "AUTH_TYPE=Basic", "REMOTE_USER=ann" } },
		{ "ann, who calls herself bob", "201 replayed",
		    { "AUTH_TYPE=Basic", "REMOTE_USER=ann",
		    "HTTP_REMOTE_USER=bob" } },
		{ "bob, who calls himself ann", "201 stored",
		    { "AUTH_TYPE=Basic", "REMOTE_USER=bob",
		    "HTTP_REMOTE_USER=ann", "HTTP_AUTH_TYPE=Basic" } },
		{ "nobody", "201 stored", { NULL } },
		{ "nobody, who calls himself ann", "201 replayed",
		    { "HTTP_REMOTE_USER=ann", "HTTP_AUTH_TYPE=Basic" } },
		{ "a second spelling of the key, not the same", "400 rejected",
		    { "AUTH_TYPE=Basic", "REMOTE_USER=ann",
		    "HTTP_IDEMPOTENCY_KEY=other" } },
		{ "a second spelling of the key, the same", "201 replayed",
		    { "AUTH_TYPE=Basic", "REMOTE_USER=ann",
		    "HTTP_IDEMPOTENCY_KEY=spoofed" } },
	};
	struct rig_request request = base;
	size_t i;

	request.key = "spoofed";
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		request.more = rows[i].more;
		ask(rig, &request, rows[i].want, "%s [idem:D20]",
		    rows[i].what);
	}
}

int
main(void)
{
	struct rig rig;

	rig_open(&rig);
	rig_program(&rig, "place", place);
	start(&rig);
	json(&rig);
	anonymous(&rig);
	spoofed(&rig);
	everywhere(&rig);
	is_int(rig_stop(&rig, WAIT_MS), 0, "idemd ends with status 0");
	rig_end(&rig);
	return done();
}
