/* SPDX-License-Identifier: ISC */

/* A scenario's file: it is read, or refused in one line. */
#include "explain.h"
#include "scenario.h"

#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What others count on. */
static void
check_plan(const struct plan *p)
{
	char text[300], digest[72];
	const struct plan_action *a;
	size_t i;
	unsigned id;

	fuzz_must(p->name != NULL && p->name[0] != '\0');
	fuzz_must(p->gates.n >= 1 && p->gates.n <= PLAN_GATES_MAX);
	fuzz_must(p->stores_n <= PLAN_STORES_MAX && p->loads_n >= 1);
	fuzz_must(p->gates.store < (int)p->stores_n);
	fuzz_must(p->gates.arbiter == PLAN_LEDGER || p->gates.store >= 0);
	for (i = 0; i < p->gates.configs; i++)
		fuzz_must(plan_config_known(p->gates.config[i].name) != NULL &&
		    plan_config_wrong(plan_config_known(
		    p->gates.config[i].name), p->gates.config[i].value, text,
		    sizeof text) == NULL);
	for (id = 0; id < p->actions_n; id++) {
		a = plan_action_at(p, id);
		fuzz_must(a != NULL && a->id == id);
		fuzz_must(a->gate < (int)p->gates.n &&
		    a->store < (int)p->stores_n && a->to < (int)p->stores_n);
		fuzz_must(*plan_action_text(p, a, text, sizeof text) != '\0');
	}
	fuzz_must(plan_action_at(p, p->actions_n) == NULL);
	plan_digest(p, digest);
	fuzz_must(strlen(digest) == 71);
}

static void
use(struct scenario *s)
{
	struct history h = { .n = 0 };
	char why[700] = "";
	FILE *out = fopen("/dev/null", "w");
	const struct plan *p;
	size_t i, j;

	fuzz_must(scenario_points(s) >= 1);
	for (i = 0; i < scenario_points(s) && i < 20; i++) {
		p = scenario_plan(s, i);
		check_plan(p);
		if (out != NULL)
			explain(p, out);
		for (j = 0; j < p->expect.sometimes_n && j < 4; j++)
			scenario_sometimes(s, i, j, &h, why, sizeof why);
		for (j = 0; j < p->expect.custom_n && j < 4; j++)
			scenario_custom(s, i, j, &h, why, sizeof why);
	}
	if (out != NULL)
		fclose(out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	char wrong[1000] = "", path[40];
	int fd = memfd_create("scenario", MFD_CLOEXEC);
	struct scenario *s;

	if (fd == -1 || write(fd, at, len) != (ssize_t)len)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	s = scenario_open(path, NULL, 0, wrong, sizeof wrong);
	fuzz_must((s == NULL) == (wrong[0] != '\0'));
	fuzz_must(strchr(wrong, '\n') == NULL);
	if (s != NULL)
		use(s);
	scenario_close(s);
	close(fd);
	return 0;
}
