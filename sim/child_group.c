/* SPDX-License-Identifier: ISC */
#include "child_private.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/*
 * One a process: in the simulator those of its direct children, in its warden
 * what the simulator told of them.
 */
static struct {
	struct {
		pid_t id;
		char lane[CHILD_NAME];
	} at[CHILD_PIDS];
	size_t n;
} groups;

bool
child_group_add(pid_t id, const char *lane)
{
	if (groups.n == CHILD_PIDS)
		return false;
	groups.at[groups.n].id = id;
	snprintf(groups.at[groups.n].lane, CHILD_NAME, "%s", lane);
	groups.n++;
	return true;
}

void
child_group_drop(pid_t id)
{
	size_t i;

	for (i = 0; i < groups.n; i++)
		if (groups.at[i].id == id) {
			groups.at[i] = groups.at[--groups.n];
			return;
		}
}

void
child_group_clear(void)
{
	groups.n = 0;
}

void
child_group_tell(void)
{
	size_t i;

	for (i = 0; i < groups.n; i++)
		child_warden_add(groups.at[i].id);
}

static bool
is_of(size_t i, const char *lane)
{
	return lane == NULL || strncmp(groups.at[i].lane, lane,
	    CHILD_NAME - 1) == 0;
}

bool
child_group_has(pid_t id, const char *lane)
{
	size_t i;

	for (i = 0; i < groups.n; i++)
		if (groups.at[i].id == id)
			return is_of(i, lane);
	return false;
}

void
child_group_signal(const char *lane, int signal)
{
	size_t i;

	for (i = 0; i < groups.n; i++)
		if (is_of(i, lane))
			kill(-groups.at[i].id, signal);
}
