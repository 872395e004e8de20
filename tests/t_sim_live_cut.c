/* SPDX-License-Identifier: ISC */
/*
 * What cuts a run in the live world: somebody dies whom no plan has killed, the
 * simulator itself comes to an end of its means, or of its time.  Such a run is
 * no pass, whatever is true of it.  And what a plan asks for in vain, of an
 * operator, cuts none.
 */
#include "live_rig.h"

#include "child.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define SERVICE_MS 5
/* Who was seen to run does when it is killed: a process that has ended can be
   killed as well, and then nobody dies. */
#define VICTIM_MS 6000
#define SEED 42
#define QUIET "quiet = 5000"

/* --- who dies ------------------------------------------------------------- */

/* Who is killed by somebody else, as by a kernel that wants memory. */
static const struct victim {
	const char *what, *lane;
	enum { ANY, MASTER, LOBBY, KEEPER, PROGRAM } who;
	const char *expect;
} victims[] = {
	{ "Redis", "a", ANY, SAFE },
	{ "master", "g1", MASTER, SAFE },
	{ "lobby", "g1", LOBBY, SAFE },
	{ "keeper", "g1", KEEPER, SAFE },
	{ "program", "g1", PROGRAM, SAFE },
	{ "program whose client does not see it", "g1", PROGRAM,
	  "holds = { 'at_most_once' }" }
};

#define UNPLANNED "and the plan had nothing to do with it"

static const struct victim *doomed;	/* from outside, in the next run */

static bool
is_program(pid_t pid)
{
	char path[40], name[32] = "";
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (file != NULL && fgets(name, sizeof name, file) == NULL)
		name[0] = '\0';
	if (file != NULL)
		(void)fclose(file);
	return strcmp(name, "idemsim-program\n") == 0;
}

/* Of what was found, one that has begun; 0: none. */
static pid_t
program_of(const pid_t *pids, size_t n)
{
	struct child_stat st;
	size_t i;

	for (i = 0; i < n; i++)
		if (is_program(pids[i]) && child_stat(pids[i], &st) &&
		    st.state == 'S')
			return pids[i];
	return 0;
}

static pid_t
parent_of(pid_t pid)
{
	struct child_stat st;

	return pid != 0 && child_stat(pid, &st) ? st.parent : 0;
}

static pid_t
one_of(const char *lane)
{
	pid_t pid = 0;

	return child_find(lane, &pid, 1) > 0 ? pid : 0;
}

/*
 * Who is who is told by whose child the program is, and nothing else: what has
 * just been forked looks like its parent, with its signals and all.  So nobody
 * is killed before a program runs; before the run itself begins, say.
 */
static pid_t
find_victim(const struct victim *v, const pid_t *pids, size_t n)
{
	pid_t program = program_of(pids, n), keeper = parent_of(program),
	    master = parent_of(keeper);
	size_t i;

	if (program == 0 || parent_of(master) != getpid())
		return 0;
	switch (v->who) {
	case ANY:
		return one_of(v->lane);
	case MASTER:
		return master;
	case KEEPER:
		return keeper;
	case PROGRAM:
		return program;
	case LOBBY:
		for (i = 0; i < n; i++)
			if (pids[i] != keeper && parent_of(pids[i]) == master)
				return pids[i];
		break;
	}
	return 0;
}

static void
kill_victim(void)
{
	pid_t pids[32], victim;
	size_t n;

	n = doomed != NULL ? child_find("g1", pids, 32) : 0;
	victim = n > 0 ? find_victim(doomed, pids, n < 32 ? n : 32) : 0;
	if (victim != 0 && kill(victim, SIGKILL) == 0)
		doomed = NULL;
}

/* --- from outside --------------------------------------------------------- */

/* What is done to the next run from outside, once. */
static enum outside {
	NOTHING, NO_DESCRIPTORS, INTERRUPT, INTERRUPTED
} outside;
static struct rlimit descriptors;

/* All numbers from the first that is free are out of reach. */
static bool
take_descriptors(void)
{
	int fd = dup(0);
	struct rlimit less = descriptors;

	less.rlim_cur = fd > 0 ? (rlim_t)fd : 0;
	(void)close(fd);
	return setrlimit(RLIMIT_NOFILE, &less) == 0;
}

