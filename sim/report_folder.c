/* SPDX-License-Identifier: ISC */
#include "folder.h"
#include "report_private.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define SLUG_MAX 60u

/* What writes one file, and of what. */
struct artefact {
	const char *name;
	mode_t mode;
	int (*write)(FILE *, const struct artefact *);
	const struct judge_point *point;
	const struct history *worst;
	const char *again;
};

static int
write_json(FILE *file, const struct artefact *a)
{
	return history_write(a->worst, file);
}

static int
write_text(FILE *file, const struct artefact *a)
{
	history_say(a->worst, file);
	return 0;
}

static int
write_page(FILE *file, const struct artefact *a)
{
	return report_page(file, &(struct report_page){
		a->worst, &a->point->worst, a->point, a->again
	});
}

static int
write_again(FILE *file, const struct artefact *a)
{
	return fprintf(file, "#!/bin/sh\n# Where idemsim was called.\n"
	    "exec %s\n", a->again) < 0 ? -1 : 0;
}

static int
complain(const char *path)
{
	fprintf(stderr, "idemsim: %s: %s\n", path, strerror(errno));
	return -1;
}

static int
write_artefact(FILE *file, const void *arg)
{
	const struct artefact *a = arg;

	return a->write(file, a) == 0 ? fchmod(fileno(file), a->mode) : -1;
}

static int
write_one(const char *folder, const struct artefact *a)
{
	char path[REPORT_PATH];

	snprintf(path, sizeof path, "%s/%s", folder, a->name);
	return folder_file(path, write_artefact, a) == 0 ? 0 : complain(path);
}

/* false: it would not fit. */
static bool
name_folder(struct report *r, const char *title)
{
	struct idem_buf slug = { 0 };
	int len;

	report_text_slug(&slug, title, SLUG_MAX);
	len = snprintf(r->folder, sizeof r->folder, "%s/%03zu-%s", r->out,
	    r->done, report_buf_text(&slug));
	idem_buf_free(&slug);
	errno = ENAMETOOLONG;
	return len > 0 && (size_t)len < sizeof r->folder;
}

int
report_folder(struct report *r, const struct judge_point *p,
    const struct history *worst, const char *title, const char *again,
    struct report_files *files)
{
	struct artefact all[] = {
		{ .name = "report.html", .mode = 0644, .write = write_page },
		{ .name = "history.jsonl", .mode = 0644, .write = write_json },
		{ .name = "history.txt", .mode = 0644, .write = write_text },
		{ .name = "reproduce", .mode = 0755, .write = write_again },
	};
	size_t n = sizeof all / sizeof *all, made = 0, i;
	int status = 0;

	if (!name_folder(r, title) || folder_make(r->folder) != 0) {
		(void)complain(r->out);
		r->folder[0] = '\0';
		return -1;
	}
	files->folder = r->folder;
	for (i = worst != NULL ? 0 : n - 1; i < n; i++) {
		all[i].point = p;
		all[i].worst = worst;
		all[i].again = again;
		if (write_one(r->folder, &all[i]) == 0)
			files->names[made++] = all[i].name;
		else
			status = -1;
	}
	return status;
}
