/* SPDX-License-Identifier: ISC */
#include "doctor.h"
#include "tap.h"

/* How findings are said, and what each means. */

static void
check_meanings(void)
{
	bool whole = true;
	unsigned c;

	for (c = 0; c < DOCTOR_CHECKS; c++)
		whole = whole && doctor_meaning(c)->name != NULL &&
		    doctor_meaning(c)->why != NULL &&
		    doctor_meaning(c)->costs != NULL &&
		    doctor_meaning(c)->todo != NULL;
	ok(whole, "each finding has a name, a reason, a price and a remedy");
}

static void
check_said(void)
{
	struct doctor_findings f = { .at = NULL };
	struct idem_buf out = { .at = NULL };

	is_int(doctor_worst(&f), DOCTOR_OK, "nothing is no failure");
	doctor_find(&f, DOCTOR_OK, DOCTOR_ROLE, "a");
	doctor_find(&f, DOCTOR_FAIL, DOCTOR_ROLE, "b \"%s\\\n\xff", "x");
	doctor_find(&f, DOCTOR_NOTE, DOCTOR_ROLE, "c");
	is_int(doctor_worst(&f), DOCTOR_FAIL, "the worst counts");
	doctor_say_lines(&f, &out);
	idem_buf_u8(&out, '\0');
	is((char *)out.at, "ok    a\n"
	    "fail  b \"x\\?\xff: a replica takes no writes: costs all: no "
	    "key can be claimed: name the master, or name the sentinels and "
	    "ask them for it\n"
	    "note  c: a replica takes no writes: costs all: no key can be "
	    "claimed: name the master, or name the sentinels and ask them for "
	    "it\n", "a finding is a line");
	idem_buf_clear(&out);
	f.len = 2;
	doctor_say_json(&f, &out);
	idem_buf_u8(&out, '\0');
	is((char *)out.at, "[{\"level\":\"ok\",\"check\":\"redis.role\","
	    "\"what\":\"a\"},\n{\"level\":\"fail\",\"check\":\"redis.role\","
	    "\"what\":\"b \\\"x\\\\\\u000a\xef\xbf\xbd\",\"why\":\"a replica "
	    "takes no writes\",\"costs\":\"all: no key can be claimed\","
	    "\"todo\":\"name the master, or name the sentinels and ask them "
	    "for it\"}]\n",
	    "or an object of JSON, whatever a server said");
	f.len = 3;
	idem_buf_free(&out);
	doctor_findings_free(&f);
}

int
main(void)
{
	check_meanings();
	check_said();
	return done();
}
