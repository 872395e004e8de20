/* SPDX-License-Identifier: ISC */
#include "program_env.h"

#include "program_name.h"
#include "program_ours.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Who may say a variable, the first in this order wins:
 *
 *	the operator (rule->set)
 *	we ourselves
 *	the front, its parameters in their order
 *	our own environment (all_params)
 *	what must be there anyway
 *
 * All are entries of a draft.  Sorted by name, the draft shows which of them
 * are said more than once; what is left is copied in the order above.
 */
struct entry {
	const char *text;	/* "NAME=value", borrowed */
	size_t name_len;
	struct entry *more;	/* another value of that field, to be joined */
	bool front;		/* its word */
	bool hidden;		/* somebody before says it, or joins it */
};

struct draft {
	struct entry *at, **sorted;	/* one block */
	size_t len, max;
	struct idem_buf own;		/* texts of ours, each with its NUL */
};

#define PATH_DEFAULT \
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static const char *const defaults[] = {
	PATH_DEFAULT,
	/* RFC 3875: 4.1.4, 4.1.7 and 4.1.13, also where there is nothing */
	"GATEWAY_INTERFACE=CGI/1.1", "QUERY_STRING=", "SCRIPT_NAME="
};

#define DEFAULTS (sizeof defaults / sizeof *defaults)

/* --- the draft ------------------------------------------------------------ */

static size_t
texts_len(char *const *texts)
{
	size_t n = 0;

	while (texts != NULL && texts[n] != NULL)
		n++;
	return n;
}

static void
add(struct draft *d, const char *text, bool front)
{
	const char *equals = strchr(text, '=');

	if (equals != NULL && d->len < d->max)
		d->at[d->len++] = (struct entry){
			.text = text, .name_len = (size_t)(equals - text),
			.front = front
		};
}

static void
add_ours(struct draft *d)
{
	const char *text = NULL;

	while ((text = program_ours_next(&d->own, text)) != NULL)
		add(d, text, false);
}

/* It is nothing without a PATH_INFO that it was made of (RFC 3875, 4.1.6). */
static bool
has_translated(const struct idem_params *params,
    const struct program_more *more)
{
	const char *info = idem_params_get(params, "PATH_INFO");

	return more->rule->all_params || (info != NULL && *info != '\0');
}

static void
add_param(struct draft *d, const char *text, const struct idem_params *params,
    struct program_more *more)
{
	size_t name_len = strcspn(text, "=");

	switch (program_name_judge(more->rule, text, name_len)) {
	case PROGRAM_NAME_PASSED:
		if (!program_name_is(text, name_len, "PATH_TRANSLATED") ||
		    has_translated(params, more))
			add(d, text, true);
		return;
	case PROGRAM_NAME_LEFT:
		return;
	case PROGRAM_NAME_DROPPED:
		more->dropped++;
		return;
	}
}

static void
add_daemon(struct draft *d)
{
	size_t name_len, i;

	for (i = 0; environ != NULL && environ[i] != NULL; i++) {
		name_len = strcspn(environ[i], "=");
		if (!program_name_is_ours(environ[i], name_len) &&
		    !program_name_is_framing(environ[i], name_len))
			add(d, environ[i], false);
	}
}

static void
add_all(struct draft *d, const struct idem_params *params,
    struct program_more *more)
{
	char *const *set = more->rule->set;
	size_t i;

	for (i = 0; set != NULL && set[i] != NULL; i++)
		add(d, set[i], false);
	add_ours(d);
	for (i = 0; i < params->len; i++)
		add_param(d, params->at[i], params, more);
	if (more->rule->all_params)
		add_daemon(d);
	for (i = 0; i < DEFAULTS; i++)
		add(d, defaults[i], false);
}

/* By name, then as they were added. */
static int
by_name(const void *a_, const void *b_)
{
	const struct entry *a = *(struct entry *const *)a_;
	const struct entry *b = *(struct entry *const *)b_;
	size_t len = a->name_len < b->name_len ? a->name_len : b->name_len;
	int order = memcmp(a->text, b->text, len);

	if (order != 0)
		return order;
	if (a->name_len != b->name_len)
		return a->name_len < b->name_len ? -1 : 1;
	return a < b ? -1 : 1;
}

static bool
same_name(const struct entry *a, const struct entry *b)
{
	return a->name_len == b->name_len &&
	    memcmp(a->text, b->text, a->name_len) == 0;
}

/* Several fields of one name are one variable (RFC 3875, 4.1.18). */
static bool
joins(const struct entry *first, const struct entry *other)
{
	return first->front && other->front &&
	    strncmp(first->text, "HTTP_", 5) == 0;
}

static void
merge(struct draft *d)
{
	struct entry *first = NULL, *last = NULL, *entry;
	size_t i;

	for (i = 0; i < d->len; i++)
		d->sorted[i] = &d->at[i];
	qsort(d->sorted, d->len, sizeof(struct entry *), by_name);
	for (i = 0; i < d->len; i++) {
		entry = d->sorted[i];
		if (first == NULL || !same_name(first, entry)) {
			first = last = entry;
			continue;
		}
		entry->hidden = true;
		if (joins(first, entry))
			last = last->more = entry;
	}
}

