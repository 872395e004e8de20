/* SPDX-License-Identifier: ISC */
#include "settle_rig.h"

#include "tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TURNS_MAX 200000

/* --- a store that does as it is told -------------------------------------- */

struct waiting {
	struct waiting *next;
	struct idem_store_call call;	/* as it came */
	struct told *told;
};

struct told {
	struct idem_store base;		/* first: this is a store */
	struct settle_rig *rig;
	struct waiting *first;		/* not passed on */
	uint32_t pending;
};

static void
answer(struct waiting *w, const struct idem_store_result *r)
{
	struct idem_store_result maybe = *r;

	w->told->rig->log.len = 0;	/* it is not for people */
	w->told->pending--;
	if (w->told->rig->does == RIG_APPLIES) {
		maybe.write = IDEM_WRITE_MAYBE;
		maybe.renew = IDEM_RENEW_MAYBE;
		r = &maybe;
	}
	w->call.done(w->call.arg, r);
	free(w);
}

static void
done_inside(void *arg, const struct idem_store_result *r)
{
	answer(arg, r);
}

static void
told_start(struct idem_store *base, const struct idem_store_call *call)
{
	struct told *t = (struct told *)base;
	struct waiting *w = calloc(1, sizeof *w);

	if (w == NULL)
		bail_out("out of memory");
	w->call = *call;
	w->call.answer = call->answer != NULL ?
	    idem_blob_take(call->answer) : NULL;
	w->told = t;
	w->next = t->first;
	t->first = w;
	t->rig->calls[call->op]++;
	if (++t->pending > t->rig->most)
		t->rig->most = t->pending;
}

static void
refuse(struct waiting *w)
{
	const struct idem_store_result refused = {
		.op = w->call.op,
		.class = IDEM_CLASS_REFUSED,
		.write = IDEM_WRITE_REFUSED,
		.renew = IDEM_RENEW_MAYBE,
		.claim = IDEM_CLAIM_REFUSED,
		.error = "as it was told"
	};

	idem_blob_drop(w->call.answer);
	answer(w, &refused);
}

static void
pass_on(struct waiting *w)
{
	struct idem_store_call call = w->call;

	call.done = done_inside;
	call.arg = w;
	call.deadline_ms = INT64_MAX;
	w->told->rig->inner->ops->start(w->told->rig->inner, &call);
	idem_blob_drop(w->call.answer);
}

static void
told_poll(struct idem_store *base)
{
	struct told *t = (struct told *)base;
	struct waiting *w = t->first, *next;

	if (t->rig->does == RIG_HOLDS)
		return;
	t->first = NULL;
	for (; w != NULL; w = next) {
		next = w->next;
		if (t->rig->does == RIG_REFUSES)
			refuse(w);
		else
			pass_on(w);
	}
	t->rig->inner->ops->poll(t->rig->inner);
}

static bool
told_history(struct idem_store *base, struct idem_history *history)
{
	(void)base;
	*history = (struct idem_history){ { 7 } };
	return true;
}

static struct idem_store *
told_new(struct settle_rig *rig)
{
	static const struct idem_store_ops ops = {
		.name = "told",
		.start = told_start,
		.poll = told_poll,
		.history = told_history
	};
	struct told *t = calloc(1, sizeof *t);

	if (t == NULL)
		bail_out("out of memory");
	t->base.ops = &ops;
	t->rig = rig;
	return &t->base;
}

static struct idem_store *
store_of(const struct settle_rig *rig)
{
	return rig->stores.ledger != NULL ? rig->stores.ledger :
	    rig->stores.redis[IDEM_SCHEME_SCRIPT];
}

/* --- life ----------------------------------------------------------------- */

static int64_t
boot_now(void *arg)
{
	return ((struct settle_rig *)arg)->boot_ms;
}

static int64_t
wall_now(void *arg)
{
	return ((struct settle_rig *)arg)->wall_ms;
}

static void
ended(void *arg, const struct idem_digest *key, enum idem_waited how)
{
	struct settle_rig *rig = arg;

	(void)key;
	rig->ended++;
	rig->how = how;
}

static void
unknown(void *arg, const struct idem_digest *key, const struct idem_note *note_)
{
	struct settle_rig *rig = arg;

	(void)key;
	rig->unknown++;
	rig->said = *note_;
}

static void
lost(void *arg, const struct idem_note *note_,
    const struct idem_store_result *r)
{
	struct settle_rig *rig = arg;

	(void)note_;
	(void)r;
	rig->lost++;
}

