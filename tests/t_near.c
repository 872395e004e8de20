/* SPDX-License-Identifier: ISC */
#include "near.h"

#include "tap.h"

#include <string.h>

static const struct {
	const char *what, *name;
	const char *words[4];	/* what there is */
	const char *meant;	/* NULL: none of it */
} rows[] = {
	{ "a letter is missing", "lese", { "lease", "limit" }, "lease" },
	{ "one is too many", "leaase", { "lease", "limit" }, "lease" },
	{ "one is another", "leose", { "lease", "limit" }, "lease" },
	{ "two are changed about", "laese", { "lease", "limit" }, "lease" },
	{ "of equals the one with its first letter", "sait", { "wait", "said" },
	  "said" },
	{ "the nearest", "heder", { "render", "header" }, "header" },
	{ "its begin", "at_most", { "resolves", "at_most_once" },
	  "at_most_once" },
	{ "its end", "once", { "at_most_once", "resolves" }, "at_most_once" },
	{ "two letters of three are another word", "kxz", { "key" }, NULL },
	{ "a letter is near to nothing", "n", { "at", "x" }, NULL },
	{ "two letters are no begin", "at", { "at_most_once" }, NULL },
	{ "nothing", "", { "a", "ab", "abc" }, NULL },
	{ "what is far", "xyzzy", { "name", "about", "modes" }, NULL },
	{ "what is long", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	  { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" }, NULL },
	{ "what is as long as it may be",
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
	  { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
};

int
main(void)
{
	unsigned least, far;
	const char *meant;
	size_t i, j;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		meant = NULL;
		least = IDEM_NEAR_NOT;
		for (j = 0; j < 4 && rows[i].words[j] != NULL; j++) {
			far = idem_near(rows[i].name, strlen(rows[i].name),
			    rows[i].words[j], strlen(rows[i].words[j]));
			if (far < least) {
				least = far;
				meant = rows[i].words[j];
			}
		}
		is(meant, rows[i].meant, "near: %s", rows[i].what);
	}
	is_int(idem_near("leaseX", 5, "leaseY", 5), 0, "what is behind a "
	    "word's end is not read");
	return done();
}
