/* SPDX-License-Identifier: ISC */
#include "store_scripted.h"

#include "tap.h"

static void
ignore(void *arg, const struct idem_store_result *r)
{
	(void)arg;
	(void)r;
}

static void
issue_before(struct store_scripted *s, const struct idem_store_call *call)
{
	struct idem_store_call theirs = *call;

	theirs.owner.at[0] ^= 1;
	theirs.done = ignore;
	s->inner->ops->start(s->inner, &theirs);
}

static void
scripted_start(struct idem_store *base, const struct idem_store_call *call)
{
	struct store_scripted *s = (struct store_scripted *)base;
	char letter = *s->script != '\0' ? *s->script++ : 'p';

	s->calls += call->op == IDEM_STORE_ISSUE;
	if (letter == 'p') {
		s->inner->ops->start(s->inner, call);
		return;
	}
	if (s->n == STORE_SCRIPTED_MAX)
		bail_out("more calls at once than this store knows of");
	if (letter == 'l')
		issue_before(s, call);
	s->letter[s->n] = letter;
	s->waiting[s->n++] = *call;
}

static void
answer(const struct idem_store_call *call, char letter)
{
	struct idem_store_result r = {
		.op = call->op,
		.class = letter == 'l' ? IDEM_OK : letter == 'm' ?
		    IDEM_CLASS_MAYBE : letter == 'c' ? IDEM_CLASS_CONFIG :
		    IDEM_CLASS_REFUSED,
		.write = letter == 'l' ? IDEM_WRITE_LOST : letter == 'm' ?
		    IDEM_WRITE_MAYBE : IDEM_WRITE_REFUSED,
		.away = letter == 'a',
		.error = letter == 'l' ? NULL : "as it was told"
	};

	call->done(call->arg, &r);
}

static void
scripted_poll(struct idem_store *base)
{
	struct store_scripted *s = (struct store_scripted *)base;
	struct store_scripted now = *s;
	size_t i;

	s->n = 0;
	for (i = 0; i < now.n; i++)
		answer(&now.waiting[i], now.letter[i]);
	s->inner->ops->poll(s->inner);
}

static int
scripted_fd(struct idem_store *base)
{
	(void)base;
	return -1;
}

static bool
scripted_history(struct idem_store *base, struct idem_history *history)
{
	struct store_scripted *s = (struct store_scripted *)base;

	return s->inner->ops->history(s->inner, history);
}

static void
scripted_close(struct idem_store *base)
{
	struct store_scripted *s = (struct store_scripted *)base;

	while (s->n > 0) {
		s->n--;
		answer(&s->waiting[s->n], 'r');
	}
	s->inner->ops->close(s->inner);
}

struct idem_store *
store_scripted(struct store_scripted *s, struct idem_store *inner,
    const char *script)
{
	static const struct idem_store_ops ops = {
		.name = "scripted",
		.start = scripted_start,
		.fd = scripted_fd,
		.poll = scripted_poll,
		.history = scripted_history,
		.close = scripted_close
	};

	if (inner == NULL)
		bail_out("out of memory");
	*s = (struct store_scripted){
		.base.ops = &ops,
		.inner = inner,
		.script = script
	};
	return &s->base;
}
