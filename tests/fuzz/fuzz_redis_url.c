/* SPDX-License-Identifier: ISC */
#include "redis.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

/* Whatever is read is within its bounds; whatever is not is told without it. */

static void
check_good(const struct idem_redis_url *url)
{
	size_t len = strnlen(url->host, sizeof url->host);

	fuzz_must(len > 0 && len < sizeof url->host);
	fuzz_must(url->port > 0);
	fuzz_must(strnlen(url->user, sizeof url->user) < sizeof url->user);
	fuzz_must(strnlen(url->password, sizeof url->password) <
	    sizeof url->password);
	if (url->kind == IDEM_REDIS_UNIX)
		fuzz_must(url->host[0] == '/' && len <= 107 &&
		    url->user[0] == '\0' && url->password[0] == '\0');
	else
		fuzz_must(strpbrk(url->host, " /@?#[]\r\n") == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	struct idem_redis_url url;
	char *text = malloc(len + 1), error[256] = "";

	fuzz_must(text != NULL);
	if (len > 0)
		memcpy(text, at, len);
	text[len] = '\0';
	if (idem_redis_url_read(text, &url, error, sizeof error))
		check_good(&url);
	else
		fuzz_must(error[0] != '\0' && url.password[0] == '\0' &&
		    url.host[0] == '\0');
	free(text);
	return 0;
}
