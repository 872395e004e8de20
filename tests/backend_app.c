/* SPDX-License-Identifier: ISC */
#include "backend_app.h"

#include "fcgi_rec.h"
#include "fcgi_words.h"
#include "port_hold.h"
#include "tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIFE_S 600		/* of a process, whatever happens */
#define DRIP_NS (20 * 1000 * 1000)
#define RECORDS_ROOM (256u * 1024u)

struct play {
	struct app *app;
	struct app_seen *seen;
	struct idem_fcgi_reader reader;
	struct idem_buf unread;	/* after what was asked for */
	uint8_t *records;
	uint32_t chance;
	int fd;
};

uint8_t
app_pattern(uint64_t at)
{
	return (uint8_t)(at * 31 + (at >> 8) * 7 + (at >> 16));
}

uint64_t
app_hash(struct idem_bytes bytes)
{
	const uint8_t *p = bytes.at;
	uint64_t hash = 0xcbf29ce484222325u;
	size_t i;

	for (i = 0; i < bytes.len; i++)
		hash = (hash ^ p[i]) * 0x100000001b3u;
	return hash;
}

/* --- the process: reading ------------------------------------------------- */

static void
give_up(struct play *p, const char *why)
{
	snprintf(p->seen->wrong, sizeof p->seen->wrong, "%s", why);
	_exit(1);
}

/* False at the connection's end. */
static bool
read_more(struct play *p)
{
	static uint8_t room[64 * 1024];
	ssize_t n = read(p->fd, room, sizeof room);

	if (n > 0)
		idem_buf_append(&p->unread, room, (size_t)n);
	return n > 0;
}

static void
take_body(struct play *p, struct idem_bytes bytes)
{
	const uint8_t *at = bytes.at;
	size_t i;

	for (i = 0; i < bytes.len; i++)
		if (at[i] != app_pattern(p->seen->body_len + i))
			p->seen->body_wrong = true;
	p->seen->body_len += bytes.len;
}

static void
take_item(struct play *p, enum idem_fcgi_item item, struct idem_bytes body)
{
	struct app_seen *seen = p->seen;

	switch (item) {
	case IDEM_FCGI_BEGUN:
		seen->requests++;
		seen->keep = p->reader.keep;
		seen->body_len = 0;
		return;
	case IDEM_FCGI_PARAMS_WHOLE:
		seen->params_len = p->reader.params.len;
		seen->params_hash = app_hash(idem_buf_bytes(&p->reader.params));
		return;
	case IDEM_FCGI_BODY:
		take_body(p, body);
		return;
	case IDEM_FCGI_MORE:
	case IDEM_FCGI_BODY_WHOLE:
		return;
	case IDEM_FCGI_ABORTED:
	case IDEM_FCGI_ANSWER:
	case IDEM_FCGI_TOO_LARGE:
	case IDEM_FCGI_BROKEN:
		give_up(p, "it was sent nonsense");
	}
}

/* Until that item, or so much of the body, has come. */
static void
read_until(struct play *p, enum idem_fcgi_item want, uint64_t body_len)
{
	struct idem_bytes left, body = { 0 };
	enum idem_fcgi_item item;

	do {
		left = idem_buf_bytes(&p->unread);
		item = idem_fcgi_read(&p->reader, &left, &body);
		take_item(p, item, body);
		idem_buf_drop(&p->unread, p->unread.len - left.len);
		if (item == IDEM_FCGI_MORE && !read_more(p))
			give_up(p, "it was sent too little");
	} while (item != want || (want == IDEM_FCGI_BODY &&
	    p->seen->body_len < body_len));
}

static void
next_connection(struct play *p)
{
	if (p->fd != -1)
		close(p->fd);
	p->fd = accept4(p->app->listener, NULL, NULL, SOCK_CLOEXEC);
	if (p->fd == -1)
		give_up(p, "accept");
	p->seen->accepts++;
	idem_fcgi_reader_free(&p->reader);
	idem_buf_clear(&p->unread);
}

/* --- the process: writing ------------------------------------------------- */

static void
write_all(struct play *p, const uint8_t *at, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = send(p->fd, at, len, MSG_NOSIGNAL);
		if (n <= 0) {
			p->seen->cut = true;
			return;
		}
		at += n;
		len -= (size_t)n;
	}
}

static uint32_t
chance(struct play *p)
{
	p->chance = p->chance * 1664525u + 1013904223u;
	return p->chance >> 8;
}

