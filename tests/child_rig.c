/* SPDX-License-Identifier: ISC */
#include "child_rig.h"

#include "tap.h"

#include <dirent.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS 20000
#define CALM 10		/* looks: who forks and ends may be overlooked once */

void
child_rig_rest(void)
{
	for (;;)
		pause();
}

void
child_rig_play(int argc, char **argv, const struct child_role *roles, size_t n)
{
	size_t i;

	for (i = 0; argc > 1 && i < n; i++)
		if (strcmp(argv[1], roles[i].name) == 0)
			roles[i].be();
	if (argc > 1)
		_exit(2);
}

static void
on_line(struct child *c, const char *text, size_t len)
{
	struct heard *h = c->arg;

	if (h->len + len + 8 < sizeof h->text) {
		memcpy(h->text + h->len, text, len);
		h->len += len;
		h->text[h->len++] = '\n';
	}
	h->lines++;
}

static void
on_ended(struct child *c)
{
	struct heard *h = c->arg;

	memcpy(h->text + h->len, "END", 4);
	h->len += 3;
	h->ended = true;
	h->lines_before = h->lines;
}

int
child_rig_start(struct loop *loop, struct heard *h, const char *lane,
    const char *role, const struct child_spec *more)
{
	const char *argv[] = { "/proc/self/exe", role, NULL };
	struct child_spec spec = { .pass = -1 };

	if (more != NULL)
		spec = *more;
	spec.name = lane;
	spec.argv = argv;
	memset(h, 0, sizeof *h);
	h->child.line = on_line;
	h->child.ended = on_ended;
	h->child.arg = h;
	return child_start(loop, &h->child, &spec);
}

static int64_t
now_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}

bool
child_rig_ended(struct loop *loop, struct heard *h)
{
	int64_t until_ms = now_ms() + WAIT_MS;

	while (!h->ended && now_ms() < until_ms)
		loop_turn(loop, until_ms);
	return h->ended;
}

void
child_rig_lines(struct loop *loop, struct heard *h, size_t lines)
{
	int64_t until_ms = now_ms() + WAIT_MS;

	while (h->lines < lines && now_ms() < until_ms)
		loop_turn(loop, until_ms);
	if (h->lines < lines)
		bail_out("%s says nothing", h->child.name);
}

size_t
child_rig_group(pid_t group, const char *states)
{
	struct child_stat st;
	struct dirent *entry;
	size_t n = 0;
	DIR *proc = opendir("/proc");

	while (proc != NULL && (entry = readdir(proc)) != NULL)
		n += child_stat((pid_t)strtol(entry->d_name, NULL, 10), &st) &&
		    st.group == group && strchr(states, st.state) != NULL;
	if (proc != NULL)
		closedir(proc);
	return n;
}

bool
child_rig_none(pid_t group, const char *states)
{
	int64_t until_ms = now_ms() + WAIT_MS;
	int calm = 0;

	while (calm < CALM && now_ms() < until_ms) {
		calm = child_rig_group(group, states) == 0 ? calm + 1 : 0;
		if (calm == 0)
			poll(NULL, 0, 5);
	}
	return calm == CALM;
}
