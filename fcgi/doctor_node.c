/* SPDX-License-Identifier: ISC */
#include "doctor_ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* --- what it hides -------------------------------------------------------- */

void
doctor_node_hide(struct doctor_server *s, const char *what)
{
	size_t len = strlen(s->hidden);

	if (strstr(s->hidden, what) == NULL)
		snprintf(s->hidden + len, sizeof s->hidden - len, "%s%s",
		    len > 0 ? ", " : "", what);
}

/* --- INFO ----------------------------------------------------------------- */

/* False: there is no use in asking more. */
static bool
ask_info(struct doctor_line *l, struct doctor_server *s)
{
	static const char *const words[] = { "INFO", NULL };
	struct idem_redis_waited reply;
	bool good = true;

	doctor_line_say(l, &reply, words);
	if (reply.class == IDEM_OK && reply.value != NULL &&
	    reply.value->type == IDEM_REDIS_STRING) {
		doctor_info(reply.value->text, s);
	} else if (strstr(reply.error, "NOPERM") != NULL) {
		doctor_node_hide(s, "INFO");
	} else {
		snprintf(s->error, sizeof s->error, "%.*s",
		    (int)sizeof s->error - 1, reply.error[0] != '\0' ?
		    reply.error : "no answer");
		good = false;
	}
	idem_redis_waited_free(&reply);
	return good;
}

/* --- CONFIG GET ----------------------------------------------------------- */

/* Free bytes of the folder that it writes to, if that is here. */
static void
look_at_folder(struct idem_bytes path, struct doctor_server *s)
{
	char name[1000];
	struct statvfs v;

	if (s->local != DOCTOR_YES || path.len >= sizeof name || path.len == 0)
		return;
	memcpy(name, path.at, path.len);
	name[path.len] = '\0';
	/* In a container of its own the folder is another one, or none. */
	if (statvfs(name, &v) == 0)
		s->disk_free = (int64_t)(v.f_bavail * v.f_frsize);
}

static void
read_config(const struct idem_redis_value *v, struct doctor_server *s)
{
	size_t i;

	for (i = 0; i + 1 < v->len; i += 2) {
		if (idem_redis_is(&v->at[i], "dir"))
			look_at_folder(v->at[i + 1].text, s);
		else
			doctor_info_config(v->at[i].text, v->at[i + 1].text,
			    s);
	}
}

/* One at a time: servers before 7.0 take no more. */
static void
ask_config(struct doctor_line *l, struct doctor_server *s)
{
	static const char *const names[] = {
		"appendfsync", "save", "stop-writes-on-bgsave-error",
		"min-replicas-to-write", "min-replicas-max-lag",
		"replica-read-only", "protected-mode", "busy-reply-threshold",
		"lua-time-limit", "dir"
	};
	const char *words[] = { "CONFIG", "GET", NULL, NULL };
	struct idem_redis_waited reply;
	bool good = true;
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names && good; i++) {
		words[2] = names[i];
		doctor_line_say(l, &reply, words);
		good = reply.class == IDEM_OK && reply.value != NULL &&
		    reply.value->type == IDEM_REDIS_ARRAY;
		if (good)
			read_config(reply.value, s);
		else
			doctor_node_hide(s, "CONFIG GET (appendfsync, save, "
			    "min-replicas-to-write, protected-mode, "
			    "busy-reply-threshold, dir)");
		idem_redis_waited_free(&reply);
	}
}

/* --- its clock ------------------------------------------------------------ */

static int64_t
number(const struct idem_redis_value *v)
{
	char text[24];

	if (v->type != IDEM_REDIS_STRING || v->text.len == 0 ||
	    v->text.len >= sizeof text)
		return -1;
	memcpy(text, v->text.at, v->text.len);
	text[v->text.len] = '\0';
	return strtoll(text, NULL, 10);
}

static void
ask_clock(struct doctor_line *l, struct doctor_server *s)
{
	static const char *const words[] = { "TIME", NULL };
	int64_t before = idem_wall_ms(&idem_clock_real), after;
	struct idem_redis_waited reply;
	const struct idem_redis_value *v;

	doctor_line_say(l, &reply, words);
	after = idem_wall_ms(&idem_clock_real);
	v = reply.value;
	if (reply.class == IDEM_OK && v != NULL && v->len == 2 &&
	    v->type == IDEM_REDIS_ARRAY && number(&v->at[0]) > 0 &&
	    number(&v->at[0]) < INT64_MAX / 2000)
		s->clock_ms = number(&v->at[0]) * 1000 +
		    number(&v->at[1]) / 1000 - (before + after) / 2;
	else
		doctor_node_hide(s, "TIME");
	idem_redis_waited_free(&reply);
}

/* -------------------------------------------------------------------------- */

/* What its address says, and what we say to it. */
static void
look_at_name(const struct doctor_asker *a, const char *name,
    struct doctor_server *s)
{
	struct idem_redis_url url;
	char error[DOCTOR_WHY];
	bool local;

	snprintf(s->name, sizeof s->name, "%.*s", DOCTOR_NAME - 1, name);
	if (!idem_redis_url_read(name, &url, error, sizeof error))
		return;
	/* Its password is nobody's business. */
	if (url.kind == IDEM_REDIS_UNIX)
		snprintf(s->name, sizeof s->name, "%s", url.host);
	else
		doctor_info_name(idem_bytes_text(url.host), url.port, s->name);
	local = url.kind == IDEM_REDIS_UNIX || doctor_info_is_local(url.host);
	s->local = local ? DOCTOR_YES : DOCTOR_NO;
	s->tls = url.kind == IDEM_REDIS_TLS ? DOCTOR_YES : DOCTOR_NO;
	s->password = url.password[0] != '\0' ||
	    a->conf->client.password != NULL || a->password != NULL ?
	    DOCTOR_YES : DOCTOR_NO;
}

void
doctor_node_ask(const struct doctor_asker *a, const char *name,
    enum doctor_role wanted, struct doctor_server *s)
{
	struct doctor_line line;

	*s = doctor_server_unknown;
	s->use = a->use;
	s->wanted = wanted;
	look_at_name(a, name, s);
	doctor_line_open(&line, a, name, false);
	if (ask_info(&line, s)) {
		ask_config(&line, s);
		ask_clock(&line, s);
		if (wanted == DOCTOR_MASTER)
			doctor_keys_count(a, &line, s);
	}
	doctor_line_close(&line);
}
