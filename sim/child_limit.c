/* SPDX-License-Identifier: ISC */
#include "child_private.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

/*
 * RLIMIT_LOCKS limits nothing since Linux 2.4.25 (setrlimit(2)), and descends
 * from a process to all that it ever makes: through a new session, a new
 * program and an environment that is wiped.  So its value is a mark: of the run
 * above, of the lane below.
 */
#define LANE_BITS 12
#define LANES (1u << LANE_BITS)
#define HIGHEST (UINT64_C(1) << 62)
#define LEAST (UINT64_C(1) << 32)	/* else there is no room for chance */

static struct {
	uint64_t run;		/* without its lane; 0: none can be given */
	bool known;
	char lanes[LANES][CHILD_NAME];
	size_t n;
} limit;

/* Below what we may set ourselves: we may be a process of another run. */
void
child_limit_begin(void)
{
	struct rlimit now;
	uint64_t most, chance;

	if (limit.known)
		return;
	limit.known = true;
	if (getrlimit(RLIMIT_LOCKS, &now) != 0 ||
	    getrandom(&chance, sizeof chance, 0) != (ssize_t)sizeof chance)
		return;
	most = now.rlim_max < HIGHEST ? now.rlim_max : HIGHEST;
	if (most < LEAST)
		return;
	most >>= LANE_BITS + 1;
	limit.run = (most + chance % most) << LANE_BITS;
}

/* LANES: there is no such lane, or no room for more. */
static size_t
lane_of(const char *name, bool make)
{
	size_t i;

	for (i = 0; i < limit.n; i++)
		if (strncmp(limit.lanes[i], name, CHILD_NAME - 1) == 0)
			return i;
	if (!make || limit.n == LANES)
		return LANES;
	snprintf(limit.lanes[limit.n], CHILD_NAME, "%s", name);
	return limit.n++;
}

bool
child_limit(const char *lane, uint64_t *out)
{
	size_t i = lane_of(lane, true);

	*out = limit.run != 0 ? limit.run + i : 0;
	return i < LANES;
}

enum child_limit
child_limit_look(pid_t pid, const char *lane)
{
	struct rlimit its;

	if (limit.run == 0 || prlimit(pid, RLIMIT_LOCKS, NULL, &its) != 0)
		return CHILD_LIMIT_UNKNOWN;
	if (its.rlim_max >> LANE_BITS != limit.run >> LANE_BITS)
		return CHILD_LIMIT_OTHER;
	return lane == NULL ||
	    its.rlim_max - limit.run == lane_of(lane, false) ?
	    CHILD_LIMIT_OURS : CHILD_LIMIT_OTHER;
}
