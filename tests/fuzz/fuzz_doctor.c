/* SPDX-License-Identifier: ISC */

/* The first byte says what the rest is: a web server's configuration, or what
   a Redis says of itself. */
#include "doctor_front.h"

#include "fuzz.h"

#include <string.h>

static void
read_front(struct idem_bytes text)
{
	const struct doctor_times times = {
		.run_ms = 305000, .wait_ms = 30000, .life_ms = 3600000
	};
	struct doctor_scan scan = { .text = text, .line = 1 };
	struct doctor_findings f = { .at = NULL };
	struct doctor_statement s;
	struct idem_buf out = { .at = NULL };
	unsigned line = 1;

	while (doctor_front_next(&scan, &s)) {
		fuzz_must(s.word < DOCTOR_WORDS && s.line >= line);
		fuzz_must(strlen(s.value) < sizeof s.value);
		fuzz_must(strpbrk(s.value, "\n\t\r") == NULL);
		line = s.line;
	}
	fuzz_must(scan.at >= text.len);
	doctor_front(&times, "file", text, &f);
	fuzz_must(!f.failed && f.len > 0);
	doctor_say_lines(&f, &out);
	doctor_say_json(&f, &out);
	fuzz_must(idem_buf_ok(&out));
	idem_buf_free(&out);
	doctor_findings_free(&f);
}

static void
read_info(struct idem_bytes text)
{
	struct doctor_server s = doctor_server_unknown;
	struct doctor_findings f = { .at = NULL };
	char name[DOCTOR_NAME];
	struct idem_bytes half = { text.at, text.len / 2 };
	size_t i;

	doctor_info(text, &s);
	doctor_info_config(half, text, &s);
	fuzz_must(strlen(s.version) < sizeof s.version);
	fuzz_must(s.lag_s == DOCTOR_UNKNOWN || s.lag_s >= 0);
	for (i = 0; i < 9 && doctor_info_replica(text, i, name); i++)
		fuzz_must(strchr(name, ':') != NULL);
	s.use = DOCTOR_KEYS;
	doctor_judge_server("shared", &s, &f);
	fuzz_must(!f.failed && f.len > 0);
	doctor_findings_free(&f);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct idem_bytes text = { data + 1, size - 1 };

	if (size == 0)
		return 0;
	if (data[0] == 'i')
		read_info(text);
	else
		read_front(text);
	return 0;
}
