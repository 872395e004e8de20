/* SPDX-License-Identifier: ISC */
#ifndef CONF_LUA_H
#define CONF_LUA_H

#include "conf_private.h"
#include "lua_box.h"

/*
 * The Lua side of a configuration; shared by conf_lua*.c only, which alone know
 * Lua's header.
 *
 *	conf_lua.c		a file's text: loaded, run, its settings
 *	conf_lua_box.c		the box it is in (lua_box.h), and its limits
 *	conf_lua_near.c		"did you mean ...?"
 *	conf_lua_value.c	values: types, units, ranges
 *	conf_lua_word.c		header {}, cgi {}, wait "10s", ...
 *	conf_lua_redis.c	redis {}, and tokens
 *	conf_lua_route.c	route {}
 *	conf_lua_arbiter.c	who permits its starts
 *	conf_lua_lease.c	how long they may take
 *	conf_lua_unknown.c	what one that was cut off leaves behind
 *	conf_lua_doubt.c	what in it is hardly meant
 *	conf_lua_key.c		where its key comes from
 *	conf_lua_identity.c	its scope, guard and fingerprint
 *	conf_lua_program.c	a route's program
 *	conf_lua_call.c		a key's function, called for a request
 *
 * Everything in here that is wrong is raised as a Lua error, so none of it may
 * own memory meanwhile: it is the configuration's, or Lua's.
 */
#define CONF_LUA_SOURCES_MAX 16u

struct conf_lua {
	struct idem_lua_box box;	/* first; loading: words and settings
					   are to be had */
	struct conf *conf;
	const char *file;
	struct idem_bytes text;	/* while loading */
	struct idem_digest *functions;	/* of their texts; the conf's */
	int functions_len;

	/* conf_lua_call.c, of the call under way */
	const struct idem_params *params;
};

/* --- conf_lua_box.c ------------------------------------------------------- */

/* A state with limits and no word yet.  NULL: no memory. */
struct conf_lua *conf_lua_new(struct conf *, const char *file);
struct conf_lua *conf_lua_of(lua_State *);
/* Of the text under way; 0: none. */
int conf_lua_line(lua_State *);
/* Raise the message on top, as what is wrong with the configuration. */
_Noreturn void conf_lua_raise(lua_State *);

/* --- conf_lua.c ----------------------------------------------------------- */

bool conf_lua_is_setting(const char *name);

/* --- conf_lua_near.c ------------------------------------------------------ */

/* The one of a NULL-ended list that a name was meant to be, or NULL. */
const char *conf_lua_near(const char *name, const char *const *known);

/* --- conf_lua_value.c ----------------------------------------------------- */

/* Where values stand: the fields of a table, and what it is called. */
struct conf_at {
	lua_State *L;
	struct conf *conf;
	int table;		/* absolute index */
	const char *what;	/* "" at the file's own level */
	const struct conf_at *in;	/* or NULL */
};

/* "FILE:LINE: what: field: ...", raised.  field may be NULL. */
_Noreturn void conf_lua_wrong(const struct conf_at *, const char *field,
    const char *format, ...) __attribute__((format(printf, 3, 4)));
_Noreturn void conf_lua_no_memory(lua_State *);

/* All names of its fields are known; positional: values without a name, too. */
void conf_lua_fields(const struct conf_at *, const char *const *known,
    bool positional);
/* Push a field's value, if there is one. */
bool conf_lua_has(const struct conf_at *, const char *field);
/* The value on top as a table of settings called `field`: it stays there. */
struct conf_at conf_lua_inside(const struct conf_at *, const char *field);

/* Each pops nothing and leaves *out alone if there is no such field. */
typedef const char *conf_lua_check(const char *text);	/* NULL, or the fault */
void conf_lua_text(const struct conf_at *, const char *field,
    conf_lua_check *, const char **out);
void conf_lua_flag(const struct conf_at *, const char *field, bool *out);
void conf_lua_number(const struct conf_at *, const char *field, uint32_t min,
    uint32_t max, uint32_t *out);
void conf_lua_time(const struct conf_at *, const char *field, int64_t min_ms,
    int64_t max_ms, int64_t *out);
