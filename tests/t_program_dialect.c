/* SPDX-License-Identifier: ISC */
#include "given.h"
#include "program_top.h"
#include "tap.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How fronts name a program and what comes after it. */

static const struct program_row dialects[] = {
	{ "a front that splits says all",
	  { "SCRIPT_FILENAME=@/cgi/order", "SCRIPT_NAME=/cgi/order",
	    "PATH_INFO=/a b" }, ORDER "-", FOUND },
	{ "an empty PATH_INFO is one [cgi:C30]",
	  { "SCRIPT_FILENAME=@/cgi/order", "PATH_INFO=" }, ORDER "-", FOUND },
	{ "an absent one is none [cgi:C30]",
	  FILE_IS("@/cgi/order"), ORDER "-", FOUND },
	{ "without a split the file is found, and the rest is PATH_INFO [R6]",
	  { "SCRIPT_FILENAME=@/cgi/order/a/b", "SCRIPT_NAME=/cgi/order/a/b" },
	  "@/cgi/order|@/cgi|/cgi/order|/a/b|@/cgi/order", FOUND },
	{ "also where the front says an empty one",
	  { "SCRIPT_FILENAME=@/cgi/order/a", "SCRIPT_NAME=/o/a",
	    "PATH_INFO=" }, "@/cgi/order|@/cgi|/o|/a|@/cgi/order", FOUND },
	{ "a rest that is a slash is a rest",
	  { "SCRIPT_FILENAME=@/cgi/order/", "SCRIPT_NAME=/order/" },
	  "@/cgi/order|@/cgi|/order|/|@/cgi/order", FOUND },
	{ "a rest keeps its slashes and dots [R25]",
	  { "SCRIPT_FILENAME=@/cgi/order//http://e/../x" },
	  "@/cgi/order|@/cgi|-|//http://e/../x|@/cgi/order", FOUND },
	{ "a SCRIPT_NAME that does not end in the rest stays",
	  { "SCRIPT_FILENAME=@/cgi/order/a", "SCRIPT_NAME=/shop" },
	  "@/cgi/order|@/cgi|-|/a|@/cgi/order", FOUND },
	{ "one that is the rest becomes empty",
	  { "SCRIPT_FILENAME=@/cgi/order/a", "SCRIPT_NAME=/a" },
	  "@/cgi/order|@/cgi||/a|@/cgi/order", FOUND },
	{ "a file that says its PATH_INFO, too, is found",
	  { "SCRIPT_FILENAME=@/cgi/order/a", "SCRIPT_NAME=/order",
	    "PATH_INFO=/a" }, "@/cgi/order|@/cgi|-|-|@/cgi/order", FOUND },
	{ "and a SCRIPT_NAME that says it a third time loses it",
	  { "SCRIPT_FILENAME=@/cgi/order/a", "SCRIPT_NAME=/order/a",
	    "PATH_INFO=/a" }, "@/cgi/order|@/cgi|/order|-|@/cgi/order", FOUND },
	{ "what the front has split elsewhere is its word",
	  { "SCRIPT_FILENAME=@/cgi/order/a", "SCRIPT_NAME=/order/a",
	    "PATH_INFO=/b" }, "@/cgi/order|@/cgi|-|-|@/cgi/order", FOUND },
	{ "Apache's SetHandler to a generic application",
	  { "SCRIPT_FILENAME=/@/cgi/order", "SCRIPT_NAME=/order",
	    "PATH_INFO=/a" }, ORDER "@/cgi/order", FOUND },
	{ "its SetHandler else",
	  { "SCRIPT_FILENAME=proxy:fcgi://localhost/@/cgi/order",
	    "PATH_INFO=/a" }, ORDER "@/cgi/order", FOUND },
	{ "its ProxyPass",
	  { "SCRIPT_FILENAME=proxy:fcgi://localhost@/cgi/order/a%20b",
	    "SCRIPT_NAME=/order/a b" },
	  "@/cgi/order|@/cgi|/order|/a b|@/cgi/order", FOUND },
	{ "its ProxyPass to a program with a blank in its name",
	  { "SCRIPT_FILENAME=proxy:fcgi://localhost:9@/cgi/a%20b" },
	  "@/cgi/a b|@/cgi|-|-|@/cgi/a b", FOUND },
	{ "its ProxyPass to a socket",
	  { "SCRIPT_FILENAME=proxy:unix:/run/s|fcgi://h@/cgi/order/%2541" },
	  "@/cgi/order|@/cgi|-|/%41|@/cgi/order", FOUND },
	{ "its ProxyPass to a generic application [cgi:C48]",
	  { "SCRIPT_FILENAME=@/cgi/order/a%20b", "SCRIPT_NAME=/order/a b" },
	  "@/cgi/order|@/cgi|/order|/a b|@/cgi/order", FOUND },
	{ "and with proxy-fcgi-pathinfo=first-dot",
	  { "SCRIPT_FILENAME=@/cgi/order/a%20b", "SCRIPT_NAME=/order",
	    "PATH_INFO=/a b" }, "@/cgi/order|@/cgi|-|-|@/cgi/order", FOUND },
	{ "what nobody has encoded is not decoded [cgi:C48]",
	  { "SCRIPT_FILENAME=@/cgi/order/a%20b", "SCRIPT_NAME=/order/a%20b" },
	  "@/cgi/order|@/cgi|/order|/a%20b|@/cgi/order", FOUND },
	{ "a NUL in it is none [cgi:C48]",
	  FILE_IS("proxy:fcgi://h@/cgi/order/%00"), "", NO },
	{ "nor is a bad escape", FILE_IS("proxy:fcgi://h@/cgi/order/%x1"), "",
	  NO },
	{ "slashes in it are one slash [R25]", FILE_IS("/@//cgi///order"),
	  ORDER "@/cgi/order", FOUND },
	{ "without SCRIPT_FILENAME two others say it",
	  { "DOCUMENT_ROOT=@", "SCRIPT_NAME=/cgi/order" },
	  ORDER "@/cgi/order", FOUND },
	{ "an empty one says nothing",
	  { "SCRIPT_FILENAME=", "DOCUMENT_ROOT=@/cgi/", "SCRIPT_NAME=order" },
	  ORDER "@/cgi/order", FOUND },
	{ "the two are walked, too",
	  { "DOCUMENT_ROOT=@", "SCRIPT_NAME=/cgi/order/a/b" },
	  "@/cgi/order|@/cgi|/cgi/order|/a/b|@/cgi/order", FOUND },
	{ "but the document root itself is no program",
	  { "DOCUMENT_ROOT=@/cgi/order", "SCRIPT_NAME=/a" }, "", NO },
	{ "nor is one without a name", { "DOCUMENT_ROOT=@" }, "", NO },
	{ "nor a name without one", { "SCRIPT_NAME=@/cgi/order" }, "", NO },
	{ "nor one that is not absolute",
	  { "DOCUMENT_ROOT=cgi", "SCRIPT_NAME=order" }, "", NO },
};

