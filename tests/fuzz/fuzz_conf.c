/* SPDX-License-Identifier: ISC */

/* A configuration's text: it is read, or refused with a sentence. */
#include "conf.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

/* What others count on. */
static void
check_route(const struct conf *c, const struct conf_route *r)
{
	const struct idem_policy *p = &r->route.policy;

	fuzz_must(r->route.path != NULL && r->text != NULL);
	fuzz_must(r->route.limit_ms <= c->limit_max_ms);
	fuzz_must(p->lease_ms > 0 && p->lease_ms <= c->lease_max_ms);
	fuzz_must(!r->lease_auto || (r->lease_min_ms <= p->lease_ms &&
	    p->lease_ms <= r->lease_max_ms &&
	    r->lease_max_ms <= c->lease_max_ms));
	fuzz_must(r->route.times.keep_min_ms > 0 &&
	    r->route.times.keep_min_ms <= r->route.times.keep_ms &&
	    r->route.times.keep_min_ms <= c->keep_min_max_ms);
	fuzz_must((r->probe != NULL) == (p->on_unknown == IDEM_PROBING));
	fuzz_must(r->program.kind != PROGRAM_FASTCGI ||
	    (!r->spool && r->lost_signal == 0));
}

/* All that is done with one that was read. */
static void
use_route(struct conf *c, const struct conf_route *r)
{
	char *at[] = { (char[]){ "REQUEST_METHOD=POST" },
	    (char[]){ "HTTP_COOKIE=a=b" }, (char[]){ "HTTP_A=1" }, NULL };
	const struct idem_params params = { at, 3 };
	const struct idem_source *source =
	    idem_route_source(&r->route, IDEM_SOURCE_FUNCTION);
	struct idem_bytes value;
	char error[700] = "";
	int answer;

	check_route(c, r);
	if (source == NULL)
		return;
	answer = conf_call(c, source->function, &params,
	    idem_bytes_text("/a/b"), &value, error, sizeof error);
	fuzz_must(answer != -1 || error[0] != '\0');
	fuzz_must(answer != 1 || value.at != NULL);
}

static void
use(struct conf *c, struct idem_bytes text)
{
	static const char *const paths[] = { "/", "/a", "/a/b?c", "/%00" };
	struct idem_buf b = { .at = NULL };
	char error[700] = "";
	struct conf *again;
	size_t i;

	fuzz_must(c->routes_len > 0 || c->has_rest);
	for (i = 0; i < sizeof paths / sizeof *paths; i++)
		conf_explain(c, "POST", paths[i], &b);
	fuzz_must(idem_buf_ok(&b));
	idem_buf_free(&b);
	for (i = 0; i < c->routes_len && i < 100; i++)
		use_route(c, &c->routes[i]);
	/* The same text is the same configuration. */
	again = conf_read("c", text, error, sizeof error);
	fuzz_must(again == NULL || c->routes_len > 100 ||
	    conf_may_follow(c, again, false, error, sizeof error));
	conf_drop(again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	char error[700] = "";
	uint8_t *copy = malloc(len > 0 ? len : 1);
	struct idem_bytes text = { copy, len };
	struct conf *c;

	if (copy == NULL)
		abort();
	if (len > 0)
		memcpy(copy, at, len);
	c = conf_read("c", text, error, sizeof error);
	fuzz_must((c == NULL) == (error[0] != '\0'));
	if (c != NULL)
		use(c, text);
	conf_drop(c);
	free(copy);
	return 0;
}
