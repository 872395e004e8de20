/* SPDX-License-Identifier: ISC */
#include "doctor.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- pieces --------------------------------------------------------------- */

/* Cut off what does not fit; a server's words are shown, not obeyed. */
static void
copy(struct idem_bytes from, char *to, size_t size)
{
	size_t n = from.len < size ? from.len : size - 1;

	if (n > 0)
		memcpy(to, from.at, n);
	to[n] = '\0';
}

/* Nothing that is counted is so much that sums of it could overflow. */
#define NUMBER_MAX (INT64_MAX / 1000)

static int64_t
number(struct idem_bytes text)
{
	char copied[32], *end;
	long long n;

	copy(text, copied, sizeof copied);
	n = strtoll(copied, &end, 10);
	return end == copied || n < 0 || n > NUMBER_MAX ? DOCTOR_UNKNOWN : n;
}

/* Up to any of the ends; *rest is what follows that byte. */
static struct idem_bytes
part(struct idem_bytes text, const char *ends, struct idem_bytes *rest)
{
	const char *at = text.at;
	struct idem_bytes first = { at, 0 };

	while (first.len < text.len && (at[first.len] == '\0' ||
	    strchr(ends, at[first.len]) == NULL))
		first.len++;
	*rest = (struct idem_bytes){ NULL, 0 };
	if (first.len < text.len)
		*rest = (struct idem_bytes){
			at + first.len + 1, text.len - first.len - 1
		};
	return first;
}

static bool
begins(struct idem_bytes text, const char *with)
{
	size_t len = strlen(with);

	return text.len >= len && memcmp(text.at, with, len) == 0;
}

static enum doctor_truth
truth(struct idem_bytes value, const char *yes)
{
	return idem_bytes_is(value, yes) ? DOCTOR_YES : DOCTOR_NO;
}

/* "7.0.15": 70015. */
static int64_t
version_number(struct idem_bytes text)
{
	struct idem_bytes rest = text;
	int64_t all = 0, n;
	int i;

	for (i = 0; i < 3; i++) {
		n = number(part(rest, ".", &rest));
		if (n == DOCTOR_UNKNOWN && i == 0)
			return DOCTOR_UNKNOWN;
		all = all * 100 + (n == DOCTOR_UNKNOWN ? 0 : n % 100);
	}
	return all;
}

bool
doctor_info_name(struct idem_bytes host, int64_t port, char name[DOCTOR_NAME])
{
	bool six = host.len > 0 && memchr(host.at, ':', host.len) != NULL;
	int n;

	if (host.len == 0 || host.len > 255 || port < 1 || port > 65535 ||
	    memchr(host.at, '\0', host.len) != NULL)
		return false;
	n = snprintf(name, DOCTOR_NAME, "%s%.*s%s:%d", six ? "[" : "",
	    (int)host.len, (const char *)host.at, six ? "]" : "", (int)port);
	return n > 0 && n < DOCTOR_NAME;
}

bool
doctor_info_is_local(const char *host)
{
	return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 ||
	    strcmp(host, "localhost") == 0;
}

/* --- replicas ------------------------------------------------------------- */

struct replica {
	char name[DOCTOR_NAME];
	bool online;
	int64_t lag_s;
};

static bool
begins_digit(const char *at)
{
	return *at >= '0' && *at <= '9';
}

/* "slave0:ip=10.0.0.2,port=6379,state=online,offset=14,lag=0" */
static bool
read_replica(struct idem_bytes line, struct replica *r)
{
	struct idem_bytes rest, name, value, host = { NULL, 0 };
	int64_t port = 0;

	*r = (struct replica){ .lag_s = DOCTOR_UNKNOWN };
	name = part(line, ":", &rest);
	if (!begins(name, "slave") || name.len < 6 ||
	    !begins_digit((const char *)name.at + 5))
		return false;
	while (rest.len > 0) {
		value = part(rest, ",\r", &rest);
		name = part(value, "=", &value);
		if (idem_bytes_is(name, "ip"))
			host = value;
		else if (idem_bytes_is(name, "port"))
			port = number(value);
		else if (idem_bytes_is(name, "state"))
			r->online = idem_bytes_is(value, "online");
		else if (idem_bytes_is(name, "lag"))
			r->lag_s = number(value);
	}
	return doctor_info_name(host, port, r->name);
}

bool
doctor_info_replica(struct idem_bytes text, size_t i, char name[DOCTOR_NAME])
{
	struct replica r;
	size_t n = 0;

	while (text.len > 0)
		if (read_replica(part(text, "\n", &text), &r) && n++ == i) {
			memcpy(name, r.name, DOCTOR_NAME);
			return true;
		}
	return false;
}

