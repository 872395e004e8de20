/* SPDX-License-Identifier: ISC */
#include "peers.h"

#include "tap.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

static const struct {
	const char *list, *peer;	/* peer NULL: of a unix socket */
	bool may;
	const char *what;
} rows[] = {
	{ NULL, "203.0.113.9", true, "without a list anybody may" },
	{ NULL, NULL, true, "without a list a unix peer may" },
	{ "127.0.0.1", "127.0.0.1", true, "who is listed may" },
	{ "127.0.0.1", "127.0.0.2", false, "who is not may not [F2]" },
	{ "127.0.0.1", NULL, false, "nor a peer without an address [F2]" },
	{ "199.170.183.28, 199.170.183.71", "199.170.183.71", true,
	  "who is last of several may" },
	{ "199.170.183.28,199.170.183.71", "199.170.183.2", false,
	  "who is like one of several may not" },
	{ "::1", "::1", true, "an address of IPv6 is known" },
	{ "::1", "127.0.0.1", false, "and another than that of IPv4" },
	{ "127.0.0.1", "::ffff:127.0.0.1", true,
	  "IPv4 on a socket of IPv6 is the same" },
	{ "", "127.0.0.1", false, "an empty list is nobody [F2]" }
};

static void
address(const char *text, struct sockaddr_storage *peer)
{
	struct sockaddr_in *four = (struct sockaddr_in *)peer;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)peer;

	memset(peer, 0, sizeof *peer);
	peer->ss_family = AF_UNIX;
	if (text == NULL)
		return;
	if (inet_pton(AF_INET, text, &four->sin_addr) == 1)
		peer->ss_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &six->sin6_addr) == 1)
		peer->ss_family = AF_INET6;
}

static void
check_wrong(const char *list, const char *part)
{
	const char *wrong = NULL;
	struct peers peers;
	size_t len = 0;

	ok(peers_read(&peers, list, &wrong, &len) == -1 && wrong != NULL &&
	    len == strlen(part) && strncmp(wrong, part, len) == 0,
	    "\"%s\" is refused for \"%s\"", list, part);
	peers_free(&peers);
}

int
main(void)
{
	struct sockaddr_storage peer;
	struct peers peers;
	const char *wrong;
	size_t len, i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		address(rows[i].peer, &peer);
		ok(peers_read(&peers, rows[i].list, &wrong, &len) == 0 &&
		    peers_may(&peers, &peer) == rows[i].may, "%s",
		    rows[i].what);
		peers_free(&peers);
	}
	check_wrong("localhost", "localhost");
	check_wrong("127.0.0.1,,::1", "");
	check_wrong("::1, 127.0.0.1:80 ", "127.0.0.1:80");
	return done();
}
