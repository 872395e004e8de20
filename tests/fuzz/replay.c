/* SPDX-License-Identifier: ISC */

/*
 * The main of a fuzz program that is built without libFuzzer: runs the target
 * once for each file named, and each in a folder named, so that the seeds are
 * a test everywhere.
 */
#include "fuzz.h"
#include "tap.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* All of a file in a block of just its size, so that a read past it shows. */
static uint8_t *
slurp(const char *path, size_t *len)
{
	FILE *file = fopen(path, "rb");
	uint8_t *at = NULL;
	struct stat st;

	if (file == NULL)
		return NULL;
	if (fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode)) {
		*len = (size_t)st.st_size;
		at = malloc(*len > 0 ? *len : 1);
	}
	if (at != NULL && fread(at, 1, *len, file) != *len) {
		free(at);
		at = NULL;
	}
	fclose(file);
	return at;
}

static bool
is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Gives the files run: one, read or not. */
static int
run_file(const char *path)
{
	size_t len = 0;
	uint8_t *at = slurp(path, &len);

	if (at != NULL)
		LLVMFuzzerTestOneInput(at, len);
	ok(at != NULL, "%s is read and survived", path);
	free(at);
	return 1;
}

static int
run_folder(const char *path)
{
	struct dirent **names = NULL;
	int i, files = 0, n = scandir(path, &names, NULL, alphasort);
	char *inner;

	for (i = 0; i < n; i++) {
		inner = NULL;
		if (asprintf(&inner, "%s/%s", path, names[i]->d_name) < 0)
			bail_out("no memory");
		if (!is_folder(inner))
			files += run_file(inner);
		free(inner);
		free(names[i]);
	}
	free(names);
	return files;
}

int
main(int argc, char **argv)
{
	int i, files = 0;

	for (i = 1; i < argc; i++)
		files += is_folder(argv[i]) ? run_folder(argv[i]) :
		    run_file(argv[i]);
	if (files == 0)
		ok(false, "there is a file to run");
	return done();
}