static void
draft_free(struct draft *d)
{
	idem_buf_free(&d->own);
	free(d->at);
}

static bool
draft_init(struct draft *d, const struct idem_params *params,
    struct program_more *more)
{
	*d = (struct draft){ 0 };
	more->dropped = 0;
	program_ours_write(&d->own, more);
	d->max = texts_len(more->rule->set) + PROGRAM_OURS_MAX + params->len +
	    DEFAULTS;
	if (more->rule->all_params)
		d->max += texts_len(environ);
	d->at = malloc(d->max * (sizeof *d->at + sizeof *d->sorted));
	if (d->at == NULL || !idem_buf_ok(&d->own)) {
		draft_free(d);
		return false;
	}
	d->sorted = (struct entry **)(d->at + d->max);
	add_all(d, params, more);
	merge(d);
	return true;
}

/* --- the environment ------------------------------------------------------ */

static const char *
separator(const struct entry *e)
{
	return program_name_is(e->text, e->name_len, "HTTP_COOKIE") ? "; " :
	    ", ";
}

static const char *
value(const struct entry *e)
{
	return e->text + e->name_len + 1;
}

/* With its NUL. */
static size_t
entry_len(const struct entry *e)
{
	const struct entry *more;
	size_t len = strlen(e->text) + 1;

	for (more = e->more; more != NULL; more = more->more)
		len += strlen(separator(e)) + strlen(value(more));
	return len;
}

static char *
put(char *to, const char *text)
{
	size_t len = strlen(text);

	memcpy(to, text, len);
	return to + len;
}

static char *
entry_write(char *to, const struct entry *e)
{
	const struct entry *more;

	to = put(to, e->text);
	for (more = e->more; more != NULL; more = more->more) {
		to = put(to, separator(e));
		to = put(to, value(more));
	}
	*to++ = '\0';
	return to;
}

static char **
environment(const struct draft *d)
{
	size_t len = (d->len + 1) * sizeof(char *), n = 0, i;
	char **env, *text;

	for (i = 0; i < d->len; i++)
		if (!d->at[i].hidden)
			len += entry_len(&d->at[i]);
	env = malloc(len);
	if (env == NULL)
		return NULL;
	text = (char *)(env + d->len + 1);
	for (i = 0; i < d->len; i++)
		if (!d->at[i].hidden) {
			env[n++] = text;
			text = entry_write(text, &d->at[i]);
		}
	env[n] = NULL;
	return env;
}

char **
program_environment(const struct idem_params *params,
    struct program_more *more)
{
	struct draft d;
	char **env;

	if (!draft_init(&d, params, more))
		return NULL;
	env = environment(&d);
	draft_free(&d);
	return env;
}

/* --- does it fit ---------------------------------------------------------- */

/* Our own words, the program's path twice, a "#!" line, and what is put on a
   fresh stack besides. */
#define SLACK (16 * 1024 + 2 * 4096)

static size_t
string_max(void)
{
	return 32 * (size_t)sysconf(_SC_PAGESIZE);	/* MAX_ARG_STRLEN */
}

static size_t
total_max(void)
{
	static const size_t most = 6 * 1024 * 1024;	/* of any stack */
	long max = sysconf(_SC_ARG_MAX);

	if (max < 0 || (size_t)max > most)
		return most - SLACK;
	return (size_t)max - SLACK;
}

/* What texts take on the stack, with their pointers. */
static size_t
texts_size(char *const *texts)
{
	size_t size = 0;

	for (; texts != NULL && *texts != NULL; texts++)
		size += strlen(*texts) + 1 + sizeof *texts;
	return size;
}

/* Nearly every request: then there is no need for a draft. */
static bool
surely_fits(const struct program_rule *rule, const struct idem_params *params)
{
	size_t size = SLACK + texts_size(rule->argv) + texts_size(rule->set) +
	    texts_size(params->at);

	if (rule->all_params)
		size += texts_size(environ);
	return size <= string_max();
}

static bool
fits(const struct draft *d, const struct program_rule *rule)
{
	size_t longest = string_max(), left = total_max(), size, i;

	size = texts_size(rule->argv);
	for (i = 0; size <= left; i++) {
		left -= size;
		if (i == d->len)
			return true;
		if (d->at[i].hidden) {
			size = 0;
			continue;
		}
		size = entry_len(&d->at[i]);
		if (size > longest)
			return false;
		size += sizeof(char *);
	}
	return false;
}

enum idem_problem
program_env_fits(const struct program_rule *rule, const struct program *p,
    const struct idem_params *params)
{
	struct program_more more = {
		.rule = rule, .program = p, .body_len = UINT64_MAX,
		.keyed = true
	};
	struct draft d;
	bool good;

	if (surely_fits(rule, params))
		return IDEM_PROBLEM_NONE;
	if (!draft_init(&d, params, &more))
		return IDEM_PROBLEM_BUSY;
	good = fits(&d, rule);
	draft_free(&d);
	return good ? IDEM_PROBLEM_NONE : IDEM_PROBLEM_TOO_MUCH_HEAD;
}
