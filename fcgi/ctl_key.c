/* SPDX-License-Identifier: ISC */
#include "ctl.h"

#include "route.h"

#include <stdlib.h>
#include <string.h>

/*
 * A request of which only the scope is known, so that the code that makes store
 * keys of requests makes this one.
 */
struct scoped {
	struct idem_route route;
	char **cookie_names, **variable_names;	/* owned, NULL last */
	struct idem_params params;	/* pointers only: not owned as one */
	struct idem_buf method, user, cookies;
};

static void
free_names(char **names)
{
	size_t i;

	for (i = 0; names != NULL && names[i] != NULL; i++)
		free(names[i]);
	free(names);
}

/* Of "NAME=VALUE" the names; NULL without memory. */
static char **
names_of(char *const *texts, size_t len)
{
	char **names = calloc(len + 1, sizeof *names);
	size_t i;

	for (i = 0; names != NULL && i < len; i++) {
		names[i] = strndup(texts[i], strcspn(texts[i], "="));
		if (names[i] == NULL) {
			free_names(names);
			return NULL;
		}
	}
	return names;
}

static bool
add_names(struct scoped *s, const struct ctl *c)
{
	s->cookie_names = names_of(c->cookies, c->cookies_len);
	s->variable_names = names_of(c->variables, c->variables_len);
	s->route.scope_cookies = (struct idem_words){
		(const char *const *)s->cookie_names, c->cookies_len
	};
	s->route.scope_variables = (struct idem_words){
		(const char *const *)s->variable_names, c->variables_len
	};
	return s->cookie_names != NULL && s->variable_names != NULL;
}

static void
add_param(struct scoped *s, struct idem_buf *text)
{
	idem_buf_u8(text, '\0');
	s->params.at[s->params.len++] = (char *)text->at;
}

/* The operator's first: of two of one name the first counts. */
static bool
add_params(struct scoped *s, const struct ctl *c)
{
	size_t i;

	s->params.at = calloc(c->variables_len + 4, sizeof *s->params.at);
	if (s->params.at == NULL)
		return false;
	for (i = 0; i < c->variables_len; i++)
		s->params.at[s->params.len++] = c->variables[i];
	idem_buf_printf(&s->method, "REQUEST_METHOD=%s", c->method);
	idem_buf_printf(&s->user, "REMOTE_USER=%s", c->user);
	idem_buf_text(&s->cookies, "HTTP_COOKIE=");
	for (i = 0; i < c->cookies_len; i++)
		idem_buf_printf(&s->cookies, "%s;", c->cookies[i]);
	add_param(s, &s->method);
	add_param(s, &s->user);
	add_param(s, &s->cookies);
	return idem_buf_ok(&s->method) && idem_buf_ok(&s->user) &&
	    idem_buf_ok(&s->cookies);
}

static void
free_scoped(struct scoped *s)
{
	free_names(s->cookie_names);
	free_names(s->variable_names);
	free(s->params.at);
	idem_buf_free(&s->method);
	idem_buf_free(&s->user);
	idem_buf_free(&s->cookies);
}

/* As a header field has it; what none could hold is a key of another source. */
static enum idem_key_state
read_key(const char *text, struct idem_key *key)
{
	struct idem_bytes value = idem_bytes_text(text);
	struct idem_key_found found = { .state = IDEM_KEY_ABSENT };
	enum idem_key_state state = idem_key_parse(&value, 1, key);

	if (state != IDEM_KEY_MALFORMED && state != IDEM_KEY_DIFFERENT)
		return state;
	idem_key_found_add(&found, value);
	*key = found.key;
	return found.state;
}

int
ctl_client_key(const struct ctl *c, struct idem_digest *store_key)
{
	struct scoped s = { .route.user_verified = *c->user != '\0' };
	struct idem_key key;
	enum idem_key_state state = read_key(c->key, &key);
	bool good, identity;

	if (state != IDEM_KEY_GOOD)
		return ctl_say(c, CTL_WRONG, "--key: %s",
		    idem_key_state_text(state));
	good = add_names(&s, c) && add_params(&s, c) && idem_route_store_key(
	    &s.route, &s.params, c->route, &key, store_key, &identity);
	free_scoped(&s);
	return good ? CTL_DONE : ctl_say(c, CTL_FAILED, "out of memory");
}
