/* SPDX-License-Identifier: ISC */
#include "run.h"

#include "lobby.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#define READ_SIZE (16 * 1024)
#define LINE_LEN_MAX 1024u
#define LINE_MORE 64u		/* that the log adds to each */
#define LOGGED_MAX (64u * 1024u)	/* of one run */

static struct run *
run_of(struct watch *w)
{
	return (struct run *)((char *)w - offsetof(struct run, err));
}

static void
flush(struct run *r)
{
	struct idem_buf *line = &r->err_line;
	size_t i;

	if (line->len == 0)
		return;
	for (i = 0; i < line->len; i++)
		if (line->at[i] < ' ')
			line->at[i] = ' ';
		else if (line->at[i] == '"')	/* it would end the value */
			line->at[i] = '\'';
	if (idem_buf_ok(line))
		log_line(&r->lobby->log, "run=%llu stderr=\"%.*s\"",
		    (unsigned long long)r->id, (int)line->len,
		    (const char *)line->at);
	idem_buf_clear(line);
	r->err_len += LINE_MORE;
}

static void
take(struct run *r, const char *at, size_t len)
{
	size_t i;

	for (i = 0; i < len && r->err_len <= LOGGED_MAX; i++) {
		if (at[i] != '\n' && at[i] != '\0')
			idem_buf_u8(&r->err_line, (uint8_t)at[i]);
		r->err_len++;
		if (at[i] == '\n' || r->err_line.len >= LINE_LEN_MAX)
			flush(r);
	}
	r->err_left_out += len - i;
}

static ssize_t
read_some(struct run *r)
{
	char at[READ_SIZE];
	ssize_t n = read(r->err.fd, at, sizeof at);

	if (n > 0)
		take(r, at, (size_t)n);
	return n;
}

void
run_err_close(struct run *r)
{
	int i;

	if (r->err.fd == -1)
		return;
	/* As much as a pipe holds: a child it left may write for ever. */
	for (i = 0; i < RUN_PIPE_SIZE / READ_SIZE && read_some(r) > 0; i++)
		;
	flush(r);
	if (r->err_left_out > 0)
		log_line(&r->lobby->log, "run=%llu stderr-left-out=%llu",
		    (unsigned long long)r->id,
		    (unsigned long long)r->err_left_out);
	loop_close(r->lobby->loop, &r->err);
}

void
run_err_ready(struct watch *w, uint32_t events)
{
	struct run *r = run_of(w);
	ssize_t n = read_some(r);

	(void)events;
	if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR))
		run_err_close(r);
}
