/* SPDX-License-Identifier: ISC */
#include "program.h"

#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Whether a program can be started with what a request has for it, and whether
 * the system agrees.
 */

static const struct program nothing_found;

#define BIG_MAX (256 * 1024)

static char *const argv_true[] = { "/bin/true", NULL };
static char *const passes_foo[] = { "FOO", NULL };

/* A parameter of that length, with its NUL. */
static char *
param_of(const char *name, size_t len)
{
	char *text = malloc(len);
	size_t name_len = strlen(name);

	if (text == NULL)
		bail_out("out of memory");
	memset(text, 'x', len);
	memcpy(text, name, name_len);
	text[name_len] = '=';
	text[len - 1] = '\0';
	return text;
}

static enum idem_problem
finds(const struct program_rule *rule, const struct idem_params *params)
{
	struct program p;
	enum idem_problem problem = program_find(&p, rule, params);

	program_free(&p);
	return problem;
}

/* What the system says to starting it with these, and the most of ours. */
static int
starts(const struct idem_params *params)
{
	const struct program_rule rule = { .argv = argv_true };
	struct program_more more = {
		.rule = &rule, .program = &nothing_found,
		.body_len = UINT64_MAX, .keyed = true, .attempt = UINT32_MAX,
		.deadline_ms = INT64_MAX
	};
	char **env = program_environment(params, &more);
	volatile int error = 0;
	pid_t pid;

	if (env == NULL)
		bail_out("out of memory");
	pid = vfork();
	if (pid == 0) {
		execve(argv_true[0], argv_true, env);
		error = errno;
		_exit(127);
	}
	free(env);
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		bail_out("a program cannot be started");
	return error;
}

static void
check_big(size_t len, enum idem_problem problem, int error)
{
	char *texts[] = { param_of("HTTP_BIG", len), NULL };
	struct idem_params params = { texts, 1 };
	const struct program_rule rule = { .argv = argv_true };

	is_int(finds(&rule, &params), problem,
	    "a parameter of %zu bytes %s [cgi:C74]", len,
	    error == 0 ? "is taken" : "is too much");
	is_int(starts(&params), error, "and the system says so, too");
	free(texts[0]);
}

static void
check_big_ones(void)
{
	size_t most = 32 * (size_t)sysconf(_SC_PAGESIZE);
	char *texts[] = {
		param_of("HTTP_A", most / 2), param_of("HTTP_A", most / 2 + 16),
		NULL
	};
	char *left[] = { param_of("FOO", BIG_MAX), NULL };
	char *twice[] = { "FOO=1", left[0], NULL };
	struct idem_params params = { texts, 2 };
	struct program_rule rule = { .argv = argv_true };

	check_big(100 * 1024, IDEM_PROBLEM_NONE, 0);
	check_big(most, IDEM_PROBLEM_NONE, 0);
	check_big(most + 1, IDEM_PROBLEM_TOO_MUCH_HEAD, E2BIG);
	check_big(200 * 1024, IDEM_PROBLEM_TOO_MUCH_HEAD, E2BIG);
	is_int(finds(&rule, &params), IDEM_PROBLEM_TOO_MUCH_HEAD,
	    "two that are joined may be too much [cgi:C74 R7]");
	is_int(starts(&params), E2BIG, "and the system says so, too");
	params = (struct idem_params){ left, 1 };
	is_int(finds(&rule, &params), IDEM_PROBLEM_NONE,
	    "what is not passed takes no room");
	rule.pass = passes_foo;
	is_int(finds(&rule, &params), IDEM_PROBLEM_TOO_MUCH_HEAD,
	    "what the rule passes does");
	params = (struct idem_params){ twice, 2 };
	is_int(finds(&rule, &params), IDEM_PROBLEM_NONE,
	    "the second of a name takes none");
	free(texts[0]);
	free(texts[1]);
	free(left[0]);
}

/* The longest of that name beside the others that is still taken; 0: none. */
static size_t
longest_taken(struct idem_params *params, const char *name, size_t most)
{
	const struct program_rule rule = { .argv = argv_true };
	size_t low = strlen(name) + 1, high = most + 1, middle;
	char *text = param_of(name, most + 1);

	params->at[params->len++] = text;
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		text[middle - 1] = '\0';
		if (finds(&rule, params) == IDEM_PROBLEM_NONE)
			low = middle;
		else
			high = middle;
		text[middle - 1] = 'x';
	}
	text[low - 1] = '\0';
	return low > strlen(name) + 1 ? low : 0;
}

/* Where it begins to be too much, to the byte. */
static void
check_total(void)
{
	enum { PIECES = 80 };
	const size_t piece_len = 100 * 1024;
	char *texts[PIECES + 1] = { NULL }, name[16];
	struct idem_params params = { texts, 0 };
	size_t len = piece_len, i;

	for (i = 0; i < PIECES && len == piece_len; i++) {
		snprintf(name, sizeof name, "HTTP_%zu", i);
		len = longest_taken(&params, name, piece_len);
	}
	ok(i < PIECES && len > 0, "%zu bytes after %zu times 100 KiB are all "
	    "that is taken [cgi:C74]", len, i - 1);
	is_int(starts(&params), 0, "and the system takes them");
	for (i = 0; i < params.len; i++)
		free(texts[i]);
}

/* Many small ones: what is too much of them are their pointers. */
static void
check_many(void)
{
	enum { MOST = 200000, STEP = 5000 };
	const struct program_rule rule = { .argv = argv_true };
	char (*texts)[16] = calloc(MOST, sizeof *texts);
	char **in = calloc(MOST + 1, sizeof *in);
	struct idem_params params = { in, 0 };
	struct program_more more = {
		.rule = &rule, .program = &nothing_found, .body_len = 1,
		.keyed = true
	};
	char **env;
	size_t i;

	if (texts == NULL || in == NULL)
		bail_out("out of memory");
	while (params.len < MOST && finds(&rule, &params) == IDEM_PROBLEM_NONE)
		for (i = 0; i < STEP; i++) {
			in[params.len] = texts[params.len];
			snprintf(in[params.len], sizeof *texts, "HTTP_%zu=1",
			    params.len);
			params.len++;
		}
	ok(params.len > STEP && params.len < MOST,
	    "%zu parameters are too many [cgi:C74]", params.len);
	params.len -= STEP;
	in[params.len] = NULL;
	is_int(starts(&params), 0, "and %zu are started with", params.len);
	env = program_environment(&params, &more);
	for (i = 0; env != NULL && env[i] != NULL; i++)
		;
	is_int((long long)i, (long long)params.len + 8,
	    "all of them, and ours");
	free(env);
	free(texts);
	free(in);
}

/* The rest of a command counts, too. */
static void
check_command(void)
{
	size_t most = 32 * (size_t)sysconf(_SC_PAGESIZE), i;
	char *argv[128] = { "/bin/true" };
	char *word = param_of("word", most);
	struct program_rule rule = { .argv = argv };
	struct idem_params none = { 0 };

	for (i = 1; i < 127; i++)
		argv[i] = word;
	is_int(finds(&rule, &none), IDEM_PROBLEM_TOO_MUCH_HEAD,
	    "arguments take room, too");
	free(word);
}

int
main(void)
{
	check_big_ones();
	check_total();
	check_many();
	check_command();
	return done();
}