/* Asked in each turn of a run, and before it where an instance takes long to
   come up: then there is no program. */
static bool
meanwhile(void)
{
	pid_t pids[32];
	size_t n;

	kill_victim();
	if (outside == NOTHING || outside == INTERRUPTED)
		return outside == INTERRUPTED;
	n = child_find("g1", pids, 32);
	if (program_of(pids, n < 32 ? n : 32) == 0)
		return false;
	switch (outside) {
	case NOTHING:
	case INTERRUPTED:
		break;
	case NO_DESCRIPTORS:
		if (take_descriptors())
			outside = NOTHING;
		break;
	case INTERRUPT:
		outside = INTERRUPTED;
		break;
	}
	return outside == INTERRUPTED;
}

/* --- runs that are cut ---------------------------------------------------- */

#define CUT_SHORT "the run was cut short: "

static const struct cut {
	struct live_rig_plan plan;	/* it holds if it is left alone */
	enum outside outside;
	const char *message;	/* it begins so */
} cuts[] = {
	{ { "a simulator that has no descriptors left", LEDGER, TWO, "",
	    "holds = { 'at_most_once' }", 600, QUIET }, NO_DESCRIPTORS,
	  CUT_SHORT "a client could not connect: EMFILE" },
	{ { "a simulator that has none for who comes to a label", LEDGER, ONE,
	    "sim.on(sim.label('g1', 'effect.after', { key = 'k' }), "
	    "sim.proc.kill('g1'))",
	    "holds = { 'at_most_once' }", 600, QUIET }, NO_DESCRIPTORS,
	  CUT_SHORT "idemsim could not take a connection: Too many open "
	  "files" },
	{ { "an interrupt while a program runs", LEDGER, ONE, "", SAFE, 600,
	    QUIET }, INTERRUPT,
	  CUT_SHORT "it was interrupted" },
	{ { "a request that comes after the end", LEDGER, TWO, "",
	    "holds = { 'at_most_once' }", SERVICE_MS,
	    "at = 100, quiet = 200" }, NOTHING,
	  CUT_SHORT "of the plan's requests 1 come later" },
	{ { "a store that cannot be started again", LEDGER, ONE,
	    "sim.on(sim.at(50), sim.store.kill('a')), sim.on(sim.at(200), "
	    "sim.store.restart('a', { older = true })), sim.on(sim.at(400), "
	    "sim.store.save('a'))", "holds = { 'at_most_once' }", SERVICE_MS,
	    QUIET }, NOTHING,
	  CUT_SHORT "a cannot be started again: No such file" },
	{ { "a program that outlasts it", LEDGER,
	    "sim.script { { at = 0, client = 'c1', timeout = 100, send = { "
	    "key = 'k' } } }", "", "holds = { 'at_most_once' }", 8000,
	    "quiet = 300" }, NOTHING,
	  CUT_SHORT "g1 still has " }
};

/* True: it was done to the run. */
static bool
begin_cut(struct live_rig_run *r, const struct cut *c)
{
	bool done;

	outside = c->outside;
	live_rig_begin(r, &c->plan, SEED);
	done = outside != NO_DESCRIPTORS && outside != INTERRUPT;
	outside = NOTHING;
	(void)setrlimit(RLIMIT_NOFILE, &descriptors);
	return done;
}

/* It is no pass, and says why.  Another reason may come before that one. */
static void
is_cut(const struct cut *c)
{
	struct live_rig_run r;
	char *message = r.point.message;
	int tries = 1;

	while ((!begin_cut(&r, c) || live_rig_idle(&r)) &&
	    strncmp(message, c->message, strlen(c->message)) != 0 &&
	    tries++ < LIVE_RIG_TRIES) {
		note("once more: %s", message);
		live_rig_end(&r);
	}
	is(judge_text(r.point.verdict), judge_text(JUDGE_INCONCLUSIVE),
	    "a run with %s is inconclusive", c->plan.what);
	message[strnlen(c->message, sizeof r.point.message - 1)] = '\0';
	if (!is(message, c->message, "and says why"))
		live_rig_tell(&r);
	is_int(judge_exit(&r.point.verdict, 1), 2, "that is exit 2");
	live_rig_end(&r);
}

