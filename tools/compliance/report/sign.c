// SPDX-License-Identifier: LGPL-2.1-or-later
/* Signing and verifying, in the form of certificates. What is signed is in docs/compliance.md. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error-internal.h"
#include "fairness/signed-text.h"
#include "report.h"

/* of the page */
#define DATA_BEGIN	"<script type=\"application/json\" id=\"report\">"
#define DATA_END	"</script>"
#define PAGE_SIGNATURE	"<!--\n"
#define PAGE_END	"-->\n"

/* The text that is signed for a report without signature; free(3) it. */
static char *body_make(struct json_object *report)
{
	char *json = report_print(report), *body;

	if (!json || asprintf(&body, "dealbox compliance 1\nreport %s\n", json) < 0)
		body = NULL;
	free(json);
	return body;
}

static void unsign(struct json_object *report)
{
	json_object_object_del(report, "signer");
	json_object_object_del(report, "signature");
}

bool report_sign(struct json_object *report, const struct dealbox_signer *signer)
{
	char *body, *text, *at, *signer_hex, *signature_hex;

	unsign(report);
	body = body_make(report);
	text = body ? text_sign(body, signer) : NULL;
	at = text ? text + strlen(body) : NULL;
	signer_hex = at ? line_take(&at, "signer") : NULL;
	signature_hex = signer_hex ? line_take(&at, "signature") : NULL;
	if (signature_hex) {
		json_object_object_add(report, "signer", json_object_new_string(signer_hex));
		json_object_object_add(report, "signature", json_object_new_string(signature_hex));
	}
	free(body);
	free(text);
	return signature_hex;
}

bool report_sign_page(char **html, const struct dealbox_signer *signer)
{
	char *body = NULL, *text = NULL, *whole = NULL;

	if (asprintf(&body, "%s" PAGE_SIGNATURE, *html) < 0)
		body = NULL;
	text = body ? text_sign(body, signer) : NULL;
	if (text && asprintf(&whole, "%s" PAGE_END, text) < 0)
		whole = NULL;
	free(body);
	free(text);
	if (!whole)
		return false;
	free(*html);
	*html = whole;
	return true;
}

/* The signature of the JSON alone */
static int report_check_signature(struct json_object *report, uint8_t signer[DEALBOX_SIGNER_KEY],
				  struct dealbox_error *error)
{
	char *signer_hex = strdup(report_text(report, "signer"));
	char *signature_hex = strdup(report_text(report, "signature"));
	char *body = NULL, *text = NULL, *covered = NULL;
	struct json_object *copy = NULL;
	uint32_t line = 1;
	size_t used;
	int err = -ENOMEM;

	if (!signer_hex || !signature_hex)
		goto out;
	if (json_object_deep_copy(report, &copy, NULL))
		goto out;
	unsign(copy);
	body = body_make(copy);
	if (!body ||
	    asprintf(&text, "%ssigner %s\nsignature %s\n", body, signer_hex, signature_hex) < 0) {
		text = NULL;
		goto out;
	}
	err = text_check(text, strlen(text), &used, &covered, signer, &line, error);
	if (!err && used != strlen(text))
		err = -EINVAL;
out:
	if (err == -ENOMEM)
		error_fill(error, err, 0, NULL, "out of memory");
	if (err == -EINVAL)
		error_fill(error, err, 0, "get it again, as a file and not as text",
			   "the signature is not in its form");
	json_object_put(copy);
	free(signer_hex);
	free(signature_hex);
	free(body);
	free(text);
	free(covered);
	return err;
}

/* The JSON in a page; false: there is none. */
static bool data_find(const char **data, size_t *size)
{
	const char *begin = memmem(*data, *size, DATA_BEGIN, strlen(DATA_BEGIN)), *end;

	if (!begin)
		return false;
	begin += strlen(DATA_BEGIN);
	end = memmem(begin, *size - (size_t)(begin - *data), DATA_END, strlen(DATA_END));
	if (!end)
		return false;
	*data = begin;
	*size = (size_t)(end - begin);
	return true;
}

static bool is_page(const char *data, size_t size)
{
	return size && *data == '<';
}

int report_read(const char *data, size_t size, struct json_object **report,
		struct dealbox_error *error)
{
	if (is_page(data, size) && !data_find(&data, &size))
		return error_set(error, -EINVAL, 0, "check that this is the right file",
				 "this page is no report of dealbox-compliance");
	return report_parse(data, size, report, error);
}

/* There is one valid text of a report: the bytes must be those. */
static int form_check(const char *data, size_t size, struct json_object *report,
		      struct dealbox_error *error)
{
	char *again = report_print(report);
	const size_t length = again ? strlen(again) : 0;
	const bool same = again &&
			  (size == length || (size == length + 1 && data[length] == '\n')) &&
			  !memcmp(data, again, length);

	free(again);
	return same ? 0 : error_set(error, again ? -EINVAL : -ENOMEM, 0,
				    "get the file as it was written",
				    "the report was written again, by another program: it is not "
				    "the text that was signed");
}

static int page_check(const char *data, size_t size, uint8_t signer[DEALBOX_SIGNER_KEY],
		      struct dealbox_error *error)
{
	const size_t end = strlen(PAGE_END);
	uint32_t line = 1;
	char *body = NULL;
	size_t used = 0;
	int err = text_check(data, size, &used, &body, signer, &line, error);

	free(body);
	if (!err && (size - used != end || memcmp(data + used, PAGE_END, end)))
		err = error_set(error, -EINVAL, line, "get it again, as a file and not as text",
				"there is something behind the signature of the page");
	return err;
}

int report_verify(const char *data, size_t size, struct json_object **report,
		  uint8_t signer[DEALBOX_SIGNER_KEY], struct dealbox_error *error)
{
	uint8_t page_signer[DEALBOX_SIGNER_KEY];
	const char *json = data;
	size_t json_size = size;
	struct json_object *new;
	int err = report_read(data, size, &new, error);

	if (err)
		return err;
	if (is_page(data, size))
		data_find(&json, &json_size);
	if (!*report_text(new, "signer") && !*report_text(new, "signature"))
		err = error_set(error, -ENOKEY, 0, "sign reports by --key when they are made",
				"the report is not signed");
	if (!err)
		err = form_check(json, json_size, new, error);
	if (!err)
		err = report_check_signature(new, signer, error);
	if (!err && is_page(data, size)) {
		err = page_check(data, size, page_signer, error);
		if (!err && memcmp(signer, page_signer, sizeof(page_signer)))
			err = error_set(error, -EKEYREJECTED, 0,
					"get it again from who published it",
					"the page is signed by another key than its data");
	}
	if (err)
		json_object_put(new);
	else
		*report = new;
	return err;
}
