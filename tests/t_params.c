/* SPDX-License-Identifier: ISC */
#include "params.h"

#include "tap.h"

#include <string.h>

#define BYTES(text) { text, sizeof text - 1 }

static const struct {
	const char *what;
	struct idem_bytes stream;
	enum idem_params_read read;
	const char *params;	/* each with a ';' behind it */
} rows[] = {
	{ "nothing is no parameters", BYTES(""), IDEM_PARAMS_READ, "" },
	{ "a pair", BYTES("\1\1AB"), IDEM_PARAMS_READ, "A=B;" },
	{ "their order and their namesakes", BYTES("\1\1A1\1\1B2\1\1A3"),
	  IDEM_PARAMS_READ, "A=1;B=2;A=3;" },
	{ "an empty value", BYTES("\1\0A"), IDEM_PARAMS_READ, "A=;" },
	{ "a '=' in a value", BYTES("\1\3Aa=b"), IDEM_PARAMS_READ, "A=a=b;" },
	{ "lengths of four bytes", BYTES("\200\0\0\1\200\0\0\1AB"),
	  IDEM_PARAMS_READ, "A=B;" },
	{ "bytes that are no text", BYTES("\1\2A\377\n"), IDEM_PARAMS_READ,
	  "A=\377\n;" },
	{ "an empty name", BYTES("\0\1B"), IDEM_PARAMS_UNREADABLE, "" },
	{ "a '=' in a name", BYTES("\2\1A=B"), IDEM_PARAMS_UNREADABLE, "" },
	{ "a NUL in a name", BYTES("\2\1A\0B"), IDEM_PARAMS_UNREADABLE, "" },
	{ "a NUL in a value [R24]", BYTES("\1\2AB\0"), IDEM_PARAMS_UNREADABLE,
	  "" },
	{ "a bad one behind a good one", BYTES("\1\1AB\0\0"),
	  IDEM_PARAMS_UNREADABLE, "" },
	{ "a stream cut in a value [cgi:C52]", BYTES("\1\2AB"),
	  IDEM_PARAMS_FAILED, "" },
	{ "a stream cut in a length", BYTES("\1\200\0"), IDEM_PARAMS_FAILED,
	  "" },
	{ "lengths beyond all memory [cgi:C49]",
	  BYTES("\377\377\377\377\377\377\377\377A"), IDEM_PARAMS_FAILED, "" }
};

static void
check_row(size_t i)
{
	struct idem_buf text = { 0 }, stream = { 0 };
	struct idem_params params, again = { 0 };
	size_t j;

	is_int(idem_params_read(rows[i].stream, &params), rows[i].read,
	    "%s", rows[i].what);
	for (j = 0; j < params.len; j++) {
		idem_buf_text(&text, params.at[j]);
		idem_buf_u8(&text, ';');
	}
	idem_buf_u8(&text, '\0');
	is((const char *)text.at, rows[i].params, "its parameters");
	ok(rows[i].read != IDEM_PARAMS_READ ? params.at == NULL :
	    params.at[params.len] == NULL, "and their end");
	idem_params_write(&params, &stream);
	idem_params_read(idem_buf_bytes(&stream), &again);
	ok(idem_params_equal(&params, &again), "written they are the same");
	idem_params_free(&params);
	idem_params_free(&again);
	idem_buf_free(&stream);
	idem_buf_free(&text);
}

static void
check_equal(void)
{
	static const char *const streams[] = {
		"\1\1AB", "\1\1AC", "\1\1AB\1\1AB", ""
	};
	struct idem_params a, b;
	size_t i, j;

	for (i = 0; i < 4; i++)
		for (j = 0; j < 4; j++) {
			idem_params_read(idem_bytes_text(streams[i]), &a);
			idem_params_read(idem_bytes_text(streams[j]), &b);
			ok(idem_params_equal(&a, &b) == (i == j),
			    "%zu and %zu are %sthe same", i, j,
			    i == j ? "" : "not ");
			idem_params_free(&a);
			idem_params_free(&b);
		}
}

static void
check_get(void)
{
	static const char stream[] = "\2\1AB1\1\1A2\1\1A3\1\1a4\1\1A5";
	const char *found[4] = { NULL, NULL, NULL, "untouched" };
	struct idem_params none = { 0 }, params;

	idem_params_read((struct idem_bytes){ stream, sizeof stream - 1 },
	    &params);
	is(idem_params_get(&params, "A"), "2",
	    "the first value of a name is got");
	is(idem_params_get(&params, "AB"), "1", "a longer name is another");
	ok(idem_params_get(&params, "B") == NULL,
	    "an absent name has no value");
	ok(idem_params_get(&none, "A") == NULL, "an empty one has no values");
	is_int((long long)idem_params_all(&params, "A", found, 3), 3,
	    "all values of a name are found");
	ok(strcmp(found[0], "2") == 0 && strcmp(found[1], "3") == 0 &&
	    strcmp(found[2], "5") == 0, "in their order");
	is_int((long long)idem_params_all(&params, "A", found, 2), 2,
	    "no more than there is room for");
	is(found[3], "untouched", "and nothing is written beyond it");
	idem_params_free(&params);
	idem_params_free(&params);
	ok(params.at == NULL, "parameters may be freed twice");
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		check_row(i);
	check_equal();
	check_get();
	return done();
}
