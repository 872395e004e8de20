/* SPDX-License-Identifier: ISC */
#include "stops.h"

#include "address.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define TEXT 256

/* A thread's connection, for as long as the thread is there. */
struct thread {
	struct watch watch;
	struct stops *stops;
	struct thread *next;
	unsigned id;		/* of the stop that waits; 0: none does */
};

struct stops {
	struct loop *loop;
	struct watch listener;
	struct thread *threads;
	void (*reached)(void *arg, const struct stop *);
	void *arg;
	unsigned last_id;
	int error;		/* why nobody is taken any more; 0 */
	char path[108];
};

static struct stops *
of_listener(struct watch *w)
{
	return (struct stops *)((char *)w - offsetof(struct stops, listener));
}

/* --- one of them ---------------------------------------------------------- */

static void
thread_free(struct thread *t)
{
	struct thread **at = &t->stops->threads;

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	loop_close(t->stops->loop, &t->watch);
	free(t);
}

static void
say(struct thread *t, const char *word)
{
	t->id = 0;
	/* Who is gone meanwhile needs no word. */
	(void)send(t->watch.fd, word, strlen(word),
	    MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* "LABEL KEY PID LANE", "LABEL KEY PID LANE told"; false: it is neither. */
static bool
parse(char *text, struct stop *stop, bool *told)
{
	char *words[4], *rest = text, *fifth;
	size_t n;

	for (n = 0; n < 4; n++) {
		words[n] = strtok_r(n == 0 ? text : NULL, " ", &rest);
		if (words[n] == NULL)
			return false;
	}
	stop->label = words[0];
	stop->key = strcmp(words[1], "-") != 0 ? words[1] : NULL;
	stop->pid = (pid_t)strtol(words[2], NULL, 10);
	stop->lane = words[3];
	fifth = strtok_r(NULL, " ", &rest);
	*told = fifth != NULL && strcmp(fifth, "told") == 0;
	return fifth == NULL || *told;
}

static void
heard(struct watch *w, uint32_t events)
{
	struct thread *t = (struct thread *)w;
	struct stops *s = t->stops;
	char text[TEXT];
	struct stop stop = { .id = 0 };
	bool told = false;
	ssize_t n;

	(void)events;
	n = recv(w->fd, text, sizeof text - 1, MSG_DONTWAIT);
	if (n <= 0) {
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			thread_free(t);
		return;
	}
	text[n] = '\0';
	if (!parse(text, &stop, &told)) {
		say(t, "go");
		return;
	}
	if (!told)
		t->id = stop.id = ++s->last_id;
	s->reached(s->arg, &stop);
}

/* He waits for a word, and the loop would be told of him again and again. */
static void
cannot_take(struct stops *s, int error)
{
	s->error = error;
	(void)loop_change(s->loop, &s->listener, 0);
}

static void
came(struct watch *w, uint32_t events)
{
	struct stops *s = of_listener(w);
	struct thread *t;
	int fd;

	(void)events;
	fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd == -1) {
		if (address_short(errno))
			cannot_take(s, errno);
		return;
	}
	t = calloc(1, sizeof *t);
	if (t != NULL) {
		t->stops = s;
		t->watch.ready = heard;
	}
	if (t == NULL || loop_watch(s->loop, &t->watch, fd, EPOLLIN) != 0) {
		cannot_take(s, errno);
		close(fd);
		free(t);
		return;
	}
	t->next = s->threads;
	s->threads = t;
}

/* --- all of them ---------------------------------------------------------- */

static struct thread *
waiting(struct stops *s, unsigned id)
{
	struct thread *t;

	for (t = s->threads; t != NULL; t = t->next)
		if (t->id == id && id != 0)
			return t;
	return NULL;
}

void
stops_go(struct stops *s, unsigned id)
{
	struct thread *t = waiting(s, id);

	if (t != NULL)
		say(t, "go");
}

bool
stops_fail(struct stops *s, unsigned id, int error)
{
	struct thread *t = waiting(s, id);
	char word[20];

	if (t == NULL)
		return false;
	snprintf(word, sizeof word, "fail %d", error);
	say(t, word);
	return true;
}

int
stops_error(const struct stops *s)
{
	return s->error;
}

static int
listen_at(struct stops *s)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX,
	    SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(at.sun_path, s->path, sizeof s->path);
	if (fd == -1)
		return -1;
	if (bind(fd, (const struct sockaddr *)&at, sizeof at) != 0 ||
	    listen(fd, 1024) != 0 ||
	    loop_watch(s->loop, &s->listener, fd, EPOLLIN) != 0) {
		close(fd);
		return -1;
	}
	return 0;
}

struct stops *
stops_open(struct loop *loop, const char *path,
    void (*reached)(void *arg, const struct stop *), void *arg)
{
	struct stops *s = calloc(1, sizeof *s);

	if (s == NULL || strlen(path) >= sizeof s->path) {
		errno = s == NULL ? ENOMEM : ENAMETOOLONG;
		free(s);
		return NULL;
	}
	s->loop = loop;
	s->reached = reached;
	s->arg = arg;
	s->listener.fd = -1;
	s->listener.ready = came;
	memcpy(s->path, path, strlen(path) + 1);
	if (listen_at(s) != 0) {
		free(s);
		return NULL;
	}
	return s;
}

void
stops_close(struct stops *s)
{
	struct thread *t;

	for (t = s->threads; t != NULL; t = t->next)
		if (t->id != 0)
			say(t, "go");
	while (s->threads != NULL)
		thread_free(s->threads);
	loop_close(s->loop, &s->listener);
	unlink(s->path);
	free(s);
}
