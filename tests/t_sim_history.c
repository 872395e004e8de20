/* SPDX-License-Identifier: ISC */
#include "history.h"

#include "sim_story.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 3000u

/* --- events --------------------------------------------------------------- */

static void
test_add(void)
{
	struct history h = { .n = 0 };
	char text[] = "k1";
	const char *one, *two;
	struct history_event *e;

	e = history_add(&h, HISTORY_INV, 5, "c1");
	ok(e->i == 1 && e->t_ns == 5 && e->fault == -1 &&
	    e->retry_after_s == -1 && e->k == NULL,
	    "an event begins with what says nothing");
	e = history_add(&h, HISTORY_RET, 3, "c1");
	ok(e->i == 2 && e->t_ns == 5, "time does not go back");
	(void)history_add(&h, HISTORY_NOTE, 9, "g1");
	is_int((long long)h.lanes_n, 2, "each lane is there once");
	ok(strcmp(h.lanes[0], "c1") == 0 && strcmp(h.lanes[1], "g1") == 0,
	    "lanes stand in the order in which they came");
	one = history_text(&h, text);
	text[1] = '2';
	two = history_text(&h, text);
	ok(strcmp(one, "k1") == 0 && strcmp(two, "k2") == 0,
	    "a text is copied");
	text[1] = '1';
	ok(history_text(&h, text) == one, "and there is one copy of each");
	ok(history_text(&h, NULL) == NULL, "no text stays none");
	history_free(&h);
	(void)history_text(&h, "k1");
	ok(h.n == 0 && h.events != NULL,
	    "where no event came, their place is there");
	history_free(&h);
	ok(h.n == 0 && h.events == NULL, "nothing is left of it");
	history_free(&h);
}

static bool
in_order(const struct history *h)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->events[i].i != i + 1 || (i > 0 &&
		    h->events[i].t_ns < h->events[i - 1].t_ns))
			return false;
	return true;
}

static void
test_insert(void)
{
	struct history h = { .n = 0 };
	size_t i, at = 0;

	for (i = 0; i < 10; i++)
		(void)history_add(&h, HISTORY_NOTE, (int64_t)i * 10, "g1");
	history_insert(&h, HISTORY_EFFECT, 30, "h1")->id = "e1";
	ok(in_order(&h) && h.events[4].kind == HISTORY_EFFECT &&
	    h.events[4].i == 5,
	    "a late event stands behind those of its time");
	history_insert(&h, HISTORY_EFFECT, -1, "h1")->id = "e2";
	ok(in_order(&h) && h.events[0].id != NULL, "or first of all");
	for (i = 0; i < MANY; i++)
		(void)history_add(&h, HISTORY_NOTE, 100 + (int64_t)i, "g1");
	for (i = 0; i < 3; i++)
		history_insert(&h, HISTORY_EFFECT, 50 - (int64_t)i * 20,
		    "h1")->id = "e3";
	(void)history_add(&h, HISTORY_END, 0, "-");
	history_settle(&h);
	ok(in_order(&h), "many late events are put in their places at once");
	for (i = 0; i < h.n; i++)
		at += h.events[i].id != NULL &&
		    strcmp(h.events[i].id, "e3") == 0 &&
		    h.events[i].t_ns <= 50;
	is_int((long long)at, 3, "none of them is lost");
	is_int(h.events[h.n - 1].kind, HISTORY_END,
	    "what came last by its time is the last");
	history_free(&h);
}

/* --- vector clocks -------------------------------------------------------- */

