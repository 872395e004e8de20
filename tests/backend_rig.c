/* SPDX-License-Identifier: ISC */
#include "backend_rig.h"

#include "fcgi_rec.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define AWAIT_MS 120000
#define FIRST_BYTES 4096

/* --- what is told --------------------------------------------------------- */

static void
add_first(struct idem_buf *to, struct idem_bytes bytes)
{
	size_t room = FIRST_BYTES - to->len;

	idem_buf_append(to, bytes.at, bytes.len < room ? bytes.len : room);
}

static void
on_out(void *arg, struct idem_bytes bytes)
{
	struct got *g = arg;
	const uint8_t *at = bytes.at;
	uint64_t before = g->out_len;
	size_t i;

	g->too_early |= !g->started;
	for (i = 0; i < bytes.len; i++)
		if (before + i >= g->pattern_from &&
		    at[i] != app_pattern(before + i - g->pattern_from))
			g->out_wrong = true;
	g->outs++;
	g->out_len += bytes.len;
	add_first(&g->out, bytes);
	if (g->pause_at > before && g->out_len >= g->pause_at)
		backend_pause(g->call, true);
	if (g->stop_at != 0 && g->out_len >= g->stop_at) {
		backend_stop(g->call);
		g->call = NULL;
	}
}

static void
on_err(void *arg, struct idem_bytes bytes)
{
	struct got *g = arg;

	g->too_early |= !g->started;
	g->err_len += bytes.len;
	add_first(&g->err, bytes);
}

static void
on_over(void *arg, const struct backend_end *end)
{
	struct got *g = arg;

	g->too_early |= !g->started;
	g->overs++;
	g->end = *end;
	g->call = NULL;
	snprintf(g->why, sizeof g->why, "%s",
	    end->why != NULL ? end->why : "");
	g->end.why = g->why;
}

static const struct backend_user user = {
	.out = on_out, .err = on_err, .over = on_over
};

/* --- the loop ------------------------------------------------------------- */

static int64_t
boot_ms(void *arg)
{
	const struct back *b = arg;

	return (b->held_ms != 0 ? b->held_ms :
	    idem_boot_ms(&idem_clock_real)) + b->later_ms;
}

void
back_open(struct back *b)
{
	*b = (struct back){ .clock = { boot_ms, boot_ms, NULL } };
	b->clock.arg = b;
	b->loop = loop_new(&b->clock);
	if (b->loop != NULL)
		b->all = backends_new(b->loop, &user);
	if (b->all == NULL)
		bail_out("no loop");
}

void
back_close(struct back *b)
{
	backends_free(b->all);
	loop_free(b->loop);
}

int
back_body(uint64_t len)
{
	uint8_t room[4096];
	uint64_t at = 0;
	size_t i;
	int fd;

	if (len == 0)
		return -1;
	fd = memfd_create("body", MFD_CLOEXEC);
	while (at < len) {
		for (i = 0; i < sizeof room && at + i < len; i++)
			room[i] = app_pattern(at + i);
		if (write(fd, room, i) != (ssize_t)i)
			bail_out("body: %s", strerror(errno));
		at += i;
	}
	return fd;
}

void
back_params(struct idem_buf *to, size_t len)
{
	static const char name[] = "NAME";
	struct idem_bytes value;
	size_t piece;
	char *text = malloc(len);

	if (text == NULL)
		bail_out("no memory");
	memset(text, 'v', len);
	/* A pair has 2 or 5 bytes of lengths before it. */
	while (to->len < len) {
		piece = len - to->len;
		if (piece > 1000)
			piece = 500;
		value = (struct idem_bytes){ text, piece };
		if (piece < 6 + 128)
			idem_fcgi_pair_write(to, (struct idem_bytes){ name,
			    piece > 6 ? 4 : piece - 2 },
			    (struct idem_bytes){ text,
			    piece > 6 ? piece - 6 : 0 });
		else {
			value.len -= 9;
			idem_fcgi_pair_write(to,
			    (struct idem_bytes){ name, 4 }, value);
		}
	}
	free(text);
}

bool
back_start(struct back *b, struct got *g, const struct backend_request *r)
{
	g->back = b;
	g->call = backend_start(b->all, r, g);
	g->started = true;
	return g->call != NULL;
}

static int64_t
now_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}

static void
turn(struct back *b, int64_t ms)
{
	b->turns++;
	if (loop_turn(b->loop, boot_ms(b) + ms) == -1)
		bail_out("loop: %s", strerror(errno));
}

void
back_await(struct got *g)
{
	int64_t until_ms = now_ms() + AWAIT_MS;

	while (g->call != NULL) {
		turn(g->back, 100);
		if (now_ms() > until_ms)
			bail_out("a call is not over after %d ms", AWAIT_MS);
	}
}

void
back_await_words(struct back *b, const struct app *app, int words)
{
	int64_t until_ms = now_ms() + AWAIT_MS;

	while (app->seen->words < words) {
		if (b != NULL)
			turn(b, 1);
		else
			usleep(1000);
		if (now_ms() > until_ms || app->seen->wrong[0] != '\0')
			bail_out("the application hangs: %s", app->seen->wrong);
	}
}

void
back_turns(struct back *b, int64_t ms)
{
	int64_t until_ms = now_ms() + ms;

	do
		turn(b, until_ms - now_ms());
	while (now_ms() < until_ms);
}

void
got_free(struct got *g)
{
	idem_buf_free(&g->out);
	idem_buf_free(&g->err);
	*g = (struct got){ 0 };
}

bool
got_is(const struct got *g, const char *how, const char *what, ...)
{
	static const char *const words[] = {
		[BACKEND_ENDED] = "ended",
		[BACKEND_NOT_STARTED] = "not-started",
		[BACKEND_CUT] = "cut", [BACKEND_DIED] = "died"
	};
	char text[256], got[64];
	va_list args;

	va_start(args, what);
	vsnprintf(text, sizeof text, what, args);
	va_end(args);
	if (g->overs != 1)
		snprintf(got, sizeof got, "told %d times", g->overs);
	else if (g->end.how == BACKEND_ENDED)
		snprintf(got, sizeof got, "ended %u", g->end.app_status);
	else
		snprintf(got, sizeof got, "%s%s", words[g->end.how],
		    g->end.busy ? " busy" : "");
	if (g->too_early)
		snprintf(got, sizeof got, "told before start had returned");
	if (is(got, how, "%s", text))
		return true;
	note("why: %s", g->why);
	return false;
}

struct backend_request
back_request(char *const *addresses)
{
	return (struct backend_request){
		.addresses = addresses, .params = idem_bytes_text("\1\1AB"),
		.body = -1, .fresh = true,
		.connect_ms = 100000, .first_ms = 100000, .limit_ms = 100000
	};
}

void
back_call(struct back *b, const struct backend_request *r, const char *how,
    const char *out, const char *what)
{
	struct got g = { 0 };

	if (!back_start(b, &g, r))
		bail_out("no call");
	back_await(&g);
	got_is(&g, how, "%s", what);
	if (out != NULL)
		is_bytes(g.out.at, g.out.len, out, strlen(out),
		    "... with its answer");
	got_free(&g);
}

size_t
back_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t n = 0;

	if (folder == NULL)
		bail_out("no /proc");
	while (readdir(folder) != NULL)
		n++;
	(void)closedir(folder);
	return n;
}
