/* SPDX-License-Identifier: ISC */
#include "program_top.h"
#include "tap.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* Which programs may run, and where. */

static const struct program_row places[] = {
	{ "one in a folder below the root is found",
	  FILE_IS("@/cgi/folder/deep"),
	  "@/cgi/folder/deep|@/cgi/folder|-|-|-", FOUND },
	{ "a program may be reached through a link to the root",
	  FILE_IS("@/link-to-cgi/order"),
	  "@/link-to-cgi/order|@/link-to-cgi|-|-|-", FOUND },
	{ "a link within the root keeps its name [cgi:C28]",
	  FILE_IS("@/cgi/link"), "@/cgi/link|@/cgi|-|-|-", FOUND },
	{ "and its rest",
	  FILE_IS("@/cgi/link/a"), "@/cgi/link|@/cgi|-|/a|@/cgi/link", FOUND },
	{ ".. that stays below the root is followed [R25]",
	  FILE_IS("@/cgi/folder/../order"),
	  "@/cgi/folder/../order|@/cgi/folder/..|-|-|-", FOUND },
	{ "a link out of the root is forbidden [cgi:C28]",
	  FILE_IS("@/cgi/link-out"), "", FORBIDDEN },
	{ "also with a rest", FILE_IS("@/cgi/link-out/a"), "", FORBIDDEN },
	{ ".. out of the root is forbidden [R25]", FILE_IS("@/cgi/../secret"),
	  "", FORBIDDEN },
	{ "also encoded", FILE_IS("proxy:fcgi://h@/cgi/%2e%2e%2fsecret"), "",
	  FORBIDDEN },
	{ "and by the two others",
	  { "DOCUMENT_ROOT=@/cgi", "SCRIPT_NAME=/../secret" }, "", FORBIDDEN },
	{ "what lies elsewhere is forbidden", FILE_IS("@/secret"), "",
	  FORBIDDEN },
	{ "a folder that only begins like the root is elsewhere",
	  FILE_IS("@/cgi-bin/x"), "", FORBIDDEN },
	{ "the root itself is forbidden", FILE_IS("@/cgi"), "", FORBIDDEN },
	{ "a folder is forbidden", FILE_IS("@/cgi/folder"), "", FORBIDDEN },
	{ "with a slash, too", FILE_IS("@/cgi/folder/"), "", FORBIDDEN },
	{ "a fifo is forbidden", FILE_IS("@/cgi/fifo"), "", FORBIDDEN },
	{ "with a rest, too", FILE_IS("@/cgi/fifo/a"), "", FORBIDDEN },
	{ "what nobody may execute is forbidden [cgi:C38]",
	  FILE_IS("@/cgi/data"), "", FORBIDDEN },
	{ "what is missing is said to be so", FILE_IS("@/cgi/none"), "", NO },
	{ "so is what lies below it", FILE_IS("@/cgi/none/a"), "", NO },
	{ "and a link to nothing", FILE_IS("@/cgi/link-to-nothing"), "", NO },
	{ "and a link to itself", FILE_IS("@/cgi/link-loop"), "", NO },
	{ "and a file that is not absolute", FILE_IS("cgi/order"), "", NO },
	{ "and a request that names none", { NULL }, "", NO },
};

static const struct program_row folders[] = {
	{ "a folder may be named [cgi:C12]",
	  { "SCRIPT_FILENAME=@/cgi/order", "FCGI_CHDIR=@/cgi-bin" },
	  "@/cgi/order|@/cgi-bin|-|-|-", FOUND },
	{ "or none [cgi:C12]",
	  { "SCRIPT_FILENAME=@/cgi/order", "FCGI_CHDIR=-" },
	  "@/cgi/order|-|-|-|-", FOUND },
	{ "one that is missing is not run without [cgi:C12]",
	  { "SCRIPT_FILENAME=@/cgi/order", "FCGI_CHDIR=@/none" }, "",
	  FORBIDDEN },
	{ "nor one that is a file",
	  { "SCRIPT_FILENAME=@/cgi/order", "FCGI_CHDIR=@/cgi/order" }, "",
	  FORBIDDEN },
	{ "nor an empty one",
	  { "SCRIPT_FILENAME=@/cgi/order", "FCGI_CHDIR=" }, "", FORBIDDEN },
	{ "nor one that is not absolute",
	  { "SCRIPT_FILENAME=@/cgi/order", "FCGI_CHDIR=." }, "", FORBIDDEN },
};

/* With only @/cgi/link and @/cgi-bin/x, which is missing from the root. */
static const struct program_row allowed[] = {
	{ "an allowed program is found", FILE_IS("@/cgi-bin/x"),
	  "@/cgi-bin/x|@/cgi-bin|-|-|-", FOUND },
	{ "with a rest", FILE_IS("@/cgi-bin/x/a"),
	  "@/cgi-bin/x|@/cgi-bin|-|/a|@/cgi-bin/x", FOUND },
	{ "by whatever way it is reached", FILE_IS("@/cgi/../cgi-bin/x"),
	  "@/cgi/../cgi-bin/x|@/cgi/../cgi-bin|-|-|-", FOUND },
	{ "an allowed link is called by its name [cgi:C28]",
	  FILE_IS("@/cgi/link"), "@/cgi/link|@/cgi|-|-|-", FOUND },
	{ "what it leads to is allowed, too [cgi:C28]",
	  FILE_IS("@/cgi/order"), ORDER "-", FOUND },
	{ "no other is", FILE_IS("@/cgi/folder/deep"), "", FORBIDDEN },
	{ "nor one whose name begins like an allowed one's",
	  FILE_IS("@/cgi-bin/xx"), "", FORBIDDEN },
};

