/* SPDX-License-Identifier: ISC */
#include "report_private.h"

#include "now.h"

#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS 80u		/* where nobody says */
#define COLUMNS_MIN 20u
#define BAR 20u			/* cells */
#define EVERY_MS 1000
#define CLEAR "\r\033[K"

static size_t
columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 ||
	    size.ws_col < COLUMNS_MIN)
		return COLUMNS;
	return size.ws_col;
}

static void
put_cells(struct idem_buf *out, size_t done, size_t points)
{
	size_t full = points > 0 ? done * BAR / points : 0, i;

	idem_buf_u8(out, '[');
	for (i = 0; i < BAR; i++)
		idem_buf_u8(out, i < full ? '#' : '.');
	idem_buf_u8(out, ']');
}

/* What has room in one line; the last column stays free, or some wrap. */
void
report_bar(struct report_bar *bar, size_t done, size_t points,
    const char *title, unsigned run, unsigned runs)
{
	struct idem_buf line = { 0 }, cut = { 0 };
	int64_t now = now_ms();

	if (bar->began_ms == 0)
		bar->began_ms = now;
	if (bar->shown_ms != 0 && now - bar->shown_ms < EVERY_MS)
		return;
	bar->shown_ms = now;
	bar->there = true;
	put_cells(&line, done, points);
	idem_buf_printf(&line, " %zu/%zu  %lld s  run %u/%u  ", done, points,
	    (long long)(now - bar->began_ms) / 1000, run, runs);
	report_text(&line, title, 0);
	report_text(&cut, report_buf_text(&line), columns() - 2);
	fprintf(stderr, CLEAR "%s", report_buf_text(&cut));
	fflush(stderr);
	idem_buf_free(&line);
	idem_buf_free(&cut);
}

void
report_bar_clear(struct report_bar *bar)
{
	if (!bar->there)
		return;
	bar->there = false;
	fputs(CLEAR, stderr);
	fflush(stderr);
}
