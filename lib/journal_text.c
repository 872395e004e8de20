/* SPDX-License-Identifier: ISC */
#include "journal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

const char *
idem_note_state_text(enum idem_note_state state)
{
	switch (state) {
	case IDEM_NOTE_CLAIMING:
		return "claiming";
	case IDEM_NOTE_HANDED:
		return "handed";
	case IDEM_NOTE_NOT_BEGUN:
		return "not-begun";
	case IDEM_NOTE_BEGUN:
		return "begun";
	case IDEM_NOTE_ORPHAN:
		return "orphan";
	}
	abort();
}

/* strsignal(3) is of the locale. */
static const struct {
	int signal;
	const char *name;
} signals[] = {
	{ SIGHUP, "SIGHUP" },
	{ SIGINT, "SIGINT" },
	{ SIGQUIT, "SIGQUIT" },
	{ SIGILL, "SIGILL" },
	{ SIGTRAP, "SIGTRAP" },
	{ SIGABRT, "SIGABRT" },
	{ SIGBUS, "SIGBUS" },
	{ SIGFPE, "SIGFPE" },
	{ SIGKILL, "SIGKILL" },
	{ SIGUSR1, "SIGUSR1" },
	{ SIGSEGV, "SIGSEGV" },
	{ SIGUSR2, "SIGUSR2" },
	{ SIGPIPE, "SIGPIPE" },
	{ SIGALRM, "SIGALRM" },
	{ SIGTERM, "SIGTERM" },
	{ SIGVTALRM, "SIGVTALRM" },
	{ SIGPROF, "SIGPROF" },
	{ SIGXCPU, "SIGXCPU" },
	{ SIGXFSZ, "SIGXFSZ" },
	{ SIGSYS, "SIGSYS" },
};

static void
signal_text(int signal, char *to, size_t size)
{
	size_t i;

	for (i = 0; i < sizeof signals / sizeof *signals; i++)
		if (signals[i].signal == signal) {
			snprintf(to, size, "ended by signal %d (%s)", signal,
			    signals[i].name);
			return;
		}
	snprintf(to, size, "ended by signal %d", signal);
}

void
idem_note_why_text(const struct idem_note *n, char *to, size_t size)
{
	const char *text = NULL;

	switch (n->why) {
	case IDEM_WHY_NOT_SAID:
		text = "not said";
		break;
	case IDEM_WHY_EXIT:
		snprintf(to, size,
		    "ended without a whole answer, exit status %d",
		    (int)n->why_code);
		break;
	case IDEM_WHY_SIGNAL:
		signal_text((int)n->why_code, to, size);
		break;
	case IDEM_WHY_LIMIT:
		text = "was ended as it ran over its limit";
		break;
	case IDEM_WHY_KEEPER:
		text = "its keeper died, and it with it";
		break;
	case IDEM_WHY_HOST:
		text = "the host went down while it ran";
		break;
	case IDEM_WHY_LAPSED:
		text = "its lease ran out without a sign of it";
		break;
	case IDEM_WHY_BACKEND:
		text = "the connection to its FastCGI application broke, or "
		    "its worker died";
		break;
	case IDEM_WHY_PROBE:
		text = "its probe could not tell either";
		break;
	case IDEM_WHY_UNWRITTEN:
		snprintf(to, size, "ended, but its output could not be "
		    "written to the run folder, exit status %d",
		    (int)n->why_code);
		break;
	}
	if (text != NULL)
		snprintf(to, size, "%s", text);
}
