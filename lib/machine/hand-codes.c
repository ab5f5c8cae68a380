// SPDX-License-Identifier: LGPL-2.1-or-later
/* Codes that the devices of a person send: of keys, and bar codes. */
#include <errno.h>
#include <linux/input-event-codes.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/card.h>

#include "hand.h"

#define SPACES	" \t,;\r"

struct hand_code {
	char code[HAND_CODE_MAX + 1];
	uint8_t card;
};

uint32_t hand_key_of(unsigned int code)
{
	static const char keys[] = {
		[KEY_1] = '1', [KEY_2] = '2', [KEY_3] = '3', [KEY_4] = '4', [KEY_5] = '5',
		[KEY_6] = '6', [KEY_7] = '7', [KEY_8] = '8', [KEY_9] = '9', [KEY_0] = '0',
		[KEY_Q] = 'Q', [KEY_W] = 'W', [KEY_E] = 'E', [KEY_R] = 'R', [KEY_T] = 'T',
		[KEY_Y] = 'Y', [KEY_U] = 'U', [KEY_I] = 'I', [KEY_O] = 'O', [KEY_P] = 'P',
		[KEY_A] = 'A', [KEY_S] = 'S', [KEY_D] = 'D', [KEY_F] = 'F', [KEY_G] = 'G',
		[KEY_H] = 'H', [KEY_J] = 'J', [KEY_K] = 'K', [KEY_L] = 'L',
		[KEY_Z] = 'Z', [KEY_X] = 'X', [KEY_C] = 'C', [KEY_V] = 'V', [KEY_B] = 'B',
		[KEY_N] = 'N', [KEY_M] = 'M',
		[KEY_SPACE] = ' ', [KEY_MINUS] = '-', [KEY_SLASH] = '/', [KEY_DOT] = '.',
		[KEY_COMMA] = ',',
		[KEY_KP0] = '0', [KEY_KP1] = '1', [KEY_KP2] = '2', [KEY_KP3] = '3', [KEY_KP4] = '4',
		[KEY_KP5] = '5', [KEY_KP6] = '6', [KEY_KP7] = '7', [KEY_KP8] = '8', [KEY_KP9] = '9',
		[KEY_KPSLASH] = '/', [KEY_KPASTERISK] = '*', [KEY_KPMINUS] = '-',
		[KEY_KPPLUS] = '+',
		[KEY_KPDOT] = '.', [KEY_KPCOMMA] = ',',
		[KEY_ENTER] = HAND_ENTER, [KEY_KPENTER] = HAND_ENTER,
		[KEY_BACKSPACE] = HAND_UNDO, [KEY_DELETE] = HAND_UNDO,
		[KEY_ESC] = HAND_STOP,
	};

	return code < sizeof(keys) ? (uint32_t)keys[code] : 0;
}

static const struct hand_code *find(const struct hand_codes *codes, const char *code)
{
	for (size_t n = 0; n < codes->count; n++)
		if (!strcmp(codes->list[n].code, code))
			return &codes->list[n];
	return NULL;
}

uint8_t hand_codes_find(const struct hand_codes *codes, const char *code)
{
	const struct hand_code *found = find(codes, code);

	return found ? found->card : hand_parse(code);
}

static int add(struct hand_codes *codes, const char *code, size_t length, uint8_t card,
	       const char **why)
{
	struct hand_code new = { .card = card }, *grown;

	if (length > HAND_CODE_MAX) {
		*why = "the code is too long";
		return -EINVAL;
	}
	memcpy(new.code, code, length);
	if (find(codes, new.code)) {
		*why = "this code is there twice";
		return -EEXIST;
	}
	grown = realloc(codes->list, (codes->count + 1) * sizeof(new));
	if (!grown) {
		*why = "out of memory";
		return -ENOMEM;
	}
	grown[codes->count++] = new;
	codes->list = grown;
	return 0;
}

int hand_codes_read(struct hand_codes *codes, const char *text, unsigned int *line,
		    const char **why)
{
	unsigned int sorted = 0;
	int ret;

	*codes = (struct hand_codes){ 0 };
	for (*line = 1; *text; ++*line) {
		const char *end = strchrnul(text, '\n'), *code = text + strspn(text, SPACES);
		size_t length = strcspn(code, SPACES "\n");
		const char *behind = code + length + strspn(code + length, SPACES);
		char name[8] = "";
		uint8_t card;

		text = *end ? end + 1 : end;
		if (!length || *code == '#')
			continue;
		if (behind < end) {
			size_t size = strcspn(behind, SPACES "\n");
			int parsed;

			memcpy(name, behind, size < sizeof(name) - 1 ? size : sizeof(name) - 1);
			parsed = dealbox_card_parse(name);
			card = parsed < 0 ? hand_parse(name) : (uint8_t)parsed;
			if (size >= sizeof(name) || card == DEALBOX_NONE) {
				*why = "behind the code stands no card, such as SA or H10";
				return -EINVAL;
			}
		} else {
			card = (uint8_t)(sorted++ % 52);
		}
		ret = add(codes, code, length, card, why);
		if (ret)
			return ret;
	}
	if (!codes->count || sorted % 52) {
		*line = 0;
		*why = codes->count ?
		       "the pack is not whole: lines without a card must be 52, one for each card" :
		       "the file has no codes";
		return -EINVAL;
	}
	return 0;
}

void hand_codes_free(struct hand_codes *codes)
{
	free(codes->list);
	*codes = (struct hand_codes){ 0 };
}
