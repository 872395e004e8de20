/* SPDX-License-Identifier: ISC */

/* A page; if it begins with an 'x', it is XML. */
#include "html_form.h"

#include "fuzz.h"

#include <string.h>

/* What was found: the page with a NUL before each action, and a '>' behind. */
struct found {
	struct idem_html_form *forms;
	struct idem_buf page;
};

static void
look_at(const struct idem_html_form *forms, struct idem_bytes action)
{
	const struct idem_html_page page = {
		.target = idem_bytes_text("/a/b?c"),
		.host = idem_bytes_text("h"),
		.base = idem_html_form_base(forms)
	};
	struct idem_buf path = { 0 };

	fuzz_must(action.len <= IDEM_HTML_ACTION_MAX);
	if (idem_html_form_path(action, &page, &path))
		fuzz_must(path.len > 0 && path.at[0] == '/' &&
		    memchr(path.at, '\0', path.len) == NULL);
	fuzz_must(idem_buf_ok(&path));
	idem_buf_free(&path);
}

static bool
take(void *arg, struct idem_bytes piece)
{
	struct found *found = arg;
	struct idem_bytes action;
	const uint8_t *from = piece.at, *end = from + piece.len;
	enum idem_html_found what;

	do {
		what = idem_html_form_next(found->forms, &piece, &action);
		fuzz_must((const uint8_t *)piece.at + piece.len == end);
		idem_buf_append(&found->page, from,
		    (size_t)((const uint8_t *)piece.at - from));
		from = piece.at;
		if (what == IDEM_HTML_FORM) {
			fuzz_must(from[-1] == '>');
			look_at(found->forms, action);
			idem_buf_u8(&found->page, '\0');
			idem_buf_append(&found->page, action.at, action.len);
			idem_buf_u8(&found->page, '>');
		}
	} while (what == IDEM_HTML_FORM);
	fuzz_must(piece.len == 0);
	return true;
}

static void
read_page(struct idem_bytes page, bool whole, struct found *found)
{
	found->forms = idem_html_form_new(page.len > 0 &&
	    *(const char *)page.at == 'x');
	fuzz_must(found->forms != NULL);
	fuzz_feed(take, found, page, whole);
	fuzz_must(idem_buf_ok(&found->page));
	idem_html_form_free(found->forms);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	struct idem_bytes page = { at, len };
	struct found whole = { 0 }, cut = { 0 };

	read_page(page, true, &whole);
	read_page(page, false, &cut);
	fuzz_must(idem_bytes_equal(idem_buf_bytes(&whole.page),
	    idem_buf_bytes(&cut.page)));
	idem_buf_free(&whole.page);
	idem_buf_free(&cut.page);
	return 0;
}
