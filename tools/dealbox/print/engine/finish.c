// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <qpdf/qpdf-c.h>
#include <stdlib.h>
#include <string.h>

#include "finish.h"

static void catalogue_fill(qpdf_data pdf, const char *language)
{
	const qpdf_oh root = qpdf_get_root(pdf), view = qpdf_oh_new_dictionary(pdf);
	const qpdf_oh mark = qpdf_oh_new_dictionary(pdf);

	qpdf_oh_replace_key(pdf, root, "/Lang", qpdf_oh_new_unicode_string(pdf, language));
	qpdf_oh_replace_key(pdf, mark, "/Marked", qpdf_oh_new_bool(pdf, QPDF_TRUE));
	qpdf_oh_replace_key(pdf, root, "/MarkInfo", mark);
	qpdf_oh_replace_key(pdf, view, "/DisplayDocTitle", qpdf_oh_new_bool(pdf, QPDF_TRUE));
	qpdf_oh_replace_key(pdf, root, "/ViewerPreferences", view);
}

static qpdf_oh structure(qpdf_data pdf)
{
	return qpdf_oh_get_key(pdf, qpdf_get_root(pdf), "/StructTreeRoot");
}

/* The elements of all pages become children of one: ISO 32000-2, 14.8.4.3. */
static void document_insert(qpdf_data pdf)
{
	const qpdf_oh tree = structure(pdf);
	const qpdf_oh children = qpdf_oh_get_key(pdf, tree, "/K");
	qpdf_oh document = qpdf_oh_new_dictionary(pdf);

	if (!qpdf_oh_is_array(pdf, children))
		return;
	qpdf_oh_replace_key(pdf, document, "/Type", qpdf_oh_new_name(pdf, "/StructElem"));
	qpdf_oh_replace_key(pdf, document, "/S", qpdf_oh_new_name(pdf, "/Document"));
	qpdf_oh_replace_key(pdf, document, "/P", tree);
	qpdf_oh_replace_key(pdf, document, "/K", children);
	document = qpdf_make_indirect_object(pdf, document);
	for (int i = 0; i < qpdf_oh_get_array_n_items(pdf, children); i++)
		qpdf_oh_replace_key(pdf, qpdf_oh_get_array_item(pdf, children, i), "/P", document);
	qpdf_oh_replace_key(pdf, tree, "/K", document);
}

/* Describes the figures below an element, or in an array of elements. at: those before it */
static void figures_describe(qpdf_data pdf, qpdf_oh element, const struct figures *figures,
			     size_t *at)
{
	if (qpdf_oh_is_array(pdf, element)) {
		for (int i = 0; i < qpdf_oh_get_array_n_items(pdf, element); i++)
			figures_describe(pdf, qpdf_oh_get_array_item(pdf, element, i), figures, at);
		return;
	}
	/* the rest are marked contents of pages */
	if (!qpdf_oh_is_dictionary(pdf, element) || !qpdf_oh_has_key(pdf, element, "/S"))
		return;
	if (!strcmp(qpdf_oh_get_name(pdf, qpdf_oh_get_key(pdf, element, "/S")), "/Figure") &&
	    *at < figures->count)
		qpdf_oh_replace_key(pdf, element, "/Alt",
				    qpdf_oh_new_unicode_string(pdf, figures->about[(*at)++]));
	figures_describe(pdf, qpdf_oh_get_key(pdf, element, "/K"), figures, at);
}

static void dates_remove(qpdf_data pdf)
{
	const qpdf_oh info = qpdf_oh_get_key(pdf, qpdf_get_trailer(pdf), "/Info");

	qpdf_oh_remove_key(pdf, info, "/CreationDate");
	qpdf_oh_remove_key(pdf, info, "/ModDate");
}

int pdf_finish(const void *data, size_t size, const char *language, bool dated,
	       const struct figures *figures, void **out, size_t *out_size)
{
	qpdf_data pdf = qpdf_init();
	size_t described = 0;
	int err = -EIO;

	if (!pdf)
		return -ENOMEM;
	qpdf_silence_errors(pdf);
	qpdf_set_suppress_warnings(pdf, QPDF_TRUE);
	if (qpdf_read_memory(pdf, "pages", data, size, NULL) & QPDF_ERRORS)
		goto out;
	catalogue_fill(pdf, language);
	document_insert(pdf);
	if (figures->count)
		figures_describe(pdf, qpdf_oh_get_key(pdf, structure(pdf), "/K"), figures,
				 &described);
	if (!dated)
		dates_remove(pdf);
	if (qpdf_init_write_memory(pdf) & QPDF_ERRORS)
		goto out;
	qpdf_set_deterministic_ID(pdf, QPDF_TRUE);
	qpdf_set_object_stream_mode(pdf, qpdf_o_generate);
	if (qpdf_write(pdf) & QPDF_ERRORS)
		goto out;
	*out_size = qpdf_get_buffer_length(pdf);
	*out = malloc(*out_size);
	err = *out ? 0 : -ENOMEM;
	if (*out)
		memcpy(*out, qpdf_get_buffer(pdf), *out_size);
out:
	qpdf_cleanup(&pdf);
	return err;
}
