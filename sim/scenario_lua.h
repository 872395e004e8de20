/* SPDX-License-Identifier: ISC */
#ifndef SCENARIO_LUA_H
#define SCENARIO_LUA_H

#include "scenario.h"

#include "lua_box.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Shared by scenario*.c only, which alone know Lua's header.
 *
 *	scenario.c		a file, its test points, calls afterwards
 *	scenario_box.c		the box it is in (lua_box.h), and its limits
 *	scenario_sandbox.c	what of Lua a file may use
 *	scenario_require.c	files, and what require does with them
 *	scenario_near.c		"did you mean ...?"
 *	scenario_words.c	sim.*: its words
 *	scenario_made.c		what they make
 *	scenario_param.c	sim.param
 *	scenario_matrix.c	sim.matrix
 *	scenario_at.c		fields of tables, and where they stand
 *	scenario_value.c	values: types, units, ranges
 *	scenario_plan.c		sim.scenario, into a plan
 *	scenario_topology.c	... who takes part
 *	scenario_config.c	... how it is configured
 *	scenario_names.c	... what it is called
 *	scenario_load.c		... what clients do
 *	scenario_sends.c	... one request after the other
 *	scenario_dist.c		... how long it takes
 *	scenario_token.c	... who makes their keys
 *	scenario_handler.c	... and the program
 *	scenario_trigger.c	... when something goes wrong
 *	scenario_action.c	... and what
 *	scenario_action_net.c	... to links and their messages
 *	scenario_faults.c	... and the rules made of both
 *	scenario_expect.c	... what must hold
 *	scenario_expect_bounds.c	... within which numbers
 *	scenario_function.c	... and by which functions of the file
 *	scenario_history.c	a history, for a file's own functions
 *	scenario_event.c	... its events
 *	scenario_wanted.c	... and what is looked for among them
 *
 * What sim.* makes is opaque, and knows where it was made; what was given to it
 * is read when the file has returned a scenario.  Everything that is wrong is
 * raised as a Lua error, so nobody may own memory meanwhile: it is the plan's,
 * the scenario's, or Lua's.
 */
#define SCENARIO_SOURCE_SIZE (1u << 20)
#define SCENARIO_PARAMS_MAX 16
#define SCENARIO_VALUES_MAX 200
#define SCENARIO_POINTS_MAX 2000

struct scenario_source {
	const char *path;	/* as it is told */
	const char *module;	/* what require calls it; NULL: the file */
	const char *text;
	size_t len;
};

struct scenario_param {		/* of the run of the file under way */
	const char *name;
	const char *values[SCENARIO_VALUES_MAX];
	size_t n, at;		/* so many; which one it has */
	bool chosen;		/* it alone is wanted */
	bool listed;		/* there are no other values */
};

struct scenario {
	struct idem_lua_box box;	/* first; loading: sim.* may be
					   called */
	bool api;		/* sim.api was */

	struct arena arena;
	const char *file;
	struct scenario_source sources[IDEM_LUA_SOURCES];
	int sources_n;
	const struct scenario_choice *choices;	/* while loading */
	size_t choices_n;
	bool *chosen;		/* which of them met their parameter */
	const char **names;	/* of all parameters of all runs */
	size_t names_n;

	struct scenario_param params[SCENARIO_PARAMS_MAX];
	size_t params_n;
	size_t next[SCENARIO_PARAMS_MAX];	/* values of the next run */
	size_t next_n;
	struct plan **plans;
	size_t plans_n;
	size_t spent;		/* bytes of all plans */

	const struct history *history;	/* of the call under way */
	uint64_t history_number;	/* which of all calls it is of */
	bool log_says_source;	/* in it */
};

/* --- scenario_box.c ------------------------------------------------------- */

/* 0; -1: no memory. */
int scenario_box_open(struct scenario *);
struct scenario *scenario_of(lua_State *);
/* Where the innermost line of a file is. */
struct idem_lua_place scenario_here(lua_State *);
/* Raise what stands in a place: "what; what to do". */
_Noreturn void scenario_raise(lua_State *, struct idem_lua_place,
    const char *format, ...) __attribute__((format(printf, 3, 4)));
