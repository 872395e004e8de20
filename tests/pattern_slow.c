/* SPDX-License-Identifier: ISC */
#include "pattern_slow.h"

#include <string.h>

bool
pattern_slow(const char *pattern, const char *path)
{
	bool any = pattern[0] == '*' && pattern[1] == '*';

	if (strcmp(pattern, "/**") == 0 && *path == '\0')
		return true;
	if (*pattern == '\0')
		return *path == '\0';
	if (*pattern != '*')
		return *path == *pattern && pattern_slow(pattern + 1, path + 1);
	if (pattern_slow(pattern + (any ? 2 : 1), path))
		return true;
	return *path != '\0' && (any || *path != '/') &&
	    pattern_slow(pattern, path + 1);
}
