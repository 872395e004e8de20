/* SPDX-License-Identifier: ISC */
#include "net_private.h"

#include <stdlib.h>
#include <string.h>

void
net_rule_add(struct net *net, const struct net_rule *rule)
{
	struct net_rule_set *rules = net->rules;

	if (net->rules_n == net->rules_size) {
		net->rules_size = net->rules_size == 0 ? 8 :
		    2 * net->rules_size;
		rules = reallocarray(rules, net->rules_size, sizeof *rules);
		arena_must_have(rules != NULL);
		net->rules = rules;
	}
	rules[net->rules_n] = (struct net_rule_set){ .rule = *rule };
	if (rule->nth == 0)
		rules[net->rules_n].rule.nth = 1;
	net->rules_n++;
}

void
net_rules_clear(struct net *net)
{
	net->rules_n = 0;
}

static void
take_out(struct net *net, size_t i)
{
	net->rules_n--;
	memmove(&net->rules[i], &net->rules[i + 1],
	    (net->rules_n - i) * sizeof net->rules[0]);
}

static bool
fits(const struct net_rule *rule, const struct net_frame *frame)
{
	const struct resp_command *c = frame->command;

	/* A slice that takes all of it is none. */
	return rule->way == frame->way && (rule->act != NET_SLICE ||
	    frame->bytes.len > (rule->bytes > 0 ? rule->bytes : 1)) &&
	    (rule->op == NULL ||
	    (c != NULL && idem_bytes_is(c->op, rule->op))) &&
	    (rule->cmd == NULL ||
	    (c != NULL && idem_bytes_is_nocase(c->name, rule->cmd)));
}

bool
net_rule_strike(struct net *net, const struct net_frame *frame,
    struct net_rule *struck)
{
	struct net_rule_set *set;
	bool found = false;
	size_t i;

	for (i = 0; i < net->rules_n; i++) {
		set = &net->rules[i];
		if (!fits(&set->rule, frame))
			continue;
		set->seen++;
		if (found || set->seen < set->rule.nth)
			continue;
		found = true;
		*struck = set->rule;
		set->struck++;
		if (set->struck == set->rule.times)
			take_out(net, i--);
	}
	return found;
}

void
net_rule_released(struct net *net)
{
	size_t i;

	for (i = 0; i < net->rules_n; i++)
		if (net->rules[i].rule.act == NET_HOLD &&
		    net->rules[i].struck > 0)
			take_out(net, i--);
}

void
net_rules_end(struct net *net, enum net_do act)
{
	size_t i;

	for (i = 0; i < net->rules_n; i++)
		if (net->rules[i].rule.act == act)
			take_out(net, i--);
}
