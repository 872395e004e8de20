/* SPDX-License-Identifier: ISC */
#include "ctl.h"

#include "text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* --- words ---------------------------------------------------------------- */

void
ctl_plain(const char *text, char *out, size_t size)
{
	size_t i;

	assert(size > 0);
	for (i = 0; i + 1 < size && text[i] != '\0'; i++)
		out[i] = text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?';
	out[i] = '\0';
}

const char *
ctl_condition(const struct ctl_found *f, const struct ctl_run *run)
{
	if (f->l.record.state == IDEM_STATE_UNKNOWN)
		return "unknown";
	switch (run->proof) {
	case IDEM_PROOF_NONE:
		return "running";
	case IDEM_PROOF_LAPSED:
		return "lapsed";
	case IDEM_PROOF_DEAD:
		return "died";
	case IDEM_PROOF_NOTHING:
		return "not-begun";
	case IDEM_PROOF_FINISHED:
		return "ended";
	}
	abort();
}

static bool
is_open(const struct ctl_found *f)
{
	return f->l.record.state == IDEM_STATE_IN_PROGRESS ||
	    f->l.record.state == IDEM_STATE_UNKNOWN;
}

/* Of one that only a note speaks of, by its store's mark (stores.h). */
const char *
ctl_in_text(const struct ctl_found *f, const struct ctl_run *run, char *to,
    size_t size)
{
	if (f->in != NULL)
		snprintf(to, size, "%s", ctl_kind_text(f->in->kind));
	else
		snprintf(to, size, "%.*s", (int)strcspn(run->e.note.store, " "),
		    run->e.note.store);
	return to;
}

/* --- as JSON -------------------------------------------------------------- */

static void
json_text(struct idem_buf *out, const char *name, const char *text)
{
	idem_buf_printf(out, ",\"%s\":\"", name);
	idem_text_json(out, text);
	idem_buf_u8(out, '"');
}

static void
json_run(const struct ctl *c, const struct ctl_found *f,
    const struct ctl_run *run, struct idem_buf *out)
{
	char evidence[CTL_EVIDENCE];

	ctl_run_evidence(c, f, run, evidence);
	json_text(out, "run", ctl_run_text(run));
	json_text(out, "condition", ctl_condition(f, run));
	json_text(out, "evidence", evidence);
	if (!run->known)
		return;
	json_text(out, "asked", run->e.note.what);
	json_text(out, "route", run->e.note.route);
	json_text(out, "note", idem_note_state_text(run->e.note.state));
	idem_buf_printf(out, ",\"claimed_at\":%" PRId64 ",\"held\":%s",
	    run->e.note.made_ms, run->e.lock == IDEM_RUN_HELD ? "true" :
	    "false");
	if (run->output >= 0)
		idem_buf_printf(out, ",\"output_bytes\":%" PRId64, run->output);
}

int
ctl_say_json(const struct ctl *c, const struct ctl_found *f)
{
	char key[2 * IDEM_DIGEST_LEN + 1], owner[2 * IDEM_OWNER_LEN + 1];
	const struct idem_record *r = &f->l.record;
	struct idem_buf out = { .at = NULL };
	struct ctl_run run = { .known = false };
	char in[32];
	bool good;

	idem_hex(f->l.key.at, sizeof f->l.key.at, key);
	idem_hex(r->owner.at, sizeof r->owner.at, owner);
	idem_buf_printf(&out, "{\"key\":\"%s\",\"state\":\"%s\","
	    "\"attempt\":%" PRIu32 ",\"owner\":\"%s\",\"pid\":%" PRIu32 ","
	    "\"made_at\":%" PRId64 ",\"ended_at\":%" PRId64 ","
	    "\"expires_at\":%" PRId64 ",\"answer_bytes\":%" PRIu64, key,
	    idem_state_text(r->state), r->attempt, owner, r->pid, r->made_at,
	    r->ended_at, r->expires_at, f->l.answer_len);
	if (is_open(f)) {
		ctl_run_look(c, f, &run);
		json_run(c, f, &run, &out);
	} else {
		idem_buf_text(&out, ",\"run\":null");
	}
	json_text(&out, "in", ctl_in_text(f, &run, in, sizeof in));
	idem_buf_u8(&out, '}');
	good = idem_buf_ok(&out);
	if (good)
		fwrite(out.at, 1, out.len, stdout);
	idem_buf_free(&out);
	return good ? CTL_DONE : ctl_say(c, CTL_FAILED, "out of memory");
}

/* --- for people ----------------------------------------------------------- */

