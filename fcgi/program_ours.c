/* SPDX-License-Identifier: ISC */
#include "program_ours.h"

#include <inttypes.h>
#include <string.h>

static void
say(struct idem_buf *texts, const char *name, const char *value)
{
	if (value == NULL)
		return;
	idem_buf_printf(texts, "%s=%s", name, value);
	idem_buf_u8(texts, '\0');
}

static void
say_key(struct idem_buf *texts, const struct program_more *more)
{
	char key[2 * IDEM_DIGEST_LEN + 1];

	idem_hex(more->key.at, sizeof more->key.at, key);
	say(texts, "IDEMPOTENCY_KEY", key);
	idem_buf_printf(texts, "IDEMPOTENCY_ATTEMPT=%" PRIu32, more->attempt);
	idem_buf_u8(texts, '\0');
	idem_buf_printf(texts, "IDEMPOTENCY_DEADLINE=%" PRId64,
	    more->deadline_ms);
	idem_buf_u8(texts, '\0');
}

void
program_ours_write(struct idem_buf *texts, const struct program_more *more)
{
	const struct program *p = more->program;

	say(texts, "SCRIPT_FILENAME", p->script_filename);
	say(texts, "SCRIPT_NAME", p->script_name);
	say(texts, "PATH_INFO", p->path_info);
	if (more->body_len > 0) {
		idem_buf_printf(texts, "CONTENT_LENGTH=%" PRIu64,
		    more->body_len);
		idem_buf_u8(texts, '\0');
	}
	if (more->keyed)
		say_key(texts, more);
	if (more->recovery)
		say(texts, "IDEM_RECOVERY", "1");
}

const char *
program_ours_next(const struct idem_buf *texts, const char *text)
{
	const char *start = (const char *)texts->at;

	if (!idem_buf_ok(texts) || texts->len == 0)
		return NULL;
	if (text == NULL)
		return start;
	text += strlen(text) + 1;
	return text < start + texts->len ? text : NULL;
}