static const struct {
	const char *what;
	const char *story;
	uint32_t x, y;
	bool before;
} clocks[] = {
	{ "what follows in a lane", "c1 inv a1 k1 | c1 ret a1 info", 1, 2,
	  true },
	{ "what came before it", "c1 inv a1 k1 | c1 ret a1 info", 2, 1,
	  false },
	{ "an event and itself", "c1 inv a1 k1", 1, 1, false },
	{ "two lanes that know nothing of each other",
	  "c1 inv a1 k1 | c2 inv a2 k1", 1, 2, false },
	{ "a message and its arrival",
	  "g1 send m1 claim >a | a recv m1 | a store m1 WON | g1 recv m1", 1,
	  3, true },
	{ "what came before a message, and what comes after its answer",
	  "g1 note m0 | g1 send m1 claim >a | a store m1 WON | a note m0 | "
	  "g2 send m2 claim >a | a store m2 LOST | g2 recv m2 | g2 note m0",
	  1, 8, true },
	{ "another's message",
	  "g1 send m1 claim >a | a recv m1 | g2 send m2 claim >a | "
	  "g2 note m0", 1, 4, false },
	{ "a question and its run",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1", 1, 3, true },
	{ "a run and its answer",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | "
	  "c1 ret a1 ok d=D", 3, 4, true },
	{ "a run and an answer that nobody got",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | c1 ret a1 info",
	  3, 4, false },
	{ "a run and another's replay of its answer",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | c2 inv a2 k1 | "
	  "c2 ret a2 ok d=D of=e1", 3, 5, true },
	{ "what an instance did and a run that it started afterwards",
	  "g1 send m1 claim >a | c1 inv a1 k1 | h1 begin e1 k1 a1 on=g1", 1,
	  3, true },
	{ "what another instance did", "g2 send m1 claim >a | c1 inv a1 k1 | "
	  "h1 begin e1 k1 a1 on=g1", 1, 3, false },
};

static void
test_clocks(void)
{
	struct history h;
	size_t i;

	for (i = 0; i < sizeof clocks / sizeof *clocks; i++) {
		story_tell(&h, NULL, clocks[i].story);
		ok(history_before(&h.events[clocks[i].x - 1],
		    &h.events[clocks[i].y - 1]) == clocks[i].before,
		    "%s: the one %s before the other", clocks[i].what,
		    clocks[i].before ? "was" : "was not");
		history_free(&h);
	}
}

/* --- the head ------------------------------------------------------------- */

static void
test_head(void)
{
	static const struct plan_pair config[] = {
		{ "lease", "1500ms" }, { "on_unknown", "retry 5" },
		{ "in_progress", "250ms" }, { "keep", "2h" },
		{ "keep_min", "1h" }, { "tombstone", "3h" },
		{ "on_outage", "pass" }, { "probe_every", "2s" }
	};
	static const struct plan_pair params[] = { { "point", "claim.ok" } };
	static const struct plan_action kill[] = {
		{ .kind = PLAN_PROC_KILL, .id = 0, .gate = 0 },
		{ .kind = PLAN_PROC_RESTART, .id = 1, .gate = 0 }
	};
	static const struct plan_rule rule = {
		.when = { .kind = PLAN_AT }, .actions = kill, .n = 2
	};
	static const struct plan_maybe maybe = {
		.times = 1, .action = { .kind = PLAN_NET_DROP, .id = 2,
		.gate = 0, .store = PLAN_ANY }
	};
	struct plan p = {
		.file = "s.lua", .name = "a plan", .number = 3,
		.params = params, .params_n = 1, .rules = &rule, .rules_n = 1,
		.maybes = &maybe, .maybes_n = 1, .actions_n = 3,
		.gates = { .n = 2, .arbiter = PLAN_TOKEN,
		    .ledger = { "one", "one" }, .config = config,
		    .configs = sizeof config / sizeof *config },
		.handler = { .partial_output = -1, .business_id = "order-7" },
		.expect = { .queue_depth = { true, 7, "kill" } }
	};
	const struct history_head *head;
	struct history h;

	p.expect.holds[PLAN_SAME_ANSWER] = true;
	p.expect.relaxed[PLAN_ACK_DURABLE] = "for a reason";
	history_begin(&h, &p, "live", 77, 4);
	head = &h.head;
	ok(strcmp(head->scenario, "a plan") == 0 && head->point == 3 &&
	    head->seed == 77 && head->run == 4 && head->gates == 2,
	    "a head says which run it is");
	ok(strcmp(head->arbiter, "token") == 0 && head->retries == 5 &&
	    strcmp(head->on_unknown, "retry") == 0 &&
	    strcmp(head->on_outage, "pass") == 0 && head->ledger_shared,
	    "and by which policies");
	ok(head->lease_ms == 1500 && head->wait_ms == 250 &&
	    head->grace_ms == PLAN_GRACE_MS && head->limit_ms == 300000 &&
	    head->probe_ms == 2000, "and times, those too that nobody said");
	ok(head->keep_ms == 3600000 && head->once_ms == 4 * 3600000,
	    "an answer is kept for keep_min at least, and a key once for its "
	    "tombstone more");
	ok(head->business && head->handler_answers && !head->handler_fails,
	    "and what the program is like");
	ok(head->holds[PLAN_SAME_ANSWER] && !head->holds[PLAN_ACK_DURABLE] &&
	    head->relaxed[PLAN_ACK_DURABLE] != NULL &&
	    head->queue_depth.value == 7, "and what must hold");
	ok(head->faults_n == 3 && head->faults[0].must == 1 &&
	    head->faults[1].must == 0 && head->faults[2].must == 2 &&
	    strcmp(head->faults[0].act, "proc.kill") == 0,
	    "and which faults must happen, only heal, or may happen");
	history_free(&h);
}

/* --- files ---------------------------------------------------------------- */

static char *
written(const struct history *h)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	if (file == NULL || history_write(h, file) == -1)
		bail_out("a history cannot be written");
	fclose(file);
	return text;
}