static void
print_lease(const struct ctl *c, const struct ctl_found *f)
{
	const struct idem_record *r = &f->l.record;
	int64_t left = r->lease_end - f->now_ms;
	bool here = memcmp(r->boot.at, c->boot.at, sizeof r->boot.at) == 0;

	if (f->in->kind == CTL_REDIS)
		printf("host      %s\n", here ? "this one" : "another, or this "
		    "one before it was booted");
	if (f->in->kind == CTL_LEDGER && !here)
		printf("lease     of an earlier boot\n");
	else if (left >= 0)
		printf("lease     ends in %lld s\n", (long long)left / 1000);
	else
		printf("lease     ended %lld s ago\n", (long long)-left / 1000);
}

static void
print_trailer(const struct idem_trailer *t)
{
	if (t->saved)
		printf("answer    whole, of a FastCGI application\n");
	else if (WIFSIGNALED(t->status))
		printf("exit      signal %d%s\n", WTERMSIG(t->status),
		    t->limit ? ", over its limit" : "");
	else
		printf("exit      status %d%s\n", WEXITSTATUS(t->status),
		    t->limit ? ", over its limit" : "");
}

static void
print_note(const struct ctl_run *run)
{
	const struct idem_note *n = &run->e.note;
	char text[IDEM_NOTE_TEXT], when[32];

	ctl_plain(n->what, text, sizeof text);
	printf("asked     %s\n", text);
	ctl_plain(n->route, text, sizeof text);
	printf("route     %s\nclaimed   %s\n", text,
	    ctl_stamp(n->made_ms, when, sizeof when));
	printf("note      %s, %s\n", idem_note_state_text(n->state),
	    run->e.lock == IDEM_RUN_HELD ? "held" : "nobody holds it");
	if (run->e.ended)
		print_trailer(&run->e.trailer);
	if (run->output >= 0)
		printf("output    %" PRId64 " bytes (idemctl output)\n",
		    run->output);
}

/* The pid is of whoever claimed it, not of the program. */
static void
print_run(const struct ctl *c, const struct ctl_found *f)
{
	char evidence[CTL_EVIDENCE];
	struct ctl_run run;

	ctl_run_look(c, f, &run);
	print_lease(c, f);
	printf("run       %s (claimed by pid %u)\n", ctl_run_text(&run),
	    f->l.record.pid);
	if (run.known)
		print_note(&run);
	ctl_run_evidence(c, f, &run, evidence);
	printf("evidence  %s\n", evidence);
}

static void
print_whole(const struct ctl *c, const struct ctl_found *f)
{
	char key[2 * IDEM_DIGEST_LEN + 1], owner[2 * IDEM_OWNER_LEN + 1];
	const struct idem_record *r = &f->l.record;
	char when[32];

	idem_hex(f->l.key.at, sizeof f->l.key.at, key);
	idem_hex(r->owner.at, sizeof r->owner.at, owner);
	printf("key       %s\nin        %s\nstate     %s\nattempt   %u\n"
	    "owner     %s\nmade      %s\n", key, ctl_kind_text(f->in->kind),
	    idem_state_text(r->state), r->attempt, owner,
	    ctl_stamp(r->made_at, when, sizeof when));
	if (r->ended_at != 0)
		printf("since     %s\n",
		    ctl_stamp(r->ended_at, when, sizeof when));
	if (r->expires_at != 0)
		printf("until     %s\n",
		    ctl_stamp(r->expires_at, when, sizeof when));
	if (is_open(f))
		print_run(c, f);
	if (r->state == IDEM_STATE_COMPLETED && f->l.answer_len == 0)
		printf("answer    not kept\n");
	else if (r->state == IDEM_STATE_COMPLETED)
		printf("answer    %" PRIu64 " bytes\n", f->l.answer_len);
}

/* -------------------------------------------------------------------------- */

static int
show(const struct ctl *c, const struct ctl_found *f, bool first)
{
	int status;

	if (!c->json) {
		if (!first)
			putchar('\n');
		print_whole(c, f);
		return CTL_DONE;
	}
	status = ctl_say_json(c, f);
	putchar('\n');
	return status;
}

int
ctl_show(struct ctl *c)
{
	struct ctl_found found[CTL_KINDS];
	size_t len = 0, i;
	int status;

	if (c->args_len > 1)
		return ctl_say(c, CTL_WRONG, "one key at a time");
	status = ctl_open(c, true, true);
	if (status == CTL_DONE)
		status = ctl_find(c, c->args[0], found, &len);
	for (i = 0; status == CTL_DONE && i < len; i++)
		status = show(c, &found[i], i == 0);
	return status;
}
