/* SPDX-License-Identifier: ISC */
#include "server_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int
server_stream(struct server *s, struct server_stream *out)
{
	const char *const words[] = { "INFO", "replication", NULL };
	struct server_talk t;
	struct idem_bytes reply;
	char info[4096];
	bool done = false;

	*out = (struct server_stream){ .offset = 0 };
	if (s->in == NULL || s->frozen) {
		errno = ESRCH;
		return -1;
	}
	server_talk_open(&t, s);
	server_talk_words(&t, words);
	reply = server_talk_get(&t);
	if (reply.len > 0 && reply.len < sizeof info) {
		memcpy(info, reply.at, reply.len);
		info[reply.len] = '\0';
		done = read_stream(info, out);
	}
	server_talk_close(&t);
	errno = EPROTO;
	return done ? 0 : -1;
}
