/* SPDX-License-Identifier: ISC */
#ifndef KEEPER_WIRE_H
#define KEEPER_WIRE_H

#include "keeper.h"

#include <sys/uio.h>

/*
 * What runner and keeper say to each other, both of one build, one message a
 * packet.  Strings follow a START, each with its NUL: path, folder if there is
 * one, argv, envp; or, when they are many, they are in a file of memory, APART.
 * All of a run's output follows the word that it has ended, if it is whole.
 */
#define KEEPER_BYTES_MAX (32 * 1024)	/* of strings in the packet */
#define KEEPER_WORDS_MAX 1024		/* as many strings */
#define KEEPER_APART_BYTES_MAX (4 * 1024 * 1024)	/* execve takes less */
#define KEEPER_APART_WORDS_MAX (512 * 1024)

enum keeper_op {
	KEEPER_START = 1, KEEPER_KILL, KEEPER_SIGNAL, KEEPER_SETTLED,
	KEEPER_UNKNOWN, KEEPER_LEFT
};

/* What can come with a START, in this order. */
enum keeper_fd {
	KEEPER_FD_IN, KEEPER_FD_OUT, KEEPER_FD_ERR,
	KEEPER_FD_FILE, KEEPER_FD_LOCK,		/* of the note */
	KEEPER_FD_ERR_READ,
	KEEPER_FD_APART,
	KEEPER_FDS_MAX
};

struct keeper_ask {
	uint64_t id;
	int64_t not_after_ms;
	enum keeper_op op;
	uint32_t limit_ms;
	int32_t slot;
	int32_t signal;		/* SIGNAL */
	uint32_t args, envs;	/* strings of argv, of envp */
	uint32_t strings_len;
	uint32_t fds;		/* bit 1 << enum keeper_fd: it is with it */
	struct idem_owner owner;
	bool spooled, has_folder;
};

struct keeper_tell {
	uint64_t id;
	struct run_end end;
};

/* --- the keeper's side ---------------------------------------------------- */

/* A message, read into memory of its own.  What it points at is in itself. */
struct keeper_message {
	struct keeper_ask ask;
	int error;		/* a START that cannot be: why; else 0 */
	char *path, *folder, **argv, **envp;	/* START */
	int fds[KEEPER_FDS_MAX];	/* -1: not with it, or taken */
	void *apart;		/* mapped; NULL: not */
	size_t apart_len;
	char *words[KEEPER_WORDS_MAX + 2];
	char bytes[KEEPER_BYTES_MAX];
};

enum keeper_got { KEEPER_GOT, KEEPER_NOTHING, KEEPER_OVER };

/* Drop it after each GOT.  OVER: nobody can say anything more. */
enum keeper_got keeper_wire_receive(int socket, struct keeper_message *);
/* One of its descriptors, the caller's from then on; -1: it has none. */
int keeper_wire_take(struct keeper_message *, enum keeper_fd);
void keeper_wire_drop(struct keeper_message *);

/* --- both ----------------------------------------------------------------- */

struct keeper_packet {
	struct iovec parts[2];	/* keeper_ask or keeper_tell; bytes */
	const int *fds;
	unsigned fds_len;
};

/* Never waits.  0; -1 and errno: nothing was sent. */
int keeper_wire_send(int socket, struct keeper_packet *);

#endif
