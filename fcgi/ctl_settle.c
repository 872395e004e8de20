/* SPDX-License-Identifier: ISC */
#include "ctl.h"

#include "cgi_head.h"
#include "digest.h"
#include "saved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ANSWER_MAX ((size_t)64 * 1024 * 1024)
#define LOOKS 20		/* at a lock that is held, */
#define LOOK_MS 50		/* so far apart */

/* --- an answer from a file ------------------------------------------------ */

static int
read_file(const struct ctl *c, struct idem_buf *to)
{
	uint8_t bytes[65536];
	FILE *f = fopen(c->answer, "re");
	size_t n;
	bool failed;

	if (f == NULL)
		return ctl_say(c, CTL_FAILED, "%s: %s", c->answer,
		    strerror(errno));
	to->max = ANSWER_MAX;
	while ((n = fread(bytes, 1, sizeof bytes, f)) > 0)
		idem_buf_append(to, bytes, n);
	failed = ferror(f) != 0;
	fclose(f);
	if (failed || !idem_buf_ok(to))
		return ctl_say(c, CTL_FAILED, "%s: cannot be read whole",
		    c->answer);
	return CTL_DONE;
}

/* The bytes as idemd would have stored them. */
static struct idem_blob *
save(struct idem_head *head, struct idem_bytes body)
{
	struct idem_saved saved = {
		.code = head->code,
		.has_status = head->has_status,
		.status = idem_buf_bytes(&head->status),
		.kept = !head->no_store,
	};

	if (!head->has_length && head->code != 204 && head->code != 304)
		idem_buf_printf(&head->lines, "Content-Length: %zu\r\n",
		    body.len);
	saved.lines = idem_buf_bytes(&head->lines);
	if (saved.kept)
		saved.body = body;
	return idem_buf_ok(&head->lines) ? idem_saved_blob(&saved) : NULL;
}

static int
parse(const struct ctl *c, struct idem_bytes bytes, struct idem_head *head,
    struct idem_blob **answer)
{
	struct idem_bytes body;
	bool bodyless;

	if (idem_head_parse(head, bytes, true) != IDEM_HEAD_WHOLE)
		return ctl_say(c, CTL_WRONG, "%s: not a CGI response: %s",
		    c->answer, head->wrong != NULL ? head->wrong : "no head");
	body.at = (const uint8_t *)bytes.at + head->size;
	body.len = bytes.len - head->size;
	bodyless = head->code == 204 || head->code == 304;
	if ((bodyless && body.len > 0) ||
	    (!bodyless && head->has_length && head->length != body.len))
		return ctl_say(c, CTL_WRONG, "%s: the body is of %zu bytes, "
		    "other than its head says", c->answer, body.len);
	*answer = save(head, body);
	if (*answer == NULL)
		return ctl_say(c, CTL_FAILED, "out of memory");
	return CTL_DONE;
}

static int
read_answer(const struct ctl *c, struct idem_blob **answer)
{
	struct idem_head head = { .wrong = NULL };
	struct idem_buf bytes = { 0 };
	int status;

	*answer = NULL;
	if (c->answer == NULL)
		return CTL_DONE;
	status = read_file(c, &bytes);
	if (status == CTL_DONE)
		status = parse(c, idem_buf_bytes(&bytes), &head, answer);
	idem_head_free(&head);
	idem_buf_free(&bytes);
	return status;
}

/* --- whether it may be settled -------------------------------------------- */

static bool
is_open(enum idem_state state)
{
	return state == IDEM_STATE_IN_PROGRESS || state == IDEM_STATE_UNKNOWN;
}

/* When it can be running no more, whatever is known of it. */
static int64_t
safe_ms(const struct ctl *c, const struct idem_record *r)
{
	int64_t ms = r->renewed_at + c->lease_ms + c->limit_ms + c->grace_ms;

	/* Who owns it may start by its own lease's end, whatever ours is. */
	return ms < r->lease_end + c->grace_ms ? r->lease_end + c->grace_ms :
	    ms;
}

