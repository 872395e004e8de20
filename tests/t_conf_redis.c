/* SPDX-License-Identifier: ISC */
#include "conf.h"

#include "conf_files.h"
#include "tap.h"

#include <string.h>

/*
 * redis {}, tokens and the arbiter of routes: texts that are refused.  Whatever
 * is said of them, no password is in it.  @ is a folder of files.
 */
#define P " program = cgi {} }"
#define R "route { path = \"/x\", "
#define S "shared = redis { url = \"unix:/r\", "
#define ONE "shared = redis { "
#define T "tokens = { keys = \"@/good\", "

static const struct row {
	const char *what, *text;
	const char *says[3];
} rows[] = {
	/* --- which server --- */
	{ "an address without its word", "shared = \"redis://:s3cret@h\"",
	  { "c:1: shared: ", "redis { url" } },
	{ "a cache that is no word", "cache = { url = \"unix:/r\" }",
	  { "c:1: cache: ", "redis { url" } },
	{ "a word of another kind", "shared = sqlite { path = \"/l\" }",
	  { "c:1: shared: ", "redis { url" } },
	{ "a text for a table", "cache = redis \"redis://:s3cret@h\"",
	  { "c:1: redis: ", "redis { url" } },
	{ "an address without a name", ONE "\"redis://:s3cret@h\" }",
	  { "c:1: shared: redis: ", "no name", "url = " } },
	{ "nothing", ONE "}", { "c:1: shared: redis: ", "no server",
	  "sentinels" } },
	{ "a name misspelt", "\n" S "pasword = \"s3cret\" }",
	  { "c:2: shared: redis: ", "did you mean `password`?" } },
	{ "a server as others name it", ONE "host = \"h\", port = 6379 }",
	  { "there is no `", "url" } },
	{ "a URL of no kind", ONE "url = \"http://u:s3cret@h\" }",
	  { "shared: redis: url: ", "redis://" } },
	{ "a URL that is no text", ONE "url = 6379 }",
	  { "url: not a text in quotes" } },
	{ "an empty URL", ONE "url = \"\" }", { "url: not a text" } },
	{ "a password whose / is not escaped",
	  ONE "url = \"redis://:s3cret/x@h\" }", { "url: ", "%2F" } },
	{ "a database that no server has",
	  ONE "url = \"redis://h/1000001\" }", { "url: ", "database" } },
	{ "two ways to a server", ONE "url = \"unix:/r\", cluster = \"h:1\" }",
	  { "exclude each other" } },
	{ "sentinels and a cluster",
	  ONE "sentinels = \"h:1\", cluster = \"h:1\" }",
	  { "exclude each other" } },
	{ "sentinels without a master", ONE "sentinels = { \"h:1\" } }",
	  { "master: ", "mymaster" } },
	{ "a master without sentinels", S "master = \"m\" }",
	  { "master: ", "sentinels" } },
	{ "a master with a blank",
	  ONE "sentinels = \"h:1\", master = \"a b\" }",
	  { "master: ", "letters" } },
	{ "no sentinels", ONE "sentinels = {}, master = \"m\" }",
	  { "sentinels: ", "1 to 64" } },
	{ "a sentinel without a port",
	  ONE "sentinels = \"h\", master = \"m\" }",
	  { "sentinels: ", "port" } },
	{ "a number for a sentinel",
	  ONE "sentinels = { 26379 }, master = \"m\" }",
	  { "sentinels: 26379 is not a text" } },
	{ "a sentinel's database",
	  ONE "sentinels = \"redis://h:1/2\", master = \"m\" }",
	  { "sentinels: ", "url only" } },
	{ "a sentinel with credentials in it",
	  ONE "sentinels = \"redis://:s3cret@h:1\", master = \"m\" }",
	  { "sentinels: ", "sentinel_password" } },
	{ "a sentinel's password without one", S "sentinel_password = "
	  "\"s3cret\" }", { "sentinel_password", "are for sentinels" } },
	{ "a sentinel's user alone", ONE "sentinels = \"h:1\", master = \"m\", "
	  "sentinel_user = \"u\" }", { "sentinel_password is missing" } },
	{ "a cluster's database", ONE "cluster = { \"redis://h:1/2\" } }",
	  { "cluster: ", "no databases" } },
	{ "a cluster with credentials in it",
	  ONE "cluster = { \"redis://u:s3cret@h:1\" } }",
	  { "cluster: ", "user and password beside it" } },
	{ "a cluster half in TLS",
	  ONE "cluster = { \"rediss://h:1\", \"h:2\" } }",
	  { "cluster: ", "either all" } },

	/* --- who asks --- */
	{ "a password that is a number", S "password = 5333 }",
	  { "password: not a text in quotes" } },
	{ "an empty password", S "password = \"\" }", { "password: not a" } },
	{ "a password that holds a NUL", S "password = \"s3cret\\0\" }",
	  { "password: ", "NUL" } },
	{ "a password twice", ONE "url = \"redis://:s3cret@h\", "
	  "password = \"s3cret\" }", { "said twice" } },
	{ "a password and its file", S "password = \"s3cret\", "
	  "password_file = \"@/password\" }", { "password_file: ",
	  "keep one" } },
	{ "a password's file that is not there",
	  S "password_file = \"@/none\" }",
	  { "password_file: ", "/none: No such file" } },
	{ "a password's file that is a folder", S "password_file = \"@\" }",
	  { "password_file: ", "not a file" } },
	{ "a password's file that is empty", S "password_file = \"@/empty\" }",
	  { "password_file: ", "no password" } },
	{ "a relative file", S "password_file = \"password\" }",
	  { "password_file: ", "absolute" } },
	{ "a user without a password", S "user = \"u\" }",
	  { "user: ", "password_file" } },
	{ "a quote that is missing", "shared = redis { password = \"s3cret\n}",
	  { "c:1: unfinished string near a text" } },
	{ "a comma that is missing", "shared = redis { 1 \"s3cret\" }",
	  { "c:1: ", "near a text", "comma" } },
	{ "the same in long quotes", "shared = redis { 1 [[s3cret]] }",
	  { "c:1: ", "near a text" } },

	/* --- TLS --- */
	{ "a certificate without TLS", S "ca = \"@/good\" }",
	  { "rediss://" } },
	{ "a certificate without its key", ONE "url = \"rediss://h\", "
	  "certificate = \"@/good\" }", { "go together" } },
	{ "a certificate that is not there", ONE "url = \"rediss://h\", "
	  "ca = \"@/none\" }", { "ca: ", "/none: No such file" } },
	{ "a key that is a folder", ONE "url = \"rediss://h\", certificate = "
	  "\"@/good\", private_key = \"@\" }", { "private_key: ",
	  "not a file" } },

	/* --- times and sizes --- */
	{ "a time without a unit [idem:F6]", S "timeout = 250 }",
	  { "timeout: ", "a time with its unit" } },
	{ "a budget of minutes", S "budget = \"2m\" }",
	  { "budget: ", "over 60s" } },
	{ "a size without a unit", S "answer_max = 1000 }",
	  { "answer_max: ", "64KiB" } },
	{ "a prefix of a cluster's tag", S "prefix = \"{idem}\" }",
	  { "prefix: ", "letters" } },
	{ "no prefix", S "prefix = \"\" }", { "prefix: ", "1 to 64" } },
	{ "a name with a quote", S "name = \"a'b\" }", { "name: " } },

	/* --- beside it --- */
	{ "a folder that is relative", "run = \"run\"", { "c:1: run: ",
	  "absolute" } },
	{ "an alert with arguments", "alert = { \"/a\", \"b\" }",
	  { "c:1: alert: ", "not a text" } },
	{ "tokens without keys", "tokens = {}", { "c:1: tokens: ",
	  "idemctl token --make-key" } },
	{ "keys that are not there", "\ntokens = { keys = \"@/none\" }",
	  { "c:2: tokens: keys: ", "/none: No such file",
	  "idemctl token --make-key > FILE" } },
	{ "keys that others may read", "tokens = { keys = \"@/open\" }",
	  { "tokens: keys: ", "/open: others may read", "chmod o=" } },
	{ "a file without a key", "tokens = { keys = \"@/empty\" }",
	  { "tokens: keys: ", "/empty: " } },
	{ "a key that is none", "tokens = { keys = \"@/bad\" }",
	  { "tokens: keys: ", "/bad: ", "line 1" } },
	{ "an endpoint that is relative", T "path = \"token\" }",
	  { "tokens: path: ", "\"token\"" } },
	{ "an endpoint that is a pattern", T "path = \"/t/**\" }",
	  { "tokens: path: ", "letters" } },
	{ "an endpoint that no request has", T "path = \"/a/../t\" }",
	  { "tokens: path: ", ".." } },
	{ "an endpoint that is there", T "path = true }",
	  { "tokens: path: true is not a text" } },
	{ "a life without a unit", T "life = 60 }", { "tokens: life: " } },
	{ "no rate", T "rate = 0 }", { "tokens: rate: ", "from 1" } },

	/* --- routes --- */
	{ "an arbiter nobody knows", "\n" R "arbiter = \"mysql\"," P,
	  { "c:2: route \"/x\": arbiter: ", "\"mysql\"", "\"token\"" } },
	{ "a scheme without its arbiter", R "scheme = \"script\"," P,
	  { "route \"/x\": scheme: ", "arbiter = \"redis\"" } },
	{ "a scheme of tokens", R "arbiter = \"token\", scheme = \"setnx\"," P,
	  { "scheme: ", "arbiter = \"redis\"" } },
	{ "a scheme nobody knows",
	  R "arbiter = \"redis\", scheme = \"redlock\"," P,
	  { "scheme: ", "\"redlock\"", "\"setnx\"" } },
	{ "an outage of the ledger", R "on_outage = \"pass\"," P,
	  { "on_outage: ", "without the ledger" } },
	{ "an outage of tokens", R "arbiter = \"token\", "
	  "on_outage = \"memory\"," P, { "on_outage: ", "nowhere else" } },
	{ "an outage of a word nobody knows",
	  R "arbiter = \"redis\", on_outage = \"retry\"," P,
	  { "on_outage: ", "\"retry\"", "\"database\"" } },
	{ "a form's token without tokens", R "form_token = true," P,
	  { "form_token: ", "arbiter = \"token\"" } },
	{ "a form's token with a quote", R "arbiter = \"token\", "
	  "form_token = \"a\\\"b\"," P, { "form_token: ", "letters" } },
	{ "a form's token that is a number", R "arbiter = \"token\", "
	  "form_token = 1," P, { "form_token: ", "not a text" } },
	{ "a form's token beside another field", R "arbiter = \"token\", "
	  "key = form \"k\", form_token = true," P,
	  { "form_token: ", "form_token = \"k\"" } },
	{ "a form's token of a route without forms", R "arbiter = \"token\", "
	  "methods = { \"PUT\" }, form_token = true," P,
	  { "form_token: ", "POST" } },
	{ "content that is a token", R "arbiter = \"token\", "
	  "key = content { window = \"1m\" }, scope = { user = \"verified\" },"
	  P, { "key: ", "issued" } },
};

static void
refuse(const struct row *r)
{
	char error[900] = "";
	struct conf *c = conf_files_read(r->text, error, sizeof error);
	size_t i, missing = 0;

	for (i = 0; i < 3 && r->says[i] != NULL; i++)
		missing += strstr(error, r->says[i]) == NULL;
	if (!ok(c == NULL && missing == 0, "refused, and why: %s", r->what))
		note("%s", c != NULL ? "it was read" : error);
	if (strstr(r->text, "s3cret") != NULL)
		ok(strstr(error, "s3cret") == NULL,
		    "and without its password: %s", r->what);
	conf_drop(c);
}

int
main(void)
{
	size_t i;

	conf_files_make();
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		refuse(&rows[i]);
	conf_files_remove();
	return done();
}
