/* SPDX-License-Identifier: ISC */
#ifndef TESTS_MISTAKE_H
#define TESTS_MISTAKE_H

#include <stddef.h>

/*
 * What people get wrong in scenario files: each is told in one line, with file
 * and line, what it is and what to do.
 */
#define TOP "local sim = require 'idemsim'\nsim.api(1)\n"
#define NAME "return sim.scenario { name = 'x',\n"			/* 3 */
#define TOPOLOGY "topology = { redis = { a = {}, b = { replica_of = 'a' } }," \
    "\n" \
    "gates = { n = 2, arbiter = 'ledger', ledger = 'shared', store = 'a' } },\n"
#define LOAD "load = { sim.script { { client = 'c1', send = { key = 'k' } } " \
    "} },\n"
#define EXPECT "expect = { holds = { 'at_most_once' } },\n"
#define GOOD NAME TOPOLOGY LOAD EXPECT			/* lines 3 to 7 */
#define WITH(more) TOP GOOD more "}\n"			/* more: line 8 */
#define FAULT(fault) WITH("faults = { sim.on(sim.at(1), " fault ") }")
#define WHEN(trigger) WITH("faults = { sim.on(" trigger \
    ", sim.proc.kill('g1')) }")
#define FAILS(label, words) WITH("faults = { sim.on(sim.label('g1', '" label \
    "'), sim.proc.fail(" words ")) }")
#define RETRY(fields) TOP NAME TOPOLOGY EXPECT "load = { sim.closed { " \
    "clients = 1, keys = sim.keys { n = 1 }, retry = sim.retry {\n" fields \
    "} } } }"
#define CONFIG(fields) TOP NAME LOAD EXPECT \
    "topology = { redis = { a = {} },\n" \
    "gates = { arbiter = 'ledger', store = 'a',\nconfig = {" fields "} } } }"
#define GATES(fields) TOP NAME LOAD EXPECT \
    "topology = { redis = { a = {} },\n" \
    "gates = {" fields "} } }"
#define TOKENS(script) TOP NAME EXPECT "topology = { redis = { a = {} }, " \
	"gates = { n = 2, arbiter = 'token', store = 'a' } },\n\n" \
	"load = { sim.script { " script " } } }"	/* script: line 7 */
#define EXPECTED(fields) TOP NAME TOPOLOGY LOAD "expect = {" fields "} }"
#define HANDLER(fields) WITH("handler = sim.handler { " fields " }")

struct mistake {
	const char *what, *text;
	int line;		/* 0: none is known */
	const char *says[2];	/* parts of what is told; NULL: it is none */
};

/* A temporary folder for them. */
void mistake_begin(void);
/* One test each. */
void mistake_check(const struct mistake *, size_t n);
/* A file of the folder; where it is (until the next one is asked for). */
void mistake_put(const char *name, const char *text);
const char *mistake_path(const char *name);	/* "": the folder */
void mistake_end(void);

#endif