/* A name of the system's limit is none, of whatever form. */
static void
check_long(const char *top)
{
	static const char file[] = "SCRIPT_FILENAME=";
	const struct program_rule rule = { .kind = PROGRAM_BY_REQUEST };
	char text[PATH_MAX + 64];
	const char *in[] = { text, NULL };
	struct idem_params params = given(in);
	struct program p;
	size_t len;

	len = (size_t)snprintf(text, sizeof text, "%s%s/cgi/order/", file, top);
	memset(text + len, 'a', sizeof text - len);
	text[sizeof file - 1 + PATH_MAX - 1] = '\0';
	is_int(program_find(&p, &rule, &params), FOUND,
	    "a path may have %d bytes [R25]", PATH_MAX - 1);
	is_int(p.path_info != NULL ? (long long)strlen(p.path_info) : -1,
	    (long long)(PATH_MAX - (len - sizeof file + 1)),
	    "most of them of PATH_INFO");
	program_free(&p);
	text[sizeof file - 1 + PATH_MAX - 1] = 'a';
	text[sizeof file - 1 + PATH_MAX] = '\0';
	is_int(program_find(&p, &rule, &params), NO, "one of %d is none [R25]",
	    PATH_MAX);
	program_free(&p);
	idem_params_free(&params);
}

int
main(void)
{
	struct program_rule rule = { .kind = PROGRAM_BY_REQUEST };
	char top[PATH_MAX / 16], *root;

	program_top_make(top, sizeof top);
	rule.root = root = program_top_in("@/cgi", top);
	CHECK(dialects, &rule, top);
	check_long(top);
	free(root);
	program_top_remove(top);
	return done();
}
