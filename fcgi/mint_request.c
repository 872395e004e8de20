/* SPDX-License-Identifier: ISC */
#include "mint.h"

#include "pattern.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

#define MILLI 1000u

/* --- how many ------------------------------------------------------------- */

/* A rate of n a second is n thousandths a millisecond. */
static void
fill(struct mint_bucket *b, uint32_t rate, uint32_t burst, int64_t now_ms)
{
	const uint64_t full = (uint64_t)burst * MILLI;
	int64_t passed_ms = now_ms - b->at_ms;

	if (!b->begun)
		b->milli = full;
	else if (passed_ms > 0)
		b->milli += (uint64_t)passed_ms * rate;
	if (b->milli > full)
		b->milli = full;
	b->begun = true;
	b->at_ms = now_ms;
}

bool
mint_bucket_take(struct mint_bucket *b, uint32_t rate, uint32_t burst,
    int64_t now_ms)
{
	fill(b, rate, burst, now_ms);
	if (b->milli < MILLI)
		return false;
	b->milli -= MILLI;
	return true;
}

/* --- which route ---------------------------------------------------------- */

static bool
has_tokens(const struct conf_route *r)
{
	return r->route.policy.arbiter == IDEM_ARBITER_TOKEN;
}

/* By whichever of its methods a request to the path would come to it. */
static const struct conf_route *
route_of(const struct conf *conf, struct idem_bytes path)
{
	const struct conf_route *r, *found;
	size_t i, n;

	for (i = 0; i < conf->routes_len; i++) {
		r = &conf->routes[i];
		for (n = 0; has_tokens(r) && n < r->route.methods.len; n++)
			if (conf_find(conf, path, r->route.methods.at[n],
			    &found) == CONF_COVERED && found == r)
				return r;
	}
	return NULL;
}

static enum idem_problem
take_only(const struct conf *conf, struct mint_wanted *w)
{
	const struct conf_route *only = NULL;
	size_t i;

	for (i = 0; i < conf->routes_len; i++) {
		if (!has_tokens(&conf->routes[i]))
			continue;
		if (only != NULL)
			return IDEM_PROBLEM_TOKEN_PATH;
		only = &conf->routes[i];
	}
	if (only == NULL)
		return IDEM_PROBLEM_NO_TOKEN_ROUTE;
	w->route = only;
	snprintf(w->path, sizeof w->path, "%s",
	    only->route.path != NULL ? only->route.path : "/**");
	return IDEM_PROBLEM_NONE;
}

/* Up to what cannot stand in a path. */
static size_t
path_len(struct idem_bytes raw)
{
	const char *at = raw.at;
	size_t len = 0;

	while (len < raw.len && at[len] != '?' && at[len] != '#')
		len++;
	return len;
}

/* A path is given as it would stand in a request. */
static enum idem_problem
take_path(const struct conf *conf, struct idem_bytes raw,
    struct mint_wanted *w)
{
	struct idem_buf path = { .max = sizeof w->path - 1 };
	enum idem_problem problem = IDEM_PROBLEM_TOKEN_PATH;

	raw.len = path_len(raw);
	if (raw.len > 0 && *(const char *)raw.at == '/' &&
	    idem_request_path_of(raw, &path) && idem_buf_ok(&path)) {
		memcpy(w->path, path.at, path.len);
		w->route = route_of(conf, idem_buf_bytes(&path));
		problem = w->route != NULL ? IDEM_PROBLEM_NONE :
		    IDEM_PROBLEM_NO_TOKEN_ROUTE;
	}
	idem_buf_free(&path);
	return problem;
}

static enum idem_problem
take_route(const struct conf *conf, struct idem_bytes query,
    struct mint_wanted *w)
{
	uint8_t room[IDEM_FORM_VALUE_MAX];
	struct idem_bytes path;

	switch (idem_form_query(query, "path", room, &path)) {
	case IDEM_FORM_NONE:
		return take_only(conf, w);
	case IDEM_FORM_ONE:
		return take_path(conf, path, w);
	case IDEM_FORM_DIFFER:
	case IDEM_FORM_TOO_LONG:
	case IDEM_FORM_BROKEN:
		break;
	}
	return IDEM_PROBLEM_TOKEN_PATH;
}

enum idem_problem
mint_admit(struct mint *m, const struct conf *conf, const char *method,
    struct idem_bytes query, struct mint_wanted *w)
{
	enum idem_problem problem;

	*w = (struct mint_wanted){ 0 };
	if (strcmp(method, "POST") != 0)
		return IDEM_PROBLEM_TOKEN_METHOD;
	problem = take_route(conf, query, w);
	if (problem != IDEM_PROBLEM_NONE)
		return problem;
	return mint_bucket_take(&m->bucket, conf->tokens->rate,
	    conf->tokens->burst, idem_boot_ms(m->clock)) ?
	    IDEM_PROBLEM_NONE : IDEM_PROBLEM_TOO_MANY_TOKENS;
}

/* --- the answer ----------------------------------------------------------- */

void
mint_answer(struct idem_buf *out, const struct mint_made *made,
    const struct mint_wanted *w)
{
	struct idem_buf body = { 0 };

	idem_buf_printf(&body, "{\"token\":\"%s\",\"expires\":\"", made->text);
	idem_text_time(&body, made->expires_ms);
	idem_buf_text(&body, "\",\"path\":\"");
	idem_text_json(&body, w->path);
	idem_buf_text(&body, "\"}\n");
	idem_buf_printf(out, "Status: 201 Created\r\n"
	    "Content-Type: application/json\r\n"
	    "Cache-Control: no-store\r\n"
	    "Content-Length: %zu\r\n\r\n", body.len);
	idem_buf_append(out, body.at, body.len);
	if (!idem_buf_ok(&body))
		out->failed = true;
	idem_buf_free(&body);
}
