// SPDX-License-Identifier: LGPL-2.1-or-later
/* The file of a machine's record: tools/machine/store.c */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/dealbox-store.XXXXXX";
static char path[64];
static uint8_t slots[RECORD_SLOTS][RECORD_BYTES];

static int set_up(void **state)
{
	(void)state;
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/record", folder);
	memset(slots, 0xaa, sizeof(slots));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static int open_it(void)
{
	const int fd = store_open(path, slots);

	assert_true(fd >= 0);
	return fd;
}

static void a_new_machine_has_no_record(void **state)
{
	struct record record;

	(void)state;
	close(open_it());
	assert_int_equal(record_choose(slots, &record), RECORD_NEW);
}

static void a_record_is_kept(void **state)
{
	struct record record = { 0 }, kept;
	uint8_t bytes[RECORD_BYTES];
	int fd, slot = RECORD_NEW;

	(void)state;
	for (record.insertion = 1; record.insertion <= 5; record.insertion++, record.generation++) {
		fd = open_it();
		slot = record_next(slot);
		record_encode(&record, bytes);
		assert_true(store_write(fd, slot, bytes));
		close(fd);
		close(open_it());
		assert_int_equal(record_choose(slots, &kept), slot);
		assert_int_equal(kept.insertion, record.insertion);
	}
}

/* Two programs would give the same insertion numbers. */
static void one_program_has_the_file(void **state)
{
	const int fd = open_it();

	(void)state;
	assert_int_equal(store_open(path, slots), -1);
	assert_int_equal(errno, EWOULDBLOCK);
	close(fd);
	close(open_it());
}

/* It would pass for that of a new machine. */
static void a_file_that_was_cut_off_is_refused(void **state)
{
	static const off_t sizes[] = { 1, RECORD_BYTES, 4096, 8191, 8193 };

	(void)state;
	close(open_it());
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		assert_int_equal(truncate(path, sizes[i]), 0);
		assert_int_equal(store_open(path, slots), -1);
		assert_int_equal(errno, EUCLEAN);
	}
}

static void a_write_that_fails_says_so(void **state)
{
	const uint8_t bytes[RECORD_BYTES] = { 0 };
	int fd;

	(void)state;
	close(open_it());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_false(store_write(fd, 0, bytes));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_new_machine_has_no_record, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_record_is_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_program_has_the_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_was_cut_off_is_refused, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_write_that_fails_says_so, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