/* Mostly large ones, some tiny. */
static size_t
some_len(struct play *p, uint64_t left)
{
	size_t len = chance(p) % (chance(p) % 4 == 0 ? 9 : 65535) + 1;

	return len < left ? len : (size_t)left;
}

static void
write_pattern(struct play *p, enum idem_fcgi_type type, uint64_t len)
{
	uint64_t at = 0;
	size_t used = 0, content, i;
	uint8_t pad;

	while (at < len) {
		content = some_len(p, len - at);
		pad = (uint8_t)chance(p);
		idem_fcgi_header(p->records + used, type, 1, (uint16_t)content,
		    pad);
		used += 8;
		for (i = 0; i < content; i++)
			p->records[used++] = app_pattern(at++);
		memset(p->records + used, 0x55, pad);
		used += pad;
		if (used > RECORDS_ROOM / 2 || at == len) {
			write_all(p, p->records, used);
			used = 0;
		}
	}
}

static void
drip(struct play *p, uint64_t len)
{
	const struct timespec pause = { 0, DRIP_NS };
	uint8_t record[9];
	uint64_t at;

	for (at = 0; at < len; at++) {
		idem_fcgi_header(record, IDEM_FCGI_STDOUT, 1, 1, 0);
		record[8] = app_pattern(at);
		write_all(p, record, sizeof record);
		nanosleep(&pause, NULL);
	}
}

/* --- the process: words --------------------------------------------------- */

static void
do_skip(struct play *p, uint64_t n)
{
	while (n-- > 0)
		next_connection(p);
}

static void
do_accept(struct play *p, uint64_t n)
{
	(void)n;
	next_connection(p);
}

static void
do_params(struct play *p, uint64_t n)
{
	(void)n;
	read_until(p, IDEM_FCGI_PARAMS_WHOLE, 0);
}

static void
do_some(struct play *p, uint64_t n)
{
	read_until(p, IDEM_FCGI_BODY, n);
}

static void
do_body(struct play *p, uint64_t n)
{
	(void)n;
	read_until(p, IDEM_FCGI_BODY_WHOLE, 0);
}

static void
do_out(struct play *p, uint64_t n)
{
	write_pattern(p, IDEM_FCGI_STDOUT, n);
}

static void
do_errs(struct play *p, uint64_t n)
{
	write_pattern(p, IDEM_FCGI_STDERR, n);
}

static void
do_deaf(struct play *p, uint64_t n)
{
	(void)n;
	shutdown(p->fd, SHUT_RD);
}

static void
do_close(struct play *p, uint64_t n)
{
	(void)n;
	close(p->fd);
	p->fd = -1;
}

static void
do_gone(struct play *p, uint64_t n)
{
	(void)n;
	close(p->app->listener);
}

static void
do_left(struct play *p, uint64_t n)
{
	(void)n;
	while (read_more(p))
		idem_buf_clear(&p->unread);
}

static void
do_wait(struct play *p, uint64_t n)
{
	if (read(p->app->go, &n, sizeof n) != sizeof n)
		give_up(p, "no go");
}

static const struct {
	const char *word;
	void (*act)(struct play *, uint64_t n);
} acts[] = {
	{ "accept", do_accept }, { "skip", do_skip },
	{ "params", do_params }, { "some", do_some }, { "body", do_body },
	{ "out", do_out }, { "errs", do_errs }, { "drip", drip },
	{ "deaf", do_deaf }, { "close", do_close }, { "gone", do_gone },
	{ "left", do_left }, { "wait", do_wait },
};

static void
act(struct play *p, const char *word, uint64_t n)
{
	size_t i;

	for (i = 0; i < sizeof acts / sizeof *acts; i++)
		if (strcmp(word, acts[i].word) == 0) {
			acts[i].act(p, n);
			return;
		}
	give_up(p, word);
}

static bool
is_record(const char *word)
{
	return *word >= 'A' && *word <= 'Z';
}

