/* SPDX-License-Identifier: ISC */
#include "instance_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROUTE "/order"
#define VALUE 200

void
instance_folder(const struct instance_spec *spec, char *out, size_t size)
{
	snprintf(out, size, "%s/g%u", spec->folder, spec->number);
}

void
instance_socket(const struct instance_spec *spec, char *out, size_t size)
{
	snprintf(out, size, "%s/g%u/sock", spec->folder, spec->number);
}

/* --- Lua ------------------------------------------------------------------ */

/* In quotes, so that it means itself. */
static void
text(struct idem_buf *out, const char *value)
{
	const char *at;

	idem_buf_u8(out, '"');
	for (at = value; *at != '\0'; at++)
		if (*at < ' ' || *at == '"' || *at == '\\' || *at == 0x7f)
			idem_buf_printf(out, "\\%03u", (unsigned char)*at);
		else
			idem_buf_u8(out, (uint8_t)*at);
	idem_buf_u8(out, '"');
}

static void
field(struct idem_buf *out, const char *before, const char *name,
    const char *value, const char *after)
{
	idem_buf_printf(out, "%s%s = ", before, name);
	text(out, value);
	idem_buf_text(out, after);
}

/* --- what the plan says --------------------------------------------------- */

static bool
has(const struct plan *plan, const char *in_conf)
{
	const struct plan_config_word *w;
	size_t i;

	for (i = 0; i < plan->gates.configs; i++) {
		w = plan_config_known(plan->gates.config[i].name);
		if (w != NULL && strcmp(w->in_conf, in_conf) == 0)
			return true;
	}
	return false;
}

/* Those of its words that belong here. */
static void
words(struct idem_buf *out, const struct plan *plan, const char *where,
    const char *before, const char *after)
{
	const struct plan_config_word *w;
	char value[VALUE];
	size_t i;

	for (i = 0; i < plan->gates.configs; i++) {
		w = plan_config_known(plan->gates.config[i].name);
		if (w == NULL || strcmp(w->where, where) != 0)
			continue;
		plan_config_conf(w, plan->gates.config[i].value, value,
		    sizeof value);
		idem_buf_printf(out, "%s%s = %s%s", before, w->in_conf, value,
		    after);
	}
}

/* --- the program ---------------------------------------------------------- */

static void
dist(struct idem_buf *out, const struct plan_dist *d)
{
	size_t i;

	switch (d->kind) {
	case PLAN_CONST:
		idem_buf_printf(out, "const:%.17g", d->a);
		return;
	case PLAN_UNIFORM:
		idem_buf_printf(out, "uniform:%.17g:%.17g", d->a, d->b);
		return;
	case PLAN_EXP:
		idem_buf_printf(out, "exp:%.17g:%.17g:%.17g", d->a, d->min,
		    d->max);
		return;
	case PLAN_CHOICE:
		idem_buf_text(out, "choice");
		for (i = 0; i < d->n; i++)
			idem_buf_printf(out, ":%.17g", d->of[i]);
		return;
	}
}

/* Words are parted by blanks. */
static void
word(struct idem_buf *out, const char *name, const char *value)
{
	idem_buf_printf(out, " %s=", name);
	for (; *value != '\0'; value++)
		idem_buf_u8(out, (uint8_t)(*value == ' ' ? '_' : *value));
}

/* What it is to do: sim/program.c reads it. */
static void
orders(struct idem_buf *out, const struct instance_spec *spec)
{
	const struct plan_handler *h = &spec->plan->handler;

	idem_buf_printf(out, "effect=%s service=",
	    h->effect == PLAN_EFFECT_NONE ? "none" : "append");
	dist(out, &h->service_ms);
	idem_buf_printf(out, " output=%" PRId64 " length=%d status=%d exit=%d "
	    "partial=%" PRId64 " seed=%" PRIu64, h->output_bytes,
	    h->promises_length, h->http_status != 0 ? h->http_status : 200,
	    h->exit, h->partial_output, spec->seed);
	if (h->crash != NULL && h->crash[0] != '\0')
		word(out, "crash", h->crash);
	if (h->business_id != NULL)
		word(out, "business", h->business_id);
	if (spec->stops != NULL && spec->labels != NULL)
		word(out, "labels", spec->labels);
	idem_buf_u8(out, '\0');
}

