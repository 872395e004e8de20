/* SPDX-License-Identifier: ISC */
#include "run_note.h"

#include "label.h"
#include "lobby.h"
#include "run_lock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file that is made misses nothing but its folder. */
static void
say_gone(const struct visit *v, char *to, size_t size)
{
	const struct conf *c = v->lobby->conf;
	char *path = idem_run_folder_path(c->run, c->ledger);

	snprintf(to, size, "the run folder %s is gone: restart idemd, which "
	    "makes it again", path != NULL ? path : "");
	free(path);
}

/* Once: a claim is tried again and again. */
static void
complain(struct visit *v, const char *what)
{
	int error = errno;
	char key[LOBBY_KEY], gone[1024];
	const char *why = strerror(error);

	if (v->note.complained)
		return;
	v->note.complained = true;
	if (error == ENOENT && strcmp(what, "not-made") == 0) {
		say_gone(v, gone, sizeof gone);
		why = gone;
	}
	lobby_key(&v->x.key, v->x.issued_only, key);
	log_line_quoted(&v->lobby->log, "error", why, "key=%s note=%s", key,
	    what);
}

/* --- what it says --------------------------------------------------------- */

static void
say_released(const struct idem_route *r, uint8_t *bits)
{
	size_t i;
	int code;

	for (i = 0; i < r->released_len; i++)
		for (code = r->released[i].from; code <= r->released[i].to;
		    code++)
			if (code >= 200 && code < 200 + IDEM_NOTE_CODES)
				bits[(code - 200) / 8] |=
				    (uint8_t)(1u << (code - 200) % 8);
}

static void
say_what(const struct visit *v, struct idem_note *n)
{
	char method[32] = "-", path[IDEM_NOTE_TEXT - 32] = "-";
	const struct detail *d = v->detail;

	snprintf(n->route, sizeof n->route, "%s",
	    v->route->text != NULL ? v->route->text : "");
	if (d == NULL)
		return;
	log_word(method, sizeof method, d->method);
	if (d->path.len > 0 && idem_buf_ok(&d->path))
		log_word(path, sizeof path, (const char *)d->path.at);
	snprintf(n->what, sizeof n->what, "%s %s", method, path);
}

static void
say(const struct visit *v, enum idem_where where, bool probing,
    struct idem_note *n)
{
	const struct idem_exchange *x = &v->x;
	const struct idem_route *r = &v->route->route;

	*n = (struct idem_note){
		.state = probing ? IDEM_NOTE_BEGUN : IDEM_NOTE_CLAIMING,
		.fastcgi = v->route->program.kind == PROGRAM_FASTCGI,
		.head = v->head,
		.any_exit = r->any_exit,
		.paged = v->route->form_token != NULL,
		.strict = x->issued_only &&
		    x->gate.policy.on_unknown == IDEM_RETRY,
		.boot = v->lobby->boot,
		.pid = v->lobby->pid,
		.key = x->key,
		.owner = x->owner,
		.attempt = probing ? x->other_attempt + 1 : 0,
		.history = x->history,
		.lease_ms = x->gate.policy.lease_ms,
		.limit_ms = r->limit_ms,
		.keep_ms = x->times->keep_ms,
		.tombstone_ms = x->times->tombstone_ms,
		.kept_max = r->kept_max,
		.made_ms = idem_wall_ms(&idem_clock_real),
		.claimed_ms = loop_now(v->lobby->loop)
	};
	stores_mark(&v->lobby->stores, visit_store(v, where), n->store,
	    sizeof n->store);
	say_released(r, n->released);
	say_what(v, n);
}

/* --- its file ------------------------------------------------------------- */

static bool
is_open(const struct run_note *n)
{
	return n->at.file != -1;
}

/* Nothing was sent under the visit's owner yet: it may have another. */
static bool
open_file(struct visit *v)
{
	struct run_notes *spare = &v->lobby->run_notes;
	struct run_note *n = &v->note;

	if (is_open(n))
		return true;
	if (spare->n > 0) {
		*n = spare->spare[--spare->n];
		v->x.owner = n->owner;
		return true;
	}
	n->owner = v->x.owner;
	if (idem_run_file_make(v->lobby->lock_folder, &n->owner, &n->at) == 0)
		return true;
	n->at = (struct idem_run_file){ -1, -1 };
	complain(v, "not-made");
	return false;
}

bool
run_note_claim(struct visit *v, enum idem_where where, bool probing_take_over)
{
	struct idem_note note;

	if (v->lobby->lock_folder == -1)
		return true;
	if (!open_file(v))
		return false;
	say(v, where, probing_take_over, &note);
	if (IDEM_LABEL_FAILS_OF("note.write", &v->x.key) ||
	    idem_note_write(v->note.at.file, &note) == -1) {
		complain(v, "not-written");
		return false;
	}
	IDEM_LABEL_OF("claim.noted", &v->x.key);
	return true;
}

/* --- its run -------------------------------------------------------------- */

bool
run_note_is(const struct visit *v)
{
	return is_open(&v->note) && v->x.gate.claimed;
}