static void
an_unexpected_death(const struct victim *v)
{
	const struct live_rig_plan plan = {
		v->what, LEDGER, ONE, "", v->expect, VICTIM_MS, QUIET
	};
	struct live_rig_run r;
	int tries = 1;

	doomed = v;
	live_rig_begin(&r, &plan, SEED);
	/* Its program may have ended before it was seen. */
	while (doomed != NULL && tries++ < LIVE_RIG_TRIES) {
		note("once more: nobody was killed");
		live_rig_end(&r);
		live_rig_begin(&r, &plan, SEED);
	}
	if (!ok(doomed == NULL && r.point.verdict == JUDGE_INCONCLUSIVE &&
	    strstr(r.point.message, UNPLANNED) != NULL,
	    "a %s that dies by itself makes a run inconclusive", v->what))
		live_rig_tell(&r);
	note("%s", r.point.worst.message);
	is_int(judge_exit(&r.point.verdict, 1), 2, "that is exit 2");
	doomed = NULL;
	live_rig_end(&r);
}

/* --- operators ------------------------------------------------------------ */

static const struct history_event *
first_of(const struct history *h, enum history_kind kind, const char *what)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->events[i].kind == kind && h->events[i].what != NULL &&
		    strstr(h->events[i].what, what) != NULL)
			return &h->events[i];
	return NULL;
}

/* Whose configuration it is. */
static void
where_operators_are(void)
{
	static const struct live_rig_plan plan = {
		"an operator at g2", LEDGER, TWO,
		"sim.on(sim.label('g1', 'effect.after', { key = 'k' }),"
		" sim.proc.kill('g1'), sim.after(200, sim.proc.restart('g1')),"
		" sim.after(300, sim.operator.resolve('k', 'done', { gate = "
		"'g2' })))", SAFE, SERVICE_MS, QUIET
	};
	const struct history_event *fault;
	struct live_rig_run r;
	int tries = 1;

	live_rig_begin(&r, &plan, SEED);
	while ((fault = first_of(&r.h, HISTORY_FAULT, "resolve k done")) ==
	    NULL && live_rig_idle(&r) && tries++ < LIVE_RIG_TRIES) {
		live_rig_end(&r);
		live_rig_begin(&r, &plan, SEED);
	}
	is(fault != NULL ? fault->p : "nobody", "g2",
	    "an operator is where the plan says");
	live_rig_end(&r);
}

static void
what_operators_are_refused(void)
{
	static const struct live_rig_plan plan = {
		"an operator for nothing", LEDGER, ONE,
		"sim.on(sim.reply('c1'), sim.operator.resolve('k', "
		"'not-done'), sim.operator.resolve('z', 'done'))", SAFE,
		SERVICE_MS, QUIET
	};
	const struct history *h;
	struct live_rig_run r;
	int tries = 1;

	live_rig_begin(&r, &plan, SEED);
	/* It was to be vacuous: nothing was resolved. */
	while (r.point.verdict == JUDGE_INCONCLUSIVE &&
	    tries++ < LIVE_RIG_TRIES) {
		live_rig_end(&r);
		live_rig_begin(&r, &plan, SEED);
	}
	h = &r.h;
	ok(first_of(h, HISTORY_NOTE, "k not-done is refused: idemctl: "
	    "resolve: there is nothing to resolve: it is completed") != NULL,
	    "of what is completed an operator is told that there is nothing");
	ok(first_of(h, HISTORY_NOTE, "z done is refused: idemctl: resolve: "
	    "no such key") != NULL, "and so of a key that nobody has sent");
	ok(first_of(h, HISTORY_FAULT, "resolve") == NULL,
	    "then nothing was resolved");
	ok(h->n > 0 && h->events[h->n - 1].kind == HISTORY_END,
	    "and the run comes to its end");
	live_rig_end(&r);
}

int
main(void)
{
	size_t i;

	live_rig_open();
	live_stop_when(meanwhile);
	(void)getrlimit(RLIMIT_NOFILE, &descriptors);
	for (i = 0; i < sizeof victims / sizeof *victims; i++)
		an_unexpected_death(&victims[i]);
	for (i = 0; i < sizeof cuts / sizeof *cuts; i++)
		is_cut(&cuts[i]);
	where_operators_are();
	what_operators_are_refused();
	live_rig_close();
	return done();
}
