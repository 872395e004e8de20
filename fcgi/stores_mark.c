/* SPDX-License-Identifier: ISC */
#include "stores.h"

#include <stdio.h>
#include <string.h>

static const char *const schemes[STORES_SCHEMES] = {
	[IDEM_SCHEME_SCRIPT] = "redis script",
	[IDEM_SCHEME_SETNX] = "redis setnx",
	[IDEM_SCHEME_CHECK] = "redis check"
};

static void
part(struct idem_hash *h, const char *text)
{
	idem_hash_part(h, idem_bytes_text(text != NULL ? text : ""));
}

/* Half a digest of where it is; its passwords do not enter it. */
bool
stores_place(const struct conf_redis *conf, char place[STORES_PLACE])
{
	struct idem_digest digest;
	struct idem_hash h;

	idem_hash_init(&h);
	part(&h, conf->where);		/* with its database */
	part(&h, conf->client.master);
	part(&h, conf->prefix);
	if (!idem_hash_final(&h, &digest))
		return false;
	idem_hex(digest.at, (STORES_PLACE - 1) / 2, place);
	return true;
}

/* A file that was made anew under the same name is another. */
static void
mark_file(struct idem_store *store, const char *kind, char *to, size_t size)
{
	char hex[2 * IDEM_HISTORY_LEN + 1] = "?";
	struct idem_history generation;

	if (store->ops->history(store, &generation))
		idem_hex(generation.at, sizeof generation.at, hex);
	snprintf(to, size, "%s %s", kind, hex);
}

bool
stores_mark_is_of(const char *mark, const struct conf *conf,
    const struct idem_history *ledger)
{
	char hex[2 * IDEM_HISTORY_LEN + 1], place[STORES_PLACE];
	const char *where = strrchr(mark, ' ');

	if (strncmp(mark, "memory", 6) == 0)
		return true;
	if (strncmp(mark, "ledger", 6) == 0) {
		if (conf->ledger == NULL || ledger == NULL)
			return conf->ledger != NULL;
		idem_hex(ledger->at, sizeof ledger->at, hex);
		return where != NULL && strcmp(where + 1, hex) == 0;
	}
	if (conf->shared == NULL || !stores_place(conf->shared, place))
		return conf->shared != NULL;
	return where != NULL && strcmp(where + 1, place) == 0;
}

void
stores_mark(const struct stores *s, const struct idem_store *store, char *to,
    size_t size)
{
	size_t i;

	if (size > 0)
		*to = '\0';
	if (store == NULL)
		return;
	if (store == s->ledger)
		mark_file(s->ledger, "ledger", to, size);
	else if (store == s->memory)
		mark_file(s->memory, "memory", to, size);
	else if (store == s->token)
		snprintf(to, size, "token %s", s->place);
	for (i = 0; i < STORES_SCHEMES; i++)
		if (store == s->redis[i])
			snprintf(to, size, "%s %s", schemes[i], s->place);
}

static struct idem_store *
nth(const struct stores *s, size_t i)
{
	struct idem_store *const others[] = { s->ledger, s->memory, s->token };

	return i < STORES_SCHEMES ? s->redis[i] : others[i - STORES_SCHEMES];
}

struct idem_store *
stores_marked(const struct stores *s, const char *mark)
{
	char own[STORES_MARK];
	struct idem_store *store;
	size_t i;

	for (i = 0; i < STORES_SCHEMES + 3; i++) {
		store = nth(s, i);
		stores_mark(s, store, own, sizeof own);
		if (store != NULL && strcmp(own, mark) == 0)
			return store;
	}
	return NULL;
}

int64_t
stores_watched_ms(struct stores *s, const struct idem_store *store,
    const struct idem_digest *key, int64_t now_ms)
{
	char hex[2 * IDEM_DIGEST_LEN + 1];
	struct idem_buf name = { 0 };
	int64_t since_ms = now_ms;

	/* The other schemes have no server's clock. */
	if (!stores_is_shared(s, store) ||
	    (store != s->token && store != s->redis[IDEM_SCHEME_SCRIPT]))
		return 0;
	idem_hex(key->at, sizeof key->at, hex);
	idem_buf_text(&name, s->conf->shared->prefix);
	idem_buf_text(&name, hex);
	if (!idem_buf_ok(&name) || !idem_redis_watched(s->shared.redis,
	    idem_buf_bytes(&name), &since_ms))
		since_ms = now_ms;
	idem_buf_free(&name);
	return since_ms;
}
