/* SPDX-License-Identifier: ISC */
#ifndef IDEM_LUA_BOX_H
#define IDEM_LUA_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A box for Lua that is not trusted to end, or to be modest: a configuration,
 * a scenario.  It has so much memory, and each call so many instructions and so
 * much time, and no more, however often the file catches the error.  What of
 * Lua's own it may use has no files, programs, clock, chunks or metatables, and
 * does not do for ever what the count of instructions cannot see
 * (idem_lua_words).
 *
 * What goes wrong is told in one line, "PATH:LINE: why", with the place in the
 * text that was under way.  Lua's own messages call the texts of a box "?a",
 * "?b", ... by their numbers; idem_lua_box_call makes paths of them.
 *
 * It is the first member of what its user keeps of a state, so that functions
 * called by Lua find that (idem_lua_box_of).
 */
typedef struct lua_State lua_State;

#define IDEM_LUA_SOURCES 16	/* texts of a box */

/* Constant for a box's whole life. */
struct idem_lua_limits {
	size_t memory;		/* bytes, of all that Lua has */
	unsigned list_max;	/* values of a list that table.* works on */
	size_t text_max;	/* bytes that string.rep makes; 0: as memory */
	size_t lines_from;	/* bytes in use from which the error that there
				   is no memory knows its line, which is slow;
				   0: it never does */
	bool secret;		/* texts of it are not shown by an error */
	const char *what;	/* "a scenario": what it is, in messages */
};

/* What one call may take. */
struct idem_lua_allowance {
	int64_t instructions;
	double steps;		/* of matching patterns, and of sorting */
	int64_t ms;		/* of this thread's processor time */
};

struct idem_lua_place {
	int source;		/* number of a text; -1: not known */
	int line;
};

struct idem_lua_box {
	lua_State *L;
	const char *paths[IDEM_LUA_SOURCES];	/* borrowed; as they are told */
	int64_t left;		/* instructions; work of C may be taken off */
	bool loading;		/* the first thing raised is kept in wrong */
	char wrong[800];	/* "": nothing */

	/* private, to lua_*.c */
	const struct idem_lua_limits *limits;
	size_t used;		/* bytes of Lua's */
	unsigned failures;	/* allocations, in this call */
	double steps;		/* left */
	int64_t until_ns;
	const char *stopped;	/* why it must end now; or NULL */
	struct idem_lua_place place;	/* where it is, or was last */
	bool lines;		/* each line is noted there */
	char no_room[100];
};

/*
 * Make a state in a box of zeroes; path is that of text 0.  The limits stay
 * where they are.  -1: no memory, and there is nothing to close.
 */
int idem_lua_box_open(struct idem_lua_box *, const struct idem_lua_limits *,
    const char *path);
void idem_lua_box_close(struct idem_lua_box *);	/* of zeroes too */
struct idem_lua_box *idem_lua_box_of(lua_State *);

/*
 * Within a call: push the chunk of a text, by its number (lua_text.c).  What is
 * no Lua is raised as an error: so is what was compiled, and what is UTF-16.  A
 * mark that says UTF-8 is passed over.
 */
void idem_lua_text_load(lua_State *, int source, const char *text, size_t len);
/* Where the innermost line of a text is that is under way. */
struct idem_lua_place idem_lua_box_here(lua_State *);
/*
 * Raise the message on top, with that place in front.  While loading the first
 * one is not forgotten, though the file itself may catch the error.
 */
_Noreturn void idem_lua_box_raise(lua_State *, struct idem_lua_place);

/*
 * Call the function below the `args` arguments on top, for `results` results.
 * false: why, and the stack is empty.  It must be so before, but for these.
 */
bool idem_lua_box_call(struct idem_lua_box *,
    const struct idem_lua_allowance *, int args, int results, char *why,
    size_t why_size);

/*
 * Push a table of what of Lua's own may be used, and of `more` words parted by
 * blanks, as "math.log coroutine.create" (lua_words.c).  pairs goes in the
 * order of keys, and there is no next; functions of string and table refuse
 * what would take for ever.  No word may call a function of the file's as the
 * handler of an error, as xpcall does: instructions are not counted there.
 */
void idem_lua_words(lua_State *, const char *more);

#endif