/*
 * Call the function below the `args` arguments on top, for `results` results,
 * within all limits; false: why, and the stack is empty.
 */
bool scenario_call(struct scenario *, int args, int results, char *wrong,
    size_t wrong_size);

/* --- scenario_sandbox.c, scenario_require.c ------------------------------- */

/* In the registry: */
#define SCENARIO_GLOBALS "scenario globals"	/* a table, closed */
#define SCENARIO_SIM "scenario sim"		/* so is this */
#define SCENARIO_MADE "scenario made"		/* a metatable */
#define SCENARIO_OWN "scenario invariants"	/* of sim.invariant, by name */
#define SCENARIO_FUNCTIONS "scenario functions"	/* { { sometimes }, { custom } }
						   of each test point */

void scenario_sandbox(lua_State *);
/* Before each call: no module is loaded yet, lots begin anew. */
void scenario_begin(lua_State *);
/* An empty table in front of the one on top, in its place: it can be read, and
   what is not in it is an error. */
void scenario_closed(lua_State *, const char *name);

/* The index of a source that is read, or else is read now; -1: errno. */
int scenario_source(struct scenario *, const char *path, const char *module);
/* Push a file's chunk. */
void scenario_chunk(lua_State *, int source);
int scenario_require(lua_State *);	/* require */
void scenario_forget_modules(lua_State *);

/* --- scenario_near.c ------------------------------------------------------ */

/* The word, of those parted by blanks, that a name was meant to be; or NULL. */
const char *scenario_near(const char *name, const char *words, char *out,
    size_t size);

/* --- scenario_words.c, scenario_made.c ------------------------------------ */

enum scenario_kind {
	SCENARIO_DIST, SCENARIO_KEYS, SCENARIO_RETRY, SCENARIO_HANDLER,
	SCENARIO_LOAD, SCENARIO_TRIGGER, SCENARIO_ACTION, SCENARIO_ON,
	SCENARIO_AFTER, SCENARIO_MAYBE, SCENARIO_TERM, SCENARIO_INVARIANT,
	SCENARIO_SCENARIO, SCENARIO_MATRIX, SCENARIO_KINDS
};

struct scenario_word {
	const char *name;	/* "proc.kill" */
	enum scenario_kind kind;
	int sub;		/* which of them: of plan.h, mostly */
	/* Its arguments: n number, d time (ms, or a text with a unit), l the
	   same or a word, s text, b boolean, t table, f function, m made by
	   sim.*; + behind it: one or more of the last; capitals may be left
	   out. */
	const char *args;
	const char *example;	/* what is said of wrong ones */
	const char *fields;	/* of its table, parted by blanks; or NULL */
};

/* What sim.* made; its arguments are a list in its user value. */
struct scenario_made {
	const struct scenario_word *word;
	struct idem_lua_place place;
	int64_t base;		/* of a term */
};

const struct scenario_word *scenario_words(size_t *n);
/* Push the table sim. */
void scenario_made_push(lua_State *);
/* What stands there, if sim.* made it; or NULL. */
struct scenario_made *scenario_made(lua_State *, int index);
/* "a sim.retry", "a table", "\"x\"": for a message. */
const char *scenario_shown(lua_State *, int index, char *out, size_t size);

/* --- scenario_param.c, scenario_matrix.c ---------------------------------- */

int scenario_param(lua_State *);	/* sim.param */
int scenario_matrix(lua_State *);	/* sim.matrix */
/* As --param says the value at an index; NULL: it is none. */
const char *scenario_param_text(lua_State *, int index);
bool scenario_param_is_name(const char *);
/* Could it be a test point's name, or in one? */
bool scenario_param_is_line(const char *);
void scenario_param_note(struct scenario *, const char *name);	/* there is */
/* The choice of a parameter, the last one; NULL: all its values are wanted. */
const char *scenario_param_choice(struct scenario *, const char *name);
_Noreturn void scenario_param_refuse(lua_State *, const char *name,
    const char *choice, const char *const *values, size_t n);
