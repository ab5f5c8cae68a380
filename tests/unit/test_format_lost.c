// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * No board is lost silently: a file that is cut at any byte, or in which any byte is missing, gives
 * all its boards or a problem.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "deals.h"

#define BOARDS	4
#define FIRST	1	/* BRI and others have no numbers, which is as if they began at 1 */

struct sample {
	const char *format;
	const char *begin;	/* what each record begins with; NULL: records of a fixed size */
	size_t head, record;
};

static const struct sample samples[] = {
	{ .format = "pbn", .begin = "[Event" },
	{ .format = "lin", .begin = "qx|" },
	{ .format = "csv", .begin = "\n" },
	{ .format = "rbn", .begin = "B " },
	{ .format = "dlm", .begin = "Board " },
	{ .format = "dup", .record = 156 },
	{ .format = "bri", .record = 128 },
	{ .format = "dge", .record = 128 },
	{ .format = "ber", .record = 52 },
	{ .format = "bhg", .head = 1, .record = 53 },
	{ .format = "rzd", .head = 13, .record = 13 },
	{ .format = "cds", .record = 14 },
};

struct bytes {
	char data[8192];
	size_t size;
};

/* There is no writer for RBN. */
static void write_rbn(const struct dealbox_set *set, struct bytes *out)
{
	struct dealbox_board board;
	char deal[DEALBOX_DEAL_TEXT];

	for (size_t i = 0; !dealbox_set_get(set, i, &board); i++) {
		dealbox_deal_format(&board.deal, DEALBOX_NORTH, deal);
		for (char *c = deal; *c; c++)
			if (*c == ' ')
				*c = ':';
		out->size += (size_t)snprintf(out->data + out->size,
					      sizeof(out->data) - out->size,
					      "%sB %u\nH %s\n", i ? "\n" : "", board.number, deal);
	}
}

static void make_file(const struct sample *sample, const struct dealbox_set *set,
		      struct bytes *out)
{
	int fd = memfd_create("test", 0);
	ssize_t size;

	out->size = 0;
	if (!strcmp(sample->format, "rbn")) {
		write_rbn(set, out);
	} else {
		assert_int_equal(dealbox_format_write_fd(dealbox_format_find(sample->format), set,
							 fd, "test", NULL), 0);
		size = pread(fd, out->data, sizeof(out->data), 0);
		assert_true(size > 0 && (size_t)size < sizeof(out->data));
		out->size = (size_t)size;
	}
	close(fd);
}

static bool same_board(const struct dealbox_board *one, const struct dealbox_board *other)
{
	return !memcmp(&one->deal, &other->deal, sizeof(one->deal)) &&
	       (one->number == other->number || !other->number);
}

/* Returns how many of the first boards of the set were read; -1: a problem was reported. */
static long read_boards(const struct sample *sample, const struct dealbox_set *whole,
			const char *data, size_t size)
{
	struct dealbox_report *report = dealbox_report_new();
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct dealbox_board one, other;
	long count = -1;

	if (!dealbox_format_read_memory(dealbox_format_find(sample->format), data, size, "t", set,
					report, NULL) &&
	    dealbox_set_check(set, report) >= 0 &&
	    !dealbox_report_found(report, DEALBOX_SEVERITY_PROBLEM))
		for (count = 0; !dealbox_set_get(set, (size_t)count, &other); count++) {
			assert_int_equal(dealbox_set_get(whole, (size_t)count, &one), 0);
			if (!same_board(&one, &other))
				fail_msg("%s: deal %ld is another one, and nothing is said:\n%.*s",
					 sample->format, count, (int)size, data);
		}
	dealbox_set_free(set);
	dealbox_report_free(report);
	return count;
}

/* Returns how many records begin in that many bytes. */
static long records_begun(const struct sample *sample, const char *data, size_t size)
{
	long count = 0;

	if (!sample->begin)
		return size <= sample->head ? 0 :
		       (long)((size - sample->head + sample->record - 1) / sample->record);
	/* lines of CSV begin where the one before ends */
	if (!strcmp(sample->format, "csv"))
		count = size > 0;
	for (size_t i = 0; i < size; i++) {
		size_t left = size - i, want = strlen(sample->begin);

		if (*sample->begin == '\n')
			count += data[i] == '\n' && left > 1;
		else
			count += (!i || data[i - 1] == '\n') && data[i] == *sample->begin &&
				 !memcmp(data + i, sample->begin, left < want ? left : want);
	}
	return count;
}

static void a_file_that_is_cut(void **state)
{
	uint64_t seed = 77;
	struct dealbox_set *set = random_set(&seed, FIRST, BOARDS);

	(void)state;
	for (size_t n = 0; n < sizeof(samples) / sizeof(*samples); n++) {
		const struct sample *sample = &samples[n];
		struct bytes file;

		make_file(sample, set, &file);
		assert_int_equal(read_boards(sample, set, file.data, file.size), BOARDS);
		for (size_t size = 0; size < file.size; size++) {
			long count = read_boards(sample, set, file.data, size);

			if (count >= 0 && count < records_begun(sample, file.data, size))
				fail_msg("%s cut after %zu bytes has %ld boards, "
					 "and nothing is said",
					 sample->format, size, count);
		}
	}
	dealbox_set_free(set);
}

static void a_file_without_one_byte(void **state)
{
	uint64_t seed = 78;
	struct dealbox_set *set = random_set(&seed, FIRST, BOARDS);

	(void)state;
	for (size_t n = 0; n < sizeof(samples) / sizeof(*samples); n++) {
		const struct sample *sample = &samples[n];
		struct bytes file, damaged;

		make_file(sample, set, &file);
		for (size_t i = 0; i < file.size; i++) {
			long count;

			/*
			 * Without the letter of a suit, its cards belong to the suit before; the
			 * hand that is not written gets the rest, and the deal is complete.
			 */
			if (!strcmp(sample->format, "lin") && strchr("SHDC", file.data[i]))
				continue;
			memcpy(damaged.data, file.data, i);
			memcpy(damaged.data + i, file.data + i + 1, file.size - i - 1);
			count = read_boards(sample, set, damaged.data, file.size - 1);
			if (count >= 0 && count != BOARDS)
				fail_msg("%s without byte %zu has %ld boards, and nothing is said",
					 sample->format, i, count);
		}
	}
	dealbox_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_is_cut),
		cmocka_unit_test(a_file_without_one_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
