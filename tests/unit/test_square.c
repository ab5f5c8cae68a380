// SPDX-License-Identifier: LGPL-2.1-or-later
/* Square Deal: known answers, files in the original's form, refusals. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dealbox/square.h>

static char *file_read(const char *folder, const char *name, size_t *size)
{
	char path[512], *data;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "rb");
	assert_non_null(file);
	data = test_calloc(1, 65536);
	*size = fread(data, 1, 65535, file);
	fclose(file);
	return data;
}

static char *data_read(const char *name, size_t *size)
{
	return file_read(TEST_DATA "/squaredeal", name, size);
}

static struct dealbox_square *square_of(const char *text)
{
	struct dealbox_error error = { 0 };
	struct dealbox_square *square;

	if (dealbox_square_parse(text, strlen(text), &square, &error))
		fail_msg("line %u: %s", error.line, error.what);
	return square;
}

static struct dealbox_square *example_square(void)
{
	struct dealbox_square *square;
	size_t size;
	char *text = data_read("example.sqd", &size);

	square = square_of(text);
	test_free(text);
	return square;
}

static struct dealbox_square_keys *example_keys(const struct dealbox_square *square)
{
	struct dealbox_square_keys *keys;
	bool mended = true;
	size_t size;
	char *text = data_read("example.sqk", &size);

	assert_int_equal(dealbox_square_keys_parse(text, size, square, &keys, &mended, NULL), 0);
	assert_false(mended);
	test_free(text);
	return keys;
}

/* The deals of a session as text, one a line; free it with test_free(). */
static char *session_text(const struct dealbox_square *square,
			  const struct dealbox_square_keys *keys, unsigned int phase,
			  unsigned int number, bool reserve, const char *boards)
{
	struct dealbox_set *set = dealbox_set_new(NULL);
	char *text = test_calloc(1, 16384), deal[DEALBOX_DEAL_TEXT];
	struct dealbox_square_session session;
	struct dealbox_board board;
	size_t used = 0;

	assert_int_equal(dealbox_square_get_session(square, phase, number, reserve, boards,
						    &session, NULL), 0);
	assert_int_equal(dealbox_square_deal(square, keys, &session, set, NULL), 0);
	assert_int_equal(dealbox_set_count(set), session.high - session.low + 1);
	for (size_t i = 0; !dealbox_set_get(set, i, &board); i++) {
		assert_int_equal(board.number, session.low + i);
		dealbox_deal_format(&board.deal, DEALBOX_NORTH, deal);
		used += (size_t)snprintf(text + used, 16384 - used, "%u %u %u %s %s\n", phase,
					 number, board.number, reserve ? "reserve" : "original",
					 deal + 2);
	}
	dealbox_set_free(set);
	return text;
}

/* Return the next line that is not a comment; "" at the end. */
static const char *line_that_counts(const char *at)
{
	while (*at == '#')
		at = strchrnul(at, '\n') + 1;
	return at;
}

/* Compare two descriptions without comments, in which the programs name themselves. */
static void assert_same_lines(const char *one, const char *other)
{
	while (*(one = line_that_counts(one)) && *(other = line_that_counts(other))) {
		const size_t length = strcspn(one, "\n") + 1;

		assert_int_equal(strncmp(one, other, length), 0);
		one += length;
		other += length;
	}
	assert_string_equal(one, "");
	assert_string_equal(line_that_counts(other), "");
}

/*
 * Check a folder with a tournament of the original program: its files are read, the keys have the
 * published hash, both files are written identically, and every listed deal is reproduced.
 */
