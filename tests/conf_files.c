/* SPDX-License-Identifier: ISC */
#include "conf_files.h"

#include "tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY "00112233445566778899aabbccddeeff"

static const struct {
	const char *name, *text;
	mode_t mode;
} files[] = {
	{ "good", "# ours\none " KEY KEY "\n\ntwo " KEY "\n", 0600 },
	{ "other", "three ff" KEY KEY "\n", 0600 },
	{ "open", "one " KEY KEY "\n", 0644 },
	{ "bad", "one two\n", 0600 },
	{ "empty", "", 0600 },
	{ "password", "s3cret\n", 0600 },
	{ "shown", "s3cret\n", 0644 },
};
#define FILES (sizeof files / sizeof *files)

static char folder[] = "/tmp/t_conf.XXXXXX";

const char *
conf_files_path(const char *name)
{
	static char path[sizeof folder + 20];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

void
conf_files_make(void)
{
	size_t i, len;
	int fd;

	if (mkdtemp(folder) == NULL)
		bail_out("%s", folder);
	for (i = 0; i < FILES; i++) {
		fd = open(conf_files_path(files[i].name),
		    O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		len = strlen(files[i].text);
		if (fd == -1 || write(fd, files[i].text, len) != (ssize_t)len ||
		    fchmod(fd, files[i].mode) == -1)
			bail_out("%s", files[i].name);
		close(fd);
	}
}

void
conf_files_remove(void)
{
	size_t i;

	for (i = 0; i < FILES; i++)
		unlink(conf_files_path(files[i].name));
	rmdir(folder);
}

struct conf *
conf_files_read(const char *text, char *error, size_t size)
{
	struct idem_buf all = { .at = NULL };
	struct conf *c;

	/* An @ in front of a slash or a quote: others are of URLs. */
	for (; *text != '\0'; text++)
		if (text[0] == '@' && (text[1] == '/' || text[1] == '"'))
			idem_buf_text(&all, folder);
		else
			idem_buf_u8(&all, (uint8_t)*text);
	if (!idem_buf_ok(&all))
		bail_out("no memory");
	c = conf_read("c", idem_buf_bytes(&all), error, size);
	idem_buf_free(&all);
	return c;
}
