/* SPDX-License-Identifier: ISC */
#include "server_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INFO_SIZE 8192	/* bytes, of a section */

/* What stands behind "NAME:" at the begin of a line of INFO; NULL: it has no
   such line.  The text ends with a NUL. */
static const char *
field(const char *info, const char *name)
{
	size_t len = strlen(name);
	const char *at;

	for (at = info; (at = strstr(at, name)) != NULL; at += len)
		if ((at == info || at[-1] == '\n') && at[len] == ':')
			return at + len + 1;
	return NULL;
}

static bool
says(const char *info, const char *name, const char *value)
{
	const char *at = field(info, name);

	return at != NULL && strncmp(at, value, strlen(value)) == 0 &&
	    at[strlen(value)] == '\r';
}

static bool
number(const char *info, const char *name, int64_t *out)
{
	const char *at = field(info, name);

	if (at == NULL || *at < '0' || *at > '9')
		return false;
	*out = strtoll(at, NULL, 10);
	return true;
}

/* A replica that copies its master has an offset already, and not the data. */
static bool
read_stream(const char *info, struct server_stream *out)
{
	out->master = says(info, "role", "master");
	if (out->master)
		return number(info, "master_repl_offset", &out->offset);
	out->follows = says(info, "master_link_status", "up") &&
	    says(info, "master_sync_in_progress", "0");
	return number(info, "slave_repl_offset", &out->offset);
}

/* False and errno: it does not say. */
static bool
ask(struct server *s, const char *section, char info[INFO_SIZE])
{
	const char *const words[] = { "INFO", section, NULL };
	struct server_talk t;
	struct idem_bytes reply;
	bool heard;

	errno = ESRCH;
	if (s->in == NULL || s->frozen)
		return false;
	server_talk_open(&t, s);
	server_talk_words(&t, words);
	reply = server_talk_get(&t);
	heard = reply.len > 0 && reply.len < INFO_SIZE;
	if (heard) {
		memcpy(info, reply.at, reply.len);
		info[reply.len] = '\0';
	}
	server_talk_close(&t);
	errno = EPROTO;
	return heard;
}

int
server_stream(struct server *s, struct server_stream *out)
{
	char info[INFO_SIZE];

	*out = (struct server_stream){ .offset = 0 };
	return ask(s, "replication", info) && read_stream(info, out) ? 0 : -1;
}

int64_t
server_scripts(struct server *s)
{
	char info[INFO_SIZE];
	int64_t n;

	return ask(s, "memory", info) && number(info,
	    "number_of_cached_scripts", &n) ? n : -1;
}
