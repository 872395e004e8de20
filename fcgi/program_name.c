/* SPDX-License-Identifier: ISC */
#include "program_name.h"

#include <string.h>

/* In all lists: "NAME", or "PREFIX*" for every name that begins so. */

static const char *const ours[] = {
	"IDEMPOTENCY_ATTEMPT", "IDEMPOTENCY_DEADLINE", "IDEMPOTENCY_KEY",
	"IDEM_*", NULL
};

static const char *const framing[] = {
	"CONTENT_LENGTH", "HTTP_TRANSFER_ENCODING", NULL
};

/*
 * A front's PATH is not for our programs.  The others are what fronts send a
 * second time (RFC 3875, 4.1.18).
 */
static const char *const left[] = {
	"HTTP_CONTENT_LENGTH", "HTTP_CONTENT_TYPE", "PATH", NULL
};

/*
 * What runs code of somebody's choice, or sends a program elsewhere, before its
 * own first line.  HTTP_PROXY is any client's to say (httpoxy); the others a
 * front has no reason to.
 */
static const char *const obeyed[] = {
	"HTTP_PROXY",
	/* the loader and the C library */
	"LD_*", "GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "HOSTALIASES",
	"LOCALDOMAIN", "LOCPATH", "MALLOC_*", "NIS_PATH", "NLSPATH",
	"RESOLV_HOST_CONF", "RES_OPTIONS",
	/* shells */
	"BASHOPTS", "BASH_*", "CDPATH", "ENV", "FPATH", "GLOBIGNORE", "IFS",
	"PROMPT_COMMAND", "PS4", "SHELLOPTS", "ZDOTDIR",
	/* interpreters */
	"CLASSPATH", "GEM_HOME", "GEM_PATH", "JAVA_TOOL_OPTIONS",
	"JDK_JAVA_OPTIONS", "LUA_CPATH*", "LUA_INIT*", "LUA_PATH*",
	"NODE_OPTIONS", "NODE_PATH", "PERL5*", "PERLIO_DEBUG", "PERLLIB",
	"PHPRC", "PHP_INI_SCAN_DIR", "PYTHON*", "RUBYLIB", "RUBYOPT",
	"RUBYSHELL", "TCLLIBPATH", "_JAVA_OPTIONS",
	/* OpenSSL */
	"OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES", "SSLKEYLOGFILE",
	NULL
};

/* What the specification and the fronts name. */
static const char *const named[] = {
	"AUTH_TYPE", "CONTENT_TYPE", "CONTEXT_DOCUMENT_ROOT", "CONTEXT_PREFIX",
	"DATE_GMT", "DATE_LOCAL", "DOCUMENT_NAME", "DOCUMENT_PATH_INFO",
	"DOCUMENT_ROOT", "DOCUMENT_URI", "GATEWAY_INTERFACE", "HTTP2", "HTTPS",
	"HTTP_*", "LAST_MODIFIED", "PATH_INFO", "PATH_TRANSLATED",
	"QUERY_STRING", "QUERY_STRING_UNESCAPED", "REDIRECT_*", "REMOTE_*",
	"REQUEST_METHOD", "REQUEST_SCHEME", "REQUEST_URI", "SCRIPT_FILENAME",
	"SCRIPT_NAME", "SCRIPT_URI", "SCRIPT_URL", "SERVER_*", "SSL_*",
	"UNIQUE_ID", NULL
};

static bool
is_like(const char *name, size_t len, const char *pattern)
{
	size_t pattern_len;

	if (*pattern != *name && *pattern != '*')
		return false;	/* most: not worth a call */
	pattern_len = strlen(pattern);
	if (pattern_len > 0 && pattern[pattern_len - 1] == '*')
		return len >= pattern_len - 1 &&
		    memcmp(name, pattern, pattern_len - 1) == 0;
	return len == pattern_len && memcmp(name, pattern, len) == 0;
}

static bool
is_among(const char *name, size_t len, const char *const *patterns)
{
	for (; *patterns != NULL; patterns++)
		if (is_like(name, len, *patterns))
			return true;
	return false;
}

static bool
is_passed(const struct program_rule *rule, const char *name, size_t len)
{
	return rule->all_params || is_among(name, len, named) ||
	    (rule->pass != NULL &&
	    is_among(name, len, (const char *const *)rule->pass));
}

/* What every shell can hold as a variable. */
static bool
is_usable(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!(name[i] == '_' || (name[i] >= 'A' && name[i] <= 'Z') ||
		    (name[i] >= 'a' && name[i] <= 'z') ||
		    (i > 0 && name[i] >= '0' && name[i] <= '9')))
			return false;
	return len > 0;
}

bool
program_name_is_ours(const char *name, size_t len)
{
	return is_among(name, len, ours);
}

bool
program_name_is_framing(const char *name, size_t len)
{
	return is_among(name, len, framing);
}

bool
program_name_is(const char *name, size_t len, const char *other)
{
	return *name == *other && len == strlen(other) &&
	    memcmp(name, other, len) == 0;
}

enum program_name
program_name_judge(const struct program_rule *rule, const char *text,
    size_t len)
{
	if (!is_usable(text, len) || text[len] != '=' ||
	    is_among(text, len, obeyed) || program_name_is_ours(text, len))
		return PROGRAM_NAME_DROPPED;
	if (program_name_is_framing(text, len) || is_among(text, len, left) ||
	    !is_passed(rule, text, len))
		return PROGRAM_NAME_LEFT;
	/* A shell that takes functions from its environment (CVE-2014-6271). */
	if (strncmp(text + len + 1, "() {", 4) == 0)
		return PROGRAM_NAME_DROPPED;
	return PROGRAM_NAME_PASSED;
}