static void original_folder_check(const char *folder)
{
	size_t size, keys_size, printed_size;
	char *description = file_read(folder, "example.sqd", &size);
	char *key_text = file_read(folder, "example.sqk", &keys_size);
	char *want = file_read(folder, "example-deals.txt", &size), *at = strchr(want, '\n') + 1;
	struct dealbox_square *square = square_of(description);
	unsigned int sessions = 0, boards = 0;
	struct dealbox_square_keys *keys;
	char *printed;
	bool mended = true;

	assert_int_equal(dealbox_square_keys_parse(key_text, keys_size, square, &keys, &mended,
						   NULL), 0);
	assert_false(mended);
	assert_string_equal(dealbox_square_name(square), "Example Open Pairs");
	assert_string_equal(dealbox_square_value(square), "44123.5");
	assert_int_equal(dealbox_square_keys_short(keys), 0);
	printed = dealbox_square_keys_print(keys, &printed_size);
	assert_int_equal(printed_size, keys_size);
	assert_memory_equal(printed, key_text, keys_size);
	free(printed);
	printed = dealbox_square_print(square);
	assert_same_lines(printed, description);
	free(printed);
	while (*at) {
		unsigned int phase, session;
		char which[16], *got;

		assert_int_equal(sscanf(at, "%u %u %*u %15s", &phase, &session, which), 3);
		got = session_text(square, keys, phase, session, !strcmp(which, "reserve"), NULL);
		assert_int_equal(strncmp(at, got, strlen(got)), 0);
		at += strlen(got);
		for (const char *c = got; *c; c++)
			boards += *c == '\n';
		test_free(got);
		sessions++;
	}
	assert_int_equal(sessions, 7);
	assert_int_equal(boards, 88);
	test_free(want);
	dealbox_square_keys_free(keys);
	dealbox_square_free(square);
	/* one changed digit of a key: no longer the published keys */
	square = square_of(description);
	key_text[10]++;
	assert_int_equal(dealbox_square_keys_parse(key_text, keys_size, square, &keys, NULL, NULL),
			 -EBADMSG);
	dealbox_square_free(square);
	test_free(key_text);
	test_free(description);
}

static void test_known_answers(void **state)
{
	(void)state;
	original_folder_check(TEST_DATA "/squaredeal");
}

/* The collection from which our copy was taken. */
static void test_shared_originals(void **state)
{
	const char *shared = getenv("DEALBOX_SHARED");
	char folder[400];

	(void)state;
	snprintf(folder, sizeof(folder), "%s/data/squaredeal", shared ? shared : "../shared");
	if (access(folder, R_OK)) {
		/* cmocka's skip() writes "not ok" in TAP */
		print_message("# SKIP %s: there is no %s\n", __func__, folder);
		return;
	}
	original_folder_check(folder);
}

/* Known answers of the original: bigdealx -W .. -e .. for a phase without an end. */
static void test_phase_without_end(void **state)
{
	static const char description[] =
		"TN x\nDI y\nDV 44123.5\nSN 0:?:var##:Session ##\n"
		"KH 7d1a5a0e0c2f0a2d4b0d5a7c1e7f8c1d3f1b6c5a4e3d2c1b0a9f8e7d6c5b4a39\n";
	static const char keyfile[] =
		"1,0:aaaaaaaaaabbbbbbbbbbccccccccccddddeeeeeeeeeeffffffffffggggggggg\r\n";
	struct dealbox_square *square = square_of(description);
	struct dealbox_square_session session;
	struct dealbox_square_keys *keys;
	char *text;

	(void)state;
	assert_int_equal(dealbox_square_keys_parse(keyfile, strlen(keyfile), NULL, &keys, NULL,
						   NULL), 0);
	text = session_text(square, keys, 1, 3, false, "1-4,1-4,5-6");
	assert_string_equal(text,
		"1 3 5 original "
		"J743.94.K983.K96 T652.753.J.A7432 8.AT82.AT42.QJ85 AKQ9.KQJ6.Q765.T\n"
		"1 3 6 original "
		"A843.Q98.9.J9752 QJ.6532.65.AQ643 T75.KJ7.AQ873.K8 K962.AT4.KJT42.T\n");
	test_free(text);
	text = session_text(square, keys, 1, 12, true, "1");
	assert_string_equal(text,
		"1 12 1 reserve "
		"KJ87.T853.8.KT82 A94.KQJ74.Q73.Q9 T63.A6.KJT642.A3 Q52.92.A95.J7654\n");
	test_free(text);
	assert_int_equal(dealbox_square_get_session(square, 1, 12, true, "1", &session, NULL), 0);
	assert_string_equal(session.file, "var12reserve");
	assert_string_equal(session.title, "Session 12 (reserve)");
	/* the description leaves the boards open, so the caller must name them */
	assert_int_equal(dealbox_square_get_session(square, 1, 12, true, NULL, &session, NULL),
			 -EINVAL);
	dealbox_square_keys_free(keys);
	dealbox_square_free(square);
}