/* Those that stand together are one write. */
static const char *
write_records(struct play *p, const char *script)
{
	struct idem_buf records = { 0 };
	char *words = strdup(script), *at = words;
	int n = 0;

	while (is_record(at)) {
		n++;
		if (strncmp(at, "END/1", 5) == 0)
			idem_fcgi_ended(&p->reader);
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	script += at - words;
	*at = '\0';
	fcgi_words(&records, words);
	write_all(p, records.at, records.len);
	idem_buf_free(&records);
	free(words);
	p->seen->words += n;
	return script;
}

static void
play(struct play *p, const char *script)
{
	char word[24];
	unsigned long n;

	while (*(script += strspn(script, " ")) != '\0') {
		if (is_record(script)) {
			script = write_records(p, script);
			continue;
		}
		n = 0;
		if (sscanf(script, "%23[a-z]:%lu", word, &n) < 1)
			give_up(p, script);
		act(p, word, n);
		p->seen->words++;
		script += strcspn(script, " ");
	}
	p->seen->over = true;
}

static void
be_application(struct app *app, const char *script)
{
	struct play p = { .app = app, .seen = app->seen, .fd = -1,
	    .chance = 1 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(LIFE_S);
	p.reader.params_max = 1u << 20;
	p.records = malloc(RECORDS_ROOM);
	if (p.records == NULL)
		_exit(1);
	play(&p, script);
	_exit(0);
}

/* --- the test's side ------------------------------------------------------ */

static void
open_unix(struct app *app, int backlog)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char folder[] = "/tmp/idem-app-XXXXXX";

	if (mkdtemp(folder) == NULL)
		bail_out("%s: %s", folder, strerror(errno));
	snprintf(app->address, sizeof app->address, "unix:%s/s", folder);
	app->path = app->address + strlen("unix:");
	memcpy(at.sun_path, app->path, strlen(app->path) + 1);
	app->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (app->listener == -1 || bind(app->listener,
	    (const struct sockaddr *)&at, sizeof at) == -1 ||
	    listen(app->listener, backlog) == -1)
		bail_out("%s: %s", app->path, strerror(errno));
}

static void
open_tcp(struct app *app, int backlog)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	int port = port_hold(&app->held);
	const int on = 1;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	at.sin_port = htons((uint16_t)port);
	app->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (app->listener == -1 || setsockopt(app->listener, SOL_SOCKET,
	    SO_REUSEADDR, &on, sizeof on) == -1 || bind(app->listener,
	    (const struct sockaddr *)&at, sizeof at) == -1 ||
	    listen(app->listener, backlog) == -1)
		bail_out("tcp: %s", strerror(errno));
	snprintf(app->address, sizeof app->address, "tcp:127.0.0.1:%d", port);
}

void
app_open(struct app *app, enum app_kind kind, int backlog)
{
	*app = (struct app){ .pid = -1, .held = -1 };
	app->seen = mmap(NULL, sizeof *app->seen, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	app->go = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	if (app->seen == MAP_FAILED || app->go == -1)
		bail_out("no memory");
	if (kind == APP_UNIX)
		open_unix(app, backlog);
	else
		open_tcp(app, backlog);
}

void
app_play(struct app *app, const char *script)
{
	app->pid = fork();
	if (app->pid == -1)
		bail_out("fork: %s", strerror(errno));
	if (app->pid == 0)
		be_application(app, script);
	close(app->listener);	/* its end is the address's */
	app->listener = -1;
}

void
app_go(struct app *app)
{
	const uint64_t one = 1;

	if (write(app->go, &one, sizeof one) != sizeof one)
		bail_out("go: %s", strerror(errno));
}

static void
remove_path(const struct app *app)
{
	char folder[sizeof app->address];

	if (app->path == NULL)
		return;
	unlink(app->path);
	snprintf(folder, sizeof folder, "%s", app->path);
	*strrchr(folder, '/') = '\0';
	rmdir(folder);
}

bool
app_end(struct app *app)
{
	bool over;

	if (app->pid != -1)
		waitpid(app->pid, NULL, 0);	/* it does not live for ever */
	if (app->listener != -1)
		close(app->listener);
	if (app->held != -1)
		close(app->held);
	if (app->pid != -1 && !app->seen->over)
		note("%s: %s after %d words", app->address,
		    app->seen->wrong[0] != '\0' ? app->seen->wrong : "ended",
		    app->seen->words);
	over = app->seen->over;
	app->was = *app->seen;
	close(app->go);
	munmap(app->seen, sizeof *app->seen);
	app->seen = NULL;
	remove_path(app);
	return over;
}

void
app_kill(struct app *app)
{
	if (app->pid != -1)
		kill(app->pid, SIGKILL);
	app->seen->over = true;
	app_end(app);
}
