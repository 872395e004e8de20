/* SPDX-License-Identifier: ISC */
#include "settle_rig.h"
#include "tap.h"

/* Runs whose lobby is gone while they go on (settle.h). */
static void
test_orphan(void)
{
	struct idem_record before, after;
	struct idem_run_file f;
	struct settle_rig rig;
	struct idem_note n;

	settle_rig_open(&rig, true);
	n = settle_rig_note(&rig, IDEM_NOTE_ORPHAN, 1);
	settle_rig_claim(&rig, &n);
	f = settle_rig_file(&rig, &n, NULL, 0);
	before = settle_rig_record(&rig, &n.key);
	settle_start(rig.settle);
	settle_rig_pass(&rig, 300000, 500);
	after = settle_rig_record(&rig, &n.key);
	ok(after.state == IDEM_STATE_IN_PROGRESS &&
	    after.lease_end >= rig.boot_ms + n.lease_ms / 2 &&
	    after.lease_end > before.lease_end,
	    "the lease of a run whose lobby is gone does not run out");
	ok(rig.calls[IDEM_STORE_RENEW] >= 14 &&
	    rig.calls[IDEM_STORE_RENEW] <= 16,
	    "it is renewed three times a lease");
	note("%u renewals in 5 leases", rig.calls[IDEM_STORE_RENEW]);
	idem_run_file_close(&f);
	settle_rig_pass(&rig, 2000, 500);
	ok(settle_rig_record(&rig, &n.key).state == IDEM_STATE_UNKNOWN,
	    "once it is dead it is unknown");
	settle_rig_close(&rig);
}

/* Its keeper is gone too, and a child of it keeps the lock. */
static void
test_overdue(void)
{
	struct idem_run_file f;
	struct settle_rig rig;
	struct idem_note n;
	unsigned renewals;

	settle_rig_open(&rig, true);
	n = settle_rig_note(&rig, IDEM_NOTE_ORPHAN, 1);
	settle_rig_claim(&rig, &n);
	f = settle_rig_file(&rig, &n, NULL, 0);
	settle_start(rig.settle);
	settle_rig_pass(&rig, n.lease_ms + n.limit_ms, 500);
	ok(settle_rig_record(&rig, &n.key).state == IDEM_STATE_IN_PROGRESS,
	    "what may still run within its limit is in progress");
	settle_rig_pass(&rig, 5000, 500);
	ok(settle_rig_record(&rig, &n.key).state == IDEM_STATE_UNKNOWN,
	    "what holds its lock past its limit is unknown");
	renewals = rig.calls[IDEM_STORE_RENEW];
	settle_rig_pass(&rig, 100000, 500);
	ok(rig.calls[IDEM_STORE_UNKNOWN] == 1 &&
	    rig.calls[IDEM_STORE_RENEW] == renewals,
	    "it is said once, and nothing is renewed after it");
	idem_run_file_close(&f);
	settle_rig_close(&rig);
}

/* Another worker has said so, in its file; or we, before we were killed. */
static void
test_given_up(void)
{
	struct idem_run_file f;
	struct settle_rig rig;
	struct idem_note n;

	settle_rig_open(&rig, true);
	n = settle_rig_note(&rig, IDEM_NOTE_ORPHAN, 1);
	n.why = IDEM_WHY_LIMIT;
	settle_rig_claim(&rig, &n);
	f = settle_rig_file(&rig, &n, NULL, 0);
	settle_start(rig.settle);
	settle_rig_pass(&rig, n.lease_ms + n.limit_ms + 5000, 500);
	is_int(rig.calls[IDEM_STORE_UNKNOWN], 0,
	    "what another has found to be overdue is not found once more");
	idem_run_file_close(&f);
	settle_rig_pass(&rig, 2000, 500);
	ok(settle_rig_record(&rig, &n.key).state == IDEM_STATE_UNKNOWN,
	    "but what becomes of it is still seen");
	settle_rig_close(&rig);
}

/* Two settlers are two workers: the file's own note says when. */
static void
test_orphan_of_two(void)
{
	struct idem_evidence e;
	struct idem_run_file f;
	struct settle_rig rig;
	struct idem_note n;

	settle_rig_open(&rig, true);
	n = settle_rig_note(&rig, IDEM_NOTE_ORPHAN, 1);
	n.renewed_ms = rig.boot_ms - 1000;
	settle_rig_claim(&rig, &n);
	f = settle_rig_file(&rig, &n, NULL, 0);
	settle_start(rig.settle);
	settle_rig_pass(&rig, 18000, 500);
	is_int(rig.calls[IDEM_STORE_RENEW], 0,
	    "who has been renewed by another worker is not renewed again");
	settle_rig_pass(&rig, 2000, 500);
	is_int(rig.calls[IDEM_STORE_RENEW], 1,
	    "... until a third of its lease is over");
	idem_evidence(rig.folder, &n.owner, &e, NULL);
	ok(e.note.renewed_ms > rig.boot_ms - 3000, "which its file then says");
	idem_run_file_close(&f);
	settle_rig_close(&rig);
}

int
main(void)
{
	test_orphan();
	test_overdue();
	test_given_up();
	test_orphan_of_two();
	return done();
}