static int
read_text(struct history *h, const char *text, size_t len, char wrong[200])
{
	FILE *file = fmemopen((void *)(uintptr_t)text, len > 0 ? len : 1, "r");
	int got;

	if (file == NULL)
		bail_out("a text cannot be read");
	if (len == 0)
		(void)fgetc(file);
	got = history_read(h, file, "h.jsonl", wrong, 200);
	fclose(file);
	return got;
}

#define FULL "g1 fault proc.kill id=0 | c1 inv a1 k1 >g1 f=x n=n1 innocent" \
	" | g1 send m1 claim k1 tok=A.0 >a fate=held | " \
	"a store m1 claim k1 WON | " \
	"h1 begin e1 k1 a1 x2 on=g1 b=o7 | h1 commit e1 | " \
	"c1 ret a1 ok d=D of=e1 key=k1 n=n1 short | u inv a2 k2 fresh | " \
	"a record k1 in-progress | a expired k1 | g1 exit SIGKILL wanted | " \
	"g1 log two-runs k1 | - heal"

static void
test_round(void)
{
	struct history h, again;
	char wrong[200] = "", *text, *second;

	story_tell(&h, "retry=3 business fails queue=5 runs+kill=2 "
	    "holds=same_answer violates=resolves relaxed=ack_durable "
	    "blames=client fault=proc.kill maybe=net.drop keep=5", FULL);
	h.head.seed = UINT64_MAX;
	h.head.params = &(struct plan_pair){ "point", "a \"b\"" };
	h.head.params_n = 1;
	text = written(&h);
	is_int(read_text(&again, text, strlen(text), wrong), 0,
	    "what is written can be read");
	second = written(&again);
	is(second, text, "and is written as it was");
	ok(again.n == h.n && again.events[4].attempt == 2 &&
	    again.events[0].fault == 0 && again.events[1].fault == -1 &&
	    again.events[6].class == OUTCOME_OK && !again.events[6].length_met
	    && again.head.seed == UINT64_MAX &&
	    again.head.handler_runs_per_key.value == 2,
	    "events and head are as they were");
	ok(history_before(&again.events[4], &again.events[6]),
	    "and which was before which");
	history_free(&again);
	history_free(&h);
	free(text);
	free(second);
}

static void
test_bytes(void)
{
	struct history h = { .n = 0 }, again;
	char wrong[200] = "", *text;

	history_add(&h, HISTORY_NOTE, 0, "g1")->what = "a\xff\xc3(b\n\"";
	history_add(&h, HISTORY_RET, 0, "c1")->says_key = "k\xfe";
	history_add(&h, HISTORY_INV, 0, "c1")->k = "k\xff";
	history_add(&h, HISTORY_INV, 0, "c1")->k = "k\xc3\xa9";
	history_stamp_all(&h);
	text = written(&h);
	ok(read_text(&again, text, strlen(text), wrong) == 0 &&
	    strcmp(again.events[0].what, "a\\xff\\xc3(b\n\"") == 0,
	    "bytes that are no UTF-8 do not spoil a file");
	ok(strcmp(again.events[0].what, h.events[0].what) == 0,
	    "and are in it as they were judged");
	ok(strcmp(again.events[1].says_key, again.events[2].k) != 0 &&
	    strcmp(again.events[3].k, "k\xc3\xa9") == 0,
	    "texts that differ do so there too, and UTF-8 is as it was");
	history_free(&again);
	history_free(&h);
	free(text);
}