/* idemd hands nothing of its own environment on. */
static void
program(struct idem_buf *out, const struct instance_spec *spec, unsigned life)
{
	struct idem_buf told = { 0 };
	char name[16], lives[16];

	orders(&told, spec);
	snprintf(name, sizeof name, "g%u", spec->number);
	snprintf(lives, sizeof lives, "%u", life);
	idem_buf_text(out, "  program = cgi { ");
	text(out, spec->program);
	idem_buf_text(out, ", set = {\n");
	field(out, "    ", "IDEMSIM_RUN", child_mark(), ",\n");
	field(out, "    ", "IDEMSIM_LANE", name, ",\n");
	field(out, "    ", "IDEMSIM_LIFE", lives, ",\n");
	if (spec->effects != NULL)
		field(out, "    ", "IDEMSIM_EFFECTS", spec->effects, ",\n");
	if (spec->stops != NULL)
		field(out, "    ", "IDEMSIM_STOPS", spec->stops, ",\n");
	if (idem_buf_ok(&told))
		field(out, "    ", "IDEMSIM_PROGRAM", (char *)told.at, ",\n");
	else
		out->failed = true;
	if (spec->plan->handler.output != NULL)
		field(out, "    ", "IDEMSIM_OUTPUT",
		    spec->plan->handler.output, ",\n");
	field(out, "    ", "TMPDIR", spec->folder, ",\n");
	idem_buf_text(out, "  } },\n");
	idem_buf_free(&told);
}

/* --- the rest ------------------------------------------------------------- */

/* Has one of those before it the same? */
static bool
asked_before(const struct plan *plan, size_t load, size_t send)
{
	const char *method = plan->loads[load].sends[send].method, *other;
	size_t i, j, n;

	for (i = 0; i <= load; i++) {
		n = plan->loads[i].kind != PLAN_SCRIPT ? 0 : i == load ? send :
		    plan->loads[i].sends_n;
		for (j = 0; j < n; j++) {
			other = plan->loads[i].sends[j].method;
			if (other != NULL && strcmp(other, method) == 0)
				return true;
		}
	}
	return false;
}

/* POST, and what scripts ask with. */
static void
methods(struct idem_buf *out, const struct plan *plan)
{
	const struct plan_load *load;
	const char *method;
	size_t i, j;

	idem_buf_text(out, "  methods = { \"POST\"");
	for (i = 0; i < plan->loads_n; i++) {
		load = &plan->loads[i];
		for (j = 0; load->kind == PLAN_SCRIPT && j < load->sends_n;
		    j++) {
			method = load->sends[j].method;
			if (method == NULL || strcmp(method, "POST") == 0 ||
			    asked_before(plan, i, j))
				continue;
			idem_buf_text(out, ", ");
			text(out, method);
		}
	}
	idem_buf_text(out, " },\n");
}

static const char *
arbiter(enum plan_arbiter a)
{
	switch (a) {
	case PLAN_LEDGER:
		return "ledger";
	case PLAN_TOKEN:
		return "token";
	case PLAN_REDIS:
		break;
	}
	return "redis";
}

static void
redis(struct idem_buf *out, const struct instance_spec *spec)
{
	const struct plan_gates *gates = &spec->plan->gates;
	const char *const *at;

	if (spec->store_url == NULL || gates->store < 0 ||
	    (gates->arbiter == PLAN_LEDGER && !gates->cached))
		return;
	idem_buf_printf(out, "%s = redis {\n",
	    gates->arbiter == PLAN_LEDGER ? "cache" : "shared");
	if (spec->sentinels == NULL)
		field(out, "  ", "url", spec->store_url, ",\n");
	else {
		idem_buf_text(out, "  sentinels = {");
		for (at = spec->sentinels; *at != NULL; at++) {
			idem_buf_text(out, " ");
			text(out, *at);
			idem_buf_text(out, ",");
		}
		field(out, " },\n  ", "master", spec->store_url, ",\n");
	}
	if (!has(spec->plan, "probe"))
		idem_buf_printf(out, "  probe = \"%dms\",\n", PLAN_PROBE_MS);
	words(out, spec->plan, "redis", "  ", ",\n");
	idem_buf_text(out, "}\n");
}

static void
tokens(struct idem_buf *out, const struct instance_spec *spec)
{
	field(out, "tokens = { ", "keys", spec->token_keys, "");
	words(out, spec->plan, "tokens", ", ", "");
	idem_buf_text(out, " }\n");
}

