/* SPDX-License-Identifier: ISC */
#include "doctor_ask.h"

#include <stdio.h>
#include <string.h>

#define PROBE_MS 1000
#define WORDS_MAX 8

static void
log_in(struct doctor_line *l, const struct doctor_asker *a, bool sentinel)
{
	const struct idem_redis_options *c = &a->conf->client;

	if (sentinel) {
		l->options.user = c->sentinel_user;
		l->options.password = c->sentinel_password;
	} else if (a->password != NULL) {
		l->options.user = a->user;
		l->options.password = a->password;
	}
}

void
doctor_line_open(struct doctor_line *l, const struct doctor_asker *a,
    const char *name, bool sentinel)
{
	*l = (struct doctor_line){
		.options = doctor_ask_options(a->conf)
	};
	l->urls[0] = name;
	l->options.topology = IDEM_REDIS_SINGLE;
	l->options.urls = l->urls;
	l->options.urls_len = 1;
	l->options.master = NULL;
	l->options.any_role = true;
	l->options.probe_ms = PROBE_MS;
	log_in(l, a, sentinel);
	l->client = idem_redis_new(&l->options, l->error, sizeof l->error);
}

void
doctor_line_say(struct doctor_line *l, struct idem_redis_waited *reply,
    const char *const *words)
{
	struct idem_bytes args[WORDS_MAX];
	struct idem_redis_command c = {
		.args = args,
		.deadline_ms = idem_boot_ms(&idem_clock_real) + DOCTOR_WAIT_MS,
	};

	for (; words[c.args_len] != NULL && c.args_len < WORDS_MAX;
	    c.args_len++)
		args[c.args_len] = idem_bytes_text(words[c.args_len]);
	*reply = (struct idem_redis_waited){ .class = IDEM_CLASS_REFUSED };
	if (l->client != NULL)
		idem_redis_wait(l->client, &c, reply);
	else
		snprintf(reply->error, sizeof reply->error, "%s", l->error);
}

void
doctor_line_close(struct doctor_line *l)
{
	idem_redis_free(l->client);
	l->client = NULL;
}
