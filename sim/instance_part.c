/* SPDX-License-Identifier: ISC */
#include "instance_private.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * An instance is a master, which has lobbies and keepers, and these say by
 * their names what they are.  Another fork of it is not born yet, or becomes an
 * alert's command: no part.  All that runs another program is one, and so is
 * what a keeper has just made for it.
 *
 * The names are those of fcgi/lobby.h and fcgi/keeper.h, which are not for us
 * to include, and of idemd(8); t_sim_instance_part finds no part where they
 * differ.
 */
#define LOBBY_NAME "idem-lobby"
#define KEEPER_NAME "idem-keeper"

struct part {
	pid_t pid, parent;
	enum plan_part what;	/* PLAN_WHOLE: the master */
};

struct parts {
	struct part at[CHILD_PIDS];
	size_t n;
};

static bool
is_idemd(const struct instance *i, pid_t pid)
{
	struct stat ours, its;
	char path[40];

	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	return stat(i->in->idemd, &ours) == 0 && stat(path, &its) == 0 &&
	    ours.st_dev == its.st_dev && ours.st_ino == its.st_ino;
}

static bool
what_is(const struct instance *i, const struct child_stat *st,
    enum plan_part *what)
{
	if (!is_idemd(i, st->pid))
		*what = PLAN_PROGRAM;
	else if (st->pid == i->child.pid)
		*what = PLAN_WHOLE;
	else if (strcmp(st->name, KEEPER_NAME) == 0)
		*what = PLAN_KEEPER;
	else if (strcmp(st->name, LOBBY_NAME) == 0)
		*what = PLAN_LOBBY;
	else
		return false;
	return true;
}

static const struct part *
find(const struct parts *p, pid_t pid)
{
	size_t k;

	for (k = 0; k < p->n; k++)
		if (p->at[k].pid == pid)
			return &p->at[k];
	return NULL;
}

/* A child of a keeper that is still its image is on its way to a program. */
static void
look(const struct instance *i, struct parts *p)
{
	pid_t pids[CHILD_PIDS];
	size_t n = child_find(i->name, pids, CHILD_PIDS), k;
	const struct part *parent;
	enum plan_part what;
	struct child_stat st;

	p->n = 0;
	for (k = 0; k < n; k++)
		if (child_stat(pids[k], &st) && what_is(i, &st, &what))
			p->at[p->n++] = (struct part){ pids[k], st.parent,
				what };
	for (k = 0; k < p->n; k++) {
		parent = find(p, p->at[k].parent);
		if (p->at[k].what == PLAN_KEEPER && parent != NULL &&
		    parent->what == PLAN_KEEPER)
			p->at[k].what = PLAN_PROGRAM;
	}
}

/* --- signals -------------------------------------------------------------- */

static size_t
signal_part(struct instance *i, enum plan_part part, int signal,
    const char *states)
{
	struct parts p;
	size_t k, n = 0;

	look(i, &p);
	for (k = 0; k < p.n; k++)
		if (p.at[k].what == part) {
			if (signal == SIGKILL)
				i->in->killed[i->in->kills++ %
				    INSTANCE_KILLED] = p.at[k].pid;
			n += kill(p.at[k].pid, signal) == 0;
		}
	for (k = 0; k < p.n; k++)
		if (p.at[k].what == part)
			child_await_state(p.at[k].pid, states);
	return n;
}

size_t
instance_kill(struct instance *i, enum plan_part part)
{
	if (i->in == NULL)
		return 0;
	if (part != PLAN_WHOLE)
		return signal_part(i, part, SIGKILL, "ZX");
	i->child.doomed = true;
	i->up = false;
	return child_kill_all(i->name);
}

/* The whole of it tells of nobody's death. */
bool
instance_killed(const struct instance *i, pid_t pid)
{
	size_t k;

	if (i->in == NULL || i->child.doomed)
		return true;
	for (k = 0; k < i->in->kills && k < INSTANCE_KILLED; k++)
		if (i->in->killed[k] == pid)
			return true;
	return false;
}

size_t
instance_pause(struct instance *i, enum plan_part part)
{
	if (i->in == NULL)
		return 0;
	return part != PLAN_WHOLE ? signal_part(i, part, SIGSTOP, "Tt") :
	    child_stop_all(i->name);
}

size_t
instance_resume(struct instance *i, enum plan_part part)
{
	if (i->in == NULL)
		return 0;
	return part != PLAN_WHOLE ? signal_part(i, part, SIGCONT, "RSD") :
	    child_continue_all(i->name);
}

bool
instance_rests(const struct instance *i)
{
	size_t workers = i->in->spec.plan->gates.workers, n[2] = { 0, 0 }, k;
	struct child_stat st;
	struct parts p;

	look(i, &p);
	for (k = 0; k < p.n; k++) {
		if (p.at[k].what != PLAN_LOBBY && p.at[k].what != PLAN_KEEPER)
			continue;
		n[p.at[k].what == PLAN_LOBBY]++;
		if (!child_stat(p.at[k].pid, &st) || st.state != 'S')
			return false;
	}
	workers = workers > 0 ? workers : 1;
	return n[0] == workers && n[1] == workers;
}

bool
instance_is_busy(const struct instance *i)
{
	struct child_stat st;
	struct parts p;
	size_t k;

	if (i->in == NULL)
		return false;
	look(i, &p);
	for (k = 0; k < p.n; k++)
		if ((p.at[k].what == PLAN_LOBBY ||
		    p.at[k].what == PLAN_KEEPER) &&
		    child_stat(p.at[k].pid, &st) &&
		    strchr("STtZX", st.state) == NULL)
			return true;
	return false;
}

/* --- figures -------------------------------------------------------------- */

size_t
instance_processes(const struct instance *i)
{
	pid_t pids[1];

	return i->in != NULL ? child_find(i->name, pids, 1) : 0;
}

static size_t
descriptors_of(pid_t pid)
{
	struct dirent *entry;
	char path[40];
	size_t n = 0;
	DIR *fds;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	fds = opendir(path);
	while (fds != NULL && (entry = readdir(fds)) != NULL)
		n += entry->d_name[0] != '.';
	if (fds != NULL)
		closedir(fds);
	return n;
}

size_t
instance_descriptors(const struct instance *i)
{
	struct parts p;
	size_t k, n = 0;

	if (i->in == NULL)
		return 0;
	look(i, &p);
	for (k = 0; k < p.n; k++)
		if (p.at[k].what == PLAN_LOBBY)
			n += descriptors_of(p.at[k].pid);
	return n;
}
