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
 *	bare SOCKET [THREADS]
 */
#define THREADS 16
#define BACKLOG 1024

static const char answer[] =
    "Status: 201 Created\r\n"
    "Content-Type: text/plain\r\n"
    "Content-Length: 76\r\n"
    "\r\n"
    "order replay by 12345 at 1700000000.123456789, which is as long as ours is.\n";

static void *
serve(void *arg)
{
	const int *listener = arg;
	FCGX_Request request;

	if (FCGX_InitRequest(&request, *listener, 0) != 0)
		return NULL;
	while (FCGX_Accept_r(&request) == 0) {
		FCGX_PutStr(answer, sizeof answer - 1, request.out);
		FCGX_Finish_r(&request);
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : THREADS;
	int listener, i;
	pthread_t thread;

	if (argc < 2 || FCGX_Init() != 0)
		return 2;
	listener = FCGX_OpenSocket(argv[1], BACKLOG);
	if (listener < 0)
		return 111;
	for (i = 1; i < threads; i++)
		if (pthread_create(&thread, NULL, serve, &listener) != 0)
			return 111;
	serve(&listener);
	return 0;
}