void
settle_rig_open(struct settle_rig *rig, bool shared)
{
	const struct settle_user user = {
		.ended = ended, .unknown = unknown, .lost = lost, .arg = rig
	};

	*rig = (struct settle_rig){
		.path = "/tmp/t_settle.XXXXXX",
		.boot_ms = 1000000,
		.wall_ms = INT64_C(1700000000000),
		.boot = { { 1, 2, 3 } },
		.other_boot = { { 9 } },
		.log.who = "settle"
	};
	rig->clock = (struct idem_clock){ boot_now, wall_now, rig };
	if (mkdtemp(rig->path) == NULL || (rig->folder = open(rig->path,
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		bail_out("no folder");
	rig->loop = loop_new(&rig->clock);
	rig->inner = idem_store_memory(&rig->clock, &rig->boot);
	if (rig->loop == NULL || rig->inner == NULL)
		bail_out("out of memory");
	rig->stores.loop = rig->loop;
	rig->stores.log = &rig->log;
	if (shared)
		rig->stores.redis[IDEM_SCHEME_SCRIPT] = told_new(rig);
	else
		rig->stores.ledger = told_new(rig);
	snprintf(rig->stores.place, sizeof rig->stores.place, "here");
	rig->settle = settle_new(rig->loop, &rig->stores, &rig->log,
	    rig->folder, &rig->boot, &user);
	if (rig->settle == NULL)
		bail_out("out of memory");
}

static void
remove_folder(const struct settle_rig *rig)
{
	DIR *dir = fdopendir(rig->folder);
	const struct dirent *e;

	if (dir == NULL)
		bail_out("cannot read the folder");
	while ((e = readdir(dir)) != NULL)
		unlinkat(rig->folder, e->d_name, 0);
	closedir(dir);
	rmdir(rig->path);
}

/* As stores_close: what is under way is refused. */
void
settle_rig_close(struct settle_rig *rig)
{
	struct idem_store *store = store_of(rig);

	settle_stop(rig->settle);
	rig->does = RIG_REFUSES;
	told_poll(store);
	rig->inner->ops->close(rig->inner);
	free(store);
	settle_free(rig->settle);
	loop_free(rig->loop);
	remove_folder(rig);
}

/* --- runs ----------------------------------------------------------------- */

struct idem_note
settle_rig_note(const struct settle_rig *rig, enum idem_note_state state,
    uint32_t number)
{
	struct idem_note n = {
		.state = state,
		.boot = rig->boot,
		.pid = 77,
		.attempt = state == IDEM_NOTE_CLAIMING ? 0 : 1,
		.lease_ms = 60000,
		.limit_ms = 300000,
		.keep_ms = 86400000,
		.tombstone_ms = 604800000,
		.kept_max = 1 << 20,
		.made_ms = rig->wall_ms,
		.claimed_ms = rig->boot_ms,
		.route = "route at idem.conf:3",
		.what = "POST /order"
	};

	memcpy(n.owner.at, &number, sizeof number);
	n.owner.at[15] = 1;
	memcpy(n.key.at, &number, sizeof number);
	n.key.at[31] = 2;
	stores_mark(&rig->stores, store_of(rig), n.store, sizeof n.store);
	return n;
}

struct idem_run_file
settle_rig_file(const struct settle_rig *rig, const struct idem_note *n,
    const char *out, int status)
{
	struct idem_trailer t = { .status = status };
	struct idem_run_file f;
	struct idem_run_out o;

	if (idem_run_file_make(rig->folder, &n->owner, &f) == -1 ||
	    idem_note_write(f.file, n) == -1)
		bail_out("no run file");
	if (out == NULL)
		return f;
	idem_run_out_init(&o, &n->owner);
	if (idem_run_out_end(&o, f.file, idem_bytes_text(out), &t,
	    rig->boot_ms) == -1)
		bail_out("no trailer");
	return f;
}

void
settle_rig_call(struct settle_rig *rig, struct idem_store_call *call,
    struct idem_store_answer *to)
{
	call->deadline_ms = INT64_MAX;
	idem_store_wait(rig->inner, call, to);
}

void
settle_rig_claim(struct settle_rig *rig, const struct idem_note *n)
{
	struct idem_store_call call = {
		.op = IDEM_STORE_CLAIM,
		.key = n->key,
		.owner = n->owner,
		.lease_ms = n->lease_ms
	};
	struct idem_store_answer a;

	settle_rig_call(rig, &call, &a);
	if (a.result.claim != IDEM_CLAIM_WON)
		bail_out("the claim was not won");
	idem_store_answer_free(&a);
}

struct idem_record
settle_rig_record(struct settle_rig *rig, const struct idem_digest *key)
{
	/* Every owner's but ours: it only says what there is. */
	struct idem_store_call call = {
		.op = IDEM_STORE_UNKNOWN, .key = *key, .owner = { { 0xff } }
	};
	struct idem_store_answer a;
	struct idem_record record;

	settle_rig_call(rig, &call, &a);
	record = a.result.record;
	idem_store_answer_free(&a);
	return record;
}

/* --- time ----------------------------------------------------------------- */

void
settle_rig_turn(struct settle_rig *rig)
{
	rig->boot_ms++;
	rig->wall_ms++;
	if (loop_turn(rig->loop, rig->boot_ms) == -1)
		bail_out("epoll");
	told_poll(store_of(rig));
}

int
settle_rig_round(struct settle_rig *rig)
{
	int turns;

	settle_start(rig->settle);
	for (turns = 0; turns < TURNS_MAX; turns++) {
		if (settle_pending(rig->settle) == 0)
			return turns;
		settle_rig_turn(rig);
	}
	return -1;
}

void
settle_rig_pass(struct settle_rig *rig, int64_t ms, int64_t step_ms)
{
	int64_t until_ms = rig->boot_ms + ms;

	while (rig->boot_ms < until_ms) {
		rig->boot_ms += step_ms - 1;
		rig->wall_ms += step_ms - 1;
		settle_rig_turn(rig);
	}
}

enum rig_file
settle_rig_where(const struct settle_rig *rig, const struct idem_owner *owner)
{
	char name[8 + 2 * IDEM_OWNER_LEN + 1] = "unknown.";
	struct stat st;

	idem_hex(owner->at, sizeof owner->at, name + 8);
	if (fstatat(rig->folder, name + 8, &st, 0) == 0)
		return RIG_LEFT;
	return fstatat(rig->folder, name, &st, 0) == 0 ? RIG_UNKNOWN :
	    RIG_GONE;
}