#define HDR "{\"e\":\"hdr\",\"fmt\":1}\n"
#define EV(more) HDR "{\"i\":1,\"t\":0,\"p\":\"c1\",\"e\":\"note\"" more "}\n"

static const struct {
	const char *what, *text, *wrong;
} files[] = {
	{ "an empty file", "", "h.jsonl:1: it is empty" },
	{ "no JSON", "hello\n", "h.jsonl:1: column " },
	{ "a number", "17\n", "h.jsonl:1: column " },
	{ "a list", "[]\n", "h.jsonl:1: an event is an object" },
	{ "an event without a head", "{\"e\":\"inv\"}\n",
	  "h.jsonl:1: this is no history" },
	{ "another format", "{\"e\":\"hdr\",\"fmt\":2}\n",
	  "h.jsonl:1: its format is 2" },
	{ "no format", "{\"e\":\"hdr\"}\n", "h.jsonl:1: its format is 0" },
	{ "a head twice", HDR HDR, "h.jsonl:2: there is no event \"hdr\"" },
	{ "a line that is cut", HDR "{\"i\":1,\"t\":0,\"p\":", "h.jsonl:2: " },
	{ "an event of no kind", HDR "{\"t\":0,\"p\":\"c1\"}\n",
	  "h.jsonl:2: there is no event" },
	{ "an invariant of which nobody has heard",
	  "{\"e\":\"hdr\",\"fmt\":1,\"holds\":[\"at_most_twice\"]}\n",
	  "h.jsonl:1: there is no invariant \"at_most_twice\"" },
	{ "a number with a fraction", EV(",\"a\":1.5"),
	  "h.jsonl:2: \"a\" is not a whole number" },
	{ "a number that is too large", EV(",\"a\":4294967296"),
	  "h.jsonl:2: \"a\" is out of range" },
	{ "a number that no machine has", EV(",\"a\":99999999999999999999"),
	  "h.jsonl:2: column " },
	{ "a text in a number's place", EV(",\"a\":\"1\""),
	  "h.jsonl:2: \"a\" is not a whole number" },
	{ "a number in a text's place", EV(",\"k\":1"),
	  "h.jsonl:2: \"k\" is not a text" },
	{ "a text with a NUL", EV(",\"k\":\"a\\u0000b\""),
	  "h.jsonl:2: column " },
	{ "a member twice", EV(",\"k\":\"a\",\"k\":\"b\""),
	  "h.jsonl:2: column " },
	{ "an index that leaves one out",
	  HDR "{\"i\":2,\"t\":0,\"p\":\"c1\",\"e\":\"note\"}\n",
	  "h.jsonl:2: \"i\" is 2; here it is 1" },
	{ "an event without a number",
	  HDR "{\"t\":0,\"p\":\"c1\",\"e\":\"note\"}\n",
	  "h.jsonl:2: an event has \"i\"" },
	{ "an event without a time",
	  HDR "{\"i\":1,\"p\":\"c1\",\"e\":\"note\"}\n",
	  "h.jsonl:2: an event has \"i\"" },
	{ "an event of nobody", HDR "{\"i\":1,\"t\":0,\"e\":\"note\"}\n",
	  "h.jsonl:2: an event has \"i\"" },
	{ "a time that goes back", EV("")
	  "{\"i\":2,\"t\":-1,\"p\":\"c1\",\"e\":\"note\"}\n",
	  "h.jsonl:3: its time is before" },
	{ "a time of centuries", HDR
	  "{\"i\":1,\"t\":4611686018427387904,\"p\":\"c1\",\"e\":\"note\"}\n",
	  "h.jsonl:2: no history is longer than 576460752 s" },
	{ "an answer without a class",
	  HDR "{\"i\":1,\"t\":0,\"p\":\"c1\",\"e\":\"ret\"}\n",
	  "h.jsonl:2: \"class\" is not" },
	{ "a class of which nobody has heard",
	  HDR "{\"i\":1,\"t\":0,\"p\":\"c1\",\"e\":\"ret\","
	  "\"class\":\"fine\"}\n",
	  "h.jsonl:2: \"class\" is not" },
	{ "a seed that is no number",
	  "{\"e\":\"hdr\",\"fmt\":1,\"seed\":\"-1\"}\n",
	  "h.jsonl:1: \"seed\" is not" },
	{ "a parameter without a value",
	  "{\"e\":\"hdr\",\"fmt\":1,\"params\":[[\"a\"]]}\n",
	  "h.jsonl:1: a parameter is" },
	{ "a bound that is a number",
	  "{\"e\":\"hdr\",\"fmt\":1,\"queue_depth\":3}\n",
	  "h.jsonl:1: \"queue_depth\" is not an object" },
	{ "a fault that counts backwards",
	  "{\"e\":\"hdr\",\"fmt\":1,\"faults\":[{\"fired\":-1}]}\n",
	  "h.jsonl:1: a fault's number" },
	{ "a blank line", HDR "\n", "h.jsonl:2: column " },
};