/* The one that is farthest behind. */
static void
add_replica(const struct replica *r, struct doctor_server *s)
{
	int64_t lag_s = r->online ? r->lag_s : INT64_MAX;

	if (lag_s == DOCTOR_UNKNOWN || lag_s < s->lag_s)
		return;
	s->lag_s = lag_s;
	memcpy(s->laggard, r->name, sizeof s->laggard);
}

/* --- lines of INFO -------------------------------------------------------- */

static void
add_version(struct idem_bytes value, struct doctor_server *s)
{
	copy(value, s->version, sizeof s->version);
	s->version_number = version_number(value);
}

static void
add_role(struct idem_bytes value, struct doctor_server *s)
{
	s->role = idem_bytes_is(value, "master") ? DOCTOR_MASTER :
	    idem_bytes_is(value, "slave") ? DOCTOR_REPLICA :
	    DOCTOR_ROLE_UNKNOWN;
}

/* "db0:keys=3,expires=0,avg_ttl=0" */
static void
add_database(struct idem_bytes value, struct doctor_server *s)
{
	struct idem_bytes rest, name;
	int64_t n;

	value = part(value, ",", &rest);
	name = part(value, "=", &value);
	n = idem_bytes_is(name, "keys") ? number(value) : DOCTOR_UNKNOWN;
	if (n != DOCTOR_UNKNOWN)
		s->keys = (s->keys == DOCTOR_UNKNOWN ? 0 : s->keys) + n;
}

static void
add_line(struct idem_bytes name, struct idem_bytes value,
    struct doctor_server *s)
{
	static const struct { const char *name; size_t offset; } numbers[] = {
		{ "maxmemory", offsetof(struct doctor_server, maxmemory) },
		{ "used_memory", offsetof(struct doctor_server, used) },
		{ "evicted_keys", offsetof(struct doctor_server, evicted) },
		{ "connected_slaves", offsetof(struct doctor_server,
		  replicas) },
	};
	int64_t n;
	size_t i;

	for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (idem_bytes_is(name, numbers[i].name)) {
			n = number(value);
			memcpy((char *)s + numbers[i].offset, &n, sizeof n);
		}
	if (idem_bytes_is(name, "redis_version"))
		add_version(value, s);
	else if (idem_bytes_is(name, "role"))
		add_role(value, s);
	else if (idem_bytes_is(name, "maxmemory_policy"))
		copy(value, s->policy, sizeof s->policy);
	else if (idem_bytes_is(name, "aof_enabled"))
		s->aof = truth(value, "1");
	else if (idem_bytes_is(name, "rdb_last_bgsave_status"))
		s->saved = truth(value, "ok");
	else if (idem_bytes_is(name, "aof_last_write_status"))
		s->aof_written = truth(value, "ok");
	else if (idem_bytes_is(name, "slave_read_only"))
		s->replica_read_only = truth(value, "1");
	else if (name.len > 2 && begins(name, "db"))
		add_database(value, s);
}

void
doctor_info(struct idem_bytes text, struct doctor_server *s)
{
	struct idem_bytes line, name, value;
	struct replica r;

	while (text.len > 0) {
		line = part(text, "\r\n", &text);
		name = part(line, ":", &value);
		if (read_replica(line, &r))
			add_replica(&r, s);
		else if (value.len > 0)
			add_line(name, value, s);
	}
	/* A server without keys names no database. */
	if (s->version[0] != '\0' && s->keys == DOCTOR_UNKNOWN)
		s->keys = 0;
}

/* --- CONFIG GET ----------------------------------------------------------- */

void
doctor_info_config(struct idem_bytes name, struct idem_bytes value,
    struct doctor_server *s)
{
	if (idem_bytes_is(name, "appendfsync"))
		copy(value, s->fsync, sizeof s->fsync);
	else if (idem_bytes_is(name, "save")) {
		copy(value, s->save, sizeof s->save);
		s->save_known = true;
	} else if (idem_bytes_is(name, "stop-writes-on-bgsave-error"))
		s->stops = truth(value, "yes");
	else if (idem_bytes_is(name, "protected-mode"))
		s->protected_mode = truth(value, "yes");
	else if (idem_bytes_is(name, "replica-read-only") ||
	    idem_bytes_is(name, "slave-read-only"))
		s->replica_read_only = truth(value, "yes");
	else if (idem_bytes_is(name, "min-replicas-to-write") ||
	    idem_bytes_is(name, "min-slaves-to-write"))
		s->replicas_min = number(value);
	else if (idem_bytes_is(name, "min-replicas-max-lag") ||
	    idem_bytes_is(name, "min-slaves-max-lag"))
		s->lag_max_s = number(value);
	else if (idem_bytes_is(name, "busy-reply-threshold") ||
	    idem_bytes_is(name, "lua-time-limit"))
		s->busy_ms = number(value);
}
