/* SPDX-License-Identifier: ISC */
#include "label.h"

#include "journal.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LABELS_MAX 64
#define TERMS_MAX 8
#define FOR_EVER UINT32_MAX

struct term {
	enum { TERM_OFF, TERM_KILL, TERM_STOP, TERM_SLEEP } what;
	uint32_t times;
	long ms;
};

struct label {
	char name[48];
	struct term terms[TERMS_MAX];
	size_t len;
	atomic_uint hits;
};

/* Shared by all processes, like what they are to do. */
static struct {
	struct label *at;
	size_t len;
} labels;

static void
wrong(const char *text)
{
	fprintf(stderr, "IDEM_FAILPOINTS: cannot read \"%s\"\n", text);
	exit(2);
}

static const char *
read_term(const char *text, struct term *term)
{
	char *end;
	unsigned long times = strtoul(text, &end, 10);

	*term = (struct term){ .times = FOR_EVER };
	if (end != text && *end == '*') {
		term->times = (uint32_t)times;
		text = end + 1;
	}
	if (strncmp(text, "off", 3) == 0)
		return text + 3;
	if (strncmp(text, "kill", 4) == 0) {
		term->what = TERM_KILL;
		return text + 4;
	}
	if (strncmp(text, "stop", 4) == 0) {
		term->what = TERM_STOP;
		return text + 4;
	}
	if (strncmp(text, "sleep(", 6) != 0)
		wrong(text);
	term->what = TERM_SLEEP;
	term->ms = strtol(text + 6, &end, 10);
	if (*end != ')')
		wrong(text);
	return end + 1;
}

static const char *
read_label(const char *text, struct label *label)
{
	const char *equals = strchr(text, '=');
	size_t len = equals != NULL ? (size_t)(equals - text) : 0;

	if (len == 0 || len >= sizeof label->name)
		wrong(text);
	memcpy(label->name, text, len);
	text = equals + 1;
	for (;;) {
		if (label->len == TERMS_MAX)
			wrong(text);
		text = read_term(text, &label->terms[label->len++]);
		if (strncmp(text, "->", 2) != 0)
			return text;
		text += 2;
	}
}

void
idem_label_init(void)
{
	const char *text = getenv("IDEM_FAILPOINTS");

	if (text == NULL || *text == '\0')
		return;
	labels.at = mmap(NULL, LABELS_MAX * sizeof *labels.at,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (labels.at == MAP_FAILED)
		wrong("no memory");
	while (*text != '\0') {
		if (labels.len == LABELS_MAX)
			wrong(text);
		text = read_label(text, &labels.at[labels.len++]);
		if (*text == ';')
			text++;
		else if (*text != '\0')
			wrong(text);
	}
}

static void
happen(const struct term *term)
{
	struct timespec rest = {
		term->ms / 1000, term->ms % 1000 * 1000000
	};

	switch (term->what) {
	case TERM_OFF:
		break;
	case TERM_KILL:
		kill(getpid(), SIGKILL);
		break;
	case TERM_STOP:
		kill(getpid(), SIGSTOP);
		break;
	case TERM_SLEEP:
		nanosleep(&rest, NULL);
		break;
	}
}

static void
hit(struct label *label)
{
	uint32_t before = atomic_fetch_add(&label->hits, 1);
	size_t i;

	for (i = 0; i < label->len; i++) {
		const struct term *term = &label->terms[i];

		if (term->times == FOR_EVER || before < term->times) {
			happen(term);
			return;
		}
		before -= term->times;
	}
}

int
idem_label(const char *name, const struct idem_digest *key)
{
	char hex[2 * IDEM_DIGEST_LEN + 1] = "-";
	size_t i;

	for (i = 0; i < labels.len; i++)
		if (strcmp(labels.at[i].name, name) == 0)
			hit(&labels.at[i]);
	if (!idem_label_wanted(name))
		return 0;
	if (key != NULL)
		idem_hex(key->at, sizeof key->at, hex);
	return idem_label_ask(name, hex);
}

int
idem_label_note(const char *name, int file)
{
	struct idem_note note;
	bool noted = file != -1 && idem_note_read(file, &note);

	return idem_label(name, noted ? &note.key : NULL);
}

/* errno stays as it is where nothing is to fail. */
static bool
fails(int error)
{
	if (error != 0)
		errno = error;
	return error != 0;
}

bool
idem_label_fails(const char *name, const struct idem_digest *key)
{
	return fails(idem_label(name, key));
}

bool
idem_label_note_fails(const char *name, int file)
{
	return fails(idem_label_note(name, file));
}
