// SPDX-License-Identifier: LGPL-2.1-or-later
/* The common part of all backends: addresses, the list, and names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <dealbox/dealing.h>
#include <dealbox/machine.h>

#include "machine/backend.h"

static void what_is_no_address(void **state)
{
	static const char *const uris[] = { "", "local", "loca:/dev/dealbox0",
					    "localx:/dev/dealbox0", "/dev/dealbox0", ":",
					    "LOCAL:/dev/dealbox0" };
	struct dealbox_machine *machine;
	struct dealbox_error reason;
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(uris) / sizeof(*uris); n++) {
		machine = (struct dealbox_machine *)&reason;
		assert_int_equal(dealbox_machine_open(uris[n], 0, &machine, &reason), -EINVAL);
		assert_null(machine);
		assert_int_equal(reason.code, -EINVAL);
		assert_non_null(strstr(reason.what, "is not the address of a machine"));
		assert_non_null(strstr(reason.next, "local:/dev/dealbox0"));
		assert_int_equal(dealbox_machine_open(uris[n], DEALBOX_MACHINE_OBSERVE, &machine,
						      NULL), -EINVAL);
	}
	dealbox_machine_close(NULL);
}

static void unknown_flags(void **state)
{
	static const unsigned int flags[] = { 2, 3, 1U << 31, ~0U };
	struct dealbox_dealing *dealing;
	struct dealbox_machine *machine;
	struct dealbox_error reason;
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(flags) / sizeof(*flags); n++) {
		machine = (struct dealbox_machine *)&reason;
		assert_int_equal(dealbox_machine_open("emu:/nowhere/at/all", flags[n], &machine,
						      &reason), -EINVAL);
		assert_null(machine);
		assert_non_null(strstr(reason.what, "unknown flag"));
		/* nor is a machine looked for */
		assert_int_equal(dealbox_machine_open(NULL, flags[n], &machine, NULL), -EINVAL);
	}
	dealing = (struct dealbox_dealing *)&reason;
	assert_int_equal(dealbox_dealing_new(NULL, "emu:/nowhere/at/all", 1, 1, &dealing, &reason),
			 -EINVAL);
	assert_null(dealing);
	assert_non_null(strstr(reason.what, "unknown flag"));
}

static size_t several;	/* machines that are said to be there; 0 = those that are */

size_t __real_dealbox_machine_list_count(const struct dealbox_machine_list *list);
size_t __wrap_dealbox_machine_list_count(const struct dealbox_machine_list *list);

size_t __wrap_dealbox_machine_list_count(const struct dealbox_machine_list *list)
{
	return several ? several : __real_dealbox_machine_list_count(list);
}

/* A program then asks which one, as it does not after a wrong address. */
static void which_of_several(void **state)
{
	struct dealbox_machine *machine;
	struct dealbox_error reason;

	(void)state;
	several = 2;
	assert_int_equal(dealbox_machine_open(NULL, 0, &machine, &reason), -ENOTUNIQ);
	several = 0;
	assert_null(machine);
	assert_non_null(strstr(reason.what, "there are 2 machines"));
}

static void emulators_are_listed_where_one_listens(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *emulators[] = { "/nowhere/at/all", address.sun_path, "/dev/null", NULL };
	struct dealbox_machine_list *list;
	size_t n, found = 0;
	char uri[128];
	int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	(void)state;
	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/test_machine.%d", (int)getpid());
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	snprintf(uri, sizeof(uri), "emu:%s", address.sun_path);
	assert_int_equal(dealbox_machine_list_new(emulators, &list, NULL), 0);
	for (n = 0; n < dealbox_machine_list_count(list); n++) {
		if (strncmp(dealbox_machine_list_uri(list, n), "emu:", 4))
			continue;	/* a machine of this computer */
		assert_string_equal(dealbox_machine_list_uri(list, n), uri);
		assert_string_equal(dealbox_machine_list_model(list, n), "emulator");
		assert_string_equal(dealbox_machine_list_serial(list, n), "");
		assert_string_equal(dealbox_machine_list_port(list, n), "");
		found++;
	}
	assert_int_equal(found, 1);
	dealbox_machine_list_free(list);
	close(listener);
	unlink(address.sun_path);

	/* nobody listens on the socket any more */
	assert_int_equal(dealbox_machine_list_new(emulators, &list, NULL), 0);
	for (n = 0; n < dealbox_machine_list_count(list); n++)
		assert_int_not_equal(strncmp(dealbox_machine_list_uri(list, n), "emu:", 4), 0);
	dealbox_machine_list_free(list);
	dealbox_machine_list_free(NULL);
}