void conf_lua_span(const struct conf_at *, const char *field, uint32_t min_ms,
    uint32_t *out);
void conf_lua_size(const struct conf_at *, const char *field, uint64_t min,
    uint64_t max, uint64_t *out);
/* Which of a NULL-ended list of words; -1: no such field. */
int conf_lua_one_of(const struct conf_at *, const char *field,
    const char *const *words);
/* A text or a list of them; NULL-ended.  An empty list is one. */
void conf_lua_texts(const struct conf_at *, const char *field,
    conf_lua_check *, struct idem_words *out);
/* Those without a name, of the table itself. */
void conf_lua_positional(const struct conf_at *, conf_lua_check *,
    struct idem_words *out);
/* The text at an index, copied; the value's place is for messages. */
const char *conf_lua_copy(const struct conf_at *, const char *field, int index);

/* --- conf_lua_word.c ------------------------------------------------------ */

enum conf_word {
	CONF_WORD_NONE,		/* a value that no word made */
	CONF_WORD_SQLITE, CONF_WORD_REDIS, CONF_WORD_HEADER, CONF_WORD_QUERY,
	CONF_WORD_COOKIE, CONF_WORD_FORM, CONF_WORD_CONTENT, CONF_WORD_WAIT,
	CONF_WORD_RETRY, CONF_WORD_AUTO, CONF_WORD_CGI, CONF_WORD_FASTCGI
};

/* Add them to the table on top. */
void conf_lua_words(lua_State *);
enum conf_word conf_lua_word(lua_State *, int index);
const char *conf_lua_word_text(enum conf_word);
/* Push what a word was given. */
void conf_lua_given(lua_State *, int index);
/* The value on top, made by a word, as its table: a text is a list of one. */
struct conf_at conf_lua_word_inside(const struct conf_at *);

/* --- conf_lua_redis.c ----------------------------------------------------- */

/* Those of a setting, whose value is in at->table. */
const struct conf_redis *conf_lua_redis(const struct conf_at *,
    const char *name);
void conf_lua_tokens(const struct conf_at *, const char *name, struct conf *);

/* --- conf_lua_route.c, _arbiter.c, _lease.c, _unknown.c, _key.c, ... ------ */

bool conf_lua_is_field(const char *name);	/* of a route */
int conf_lua_route(lua_State *);	/* the function route */
void conf_lua_key(const struct conf_at *, struct idem_route *);
void conf_lua_identity(const struct conf_at *, struct idem_route *);
/* After both: do they go together? */
void conf_lua_key_check(const struct conf_at *, const struct idem_route *);
void conf_lua_arbiter(const struct conf_at *, struct conf_route *);
/* After the key. */
void conf_lua_form_token(const struct conf_at *, struct conf_route *);
void conf_lua_lease(const struct conf_at *, struct conf_route *);
/* After the program. */
void conf_lua_unknown(const struct conf_at *, struct conf_route *);
/* A program in a field; false: there is none. */
bool conf_lua_program(const struct conf_at *, const char *field,
    struct program_rule *);
/* Names of header fields (RFC 9110, 5.1), cookies, parameters and the like. */
conf_lua_check conf_lua_field_name, conf_lua_cookie_name,
    conf_lua_parameter_name;
conf_lua_check conf_lua_absolute;	/* a path that begins with / */

/* --- conf_lua_doubt.c ----------------------------------------------------- */

/* Warn of what may be meant as it is said, but hardly ever is: in a pattern,
   and of a route that all requests have left before it. */
void conf_lua_doubt_pattern(const struct conf_at *, const char *path);
void conf_lua_doubt_reached(const struct conf_at *, const struct conf_route *);

/* --- conf_lua_call.c ------------------------------------------------------ */

/* Keep the function on top, which is popped; its number. */
int conf_lua_keep(const struct conf_at *);
/* What a call needs, before a file is loaded. */
void conf_lua_call_prepare(lua_State *);
/* Once it is: what the functions are, for conf_lua_same_function. */
void conf_lua_digest(lua_State *);

#endif
