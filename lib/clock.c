/* SPDX-License-Identifier: ISC */
#include "clock.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define UUID_TEXT_LEN 36	/* RFC 9562, section 4 */

static int64_t
read_ms(clockid_t id)
{
	struct timespec now;
	int failed = clock_gettime(id, &now);

	/* Only an unknown clock fails, and Linux has both since 2.6.39. */
	assert(failed == 0);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t
real_boot_ms(void *arg)
{
	(void)arg;
	return read_ms(CLOCK_BOOTTIME);
}

static int64_t
real_wall_ms(void *arg)
{
	(void)arg;
	return read_ms(CLOCK_REALTIME);
}

const struct idem_clock idem_clock_real = {
	.boot_ms = real_boot_ms,
	.wall_ms = real_wall_ms,
};

int64_t
idem_boot_ms(const struct idem_clock *clock)
{
	return clock->boot_ms(clock->arg);
}

int64_t
idem_wall_ms(const struct idem_clock *clock)
{
	return clock->wall_ms(clock->arg);
}

bool
idem_boot_id(struct idem_boot *boot)
{
	char text[UUID_TEXT_LEN], digits[2 * IDEM_BOOT_LEN + 1];
	size_t i, n = 0;
	ssize_t got;
	int fd;

	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, sizeof text);	/* procfs gives it whole */
	close(fd);
	if (got != UUID_TEXT_LEN)
		return false;
	for (i = 0; i < sizeof text && n < sizeof digits - 1; i++)
		if (text[i] != '-')
			digits[n++] = text[i];
	digits[n] = '\0';
	return idem_unhex(digits, boot->at, sizeof boot->at);
}
