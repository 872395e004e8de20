/* SPDX-License-Identifier: ISC */
#ifndef DOCTOR_ASK_H
#define DOCTOR_ASK_H

#include "doctor.h"

/* A server has so long for each reply, with its greeting if there is one. */
#define DOCTOR_WAIT_MS 2000

/*
 * Facts.  All of it waits, at most some seconds a server, and changes nothing
 * but the self-test's own key.
 */
struct doctor_asker {
	const struct conf_redis *conf;
	const char *user, *password;	/* of who looks; NULL: idem's own */
	unsigned use;		/* DOCTOR_CACHE, ... */
	bool plain_values;	/* some keys hold no records (scheme) */
	/* For servers that are only named: */
	struct idem_redis_url first;	/* like the first of the file's */
	char database[16];		/* "/3", or "" */
};

/* doctor_ask.c: the configuration's, but a server has at least so long. */
struct idem_redis_options doctor_ask_options(const struct conf_redis *);

/* doctor_ask.c: a redis {}, with all servers that belong to it.  False: no
   memory. */
bool doctor_ask(const struct conf_redis *, unsigned use, bool plain_values,
    const char *user, const char *password, struct doctor_redis *);
void doctor_ask_free(struct doctor_redis *);
/* Whose ledger is registered there; `ours` is our ledger's history. */
enum doctor_generation doctor_ask_generation(const struct conf_redis *,
    const struct idem_history *ours);

/* doctor_sentinel.c, doctor_cluster.c: who is there.  False: no memory. */
bool doctor_ask_sentinels(const struct doctor_asker *, struct doctor_redis *);
bool doctor_ask_cluster(const struct doctor_asker *, struct doctor_redis *);
/* One more server, asked, unless it is there already. */
bool doctor_ask_server(const struct doctor_asker *, const char *name,
    enum doctor_role wanted, struct doctor_redis *);

/* --- doctor_line.c: a client of one server, whatever its role ------------- */

struct doctor_line {
	struct idem_redis_options options;
	const char *urls[1];
	struct idem_redis *client;	/* NULL: why is in error */
	char error[DOCTOR_WHY];
};

/* name: HOST:PORT, a path, or an URL of the configuration. */
void doctor_line_open(struct doctor_line *, const struct doctor_asker *,
    const char *name, bool sentinel);
/* Say words, NULL last.  The reply, for idem_redis_waited_free. */
void doctor_line_say(struct doctor_line *, struct idem_redis_waited *,
    const char *const *words);
void doctor_line_close(struct doctor_line *);

/* --- doctor_node.c, doctor_keys.c: one server ----------------------------- */

void doctor_node_ask(const struct doctor_asker *, const char *name,
    enum doctor_role wanted, struct doctor_server *);
/* Count keys, and look at some. */
void doctor_keys_count(const struct doctor_asker *, struct doctor_line *,
    struct doctor_server *);
void doctor_node_hide(struct doctor_server *, const char *what);

/* --- doctor_runs.c: the run folder ---------------------------------------- */

/* ledger: the history of the ledger; NULL: not known.  False: there is none. */
bool doctor_look_runs(const struct conf *, const struct idem_history *ledger,
    struct doctor_runs *);

/* --- doctor_look.c: files and the configuration --------------------------- */

/* The kind of a file system, by statfs(2)'s number. */
void doctor_look_system(uint32_t magic, char name[DOCTOR_WORD]);

void doctor_look_ledger(const char *path, const char *run,
    struct doctor_ledger *);
void doctor_look_tokens(const struct conf_tokens *, struct doctor_tokens *);
/* As many as c->routes_len; owned by the caller; NULL: no memory. */
struct doctor_route *doctor_look_routes(const struct conf *);
struct doctor_times doctor_look_times(const struct conf *);

#endif
