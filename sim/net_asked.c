/* SPDX-License-Identifier: ISC */
#include "net_private.h"

#include <stdlib.h>
#include <string.h>

#define SCRIPT_MAX 64u	/* a digest, or a name; a text of a script is longer */

static struct idem_bytes
copy(char **to, struct idem_bytes from)
{
	struct idem_bytes there = { *to, from.len };

	if (from.len > 0)
		memcpy(*to, from.at, from.len);
	*to += from.len;
	return there;
}

void
net_asked_add(struct net_link *link, enum net_asked_kind kind, uint32_t message,
    const struct resp_command *c, const char *word)
{
	struct idem_bytes script = c->script, why = { 0 };
	struct net_asked *asked;
	char *to;

	if (script.len > SCRIPT_MAX)
		script.len = 0;
	if (word != NULL)
		why = idem_bytes_text(word);
	asked = malloc(sizeof *asked + c->name.len + script.len + c->key.len +
	    c->op.len + why.len);
	arena_must_have(asked != NULL);
	to = asked->text;
	asked->next = NULL;
	asked->kind = kind;
	asked->message = message;
	asked->args_n = c->args_n;
	asked->name = copy(&to, c->name);
	asked->script = copy(&to, script);
	asked->key = copy(&to, c->key);
	asked->op = copy(&to, c->op);
	asked->word = copy(&to, why);
	*link->asked_end = asked;
	link->asked_end = &asked->next;
}

struct net_asked *
net_asked_take(struct net_link *link)
{
	struct net_asked *asked = link->asked;

	if (asked == NULL)
		return NULL;
	link->asked = asked->next;
	if (link->asked == NULL)
		link->asked_end = &link->asked;
	return asked;
}

void
net_asked_command(const struct net_asked *asked, struct resp_command *c)
{
	memset(c, 0, sizeof *c);
	c->name = c->args[0] = asked->name;
	c->script = asked->script;
	c->key = asked->key;
	c->op = asked->op;
	c->args_n = asked->args_n;
}

void
net_asked_clear(struct net_link *link)
{
	struct net_asked *asked;

	while ((asked = net_asked_take(link)) != NULL)
		free(asked);
}
