/* SPDX-License-Identifier: ISC */
#include "program_path.h"

#include "tap.h"

#include <string.h>

/* SCRIPT_FILENAME, and the path it says; NULL: none. */
static const struct {
	const char *what, *text, *path;
} reads[] = {
	{ "a path is taken as it is [R25]", "/srv/x.cgi", "/srv/x.cgi" },
	{ "so are its escapes, which are none there [cgi:C48]",
	  "/srv/100%/%2e.cgi", "/srv/100%/%2e.cgi" },
	{ "and its query, slashes and dots", "//srv/./a/../x.cgi?y//z",
	  "//srv/./a/../x.cgi?y//z" },
	{ "and its odd bytes", "/srv/\xff \n.cgi", "/srv/\xff \n.cgi" },
	{ "one that is not absolute is none", "srv/x.cgi", NULL },
	{ "nor is an empty one", "", NULL },
	{ "Apache's ProxyPass is read", "proxy:fcgi://host/srv/x.cgi",
	  "/srv/x.cgi" },
	{ "with a port", "proxy:fcgi://host:9000/srv/x.cgi", "/srv/x.cgi" },
	{ "and an address of IPv6", "proxy:fcgi://[::1]:9000/srv/x.cgi",
	  "/srv/x.cgi" },
	{ "and no host at all", "proxy:fcgi:///srv/x.cgi", "/srv/x.cgi" },
	{ "its SetHandler has two slashes", "proxy:fcgi://host//srv/x.cgi",
	  "//srv/x.cgi" },
	{ "a socket before it is passed over",
	  "proxy:unix:/run/s|fcgi://host/srv/x.cgi", "/srv/x.cgi" },
	{ "a balancer is read", "proxy:balancer://them/srv/x.cgi",
	  "/srv/x.cgi" },
	{ "what is handed on is decoded, once [cgi:C48]",
	  "proxy:fcgi://h/x.cgi/a%20b%2Fc%c3%A9%0a%2541",
	  "/x.cgi/a b/c\xc3\xa9\n%41" },
	{ "its query is not of the path", "proxy:fcgi://h/x.cgi?a=/b",
	  "/x.cgi" },
	{ "but an encoded mark is", "proxy:fcgi://h/x.cgi/%3F?q=1",
	  "/x.cgi/?" },
	{ "a NUL is none [cgi:C48 R24]", "proxy:fcgi://h/x.cgi/a%00b", NULL },
	{ "nor is half an escape", "proxy:fcgi://h/x.cgi/%4", NULL },
	{ "or an escape cut by the query", "proxy:fcgi://h/x.cgi/%4?1", NULL },
	{ "or one with nothing in it", "proxy:fcgi://h/x.cgi/%", NULL },
	{ "or one of other letters", "proxy:fcgi://h/x.cgi/%+1", NULL },
	{ "or a host without a path", "proxy:fcgi://host", NULL },
	{ "or a socket without a host", "proxy:unix:/run/s|/srv/x.cgi", NULL },
	{ "or a socket without an end", "proxy:unix:/run/s", NULL },
	{ "or another protocol", "proxy:http://host/srv/x.cgi", NULL },
	{ "or nothing after the word", "proxy:", NULL },
	{ "or the word in other letters", "Proxy:fcgi://h/x.cgi", NULL },
};

static const struct {
	const char *what, *path, *tidy;
} tidies[] = {
	{ "runs of slashes are one slash", "//a///b/c//", "/a/b/c/" },
	{ "a root is a root", "///", "/" },
	{ "a tidy path stays", "/a/b.c", "/a/b.c" },
	{ "dots stay", "/a/../b/./c", "/a/../b/./c" },
	{ "nothing stays nothing", "", "" },
};

static void
check_sizes(void)
{
	char path[8];

	ok(program_path_read("/234567", path, sizeof path) &&
	    strcmp(path, "/234567") == 0, "a path may fill its room");
	ok(!program_path_read("/2345678", path, sizeof path),
	    "one byte more is too long");
	ok(program_path_read("proxy:fcgi://a/23456%37", path, sizeof path) &&
	    strcmp(path, "/234567") == 0, "what counts is the decoded length");
	ok(!program_path_read("proxy:fcgi://a/234567%38", path, sizeof path),
	    "one byte more is too long there, too");
	ok(!program_path_read("/", path, 0) &&
	    !program_path_read("proxy:fcgi://a/", path, 0) &&
	    !program_path_decode("", path, 0), "no room is too little");
	ok(program_path_decode("a%2fb", path, sizeof path) &&
	    strcmp(path, "a/b") == 0, "any text can be decoded");
	ok(!program_path_decode("a%2", path, sizeof path),
	    "but for bad escapes");
}

int
main(void)
{
	char path[256];
	size_t i;
	bool got;

	for (i = 0; i < sizeof reads / sizeof *reads; i++) {
		got = program_path_read(reads[i].text, path, sizeof path);
		is(got ? path : NULL, reads[i].path, "%s", reads[i].what);
	}
	for (i = 0; i < sizeof tidies / sizeof *tidies; i++) {
		memcpy(path, tidies[i].path, strlen(tidies[i].path) + 1);
		program_path_tidy(path);
		is(path, tidies[i].tidy, "%s", tidies[i].what);
	}
	check_sizes();
	return done();
}