static void reasons(void **state)
{
	static const uint32_t zeros[8];
	struct dealbox_error reason;

	(void)state;
	/* all of it is set, whatever was on the stack */
	memset(&reason, 0xff, sizeof(reason));
	assert_int_equal(error_set(&reason, -EIO, 0, NULL, "%s %d", "what", 7), -EIO);
	assert_int_equal(reason.code, -EIO);
	assert_int_equal(reason.line, 0);
	assert_memory_equal(reason.reserved, zeros, sizeof(zeros));
	assert_string_equal(reason.what, "what 7");
	assert_string_equal(reason.next, "");
	assert_int_equal(error_set(NULL, -EIO, 0, "next", "what"), -EIO);
	assert_int_equal(reason_permission(&reason, "/nowhere/at/all", "next"), -EACCES);
	assert_int_equal(reason.code, -EACCES);
	assert_non_null(strstr(reason.what, "no permission to look at /nowhere/at/all"));
}

static void processes_by_name(void **state)
{
	char text[64], expected[64];

	(void)state;
	snprintf(expected, sizeof(expected), "test_machine (process %d)", (int)getpid());
	assert_string_equal(process_name((uint32_t)getpid(), text, sizeof(text)), expected);
	assert_string_equal(process_name(0, text, sizeof(text)), "another process");
	assert_string_equal(process_name(UINT32_MAX, text, sizeof(text)), "process 4294967295");
}

static void what_is_a_machine_on_usb(void **state)
{
	(void)state;
	assert_true(usb_is_machine(0x4242, 7, WIRE_PROTOCOL));
	assert_ptr_equal(usb_dialect(WIRE_PROTOCOL), &dealbox_native);
	/* no descriptor tells it: another device of this class may be anything */
	assert_true(usb_is_machine(0x1209, 1, FRAME_PROTOCOL));
	assert_false(usb_is_machine(0x1209, 2, FRAME_PROTOCOL));
	assert_false(usb_is_machine(0x120a, 1, FRAME_PROTOCOL));
	assert_ptr_equal(usb_dialect(FRAME_PROTOCOL), &dealbox_serial);
	assert_false(usb_is_machine(0x1209, 1, 0));
	assert_null(usb_dialect(0));
}

/* A pipe in place of the node: the program reads whatever a driver writes. */
static void no_machine_deals_by_hand(void **state)
{
	static const struct backend *const backends[] = { &backend_local, &backend_usb,
							  &backend_emu };
	const struct dealbox_event written = { .type = DEALBOX_EV_CARD_READ, .flags = UINT32_MAX };
	struct dealbox_machine machine = { 0 };
	struct dealbox_event events[3];
	struct backend backend;
	int node[2];
	size_t n;

	(void)state;
	assert_int_equal(pipe(node), 0);
	machine.self = (void *)(intptr_t)node[0];
	for (n = 0; n < sizeof(backends) / sizeof(*backends); n++) {
		backend = *backends[n];
		backend.read = backend_local.read;
		machine.backend = &backend;
		assert_int_equal(write(node[1], &written, sizeof(written)), sizeof(written));
		assert_int_equal(write(node[1], &written, sizeof(written)), sizeof(written));
		assert_int_equal(dealbox_machine_read(&machine, events, 3), 2);
		assert_int_equal(events[0].flags, ~DEALBOX_EVF_USER);
		assert_int_equal(events[1].flags, ~DEALBOX_EVF_USER);
		assert_int_equal(dealbox_machine_read(&machine, events, 3), -EAGAIN);
	}
	backend = backend_hand;
	backend.read = backend_local.read;
	assert_int_equal(write(node[1], &written, sizeof(written)), sizeof(written));
	assert_int_equal(dealbox_machine_read(&machine, events, 3), 1);
	assert_true(events[0].flags & DEALBOX_EVF_BY_HAND);
	close(node[0]);
	close(node[1]);
}

static void words(void **state)
{
	(void)state;
	assert_string_equal(dealbox_state_name(DEALBOX_STATE_HELD), "held");
	assert_string_equal(dealbox_state_name(6), "unknown state");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_address),
		cmocka_unit_test(unknown_flags),
		cmocka_unit_test(which_of_several),
		cmocka_unit_test(emulators_are_listed_where_one_listens),
		cmocka_unit_test(reasons),
		cmocka_unit_test(processes_by_name),
		cmocka_unit_test(what_is_a_machine_on_usb),
		cmocka_unit_test(no_machine_deals_by_hand),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