static void
test_files(void)
{
	char wrong[200];
	struct history h;
	size_t i;

	for (i = 0; i < sizeof files / sizeof *files; i++) {
		wrong[0] = '\0';
		if (!ok(read_text(&h, files[i].text, strlen(files[i].text),
		    wrong) == -1 && strncmp(wrong, files[i].wrong,
		    strlen(files[i].wrong)) == 0 && h.n == 0,
		    "%s is refused, by its line", files[i].what))
			note("%s", wrong);
	}
	ok(read_text(&h, EV(",\"new\":[{\"x\":1.5}],\"k\":null"),
	    strlen(EV(",\"new\":[{\"x\":1.5}],\"k\":null")), wrong) == 0 &&
	    h.n == 1 && h.events[0].k == NULL,
	    "members of which nobody has heard are passed over");
	history_free(&h);
}

static void
test_large(void)
{
	size_t len = (1u << 20) + 100;
	char *text = malloc(len), wrong[200] = "";
	struct history h;

	if (text == NULL)
		bail_out("no memory");
	memset(text, ' ', len);
	memcpy(text, HDR, strlen(HDR));
	ok(read_text(&h, text, len, wrong) == -1 &&
	    strncmp(wrong, "h.jsonl:2: a line of more than", 29) == 0,
	    "a line that is too long is refused");
	memset(text, '[', len / 2);
	ok(read_text(&h, text, len / 2, wrong) == -1 &&
	    strncmp(wrong, "h.jsonl:1: column", 17) == 0,
	    "so is one that is too deep");
	free(text);
}

/* --- words ---------------------------------------------------------------- */

static const struct {
	const char *story, *text;
} words[] = {
	{ "c1 inv a2 k1 >g1", "c1 -> g1 k1 (try 2)" },
	{ "c1 inv a2 >g1", "c1 -> g1 without a key (try 2)" },
	{ "c1 ret a2 busy", "c1 <- 409 in-progress = busy (try 2)" },
	{ "c1 ret a2 info how=cut why=ECONNRESET",
	  "c1 <- ECONNRESET = info (try 2)" },
	{ "h1 begin e1 k1 a1 x2 on=g1",
	  "h1 begin e1 k1 (try 1), attempt 2, on g1" },
	{ "a store m1 claim k1 WON", "a claim k1 = WON" },
	{ "a record k1 in-progress", "a k1 is in progress" },
	{ "a exit SIGKILL", "a exit SIGKILL, which nobody wanted" },
	{ "g1 fault proc.kill at=claim.ok", "g1 fault proc.kill at claim.ok" },
};

static void
test_words(void)
{
	char text[200], *said = NULL;
	struct history h;
	size_t i, size;
	FILE *file;

	for (i = 0; i < sizeof words / sizeof *words; i++) {
		story_tell(&h, NULL, words[i].story);
		is(history_event_text(&h.events[0], text, sizeof text),
		    words[i].text, "%s, in words", words[i].story);
		history_event_text(&h.events[0], text, 5);
		ok(strlen(text) == 4, "and cut where there is no room");
		history_free(&h);
	}
	story_tell(&h, NULL, FULL);
	file = open_memstream(&said, &size);
	history_say(&h, file);
	fclose(file);
	ok(strstr(said, "\n 1      1.000  g1  fault ") != NULL &&
	    strstr(said, "\n14 ") != NULL,
	    "a history is told in a line an event");
	free(said);
	history_free(&h);
}

int
main(void)
{
	test_add();
	test_insert();
	test_clocks();
	test_head();
	test_round();
	test_bytes();
	test_files();
	test_large();
	test_words();
	return done();
}
