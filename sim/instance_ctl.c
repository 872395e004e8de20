/* SPDX-License-Identifier: ISC */
#include "instance_private.h"

#include "now.h"
#include "paths.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define CTL_MS 15000
#define WORDS_MAX 24

struct run {
	struct child child;
	char *out;
	size_t size, len;	/* with its NUL: len < size */
	bool ended;
};

static void
on_line(struct child *c, const char *text, size_t len)
{
	struct run *r = c->arg;
	size_t room = r->size - r->len;

	if (len + 1 >= room)
		len = room > 1 ? room - 2 : 0;
	if (room <= 1)
		return;
	memcpy(r->out + r->len, text, len);
	r->len += len;
	r->out[r->len++] = '\n';
	r->out[r->len] = '\0';
}

static void
on_ended(struct child *c)
{
	struct run *r = c->arg;

	r->ended = true;
}

static int
run(struct loop *loop, struct run *r, const struct child_spec *spec)
{
	int64_t until_ms = now_ms() + CTL_MS;

	if (child_start(loop, &r->child, spec) == -1)
		return -1;
	while (!r->ended && now_ms() < until_ms)
		if (loop_turn(loop, until_ms) == -1)
			break;
	if (!r->ended)
		errno = ETIMEDOUT;
	child_forget(&r->child);
	return r->ended && WIFEXITED(r->child.status) ?
	    WEXITSTATUS(r->child.status) : -1;
}

/* The command comes first. */
int
instance_ctl(struct loop *loop, struct instance *i, const char *const *words,
    char *out, size_t size)
{
	struct run r = { .out = out, .size = size };
	const char *argv[WORDS_MAX + 4] = { paths_find("idemctl") };
	char name[CHILD_NAME];
	struct child_spec spec = { .name = name, .argv = argv, .pass = -1 };
	size_t n = 1, k;

	if (size > 0)
		out[0] = '\0';
	if (i->in == NULL || argv[0] == NULL) {
		errno = ENOENT;
		return -1;
	}
	for (k = 0; words[k] != NULL; k++) {
		assert(k < WORDS_MAX);
		argv[n++] = words[k];
		if (k == 0) {
			argv[n++] = "--config";
			argv[n++] = i->in->conf;
		}
	}
	snprintf(name, sizeof name, "%s.ctl", i->name);
	r.child.line = on_line;
	r.child.ended = on_ended;
	r.child.arg = &r;
	return run(loop, &r, &spec);
}
