/* SPDX-License-Identifier: ISC */
#include "lobby.h"

void
lobby_alert(struct lobby *lobby, enum alert_kind kind,
    const struct idem_digest *key)
{
	if (key != NULL)
		alert_tell_run(lobby->shm, kind, key, NULL);
	else
		alert_tell(lobby->shm, kind, "see the log");
}

/* Of a run that was another's its file knows more; of ours we do, and write it
   there next. */
void
lobby_alert_visit(const struct visit *v, enum alert_kind kind)
{
	const struct idem_exchange *x = &v->x;
	bool others = x->gate.asked.others;
	struct idem_evidence e = { .noted = false };

	if (v->lobby->lock_folder != -1)
		idem_evidence(v->lobby->lock_folder, others ? &x->other :
		    &x->owner, &e, NULL);
	if (!others && e.note.why == IDEM_WHY_NOT_SAID) {
		e.note.why = v->note.why;
		e.note.why_code = v->note.why_code;
	}
	alert_tell_run(v->lobby->shm, kind, &x->key,
	    e.noted ? &e.note : NULL);
}