void
run_note_won(struct visit *v)
{
	if (run_note_is(v) && v->x.gate.take_over)
		idem_run_file_remove(v->lobby->lock_folder, &v->x.other);
}

bool
run_note_handed(struct visit *v)
{
	if (!run_note_is(v))
		return true;
	if (idem_note_set_attempt(v->note.at.file, v->x.attempt,
	    IDEM_NOTE_HANDED) == -1) {
		complain(v, "not-handed");
		return false;
	}
	IDEM_LABEL_OF("claim.handed", &v->x.key);
	return true;
}

bool
run_note_begun(struct visit *v, bool begun)
{
	if (!run_note_is(v))
		return true;
	if (idem_note_set_state(v->note.at.file,
	    begun ? IDEM_NOTE_BEGUN : IDEM_NOTE_NOT_BEGUN) == 0) {
		if (begun)
			IDEM_LABEL_OF("backend.begin", &v->x.key);
		return true;
	}
	complain(v, begun ? "not-begun" : "begun");
	return false;
}

static bool
record(struct visit *v, int status, bool limit)
{
	struct idem_trailer trailer = {
		.status = status, .limit = limit, .saved = true
	};
	struct idem_run_out out;
	int file = v->note.at.file;

	/* There may be output that was cut by a full disk. */
	if (v->x.answer == NULL || ftruncate(file, IDEM_NOTE_SIZE) == -1)
		return false;
	idem_run_out_init(&out, &v->note.owner);
	return idem_run_out_end(&out, file, idem_blob_bytes(v->x.answer),
	    &trailer, idem_boot_ms(&idem_clock_real)) == 0;
}

bool
run_note_record(struct visit *v, int status, bool limit)
{
	if (!run_note_is(v))
		return false;
	if (!v->note.recorded)
		v->note.recorded = record(v, status, limit);
	if (!v->note.recorded)
		complain(v, "not-recorded");
	IDEM_LABEL_OF("record.done", &v->x.key);
	return v->note.recorded;
}

/* --- it is over ----------------------------------------------------------- */

static void
remove_file(const struct lobby *lobby, struct run_note *n)
{
	/* In this order it is never seen free. */
	idem_run_file_remove(lobby->lock_folder, &n->owner);
	if (n->run != 0 && lobby->runner != NULL)
		runner_settled(lobby->runner, n->run);
	idem_run_file_free(&n->at);
}

static void
leave(const struct lobby *lobby, struct run_note *n)
{
	if (n->run != 0 && lobby->runner != NULL)
		runner_left(lobby->runner, n->run);
	idem_run_file_close(&n->at);
}

/* Not unlocked for all: a child that it left behind may be at work yet. */
static void
keep_unknown(struct visit *v)
{
	const struct lobby *lobby = v->lobby;
	struct run_note *n = &v->note;

	if (n->unsure || idem_note_set_why(n->at.file, n->why, n->why_code,
	    idem_wall_ms(&idem_clock_real)) == -1 ||
	    idem_journal_keep_unknown(lobby->lock_folder, &n->owner) == -1) {
		leave(lobby, n);
		return;
	}
	if (n->run != 0 && lobby->runner != NULL)
		runner_unknown(lobby->runner, n->run);
	idem_run_file_close(&n->at);
}

/* Its claims were all refused: nobody has seen its owner. */
static bool
is_unseen(const struct idem_exchange *x)
{
	return !x->gate.claimed && x->unheard_ms == 0;
}

static void
spare(struct lobby *lobby, struct run_note *n)
{
	struct run_notes *notes = &lobby->run_notes;

	if (notes->n < RUN_NOTES_SPARE)
		notes->spare[notes->n++] = (struct run_note){
			.at = n->at, .owner = n->owner
		};
	else
		remove_file(lobby, n);
}

/*
 * Nothing was heard of its claim, and it was released; but what goes to a
 * server by two connections may arrive in another order.
 */
static bool
may_come_in(const struct visit *v)
{
	const struct idem_gate *g = &v->x.gate;

	return !g->claimed && stores_is_shared(&v->lobby->stores,
	    visit_store(v, g->claim_at));
}

void
run_note_over(struct visit *v)
{
	const struct idem_exchange *x = &v->x;
	struct run_note *n = &v->note;

	if (!is_open(n))
		return;
	if (is_unseen(x))
		spare(v->lobby, n);
	else if (may_come_in(v))
		leave(v->lobby, n);
	else if (x->others_now || x->settled == IDEM_COMPLETE ||
	    x->settled == IDEM_RELEASE)
		remove_file(v->lobby, n);
	else if (x->settled == IDEM_MARK_UNKNOWN)
		keep_unknown(v);
	else
		leave(v->lobby, n);
	n->at = (struct idem_run_file){ -1, -1 };
}

void
run_notes_free(struct run_notes *notes, int folder)
{
	while (notes->n > 0) {
		idem_run_file_remove(folder, &notes->spare[--notes->n].owner);
		idem_run_file_free(&notes->spare[notes->n].at);
	}
}
