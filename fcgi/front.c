/* SPDX-License-Identifier: ISC */
#include "front.h"

#include "fcgi_rec.h"

#include <errno.h>
#include <fcgiapp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

/* FCGX_Init puts its own handlers on these. */
static const int touched[] = { SIGPIPE, SIGTERM, SIGUSR1 };

#define TOUCHED (sizeof touched / sizeof *touched)

#define PUT_MAX 4096		/* libfcgi has all of it in its first read */
#define FILE_MAX 65536

/* How much "NAME=value" and a NUL each a stream makes. */
struct extent {
	size_t params, text_len;
};

static int
init_quietly(void)
{
	struct sigaction before[TOUCHED];
	sigset_t set, mask;
	size_t i;
	int error;

	sigemptyset(&set);
	for (i = 0; i < TOUCHED; i++)
		sigaddset(&set, touched[i]);
	/* One that comes in between waits for the handler it is meant for. */
	sigprocmask(SIG_BLOCK, &set, &mask);
	for (i = 0; i < TOUCHED; i++)
		sigaction(touched[i], NULL, &before[i]);
	error = FCGX_Init();
	for (i = 0; i < TOUCHED; i++)
		sigaction(touched[i], &before[i], NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return error;
}

static int
open_memfd(struct front *f)
{
	f->put = 0;
	f->spoilt = false;
	f->memfd = memfd_create("idem-params", MFD_CLOEXEC);
	return f->memfd < 0 ? -1 : 0;
}

int
front_init(struct front *f)
{
	f->memfd = -1;
	if (init_quietly() != 0) {
		errno = ENOMEM;
		return -1;
	}
	return open_memfd(f);
}

void
front_free(struct front *f)
{
	if (f->memfd >= 0)
		close(f->memfd);
	f->memfd = -1;
}

static void
measure(const struct idem_params *ours, struct extent *extent)
{
	size_t i;

	extent->params = ours->len;
	for (i = 0; i < ours->len; i++)
		extent->text_len += strlen(ours->at[i]) + 1;
}

static int
empty(struct front *f)
{
	f->put = 0;
	if (ftruncate(f->memfd, 0) != 0)
		return -1;
	return lseek(f->memfd, 0, SEEK_SET) == 0 ? 0 : -1;
}

/*
 * To the file's end, which is where reading goes on: a small copy is read to
 * its end at once, so that two calls of the system do where emptying the file
 * each time takes two more.
 */
static int
put(struct front *f, const struct idem_buf *copy)
{
	if (!idem_buf_ok(copy))
		return -1;
	if ((f->spoilt || f->put + copy->len > FILE_MAX) && empty(f) != 0)
		return -1;
	f->spoilt = true;
	if (pwrite(f->memfd, copy->at, copy->len, (off_t)f->put) !=
	    (ssize_t)copy->len)
		return -1;
	f->put += copy->len;
	return 0;
}

/*
 * Copy what libfcgi made into one block: the pointers, then the text.  It must
 * be exactly what was measured, or one of the two has misread the stream.
 */
static int
take(char **envp, const struct extent *extent, struct idem_params *params)
{
	size_t pointers_len = (extent->params + 1) * sizeof *params->at;
	size_t text_len = 0, len, i;
	char *text;

	params->at = malloc(pointers_len + extent->text_len);
	if (params->at == NULL)
		return -1;
	text = (char *)params->at + pointers_len;
	for (i = 0; i < extent->params && envp[i] != NULL; i++) {
		len = strlen(envp[i]) + 1;
		if (len > extent->text_len - text_len)
			break;
		params->at[i] = memcpy(text + text_len, envp[i], len);
		text_len += len;
	}
	if (i < extent->params || envp[i] != NULL ||
	    text_len < extent->text_len) {
		idem_params_free(params);
		return -1;
	}
	params->at[i] = NULL;
	params->len = i;
	return 0;
}

/*
 * libfcgi's reading of the file.  It gets no listening socket, and writes
 * nothing: only closing its streams would.  It closes the descriptor if it
 * refuses what it reads, and says so in ipcFd.
 */
static int
decode(struct front *f, const struct extent *extent, struct idem_params *params)
{
	FCGX_Request request;
	int result = -1;

	FCGX_InitRequest(&request, -1, 0);
	request.ipcFd = f->memfd;
	request.keepConnection = 1;	/* else accepting begins with a close */
	/* A request cut off in its parameters is a success with an error. */
	if (FCGX_Accept_r(&request) == 0 && FCGX_GetError(request.in) == 0)
		/* The first is its own: FCGI_ROLE. */
		result = take(request.envp + 1, extent, params);
	f->memfd = request.ipcFd;
	FCGX_Free(&request, 0);
	return result;
}

/*
 * What libfcgi makes of a stream that we have read as `ours`, which says how
 * much it has to be.  0; -1.
 */
static int
second_reading(struct front *f, uint16_t id, struct idem_bytes stream,
    const struct idem_params *ours, struct idem_params *params)
{
	struct extent extent = { 0 };
	struct idem_buf copy = { 0 };
	int result = -1;

	if (f->memfd < 0 && open_memfd(f) != 0)
		return -1;
	measure(ours, &extent);
	idem_fcgi_clean_copy(&copy, id, stream);
	if (put(f, &copy) == 0)
		result = decode(f, &extent, params);
	f->spoilt = result != 0 || copy.len > PUT_MAX;
	idem_buf_free(&copy);
	return result;
}

enum idem_params_read
front_decode(struct front *f, uint16_t id, struct idem_bytes stream,
    struct idem_params *params)
{
	struct idem_params ours;
	enum idem_params_read read;

	*params = (struct idem_params){ 0 };
	read = id == 0 ? IDEM_PARAMS_FAILED : idem_params_read(stream, &ours);
	if (read != IDEM_PARAMS_READ)
		return read;
	if (second_reading(f, id, stream, &ours, params) != 0)
		read = IDEM_PARAMS_FAILED;
	idem_params_free(&ours);
	return read;
}

bool
front_agrees(struct front *f, const struct idem_params *ours)
{
	struct idem_buf stream = { 0 };
	struct idem_params theirs = { 0 };
	bool agrees;

	idem_params_write(ours, &stream);
	agrees = idem_buf_ok(&stream) && second_reading(f, 1,
	    idem_buf_bytes(&stream), ours, &theirs) == 0 &&
	    idem_params_equal(ours, &theirs);
	idem_params_free(&theirs);
	idem_buf_free(&stream);
	return agrees;
}
