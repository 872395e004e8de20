/* SPDX-License-Identifier: ISC */
#ifndef SERVER_PRIVATE_H
#define SERVER_PRIVATE_H

#include "buf.h"
#include "server.h"

/*
 * The inside of a server:
 *
 *	server.c		its life
 *	server_conf.c		its file
 *	server_say.c		commands
 *	server_data.c		what is in it
 *	server_stream.c		what it says of itself
 *	server_watch.c		sentinels
 */
struct server_private {
	struct loop *loop;
	char data[112], older[112], conf[112], log[112];
	char shift[160], preload[300];	/* its environment; "": none */
	int master_port;	/* 0: it follows nobody */
	const struct server *watched;	/* it is a sentinel, of this one */
	bool settled;		/* it has once answered: its port is its own */
};

/* --- server.c ------------------------------------------------------------- */

int server_open(struct loop *, struct server *, const struct plan_store *,
    const char *folder, const char *name);
/* A port is found, its file is written, it is started.  -1 and errno. */
int server_launch(struct server *);

/* --- server_conf.c -------------------------------------------------------- */

/* -1 and errno. */
int server_conf_write(const struct server *);

/* --- server_say.c --------------------------------------------------------- */

/* A connection of its own; each reply comes within 10 s. */
struct server_talk {
	int fd;
	int64_t until_ms;	/* all of them come by then; INT64_MAX */
	struct idem_buf out, in;
	size_t given;		/* bytes of in: the last reply */
	const char *wrong;	/* "(silence)", "(closed)"; stays */
};

void server_talk_open(struct server_talk *, const struct server *);
/* For one who waits no longer: now_ms. */
void server_talk_open_until(struct server_talk *, const struct server *,
    int64_t until_ms);
/* Put one more command to be sent. */
void server_talk_words(struct server_talk *, const char *const *words);
/* The next reply, whole; good until the next call.  len 0: t->wrong. */
struct idem_bytes server_talk_get(struct server_talk *);
void server_talk_close(struct server_talk *);

#endif
