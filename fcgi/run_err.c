/* SPDX-License-Identifier: ISC */
#include "run.h"

#include "lobby.h"

#define LINE_LEN_MAX 1024u
#define LINE_MORE 64u		/* that the log adds to each */
#define LOGGED_MAX (64u * 1024u)	/* of one run */
#define QUEUED_MAX (1024u * 1024u)	/* for a front, not yet taken */

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
	idem_buf_u8(line, '\0');
	if (idem_buf_ok(line))
		log_line_quoted(&r->lobby->log, "stderr",
		    (const char *)line->at, "run=%llu",
		    (unsigned long long)r->id);
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

/*
 * A web server's own log gets them raw, as its own programs' words.  Who floods
 * a front that does not read is not held up, for that may be a client's doing,
 * nor kept in memory: the rest goes to our log, up to its limit.
 */
static bool
to_front(struct run *r, struct idem_bytes bytes)
{
	if (!r->visit->conf->stderr_to_front || r->visit->conn == NULL ||
	    r->told || conn_queued(r->visit->conn) > QUEUED_MAX)
		return false;
	conn_write_err(r->visit->conn, bytes);
	return true;
}

void
run_err_bytes(struct run *r, struct idem_bytes bytes)
{
	if (!to_front(r, bytes))
		take(r, bytes.at, bytes.len);
}

void
run_err_end(struct run *r)
{
	flush(r);
	if (r->err_left_out > 0)
		log_line(&r->lobby->log, "run=%llu stderr-left-out=%llu",
		    (unsigned long long)r->id,
		    (unsigned long long)r->err_left_out);
	r->err_left_out = 0;
}
