/* SPDX-License-Identifier: ISC */
#include "ctl.h"

#include "saved.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- which run ------------------------------------------------------------ */

/* The run files of the key that the digits mean, and the last one's owner. */
struct found {
	const char *digits;
	struct idem_digest key;
	struct idem_owner owner;
	uint32_t attempt;
	size_t n;
	bool several;		/* keys */
};

/* One that is noted later of the same attempt did not win it. */
static void
take(struct found *f, const struct idem_note *n)
{
	bool begun = n->state == IDEM_NOTE_BEGUN ||
	    n->state == IDEM_NOTE_ORPHAN;

	if (!begun || !ctl_begins(&n->key, f->digits))
		return;
	if (f->n > 0 && memcmp(n->key.at, f->key.at, sizeof f->key.at) != 0)
		f->several = true;
	if (f->n++ > 0 && n->attempt <= f->attempt)
		return;
	f->key = n->key;
	f->owner = n->owner;
	f->attempt = n->attempt;
}

/* By the files alone: what a store says of the key does not matter here. */
static int
find(const struct ctl *c, struct found *f)
{
	struct idem_journal_walk w;
	struct idem_evidence e;
	struct idem_owner owner;
	int unknown;

	for (unknown = 0; unknown < 2; unknown++) {
		if (!idem_journal_walk(c->folder, unknown != 0, &w))
			return ctl_say(c, CTL_FAILED, "the run folder cannot "
			    "be read");
		while (idem_journal_next(&w, &owner)) {
			idem_evidence(c->folder, &owner, &e, NULL);
			if (e.noted)
				take(f, &e.note);
		}
		idem_journal_walk_end(&w);
	}
	if (f->several)
		return ctl_say(c, CTL_NO, "several keys begin with %s: give "
		    "more digits", f->digits);
	if (f->n == 0)
		return ctl_say(c, CTL_NO, "no run of it is known on this "
		    "host, or it was settled");
	if (f->n > 1)
		ctl_say(c, CTL_DONE, "of %zu runs the last one, attempt %"
		    PRIu32, f->n, f->attempt);
	return CTL_DONE;
}

/* --- its output ----------------------------------------------------------- */

static int
copy(const struct ctl *c, int fd, int64_t len)
{
	char piece[65536];
	int64_t at = 0;
	size_t want;
	ssize_t n;

	while (at < len) {
		want = len - at < (int64_t)sizeof piece ? (size_t)(len - at) :
		    sizeof piece;
		n = pread(fd, piece, want, (off_t)(IDEM_NOTE_SIZE + at));
		if (n == 0 || (n < 0 && errno != EINTR))
			return ctl_say(c, CTL_FAILED, "its file: %s",
			    n == 0 ? "it was cut" : strerror(errno));
		if (n > 0 && fwrite(piece, 1, (size_t)n, stdout) != (size_t)n)
			return CTL_DONE;	/* main says why */
		at += n > 0 ? n : 0;
	}
	return CTL_DONE;
}

/* What idemd had saved of an application's answer, as the application said
   it. */
static int
say_saved(const struct ctl *c, int fd, const struct idem_evidence *e)
{
	struct idem_blob *blob = idem_evidence_bytes(fd, e, UINT64_MAX);
	struct idem_saved s;
	int status = CTL_DONE;

	if (blob == NULL || !idem_saved_read(idem_blob_bytes(blob), &s)) {
		status = ctl_say(c, CTL_FAILED, "its file cannot be read");
	} else {
		if (s.has_status)
			printf("Status: %.*s\r\n", (int)s.status.len,
			    (const char *)s.status.at);
		fwrite(s.lines.at, 1, s.lines.len, stdout);
		fputs("\r\n", stdout);
		fwrite(s.body.at, 1, s.body.len, stdout);
	}
	idem_blob_drop(blob);
	return status;
}

static int
say(const struct ctl *c, const struct idem_owner *owner)
{
	struct idem_evidence e;
	int fd, status;
	int64_t len;

	idem_evidence(c->folder, owner, &e, &fd);
	if (fd < 0)
		return ctl_say(c, CTL_NO, "it was settled in this moment");
	len = ctl_run_output(fd, &e);
	if (e.ended && e.trailer.saved)
		status = say_saved(c, fd, &e);
	else if (len <= 0)
		status = ctl_say(c, CTL_NO, "nothing that it has written is "
		    "known here");
	else
		status = copy(c, fd, len);
	close(fd);
	if (status == CTL_DONE && !e.ended)
		ctl_say(c, CTL_DONE, "not all of it: %s", e.lock ==
		    IDEM_RUN_HELD ? "it still runs" : "its end is not known");
	return status;
}

int
ctl_output(struct ctl *c)
{
	char digits[CTL_KEY];
	struct found f = { .digits = digits };
	int status;

	if (c->args_len > 1)
		return ctl_say(c, CTL_WRONG, "one key at a time");
	status = ctl_conf(c);
	if (status == CTL_DONE)
		status = ctl_digits(c, c->args[0], digits);
	if (status != CTL_DONE)
		return status;
	ctl_open_folder(c);
	if (c->folder < 0)
		return ctl_say(c, CTL_FAILED, "there is no run folder here, or "
		    "none that can be opened");
	status = find(c, &f);
	return status == CTL_DONE ? say(c, &f.owner) : status;
}
