/* SPDX-License-Identifier: ISC */
#ifndef REPORT_PRIVATE_H
#define REPORT_PRIVATE_H

#include "buf.h"
#include "report.h"

#define REPORT_LINE 300		/* characters of a text in a line of TAP */
#define REPORT_PATH 4096

/* --- texts (report_text.c) ------------------------------------------------ */

/*
 * All of them take any bytes, NULL as an empty text, and append valid UTF-8 in
 * one line: what is no character, a control character, or one that turns the
 * direction of writing is U+FFFD; a line's end or a tab is a blank.
 * max: so many characters, then an ellipsis; 0: all.
 */
void report_text(struct idem_buf *, const char *, size_t max);
void report_text_html(struct idem_buf *, const char *, size_t max); /* XML */
/* A description in TAP: # and, of version 14, \ are escaped. */
void report_text_tap(struct idem_buf *, const char *, int version);
/* A YAML scalar, in single quotes where they are needed. */
void report_text_yaml(struct idem_buf *, const char *, size_t max);
/* A word of a shell's command line, in quotes where they are needed. */
void report_text_shell(struct idem_buf *, const char *);
/* Of a file's name: lower-case letters, digits and single dashes. */
void report_text_slug(struct idem_buf *, const char *, size_t max);
/* 0.4 ms, 12.4 ms, 1.250 s, 2 min 3 s */
void report_text_time(struct idem_buf *, int64_t ns);
/* How many columns of a terminal a text takes: its characters. */
size_t report_text_columns(const char *);
/* There was no memory for one: the simulator ends with 70. */
const char *report_buf_text(struct idem_buf *);

/* --- words (report_say.c) ------------------------------------------------- */

/* A point's name, and those of its parameters that it does not say.  Either may
   be NULL. */
void report_say_title(struct idem_buf *, const struct plan *,
    const struct history *worst);
/* What its line says behind name and mode: "15 runs, ...", "at_most_once
   violated"; "": it was passed over. */
void report_say_sum(struct idem_buf *, const struct judge_point *);
/* The violation that a verdict is of; NULL: it is of none. */
const struct check_finding *report_say_finding(const struct judge_run *);
/* The conflict in words, an event a call: false: there is none left. */
bool report_say_event(const struct history *, const struct check_finding *,
    size_t nth, char *out, size_t size);
/* The command that does this run again. */
void report_say_again(struct idem_buf *, const char *command,
    const struct plan *, const struct history *worst);
/* A fault's words by its id, and whether it is only the end of one. */
const char *report_say_fault(const struct plan *, unsigned id, char *out,
    size_t size);
bool report_say_heals(const struct plan *, unsigned id);
/* Did a negative control show what it was to? */
bool report_say_control(const struct judge_point *);

/* --- a point's artefacts (report_folder.c) -------------------------------- */

struct report_files {
	const char *folder;	/* "out/003-crash-at-effect-after"; NULL: none
				   was made */
	const char *names[5];	/* of the files in it; NULL ends them */
};

/* 0; -1: a file could not be written, and standard error says which. */
int report_folder(struct report *, const struct judge_point *,
    const struct history *worst, const char *title, const char *again,
    struct report_files *);

/* --- who is told ---------------------------------------------------------- */

struct report_told {
	const struct judge_point *point;
	const struct history *worst;	/* or NULL */
	const struct report_files *files;
	const char *title, *mode, *sum, *again;
	size_t number;
};

void report_tap_begin(const struct report *);
void report_tap_point(const struct report *, const struct report_told *);

/* They grow in memory and are written at the end. */
void report_junit_point(struct idem_buf *cases, const struct report_told *);
/* wall_ms: of all points.  0; -1 and errno. */
int report_junit_end(const struct report *, const struct idem_buf *cases,
    const size_t counts[JUDGE_VERDICTS], int64_t wall_ms);

struct report_json;
struct report_json *report_json_new(const struct report *);
void report_json_point(struct report_json *, const struct report_told *);
int report_json_end(struct report_json *, const char *path);	/* and frees */

struct report_bar {
	int64_t shown_ms;	/* when it was last; 0: never */
	int64_t began_ms;
	bool there;
};

void report_bar(struct report_bar *, size_t done, size_t points,
    const char *title, unsigned run, unsigned runs);
void report_bar_clear(struct report_bar *);

/* --- the page (report_html.c) --------------------------------------------- */

struct report_page {
	const struct history *history;
	const struct judge_run *run;		/* NULL: not judged */
	const struct judge_point *point;	/* NULL: not known */
	const char *again;			/* NULL: not known */
};

/* -1: errno. */
int report_page(FILE *, const struct report_page *);

#endif
