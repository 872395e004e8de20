/* SPDX-License-Identifier: ISC */
#include "redis_slot.h"

#include "redis_rig.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANDOM_KEYS 300

static const struct {
	const char *key;
	uint16_t slot;
	const char *what;
} rows[] = {
	{ "123456789", 0x31c3, "the check value of CRC16/XMODEM" },
	{ "", 0, "nothing" },
	{ "a", 15495, "one byte" },
	{ "foo", 12182, "a word" },
	{ "{foo}", 12182, "a tag alone" },
	{ "x{foo}y", 12182, "a tag within" },
	{ "foo{}{bar}", 8363, "an empty tag is none" },
	{ "foo{{bar}}zap", 4015, "a brace within a tag" },
	{ "foo{bar}{zap}", 5061, "the first of two tags" },
	{ "bar", 5061, "what that tag holds" },
	{ "foo{bar", 15278, "a tag that does not end" },
	{ "foo}bar{", 11073, "braces the wrong way round" },
};

/* One that this test makes for itself, the same in each run. */
static size_t
some_key(unsigned *state, char *key, size_t size)
{
	static const char letters[] = "ab{}\r\n\0\xff\x80:";
	size_t len, i;

	*state = *state * 1103515245 + 12345;
	len = *state >> 16 & (size - 1);
	for (i = 0; i < len; i++) {
		*state = *state * 1103515245 + 12345;
		key[i] = letters[(*state >> 16) % (sizeof letters - 1)];
	}
	return len;
}

static void
same_as_a_server(void)
{
	struct redis_rig redis = {0};
	struct idem_bytes say[3] = { idem_bytes_text("CLUSTER"),
		idem_bytes_text("KEYSLOT") };
	unsigned state = 1;
	char key[32];
	int i, same = 0;

	if (redis_rig_missing() != NULL) {
		skip(redis_rig_missing(), "slots are those of a server");
		return;
	}
	redis_rig_cluster(&redis, 1, NULL);
	for (i = 0; i < RANDOM_KEYS; i++) {
		say[2].at = key;
		say[2].len = some_key(&state, key, sizeof key);
		same += strtol(redis_rig_say_bytes(&redis, say, 3), NULL, 10) ==
		    idem_redis_slot(say[2]);
	}
	is_int(same, RANDOM_KEYS, "slots are those of a server");
	redis_rig_end(&redis);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		is_int(idem_redis_slot(idem_bytes_text(rows[i].key)),
		    rows[i].slot, "%s: \"%s\" lies in its slot", rows[i].what,
		    rows[i].key);
	same_as_a_server();
	return done();
}
