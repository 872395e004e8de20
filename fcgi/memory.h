/* SPDX-License-Identifier: ISC */
#ifndef MEMORY_H
#define MEMORY_H

#include "conf.h"
#include "log.h"

/*
 * What stands in for Redis where a route says on_outage = "memory": a ledger in
 * the memory of this host, shared by all workers of an instance and owned by
 * its master (doc/operations.md, Memory fallback).  It lies in a folder of its
 * own, mode 0700, which is locked for as long as master or a worker lives, and
 * taken away by the master's end or else by the next start.
 */
#define MEMORY_PLACE "/dev/shm"

struct memory {
	char *folder;		/* owned; NULL: there is none */
	char *path;		/* of the ledger in it; owned */
	int lock;		/* descriptor of the folder */
};

/* The first route that says so; or NULL. */
const struct conf_route *memory_wanted(const struct conf *);

/*
 * Make it in the first of these folders that will do, NULL last.  What is wrong
 * with one, or with its place on a disk, is logged.  0; -1: none would do.
 */
int memory_make(struct memory *, const char *const *places, struct log *);
/* Take it away, if there is one; by the master, after all others are gone. */
void memory_drop(struct memory *);

/* Take away those that are left of the dead, and ours to take. */
void memory_tidy(const char *const *places);

#endif
