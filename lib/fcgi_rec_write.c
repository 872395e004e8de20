/* SPDX-License-Identifier: ISC */
#include "fcgi_rec.h"

#define LONG_LEN 0x80000000u	/* of a pair: four bytes follow, not one */

static uint8_t
padding_for(size_t content_len)
{
	return (uint8_t)(-content_len & 7);
}

static void
record_write(struct idem_buf *to, enum idem_fcgi_type type, uint16_t id,
    struct idem_bytes content)
{
	static const uint8_t zeroes[7];
	uint8_t header[IDEM_FCGI_HEADER_LEN];
	uint8_t padding = padding_for(content.len);

	idem_fcgi_header(header, type, id, (uint16_t)content.len, padding);
	idem_buf_append(to, header, sizeof header);
	idem_buf_append(to, content.at, content.len);
	idem_buf_append(to, zeroes, padding);
}

void
idem_fcgi_header(uint8_t out[8], enum idem_fcgi_type type, uint16_t id,
    uint16_t content_len, uint8_t padding_len)
{
	out[0] = 1;	/* FCGI_VERSION_1 */
	out[1] = (uint8_t)type;
	out[2] = (uint8_t)(id >> 8);
	out[3] = (uint8_t)id;
	out[4] = (uint8_t)(content_len >> 8);
	out[5] = (uint8_t)content_len;
	out[6] = padding_len;
	out[7] = 0;	/* reserved */
}

void
idem_fcgi_stream_write(struct idem_buf *to, enum idem_fcgi_type type,
    uint16_t id, struct idem_bytes bytes)
{
	struct idem_bytes piece;

	while (bytes.len > 0) {
		piece = bytes;
		if (piece.len > IDEM_FCGI_CONTENT_MAX)
			piece.len = IDEM_FCGI_CONTENT_MAX;
		record_write(to, type, id, piece);
		bytes.at = (const uint8_t *)bytes.at + piece.len;
		bytes.len -= piece.len;
	}
}

void
idem_fcgi_stream_end(struct idem_buf *to, enum idem_fcgi_type type,
    uint16_t id)
{
	record_write(to, type, id, (struct idem_bytes){ 0 });
}

void
idem_fcgi_begin_write(struct idem_buf *to, uint16_t id,
    enum idem_fcgi_role role, bool keep)
{
	uint8_t body[8] = { 0, (uint8_t)role, keep ? 1 : 0 };	/* 5.1 */

	record_write(to, IDEM_FCGI_BEGIN_REQUEST, id,
	    (struct idem_bytes){ body, sizeof body });
}

void
idem_fcgi_end_write(struct idem_buf *to, uint16_t id, uint32_t app_status,
    enum idem_fcgi_status status)
{
	uint8_t body[8] = {	/* 5.5 */
		(uint8_t)(app_status >> 24), (uint8_t)(app_status >> 16),
		(uint8_t)(app_status >> 8), (uint8_t)app_status,
		(uint8_t)status
	};

	record_write(to, IDEM_FCGI_END_REQUEST, id,
	    (struct idem_bytes){ body, sizeof body });
}

/* --- name-value pairs (3.4) ----------------------------------------------- */

static void
len_write(struct idem_buf *to, size_t len)
{
	if (len >= LONG_LEN)
		to->failed = true;	/* has no form on the wire */
	else if (len < 0x80)
		idem_buf_u8(to, (uint8_t)len);
	else
		idem_buf_u32(to, (uint32_t)len | LONG_LEN);
}

void
idem_fcgi_pair_write(struct idem_buf *to, struct idem_bytes name,
    struct idem_bytes value)
{
	len_write(to, name.len);
	len_write(to, value.len);
	idem_buf_append(to, name.at, name.len);
	idem_buf_append(to, value.at, value.len);
}

/* Past a length, or NULL when it is cut. */
static const uint8_t *
len_read(const uint8_t *at, const uint8_t *end, uint32_t *len)
{
	if (at == end)
		return NULL;
	*len = *at;
	if (*len < 0x80)
		return at + 1;
	if (end - at < 4)
		return NULL;
	*len = (uint32_t)(at[0] & 0x7f) << 24 | (uint32_t)at[1] << 16 |
	    (uint32_t)at[2] << 8 | at[3];
	return at + 4;
}

int
idem_fcgi_pair_next(struct idem_bytes *left, struct idem_fcgi_pair *pair)
{
	const uint8_t *at = left->at, *end;
	uint32_t name_len, value_len;

	if (left->len == 0)
		return 0;
	end = at + left->len;
	at = len_read(at, end, &name_len);
	if (at != NULL)
		at = len_read(at, end, &value_len);
	if (at == NULL || (uint64_t)name_len + value_len >
	    (uint64_t)(end - at))
		return -1;
	pair->name = (struct idem_bytes){ at, name_len };
	pair->value = (struct idem_bytes){ at + name_len, value_len };
	left->at = at + name_len + value_len;
	left->len = (size_t)(end - (const uint8_t *)left->at);
	return 1;
}

/* --- the clean copy ------------------------------------------------------- */

void
idem_fcgi_clean_copy(struct idem_buf *to, uint16_t id,
    struct idem_bytes params)
{
	idem_fcgi_begin_write(to, id, IDEM_FCGI_RESPONDER, true);
	idem_fcgi_stream_write(to, IDEM_FCGI_PARAMS, id, params);
	idem_fcgi_stream_end(to, IDEM_FCGI_PARAMS, id);
	idem_fcgi_stream_end(to, IDEM_FCGI_STDIN, id);
}