static int
refuse_running(const struct ctl *c, const struct ctl_found *f,
    const struct ctl_run *run, int64_t left_ms)
{
	const struct idem_record *r = &f->l.record;
	bool here = memcmp(r->boot.at, c->boot.at, sizeof r->boot.at) == 0;

	/* A lobby claimed it, at work for others too: not what to stop. */
	return ctl_say(c, CTL_NO, "its run %s%s (claimed by pid %u, which is "
	    "not the program): wait for its end, %lld seconds at most, or "
	    "stop the program and say --force",
	    run->e.lock == IDEM_RUN_HELD ? "is still going on" :
	    "may still be going on", f->in->kind == CTL_REDIS && !here ?
	    ", perhaps on another host" : "", r->pid,
	    (long long)(left_ms / 1000 + 1));
}

/*
 * Its lobby asks its keeper to let go of the lock, and writes that the key is
 * unknown: who has heard of that may be here before the keeper has.
 */
static void
look(const struct ctl *c, const struct ctl_found *f, struct ctl_run *run)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000 };
	int looks;

	ctl_run_look(c, f, run);
	for (looks = 1; f->l.record.state == IDEM_STATE_UNKNOWN &&
	    run->e.lock == IDEM_RUN_HELD && looks < LOOKS; looks++) {
		nanosleep(&pause, NULL);
		ctl_run_look(c, f, run);
	}
}

/*
 * Nothing is decided over a run that may be going on, nor over one whose answer
 * is there, unless the operator insists; then its end is fenced off, but nobody
 * stops it.
 */
static int
check_dead(const struct ctl *c, const struct ctl_found *f, bool *may_run)
{
	struct ctl_run run;
	int64_t left_ms;

	*may_run = false;
	if (!is_open(f->l.record.state))
		return CTL_DONE;
	look(c, f, &run);
	left_ms = safe_ms(c, &f->l.record) - f->now_ms;
	switch (run.proof) {
	case IDEM_PROOF_DEAD:
	case IDEM_PROOF_NOTHING:
		return CTL_DONE;
	case IDEM_PROOF_FINISHED:
		return c->force ? CTL_DONE : ctl_say(c, CTL_NO, "it has ended "
		    "with a whole answer, which idemd, or the next call of "
		    "idem-cgi, stores: look again, or say --force");
	case IDEM_PROOF_LAPSED:
	case IDEM_PROOF_NONE:
		*may_run = run.e.lock == IDEM_RUN_HELD || left_ms >= 0;
		return c->force || left_ms < 0 ? CTL_DONE :
		    refuse_running(c, f, &run, left_ms);
	}
	abort();
}

/* It says nothing more once its record has another owner.  One that is held is
   removed by who holds it. */
static void
remove_run(const struct ctl *c, const struct idem_owner *owner)
{
	struct idem_run_file file;
	struct idem_evidence e;

	if (c->folder < 0)
		return;
	idem_evidence(c->folder, owner, &e, NULL);
	if (e.unknown) {
		idem_run_file_remove(c->folder, owner);
	} else if (idem_journal_take(c->folder, owner, &file, &e)) {
		idem_run_file_remove(c->folder, owner);
		idem_run_file_free(&file);
	}
}

/*
 * Workers hear of it from the store within a second or so; one that Redis does
 * not answer for that long may serve its copy until that is too old.
 */
