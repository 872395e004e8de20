/* SPDX-License-Identifier: ISC */
#include "given.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct idem_params
given(const char *const *texts)
{
	struct idem_params p = { 0 };

	while (texts[p.len] != NULL)
		p.len++;
	p.at = calloc(p.len + 1, sizeof *p.at);
	if (p.at == NULL)
		bail_out("out of memory");
	memcpy(p.at, texts, p.len * sizeof *p.at);
	return p;
}

const char *
given_line(char *const *texts, char *to, size_t size)
{
	size_t len = 0;

	to[0] = '\0';
	for (; *texts != NULL && len < size; texts++)
		len += (size_t)snprintf(to + len, size - len, "%s|", *texts);
	return to;
}