/* --- what else ------------------------------------------------------------ */

static void
check_roots(const char *top)
{
	static const struct {
		const char *what, *root;
		enum idem_problem problem;
	} roots[] = {
		{ "a root may end in slashes", "@/cgi//", FOUND },
		{ "a root may be a link", "@/link-to-cgi", FOUND },
		{ "a root may be that of all files", "/", FOUND },
		{ "without the root nothing is allowed", "@/none", FORBIDDEN },
	};
	static const char *const in[] = { "SCRIPT_FILENAME=@/cgi/order", NULL };
	struct program_rule rule = { .kind = PROGRAM_BY_REQUEST };
	struct program p;
	char *root;
	size_t i;

	for (i = 0; i < sizeof roots / sizeof *roots; i++) {
		rule.root = root = program_top_in(roots[i].root, top);
		is_int(program_top_find(&p, &rule, in, top), roots[i].problem,
		    "%s", roots[i].what);
		program_free(&p);
		free(root);
	}
	rule.root = NULL;
	is_int(program_top_find(&p, &rule, (const char *const[]){
	    "SCRIPT_FILENAME=@/secret", NULL }, top), FOUND,
	    "without a rule of one all is allowed");
	program_free(&p);
}

/* Root sees everything: then as somebody else. */
static void
check_locked(const char *top)
{
	static const char *const in[] = {
		"SCRIPT_FILENAME=@/locked/order", NULL
	};
	const struct program_rule rule = { .kind = PROGRAM_BY_REQUEST };
	uid_t user = geteuid();
	struct program p;

	if (user == 0 && seteuid(65534) != 0)
		bail_out("seteuid");
	is_int(program_top_find(&p, &rule, in, top), FORBIDDEN,
	    "what we may not look at is forbidden");
	if (user == 0 && seteuid(user) != 0)
		bail_out("seteuid");
	program_free(&p);
}

static void
check_allowed(const char *top)
{
	char *all[] = {
		program_top_in("@/cgi/link", top),
		program_top_in("@/none", top),
		program_top_in("@/cgi-bin/x", top), NULL
	};
	struct program_rule rule = {
		.kind = PROGRAM_BY_REQUEST, .allowed = all
	};
	struct program p;
	char *root;
	size_t i;

	CHECK(allowed, &rule, top);
	rule.root = root = program_top_in("@/cgi", top);
	is_int(program_top_find(&p, &rule, allowed[0].in, top), FORBIDDEN,
	    "what is allowed must lie below the root, too");
	program_free(&p);
	free(root);
	for (i = 0; all[i] != NULL; i++)
		free(all[i]);
}

static void
check_named(const char *top)
{
	static char *argv[] = { "/usr/bin/order", "-x", NULL };
	static char *in_root[] = { "/order", NULL };
	static const struct program_row named[] = {
		{ "the rule's program needs no parameter", { NULL },
		  "/usr/bin/order|/usr/bin|-|-|-", FOUND },
		{ "and whatever the request names is not looked at",
		  { "SCRIPT_FILENAME=@/cgi/order/a", "SCRIPT_NAME=/a" },
		  "/usr/bin/order|/usr/bin|-|-|-", FOUND },
		{ "its folder may be named, too [cgi:C12]",
		  { "FCGI_CHDIR=@/cgi" }, "/usr/bin/order|@/cgi|-|-|-",
		  FOUND },
	};
	static const struct program_row named_as[] = {
		{ "a program with its interpreter before it has its own folder",
		  { NULL }, "/srv/cgi/order|/srv/cgi|-|-|-", FOUND },
	};
	static const struct program_row named_in_root[] = {
		{ "the folder of \"/order\" is \"/\"", { NULL },
		  "/order|/|-|-|-", FOUND },
	};
	struct program_rule rule = { .kind = PROGRAM_NAMED, .argv = argv };

	CHECK(named, &rule, top);
	rule.as = "/srv/cgi/order";
	CHECK(named_as, &rule, top);
	rule.as = NULL;
	rule.argv = in_root;
	CHECK(named_in_root, &rule, top);
}

static void
check_fastcgi(const char *top)
{
	static const struct program_row rows[] = {
		{ "an application is nothing to be found", { NULL }, "",
		  FOUND },
		{ "and is told what the front says",
		  FILE_IS("proxy:fcgi://h/none%00"), "", FOUND },
	};
	const struct program_rule rule = { .kind = PROGRAM_FASTCGI };

	CHECK(rows, &rule, top);
}

int
main(void)
{
	struct program_rule rule = { .kind = PROGRAM_BY_REQUEST };
	char top[PATH_MAX / 16], *root;

	program_top_make(top, sizeof top);
	rule.root = root = program_top_in("@/cgi", top);
	CHECK(places, &rule, top);
	CHECK(folders, &rule, top);
	check_roots(top);
	check_locked(top);
	check_allowed(top);
	check_named(top);
	check_fastcgi(top);
	free(root);
	program_top_remove(top);
	return done();
}