/* Is there another run of the file to be made? */
bool scenario_param_next(struct scenario *);
/* Has every choice met its parameter?  false: wrong says. */
bool scenario_param_met(struct scenario *, char *wrong, size_t size);
/* Into the plan and its name: parameters of the run, and n more of matrices. */
void scenario_param_tell(struct scenario *, struct plan *,
    const struct plan_pair *more, size_t n);

/* --- scenario_at.c, scenario_value.c -------------------------------------- */

/* Where values stand: fields of a table. */
struct scenario_at {
	lua_State *L;
	struct plan *plan;
	int table;		/* absolute index */
	struct idem_lua_place place;	/* of what sim.* made of it */
	const char *what;	/* "sim.retry", "gates" */
	const struct scenario_at *in;	/* the table around it; or NULL */
};

/* "FILE:LINE: what: field: ...", raised.  field: NULL: of the whole. */
_Noreturn void scenario_wrong(const struct scenario_at *, const char *field,
    const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The value on top is not what it should be. */
_Noreturn void scenario_not(const struct scenario_at *, const char *field,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Memory of the plan. */
void *scenario_get(const struct scenario_at *, size_t len);
void *scenario_more(const struct scenario_at *, void *array, size_t *n,
    size_t size);

/* Names of all fields are among those, parted by blanks; NULL: it is a list,
   without holes.  Its length. */
size_t scenario_fields(const struct scenario_at *, const char *known);
/* Push a field's value, if there is one. */
bool scenario_has(const struct scenario_at *, const char *field);
/* "[1]": a list's element, as a field. */
#define SCENARIO_NTH 24
void scenario_nth(char field[SCENARIO_NTH], size_t i);
/* The table on top, called `field`; it stays there. */
struct scenario_at scenario_inside(const struct scenario_at *,
    const char *field);
/*
 * The value on top, made by sim.* and of that kind, as the list of what it was
 * given, which is pushed; what to say instead, if it is none.
 */
struct scenario_at scenario_given(const struct scenario_at *,
    const char *field, enum scenario_kind, const char *instead,
    const struct scenario_word **);
/* The table of options among what was given, if there is one, is pushed. */
bool scenario_options(const struct scenario_at *given, int argument,
    const struct scenario_word *, struct scenario_at *options);

/*
 * A field of that type, in the plan's memory; `otherwise` if there is none.
 * Nothing stays on the stack.  A list's element has field "[N]".
 */
const char *scenario_text(const struct scenario_at *, const char *field,
    const char *otherwise);
bool scenario_flag(const struct scenario_at *, const char *field,
    bool otherwise);
int64_t scenario_whole(const struct scenario_at *, const char *field,
    int64_t min, int64_t max, int64_t otherwise);
double scenario_real(const struct scenario_at *, const char *field, double min,
    double max, double otherwise);
int64_t scenario_ms(const struct scenario_at *, const char *field,
    int64_t otherwise);
/* Which of those words, parted by blanks. */
int scenario_one_of(const struct scenario_at *, const char *field,
    const char *words, int otherwise);
/* The value on top as such; it stays there. */
const char *scenario_top_text(const struct scenario_at *, const char *field);
int64_t scenario_top_ms(const struct scenario_at *, const char *field);
/* All fields of a table, numbers and flags as texts, in the order of names. */
struct plan_pair *scenario_pairs(const struct scenario_at *, size_t *n);
void scenario_sort(struct plan_pair *, size_t n);	/* by name */
/* What was given to a word. */
const char *scenario_arg_text(const struct scenario_at *, int argument);

/* --- scenario_plan.c and its parts ---------------------------------------- */

#define SCENARIO_MS_MAX (24 * 3600 * INT64_C(1000))
#define SCENARIO_TIMEOUT_MS 10000	/* of a try, if nothing is said */

/* The value on top, of SCENARIO_SCENARIO, with n parameters of matrices. */
void scenario_plan_add(lua_State *, const struct plan_pair *more, size_t n);

void scenario_topology(const struct scenario_at *);
void scenario_config(const struct scenario_at *gates);
void scenario_handler(const struct scenario_at *);
void scenario_load(const struct scenario_at *);
/* A time, or what sim.const and its like made; else always `otherwise`. */
struct plan_dist scenario_dist(const struct scenario_at *, const char *field,
    double otherwise);
/* What sim.script was given: its list of requests, into the load. */
void scenario_sends(const struct scenario_at *list, struct plan_load *);
/* Of `from`: where a key comes from; READY if it is not said. */
enum plan_source scenario_key_source(const struct scenario_at *);
/* Of a request of a script: `from` and `token`; and where a token is asked for.
   Its other words are read. */
void scenario_token(const struct scenario_at *, struct plan_send *);
void scenario_token_get(const struct scenario_at *, struct plan_send *);
void scenario_token_script(const struct scenario_at *list, struct plan_send *,
    size_t n);
void scenario_token_loads(const struct scenario_at *, const struct plan_load *,
    size_t n);
void scenario_faults(const struct scenario_at *);
void scenario_expect(const struct scenario_at *);
/*
 * Functions of a file's expectations, in two tables of Lua's by the numbers
 * that their names have in the plan, from 1.
 */
struct scenario_functions {
	int table;		/* index of { { sometimes }, { custom } } */
	size_t sometimes_n, custom_n;
	const char **sometimes, **custom;
};
/* What sim.invariant made, on top, is to hold; it is popped. */
void scenario_function_custom(const struct scenario_at *,
    struct scenario_functions *);
/* Those of the field `sometimes`, in the order of their names. */
void scenario_function_sometimes(const struct scenario_at *,
    struct scenario_functions *);
/* false: it says none. */
bool scenario_expect_bounds(const struct scenario_at *, struct plan_expect *);

/* A gate's, store's or link's name, of field or argument `what`. */
int scenario_gate(const struct scenario_at *, const char *what,
    const char *name, bool any);
int scenario_store(const struct scenario_at *, const char *what,
    const char *name);
void scenario_link(const struct scenario_at *, const char *what,
    const char *name, int *gate, int *store);
void scenario_client(const struct scenario_at *, const char *what,
    const char *name);
/* What is of a link or its messages cannot be, if gates go past it. */
void scenario_past_links(const struct scenario_at *);
/* The field "script"; NULL: there is none. */
const char *scenario_script(const struct scenario_at *options);
/* The trigger on top; what an action is, that is on top. */
struct plan_trigger scenario_trigger(const struct scenario_at *,
    const char *field);
struct plan_action scenario_action(const struct scenario_at *,
    const char *field);

/* --- scenario_history.c and its parts ------------------------------------- */

/* Metatables, into the registry. */
void scenario_history_open(lua_State *);
/* The one that functions see from now on; NULL: none. */
void scenario_history_set(struct scenario *, const struct history *);
void scenario_history_push(lua_State *);

/* What a function looks for: events of a kind, or all, whose members are so. */
#define SCENARIO_CONDITIONS_MAX 16

struct scenario_condition {
	const char *name, *text;	/* text NULL: a number or a flag */
	double number;
};

struct scenario_wanted {
	bool any_kind, replies;
	bool replayed;		/* answers out of a store, of whatever one */
	enum history_kind kind;
	struct scenario_condition all[SCENARIO_CONDITIONS_MAX];
	size_t n;
};

/* The table at an index; the names and texts stay Lua's. */
void scenario_wanted_read(lua_State *, int table, struct scenario_wanted *);
bool scenario_wanted_fits(lua_State *, const struct scenario_wanted *,
    const struct history_event *);

/* A member by the name that a history's file has for it. */
bool scenario_event_has(const char *name);
void scenario_event_push(lua_State *, const char *name,
    const struct history_event *);
_Noreturn void scenario_event_unknown(lua_State *, const char *name);

#endif
