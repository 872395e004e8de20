/* SPDX-License-Identifier: ISC */
#include "exchange_world.h"

#include "saved.h"
#include "store_call.h"
#include "tap.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define FAR_MS (INT64_C(1) << 40)

void
world_asked(struct world *w, const char *format, ...)
{
	size_t len = strlen(w->asks);
	va_list args;

	if (w->ends > 0)
		w->after_end++;
	if (len > 0 && len + 1 < sizeof w->asks)
		w->asks[len++] = ' ';
	va_start(args, format);
	vsnprintf(w->asks + len, sizeof w->asks - len, format, args);
	va_end(args);
}

struct idem_blob *
world_saved(const char *body, bool kept)
{
	const struct idem_saved s = {
		.code = 200, .kept = kept,
		.lines = idem_bytes_text("A: 1\r\n"),
		.body = idem_bytes_text(kept ? body : "")
	};
	struct idem_blob *blob = idem_saved_blob(&s);

	if (blob == NULL)
		bail_out("out of memory");
	return blob;
}

/* --- the store ------------------------------------------------------------ */

static const char *
call_text(const struct idem_store_call *call)
{
	bool ours = call->owner.at[0] == WORLD_OURS;

	switch (call->op) {
	case IDEM_STORE_CLAIM:
		return call->look_only ? "claim:look" : call->take_over ?
		    "claim:take-over" : "claim";
	case IDEM_STORE_RENEW:
		return "renew";
	case IDEM_STORE_COMPLETE:
		return ours ? "complete" : "complete:other";
	case IDEM_STORE_RELEASE:
		return ours ? "release" : "release:other";
	case IDEM_STORE_UNKNOWN:
		return ours ? "unknown" : "unknown:other";
	case IDEM_STORE_SETTLE:
	case IDEM_STORE_LIST:
	case IDEM_STORE_SWEEP:
	case IDEM_STORE_ISSUE:
		break;
	}
	return "?";
}

static void
answer(struct world_call *c, const struct idem_store_result *r)
{
	struct idem_store_call call = c->call;

	c->taken = false;
	call.done(call.arg, r);
	idem_store_call_free(&call);
}

static void
inner_done(void *arg, const struct idem_store_result *r)
{
	struct idem_store_result failed;
	struct world_call *c = arg;

	idem_store_fail(&failed, r->op, IDEM_CLASS_MAYBE, "no answer");
	answer(c, c->fate == 'm' ? &failed : r);
}

static void
fake_start(struct idem_store *store, const struct idem_store_call *call)
{
	struct world *w = (struct world *)((char *)store -
	    offsetof(struct world, fake));
	struct world_call *c = &w->call[w->call[0].taken];

	world_asked(w, "%s", call_text(call));
	if (c->taken)
		bail_out("three calls of the store at once");
	c->world = w;
	c->taken = true;
	c->fate = w->calls < strlen(w->row->fates) ?
	    w->row->fates[w->calls] : '.';
	w->calls++;
	idem_store_call_copy(&c->call, call);
	if (call->op == IDEM_STORE_CLAIM && !call->look_only)
		w->last = *call;
	if (call->op != IDEM_STORE_COMPLETE)
		return;
	w->kept_ms = call->keep_ms;
	w->stays_ms = call->tombstone_ms;
}

static bool
fake_pressed(struct idem_store *store)
{
	struct world *w = (struct world *)((char *)store -
	    offsetof(struct world, fake));

	return world_next_is(w, "pressed");
}

const struct idem_store_ops world_fake = {
	.start = fake_start, .pressed = fake_pressed
};

bool
world_carry_out(struct world_call *c)
{
	struct idem_store_call inner = c->call;
	struct idem_store_result failed;

	if (!c->taken || c->fate == 'd')
		return false;
	if (c->fate == 'r' || c->fate == 'n') {
		idem_store_fail(&failed, c->call.op, c->fate == 'r' ?
		    IDEM_CLASS_REFUSED : IDEM_CLASS_MAYBE, "no answer");
		answer(c, &failed);
		return true;
	}
	inner.done = inner_done;
	inner.arg = c;
	c->world->memory->ops->start(c->world->memory, &inner);
	c->world->memory->ops->poll(c->world->memory);
	return true;
}

/* --- a key with a past ---------------------------------------------------- */

enum idem_write
world_act(struct world *w, enum idem_store_op op, char owner, char other,
    struct idem_blob *blob)
{
	struct idem_store_call call = {
		.op = op, .key = w->x.key, .attempt = 1, .deadline_ms = FAR_MS,
		.fingerprint = w->x.fingerprint, .guard = w->x.guard,
		.lease_ms = 1000, .keep_ms = 1000, .answer = blob,
		.settle = blob != NULL ? IDEM_SETTLE_DONE : IDEM_SETTLE_FORGET
	};
	struct idem_store_answer a;
	enum idem_write write;

	memset(call.owner.at, owner, sizeof call.owner.at);
	memset(call.other.at, other, sizeof call.other.at);
	idem_store_wait(w->memory, &call, &a);
	write = a.result.write;
	idem_store_answer_free(&a);
	idem_blob_drop(blob);
	return write;
}

void
world_before(struct world *w, const char *how)
{
	const char other = WORLD_OTHER;

	if (strcmp(how, "absent") == 0)
		return;
	world_act(w, IDEM_STORE_CLAIM, other, other, NULL);
	if (strcmp(how, "completed") == 0)
		world_act(w, IDEM_STORE_COMPLETE, other, other,
		    world_saved("first", true));
	else if (strcmp(how, "not-kept") == 0)
		world_act(w, IDEM_STORE_COMPLETE, other, other,
		    world_saved("", false));
	else if (strcmp(how, "no-answer") == 0)
		world_act(w, IDEM_STORE_COMPLETE, other, other, NULL);
	else if (strcmp(how, "garbage") == 0)
		world_act(w, IDEM_STORE_COMPLETE, other, other,
		    idem_blob_new(idem_bytes_text("garbage")));
	else if (strcmp(how, "unknown") == 0)
		world_act(w, IDEM_STORE_UNKNOWN, other, other, NULL);
	else if (strcmp(how, "in-progress") != 0)
		bail_out("no record is \"%s\"", how);
}

const char *
world_after(struct world *w, char *to, size_t size)
{
	const struct idem_store_call call = {
		.op = IDEM_STORE_LIST, .states = ~0u, .deadline_ms = FAR_MS
	};
	const struct idem_record *r;
	struct idem_store_answer a;

	idem_store_wait(w->memory, &call, &a);
	snprintf(to, size, "absent");
	if (a.result.count == 1) {
		r = &a.listed[0].record;
		snprintf(to, size, "%s %u %c", idem_state_text(r->state),
		    r->attempt, r->owner.at[0]);
	}
	idem_store_answer_free(&a);
	return to;
}