static void
wait_for_copies(const struct ctl *c, const struct ctl_found *f)
{
	struct timespec left = { .tv_sec = (time_t)(c->cache_age_ms / 1000),
	    .tv_nsec = (long)(c->cache_age_ms % 1000) * 1000000 };

	if (f->in->kind != CTL_REDIS || c->cache_age_ms <= 0 ||
	    f->l.record.state != IDEM_STATE_COMPLETED)
		return;
	ctl_say(c, CTL_DONE, "done; a worker that has lost its connection may "
	    "answer from its memory for up to %lld s%s",
	    (long long)((c->cache_age_ms + 999) / 1000), c->no_wait ? "" :
	    ", which are waited for (--no-wait)");
	while (!c->no_wait && nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

static int
settle(struct ctl *c, const struct ctl_found *f, enum idem_settle how,
    struct idem_blob *answer)
{
	struct idem_store_call call = {
		.op = IDEM_STORE_SETTLE,
		.key = f->l.key,
		.other = f->l.record.owner,
		.attempt = f->l.record.attempt,
		.settle = how,
		.answer = answer,
		.keep_ms = c->keep_ms,
		.tombstone_ms = c->tombstone_ms,
	};
	struct idem_store_answer got;
	enum idem_write write;
	int status;

	if (!idem_random(call.owner.at, sizeof call.owner.at))
		return ctl_say(c, CTL_FAILED, "no random bytes");
	status = ctl_ask(c, f->in, &call, &got);
	if (status != CTL_DONE)
		return status;
	write = got.result.write;
	idem_store_answer_free(&got);
	if (write != IDEM_WRITTEN)
		return ctl_say(c, CTL_NO, "it has changed in this moment: "
		    "look again");
	remove_run(c, &f->l.record.owner);
	wait_for_copies(c, f);
	return CTL_DONE;
}

static bool
has_content_keys(const struct conf *conf)
{
	size_t i;

	for (i = 0; i < conf->routes_len; i++)
		if (conf->routes[i].route.anew)
			return true;
	return false;
}

/*
 * A key of content that is forgotten is nobody's, while any other is never run
 * again.  No record says which it is, only a configuration that there is none.
 */
static void
warn_of_content(const struct ctl *c, const struct ctl_found *f)
{
	const struct idem_record *r = &f->l.record;

	if ((!is_open(r->state) && r->state != IDEM_STATE_COMPLETED) ||
	    (c->config != NULL && !has_content_keys(c->conf)))
		return;
	ctl_say(c, CTL_DONE, "done; if it was made of a request's content, the "
	    "next equal request runs%s", r->state == IDEM_STATE_COMPLETED ?
	    " again" : ", though this one may have taken effect");
}

/* Two records of one key are two decisions. */
static int
settle_named(struct ctl *c, const char *text, enum idem_settle how,
    struct idem_blob *answer)
{
	struct ctl_found found[CTL_KINDS];
	bool may_run;
	size_t len;
	int status;

	status = ctl_find(c, text, found, &len);
	if (status != CTL_DONE)
		return status;
	if (len > 1)
		return ctl_say(c, CTL_NO, "it is in the ledger (%s) and in "
		    "Redis (%s): say --in ledger or --in redis",
		    idem_state_text(found[0].l.record.state),
		    idem_state_text(found[1].l.record.state));
	if (how != IDEM_SETTLE_FORGET && !is_open(found[0].l.record.state))
		return ctl_say(c, CTL_NO, "there is nothing to resolve: it is "
		    "%s", idem_state_text(found[0].l.record.state));
	status = check_dead(c, &found[0], &may_run);
	if (status == CTL_DONE)
		status = settle(c, &found[0], how, answer);
	if (status == CTL_DONE && how == IDEM_SETTLE_FORGET)
		warn_of_content(c, &found[0]);
	if (status == CTL_DONE && may_run)
		ctl_say(c, CTL_DONE, "done; its program may still be running: "
		    "it is not stopped, and what it answers is lost");
	return status;
}

/* --- the commands --------------------------------------------------------- */

/* "KEY done" or, with the client's key, "done". */
int
ctl_resolve(struct ctl *c)
{
	const char *key = c->args_len == 2 ? c->args[0] : NULL;
	const char *word = c->args_len > 0 ? c->args[c->args_len - 1] : "";
	struct idem_blob *answer;
	enum idem_settle how;
	int status;

	if (strcmp(word, "done") == 0)
		how = IDEM_SETTLE_DONE;
	else if (strcmp(word, "not-done") == 0)
		how = IDEM_SETTLE_NOT_DONE;
	else
		word = NULL;
	if (word == NULL || c->args_len > 2)
		return ctl_say(c, CTL_WRONG, "say KEY and done or not-done");
	if (how == IDEM_SETTLE_NOT_DONE && c->answer != NULL)
		return ctl_say(c, CTL_WRONG, "--answer: only of what is done");
	status = read_answer(c, &answer);
	if (status == CTL_DONE)
		status = ctl_open(c, false, true);
	if (status == CTL_DONE)
		status = settle_named(c, key, how, answer);
	idem_blob_drop(answer);
	return status;
}

int
ctl_forget(struct ctl *c)
{
	int status;

	if (c->args_len > 1)
		return ctl_say(c, CTL_WRONG, "one key at a time");
	status = ctl_open(c, false, true);
	if (status != CTL_DONE)
		return status;
	return settle_named(c, c->args[0], IDEM_SETTLE_FORGET, NULL);
}