/* Is a key of the plan's in a form? */
static bool
has_form(const struct plan *plan)
{
	const struct plan_load *l;
	size_t i, j;

	for (i = 0; i < plan->loads_n; i++) {
		l = &plan->loads[i];
		if (l->keys.source == PLAN_FORM)
			return true;
		for (j = 0; j < l->sends_n; j++)
			if (l->sends[j].source == PLAN_FORM)
				return true;
	}
	return false;
}

/* Whose files they are: one ledger is one host's, and so is its run folder. */
static void
stores(struct idem_buf *out, const struct instance_spec *spec)
{
	char run[160];

	if (spec->ledger != NULL) {
		field(out, "ledger = sqlite { ", "path", spec->ledger, "");
		idem_buf_printf(out, ", create = %s }\n",
		    spec->make_ledger ? "true" : "false");
	} else {
		instance_folder(spec, run, sizeof run - 4);
		memcpy(run + strlen(run), "/run", 5);
		field(out, "", "run", run, "\n");
	}
	redis(out, spec);
	if (spec->token_keys != NULL && spec->plan->gates.arbiter == PLAN_TOKEN)
		tokens(out, spec);
}

/* A simulator's run is short, and its disk is not ours to judge. */
static void
settings(struct idem_buf *out, const struct instance_spec *spec)
{
	const struct plan *plan = spec->plan;
	size_t workers = plan->gates.workers > 0 ? plan->gates.workers : 1;
	char socket[140];

	memcpy(socket, "unix:", 6);
	instance_socket(spec, socket + 5, sizeof socket - 5);
	field(out, "", "listen", socket, "\n");
	idem_buf_printf(out, "workers = %zu\n", workers);
	if (!has(plan, "programs") && workers > 8)
		idem_buf_printf(out, "programs = %zu\n", workers);
	if (!has(plan, "grace"))
		idem_buf_printf(out, "grace = \"%dms\"\n", PLAN_GRACE_MS);
	if (!has(plan, "reserve"))
		idem_buf_text(out, "reserve = false\n");
	words(out, plan, "top", "", "\n");
}

void
instance_conf(const struct instance_spec *spec, unsigned life,
    struct idem_buf *out)
{
	settings(out, spec);
	stores(out, spec);
	idem_buf_text(out, "route {\n");
	field(out, "  ", "path", ROUTE, ",\n");
	methods(out, spec->plan);
	field(out, "  ", "arbiter", arbiter(spec->plan->gates.arbiter), ",\n");
	if (has_form(spec->plan))
		idem_buf_text(out, "  form_token = true,\n");
	words(out, spec->plan, "route", "  ", ",\n");
	program(out, spec, life);
	idem_buf_text(out, "}\n");
}

/* --- lighttpd ------------------------------------------------------------- */

/* As doc/fronts/lighttpd.conf has it, at a socket and with all paths. */
void
instance_conf_front(const struct instance *i, struct idem_buf *out)
{
	idem_buf_printf(out, "server.bind = \"%s\"\n"
	    "server.document-root = \"%s\"\n"
	    "server.upload-dirs = ( \"%s\" )\n"
	    "server.modules = ( \"mod_fastcgi\" )\n", i->socket, i->folder,
	    i->folder);
	idem_buf_printf(out, "fastcgi.server = ( \"/\" => ((\n"
	    "\t\"socket\" => \"%s\",\n"
	    "\t\"check-local\" => \"disable\",\n"
	    "\t\"disable-time\" => 1\n)) )\n", i->in->socket);
	idem_buf_text(out, "server.stream-request-body = 0\n"
	    "server.max-request-size = 102400\n"
	    "server.max-write-idle = 360\n"
	    "server.http-parseopts = (\n"
	    "\t\"header-strict\" => \"enable\",\n"
	    "\t\"host-strict\" => \"enable\",\n"
	    "\t\"host-normalize\" => \"enable\",\n"
	    "\t\"url-normalize-unreserved\" => \"enable\",\n"
	    "\t\"url-normalize-required\" => \"enable\",\n"
	    "\t\"url-ctrls-reject\" => \"enable\",\n"
	    "\t\"url-path-2f-decode\" => \"enable\",\n"
	    "\t\"url-path-dotseg-remove\" => \"enable\"\n)\n");
}
