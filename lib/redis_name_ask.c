/* SPDX-License-Identifier: ISC */
#include "redis_name_ask.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct idem_redis_name_ask {
	pthread_mutex_t mutex;
	unsigned holders;	/* threads, and the names until _free */
	bool left;		/* nobody will look any more */
	int event;
	struct idem_redis_name_question *first;
};

/* --- getaddrinfo ---------------------------------------------------------- */

static void
take_addresses(const struct addrinfo *info, struct idem_redis_addresses *to)
{
	struct idem_redis_address *a;

	to->len = 0;
	for (; info != NULL; info = info->ai_next) {
		if (to->len == IDEM_REDIS_ADDRESSES_MAX ||
		    info->ai_addrlen > sizeof to->at[0].at)
			continue;
		a = &to->at[to->len++];
		memset(a, 0, sizeof *a);
		memcpy(&a->at, info->ai_addr, info->ai_addrlen);
		a->len = info->ai_addrlen;
	}
}

const char *
idem_redis_name_ask_system(const char *host, int flags,
    struct idem_redis_addresses *found)
{
	const struct addrinfo hints = {
		.ai_flags = flags, .ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM
	};
	struct addrinfo *info;
	int rc = getaddrinfo(host, NULL, &hints, &info);

	if (rc != 0)
		return gai_strerror(rc);
	take_addresses(info, found);
	freeaddrinfo(info);
	return found->len > 0 ? NULL : "no address";
}

/* --- what threads share --------------------------------------------------- */

struct idem_redis_name_ask *
idem_redis_name_ask_new(void)
{
	struct idem_redis_name_ask *p = calloc(1, sizeof *p);

	if (p == NULL)
		return NULL;
	p->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->event < 0)
		goto no_event;
	if ((errno = pthread_mutex_init(&p->mutex, NULL)) != 0)
		goto no_mutex;
	p->holders = 1;
	return p;
no_mutex:
	close(p->event);
no_event:
	free(p);
	return NULL;
}

/* The mutex is held; it is not afterwards. */
static void
let_go(struct idem_redis_name_ask *p)
{
	bool last = --p->holders == 0;

	pthread_mutex_unlock(&p->mutex);
	if (!last)
		return;
	pthread_mutex_destroy(&p->mutex);
	free(p);
}

static void
ring(int event)
{
	const uint64_t one = 1;
	ssize_t n;

	/* Full means that it is readable already. */
	do
		n = write(event, &one, sizeof one);
	while (n < 0 && errno == EINTR);
}

static void *
ask(void *arg)
{
	struct idem_redis_name_question *q = arg;
	struct idem_redis_name_ask *p = q->ask;

	q->why = q->resolve(q->host, &q->found);
	if (q->why == NULL && q->found.len == 0)
		q->why = "no address";
	pthread_mutex_lock(&p->mutex);
	if (p->left) {
		free(q);
	} else {
		q->next = p->first;
		p->first = q;
		ring(p->event);
	}
	let_go(p);
	return NULL;
}

/* A signal is for those who expect it. */
static bool
start_thread(struct idem_redis_name_question *q)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	bool started;

	if (pthread_attr_init(&attr) != 0)
		return false;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&thread, &attr, ask, q) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return started;
}

bool
idem_redis_name_ask_put(struct idem_redis_name_ask *p, const char *host,
    idem_redis_resolve *resolve)
{
	size_t size = strlen(host) + 1;
	struct idem_redis_name_question *q = calloc(1, sizeof *q + size);

	if (q == NULL)
		return false;
	memcpy(q->host, host, size);
	q->ask = p;
	q->resolve = resolve;
	pthread_mutex_lock(&p->mutex);
	p->holders++;
	pthread_mutex_unlock(&p->mutex);
	if (start_thread(q))
		return true;
	free(q);
	pthread_mutex_lock(&p->mutex);
	let_go(p);
	return false;
}

int
idem_redis_name_ask_fd(const struct idem_redis_name_ask *p)
{
	return p->event;
}

struct idem_redis_name_question *
idem_redis_name_ask_take(struct idem_redis_name_ask *p)
{
	struct idem_redis_name_question *first;
	uint64_t rung;
	ssize_t n;

	do
		n = read(p->event, &rung, sizeof rung);
	while (n < 0 && errno == EINTR);
	pthread_mutex_lock(&p->mutex);
	first = p->first;
	p->first = NULL;
	pthread_mutex_unlock(&p->mutex);
	return first;
}

void
idem_redis_name_ask_free(struct idem_redis_name_ask *p)
{
	struct idem_redis_name_question *q, *next;

	pthread_mutex_lock(&p->mutex);
	p->left = true;
	close(p->event);
	for (q = p->first; q != NULL; q = next) {
		next = q->next;
		free(q);
	}
	let_go(p);
}