static void test_ranges(void **state)
{
	static const struct {
		const char *boards;
		unsigned int session, low, high;	/* low 0: refused */
	} cases[] = {
		{ "16", 1, 1, 16 }, { "16", 9, 1, 16 }, { "17-32", 1, 17, 32 }, { "5-5", 1, 5, 5 },
		{ "1-10,11-20,21-30", 1, 1, 10 }, { "1-10,11-20,21-30", 3, 21, 30 },
		{ "1-10,11-20,21-30", 4, 1, 10 }, { "1-10,11-20,21-30", 9, 21, 30 },
		{ "3x7", 1, 1, 7 }, { "3x7", 2, 8, 14 }, { "3x7", 3, 15, 21 }, { "3x7", 4, 1, 7 },
		{ "1-16,17-23", 2, 17, 23 }, { "1-9999", 1, 1, 9999 },
		{ "", 1, 0, 0 }, { "0", 1, 0, 0 }, { "8-1", 1, 0, 0 }, { "0-7", 1, 0, 0 },
		{ "1-8,", 1, 0, 0 }, { ",1-8", 1, 0, 0 }, { "1-8 ", 1, 0, 0 }, { "1--8", 1, 0, 0 },
		{ "1-10000", 1, 0, 0 }, { "3x", 1, 0, 0 }, { "0x7", 1, 0, 0 },
		{ "9x9999", 1, 0, 0 },
		{ "65536x65536", 1, 0, 0 }, { "3x3333", 3, 6667, 9999 }, { "3x3334", 1, 0, 0 },
		{ "99999999999999", 1, 0, 0 }, { "a", 1, 0, 0 }, { "??", 1, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dealbox_square_session session;
		struct dealbox_error error = { 0 };
		struct dealbox_square *square;
		char text[256];
		int err;

		snprintf(text, sizeof(text), "TN x\nSN 9:%s:a#:b #\n", cases[i].boards);
		err = dealbox_square_parse(text, strlen(text), &square, &error);
		if (!cases[i].low) {
			assert_int_equal(err, -EINVAL);
			assert_int_equal(error.line, 2);
			continue;
		}
		assert_int_equal(err, 0);
		assert_int_equal(dealbox_square_get_session(square, 1, cases[i].session, false,
							    NULL, &session, NULL), 0);
		assert_int_equal(session.low, cases[i].low);
		assert_int_equal(session.high, cases[i].high);
		/* a published value cannot be replaced */
		assert_int_equal(dealbox_square_get_session(square, 1, 1, false, "4", &session,
							    NULL), -EINVAL);
		assert_int_equal(dealbox_square_get_session(square, 1, 10, false, NULL, &session,
							    NULL), -ENOENT);
		assert_int_equal(dealbox_square_get_session(square, 2, 1, false, NULL, &session,
							    NULL), -ENOENT);
		dealbox_square_free(square);
	}
}

/* Parse the keys of the example with one string replaced. */
static int keys_with(const struct dealbox_square *square, const char *from, const char *to,
		     bool *mended)
{
	struct dealbox_error error = { 0 };
	struct dealbox_square_keys *keys;
	size_t size, used = 0;
	char *text = data_read("example.sqk", &size), out[2048], *at = text, *found;
	int err;

	while ((found = strstr(at, from))) {
		used += (size_t)snprintf(out + used, sizeof(out) - used, "%.*s%s",
					 (int)(found - at), at, to);
		at = found + strlen(from);
	}
	used += (size_t)snprintf(out + used, sizeof(out) - used, "%s", at);
	test_free(text);
	err = dealbox_square_keys_parse(out, used, square, &keys, mended, &error);
	if (!err)
		dealbox_square_keys_free(keys);
	else
		assert_true(*error.what && *error.next);
	return err;
}

static void test_keys_after_mail(void **state)
{
	struct dealbox_square *square = example_square();
	struct dealbox_square_keys *keys;
	bool mended;

	(void)state;
	/* CRLF lost; spaces and empty lines added */
	assert_int_equal(keys_with(square, "\r\n", "\n", &mended), 0);
	assert_true(mended);
	assert_int_equal(keys_with(square, "\r\n", " \r\n\r\n", &mended), 0);
	assert_true(mended);
	assert_int_equal(keys_with(square, "\r\n", "\r\n", &mended), 0);
	assert_false(mended);
	/* another key, a line too few, text around it */
	assert_int_equal(keys_with(square, "3Sfa", "3Sfb", &mended), -EBADMSG);
	assert_int_equal(keys_with(square, "3,1:", "#", &mended), -EBADMSG);
	assert_int_equal(keys_with(square, "1,1:", "Hello,\n1,1:", &mended), -EBADMSG);
	assert_int_equal(keys_with(NULL, "1,1:", "Hello,\n1,1:", &mended), -EINVAL);
	assert_int_equal(keys_with(NULL, "1,2:", "1,1:", &mended), -EINVAL);
	/* a NUL byte does not hide the text after it */
	assert_int_equal(dealbox_square_keys_parse("1,1:abc\0def\n", 12, NULL, &keys, &mended,
						   NULL), -EINVAL);
	assert_int_equal(dealbox_square_keys_parse("\0,1:abc\n", 9, NULL, &keys, &mended, NULL),
			 -EINVAL);
	dealbox_square_free(square);
}

static void test_no_deals_before_the_value(void **state)
{
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct dealbox_square_session session;
	struct dealbox_error error = { 0 };
	struct dealbox_square *square;
	struct dealbox_square_keys *keys;
	size_t size;
	char *text = data_read("example.sqd", &size);

	(void)state;
	/* make a comment of the line with the value */
	*strstr(text, "DV 44") = '#';
	square = square_of(text);
	keys = example_keys(square);
	assert_int_equal(dealbox_square_get_session(square, 1, 1, false, NULL, &session, NULL), 0);
	assert_int_equal(dealbox_square_deal(square, keys, &session, set, &error), -ENODATA);
	assert_non_null(strstr(error.what, "delayed value is missing"));
	assert_int_equal(dealbox_set_count(set), 0);
	assert_int_equal(dealbox_square_set_value(square, "44123.6", NULL), 0);
	session.reserved[3] = 1;
	assert_int_equal(dealbox_square_deal(square, keys, &session, set, &error), -EINVAL);
	session.reserved[3] = 0;
	assert_int_equal(dealbox_square_deal(square, keys, &session, set, &error), 0);
	test_free(text);
	dealbox_set_free(set);
	dealbox_square_keys_free(keys);
	dealbox_square_free(square);
}

static void test_value_as_the_original_writes_it(void **state)
{
	static const char *const cases[][2] = {
		{ "  44,123.5 ", "441235" }, { "1.2.3", "12.3" }, { "1.2,3.4", "12,34" },
		{ "a.5", "a.5" }, { "7.", "7." }, { "up \t 3 points", "up 3 points" },
		{ "12 .5", "12 .5" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dealbox_square *square = square_of("TN x\nDI y\nSN 1:8:a:b\nKH "
			"180420a5efc19f034fa60fabb0c8de9627bebaba1ccbc2491120e9e644689943\n");

		assert_int_equal(dealbox_square_set_value(square, cases[i][0], NULL), 0);
		assert_string_equal(dealbox_square_value(square), cases[i][1]);
		/* the same value again is accepted, another one is not */
		assert_int_equal(dealbox_square_set_value(square, cases[i][0], NULL), 0);
		assert_int_equal(dealbox_square_set_value(square, "99", NULL), -EPERM);
		assert_string_equal(dealbox_square_value(square), cases[i][1]);
		dealbox_square_free(square);
	}
}

static void test_new_tournament(void **state)
{
	const struct dealbox_square_phase phases[] = {
		{ 12, "3x7", "rr", "Round robin" }, { 0, "?", "sw#", "Swiss #" },
		{ 1, "17-32", "final", "Final" },
	};
	struct dealbox_square *square = dealbox_square_new(), *again;
	struct dealbox_square_keys *keys, *keys_again;
	struct dealbox_square_session session;
	struct dealbox_square_phase phase;
	struct dealbox_error error;
	struct dealbox_random *random;
	char *text, *key_text;
	size_t size, lines = 0;
	bool mended;

	(void)state;
	assert_int_equal(dealbox_random_new(&random), 0);
	assert_int_equal(dealbox_square_publish(square, random, &keys, &error), -EINVAL);
	assert_int_equal(dealbox_square_set_name(square, "  Club \t evening ", &error), 0);
	assert_int_equal(dealbox_square_set_info(square, "two\nlines", &error), -EINVAL);
	assert_int_equal(dealbox_square_set_info(square, "Lottery of 1 May", &error), 0);
	assert_int_equal(dealbox_square_set_value(square, "1", &error), -EPERM);
	for (size_t i = 0; i < 3; i++) {
		static const char *const bad[] = { "0x7", "9x9999", "3x" };
		struct dealbox_square_phase wrong = phases[i];

		wrong.boards = bad[i];
		assert_int_equal(dealbox_square_add_phase(square, &wrong, &error), -EINVAL);
		assert_non_null(strstr(error.what, bad[i]));
		wrong = phases[i];
		wrong.reserved[i] = 1;
		assert_int_equal(dealbox_square_add_phase(square, &wrong, &error), -EINVAL);
		assert_int_equal(dealbox_square_add_phase(square, &phases[i], &error), 0);
	}
	assert_int_equal(dealbox_square_publish(square, random, &keys, &error), 0);
	assert_int_equal(dealbox_square_set_name(square, "x", &error), -EPERM);
	assert_int_equal(dealbox_square_add_phase(square, &phases[2], &error), -EPERM);

	text = dealbox_square_print(square);
	assert_non_null(strstr(text, "\nTN Club evening\nDI Lottery of 1 May\n"));
	assert_non_null(strstr(text, "\nSN 12:1-7,8-14,15-21:rr##:Round robin #/12\n"));
	assert_non_null(strstr(text, "\nSN 0:?:sw#:Swiss #\n"));
	assert_non_null(strstr(text, "\nSN 1:17-32:final:Final\n"));
	again = square_of(text);
	assert_string_equal(dealbox_square_hash(again), dealbox_square_hash(square));
	assert_int_equal(dealbox_square_get_phase(again, 1, &phase), 0);
	assert_int_equal(phase.sessions, 12);
	assert_int_equal(dealbox_square_get_phase(again, 4, &phase), -ENOENT);
	assert_int_equal(dealbox_square_get_session(again, 1, 11, false, NULL, &session, NULL), 0);
	assert_string_equal(session.file, "rr11");
	assert_string_equal(session.title, "Round robin 11/12");

	key_text = dealbox_square_keys_print(keys, &size);
	for (const char *line = key_text; *line; line = strchr(line, '\n') + 1, lines++) {
		const char *key = strchr(line, ':') + 1;

		assert_int_equal(strspn(key, "abcdefghijklmnopqrstuvwxyz"
					"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
				 DEALBOX_SQUARE_KEY);
		assert_int_equal(strncmp(key + DEALBOX_SQUARE_KEY, "\r\n", 2), 0);
		assert_ptr_equal(strstr(key_text, "2,0:") < line, lines > 12);
		/* no key twice */
		assert_null(strstr(key + DEALBOX_SQUARE_KEY,
				   (char[]){ key[0], key[1], key[2], key[3], key[4], key[5], key[6],
					     key[7], 0 }));
	}
	assert_int_equal(lines, 12 + 1 + 1);
	assert_int_equal(dealbox_square_keys_parse(key_text, size, again, &keys_again, &mended,
						   &error), 0);
	assert_false(mended);

	free(key_text);
	free(text);
	dealbox_square_keys_free(keys);
	dealbox_square_keys_free(keys_again);
	dealbox_square_free(square);
	dealbox_square_free(again);
	dealbox_random_free(random);
}

/* Keys that were written before a power failure are used, not made again. */
static void test_keys_are_adopted(void **state)
{
	static const char draft[] = "TN x\nDI y\nSN 2:16:rr#:a #\nSN 3:8:qf#:b #\nSN 1:17-32:f:c\n";
	struct dealbox_square *example = example_square(), *square = square_of(draft);
	struct dealbox_square_keys *keys = example_keys(example);

	(void)state;
	assert_int_equal(dealbox_square_adopt(square, keys, NULL), 0);
	assert_string_equal(dealbox_square_hash(square), dealbox_square_hash(example));
	dealbox_square_free(square);
	square = square_of("TN x\nDI y\nSN 2:16:rr#:a #\n");
	assert_int_equal(dealbox_square_adopt(square, keys, NULL), -EINVAL);
	assert_string_equal(dealbox_square_hash(square), "");
	dealbox_square_free(square);
	dealbox_square_keys_free(keys);
	dealbox_square_free(example);
}

static void test_descriptions_refused(void **state)
{
	static const struct {
		const char *text;
		uint32_t line;
	} cases[] = {
		{ "", 0 }, { "\n\n# only a comment\n", 0 },
		{ "TN a\nTN b\n", 2 }, { "TN a\nDV 1\nDV 2\n", 3 }, { "hello\n", 1 }, { "X\n", 1 },
		{ "TN a\nKH abc\n", 2 },
		{ "TN a\nKH 180420A5efc19f034fa60fabb0c8de9627bebaba1ccbc2491120e9e644689943\n",
		  2 },
		{ "TN a\nSN 4", 2 }, { "TN a\nSN 1:8\n", 2 }, { "TN a\nSN x:8:a:b\n", 2 },
		{ "TN a\nSN 1:8:a:\n", 2 },
		{ "TN a\nSN 99999:8:a#:b\n", 2 }, { "TN a\nSN 2:8:a:b\n", 2 },
		{ "TN a\nSN 1:8:a:b\nSN 1:8:a:c\n", 3 },
		/* a prefix becomes a file name */
		{ "TN a\nSN 1:8:../a:b\n", 2 }, { "TN a\nSN 1:8:/etc/a:b\n", 2 },
		{ "TN a\nSN 1:8:a.b:b\n", 2 },
		{ "TN a\nSN 1:8:-a:b\n", 2 }, { "TN a\nSN 2:8:a#b#:b\n", 2 },
		{ "TN a\nSN 2:8::b\n", 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dealbox_square *square = NULL;
		struct dealbox_error error = { 0 };

		assert_int_equal(dealbox_square_parse(cases[i].text, strlen(cases[i].text), &square,
						      &error), -EINVAL);
		assert_null(square);
		assert_int_equal(error.line, cases[i].line);
		assert_true(*error.what);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_answers),
		cmocka_unit_test(test_shared_originals),
		cmocka_unit_test(test_phase_without_end),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_keys_after_mail),
		cmocka_unit_test(test_no_deals_before_the_value),
		cmocka_unit_test(test_value_as_the_original_writes_it),
		cmocka_unit_test(test_new_tournament),
		cmocka_unit_test(test_keys_are_adopted),
		cmocka_unit_test(test_descriptions_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
