/* SPDX-License-Identifier: ISC */
#include "server_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* What makes it quick to start and to copy, and what /proc can say of it. */
#define COMMON \
	"daemonize no\n" \
	"bind 127.0.0.1\n" \
	"logfile \"\"\n" \
	"set-proc-title no\n" \
	"databases 1\n"
/*
 * The copy goes by a file.  Sent without one the stream begins only at the
 * replica's next word, a second later, if its first comes before the master has
 * noticed that the child is done: until then the replica has nothing.
 * hz: that a child is done is noticed soon.
 */
#define REPLICATION \
	"hz 100\n" \
	"repl-diskless-sync no\n" \
	"repl-diskless-load swapdb\n" \
	"repl-ping-replica-period 1\n"

static const char *
persistence(enum plan_persistence p)
{
	switch (p) {
	case PLAN_PERSIST_NONE:
		return "save \"\"\nappendonly no\n";
	case PLAN_PERSIST_RDB:	/* as Redis comes */
		return "save 3600 1 300 100 60 10000\nappendonly no\n";
	case PLAN_PERSIST_AOF_EVERYSEC:
		return "save \"\"\nappendonly yes\nappendfsync everysec\n";
	case PLAN_PERSIST_AOF_ALWAYS:
		return "save \"\"\nappendonly yes\nappendfsync always\n";
	}
	return "";
}

static void
store(struct idem_buf *out, const struct server *s)
{
	const struct plan_store *plan = s->plan;
	size_t i;

	idem_buf_printf(out, "unixsocket %s\nunixsocketperm 700\ndir %s\n",
	    s->socket, s->in->data);
	idem_buf_text(out, REPLICATION);
	idem_buf_text(out, persistence(plan->persistence));
	if (s->in->master_port != 0)
		idem_buf_printf(out, "replicaof 127.0.0.1 %d\n",
		    s->in->master_port);
	if (plan->maxmemory != NULL)
		idem_buf_printf(out, "maxmemory %s\n", plan->maxmemory);
	if (plan->maxmemory_policy != NULL)
		idem_buf_printf(out, "maxmemory-policy %s\n",
		    plan->maxmemory_policy);
	for (i = 0; i < plan->configs; i++)
		idem_buf_printf(out, "%s %s\n", plan->config[i].name,
		    plan->config[i].value);
}

static void
sentinel(struct idem_buf *out, const struct server *s)
{
	const char *name = s->plan->name;

	idem_buf_printf(out, "dir %s\n"
	    "sentinel monitor %s 127.0.0.1 %d 2\n"
	    "sentinel down-after-milliseconds %s 500\n"
	    "sentinel failover-timeout %s 1000\n", s->in->data, name,
	    s->in->watched->port, name, name);
}

int
server_conf_write(const struct server *s)
{
	struct idem_buf text = { 0 };
	int fd, done = -1;

	idem_buf_text(&text, COMMON);
	idem_buf_printf(&text, "port %d\n", s->port);
	if (s->in->watched != NULL)
		sentinel(&text, s);
	else
		store(&text, s);
	fd = open(s->in->conf, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	errno = fd == -1 ? errno : idem_buf_ok(&text) ? EIO : ENOMEM;
	if (fd != -1 && idem_buf_ok(&text) &&
	    write(fd, text.at, text.len) == (ssize_t)text.len)
		done = 0;
	if (fd != -1)
		close(fd);
	idem_buf_free(&text);
	return done;
}
