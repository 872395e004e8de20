/* SPDX-License-Identifier: ISC */
#include "route.h"

#include "pattern.h"

#include <string.h>

#define HOUR_MS ((int64_t)60 * 60 * 1000)

static const char *const default_methods[] = { "POST", "PATCH" };

static const struct idem_source default_sources[] = {
	{ .kind = IDEM_SOURCE_HEADER, .name = "HTTP_IDEMPOTENCY_KEY" },
	{ .kind = IDEM_SOURCE_HEADER, .name = "HTTP_X_IDEMPOTENCY_KEY" },
};

const struct idem_route idem_route_default = {
	.methods = { default_methods, 2 },
	.sources = default_sources,
	.sources_len = 2,
	.guard_authorization = true,
	.guard_user = true,
	.parts = IDEM_PARTS_ALL,
	.policy = IDEM_POLICY_DEFAULT,
	.times = {
		.keep_ms = 24 * HOUR_MS,
		.keep_min_ms = 24 * HOUR_MS,
		.tombstone_ms = 7 * 24 * HOUR_MS,
		.call_ms = 1000,
	},
	.limit_ms = 300000,
	.kept_max = (size_t)16 * 1024 * 1024,
};

bool
idem_route_covers(const struct idem_route *route, const char *method)
{
	size_t i;

	for (i = 0; i < route->methods.len; i++)
		if (strcmp(route->methods.at[i], method) == 0)
			return true;
	return false;
}

enum idem_route_why
idem_route_judge(const struct idem_route *route, struct idem_bytes path,
    const char *method)
{
	size_t i;

	if (route->path != NULL && !idem_pattern_matches(route->path, path))
		return IDEM_ROUTE_OTHER_PATH;
	for (i = 0; i < route->except.len; i++)
		if (idem_pattern_matches(route->except.at[i], path))
			return IDEM_ROUTE_EXCEPTED;
	return idem_route_covers(route, method) ? IDEM_ROUTE_APPLIES :
	    IDEM_ROUTE_OTHER_METHOD;
}

bool
idem_route_releases(const struct idem_route *route, int code)
{
	size_t i;

	for (i = 0; i < route->released_len; i++)
		if (code >= route->released[i].from &&
		    code <= route->released[i].to)
			return true;
	return false;
}

const struct idem_source *
idem_route_source(const struct idem_route *route, enum idem_source_kind kind)
{
	size_t i;

	for (i = 0; i < route->sources_len; i++)
		if (route->sources[i].kind == kind)
			return &route->sources[i];
	return NULL;
}
