// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sentences in other languages: those of rulings, of verdicts, and of the operator. */
#include <stdlib.h>
#include <string.h>

#include <dealbox/law.h>

#include "messages.h"

const char *dealbox_law_language(size_t n)
{
	return n == 0 ? "en" : n <= law_catalogue_count ? law_catalogues[n - 1].language : NULL;
}

static int message_compare(const void *id, const void *message)
{
	return strcmp(id, ((const struct law_message *)message)->id);
}

/* Returns the catalogue of that language, or NULL: English. */
static const struct law_catalogue *catalogue_of(const char *language)
{
	for (size_t i = 0; language && i < law_catalogue_count; i++)
		if (!strcmp(law_catalogues[i].language, language))
			return &law_catalogues[i];
	return NULL;
}

/* Returns the translations of a message, or NULL. */
static const struct law_message *message_find(const struct law_catalogue *catalogue,
					      const char *message)
{
	return catalogue ? bsearch(message, catalogue->messages, catalogue->count,
				   sizeof(struct law_message), message_compare) : NULL;
}

const char *dealbox_law_translate(const char *language, const char *message)
{
	const struct law_message *found = message_find(catalogue_of(language), message);

	return found ? found->forms[0] : message;
}

const char *dealbox_law_translate_count(const char *language, const char *one, const char *many,
					unsigned long n)
{
	const struct law_catalogue *catalogue = catalogue_of(language);
	const struct law_message *found = message_find(catalogue, one);

	return found ? found->forms[catalogue->form(n)] : n == 1 ? one : many;
}
