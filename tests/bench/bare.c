/* SPDX-License-Identifier: ISC */
#include <fcgiapp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The bare responder that others are measured by: libfcgi's documented
 * threaded form, which only says hello.  Without the lock around accepting
 * that its example has: one idle kept connection would starve all others.
 *
 *	bare SOCKET [THREADS [BYTES]]
 *
 * Its answer's body has so many bytes more.
 */
#define THREADS 16
#define BACKLOG 1024

#define BYTES_MAX (16 << 20)

static const char text[] =
    "order replay by 12345 at 1700000000.123456789, which is as long as ours "
    "is.\n";

struct bare {
	int listener, len;
	char *answer;
};

static int
make_answer(struct bare *b, int bytes)
{
	int head;

	b->answer = malloc((size_t)bytes + 1024);
	if (b->answer == NULL)
		return -1;
	head = snprintf(b->answer, 1024, "Status: 201 Created\r\n"
	    "Content-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s",
	    (int)sizeof text - 1 + bytes, text);
	memset(b->answer + head, '.', (size_t)bytes);
	b->len = head + bytes;
	return 0;
}

static void *
serve(void *arg)
{
	const struct bare *b = arg;
	FCGX_Request request;

	if (FCGX_InitRequest(&request, b->listener, 0) != 0)
		return NULL;
	while (FCGX_Accept_r(&request) == 0) {
		FCGX_PutStr(b->answer, b->len, request.out);
		FCGX_Finish_r(&request);
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	int threads = argc > 2 ? (int)strtol(argv[2], NULL, 10) : THREADS;
	int bytes = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0, i;
	struct bare b;
	pthread_t thread;

	if (argc < 2 || bytes < 0 || bytes > BYTES_MAX || FCGX_Init() != 0)
		return 2;
	b.listener = FCGX_OpenSocket(argv[1], BACKLOG);
	if (b.listener < 0 || make_answer(&b, bytes) == -1)
		return 111;
	for (i = 1; i < threads; i++)
		if (pthread_create(&thread, NULL, serve, &b) != 0)
			return 111;
	serve(&b);
	return 0;
}
