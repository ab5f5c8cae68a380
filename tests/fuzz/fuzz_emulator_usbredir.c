// SPDX-License-Identifier: LGPL-2.1-or-later
/* The stream of QEMU's usb-redir, in pieces of a size that the second byte gives. */
#include "fuzz_front.h"

static void say(struct fuzz_machine *f, struct front *front, int host, uint64_t *now,
		const uint8_t *data, size_t size)
{
	size_t piece = size > 1 ? 1 + 8 * data[1] + size / PIECES : 1, length;

	if (size < 2)
		return;
	for (data += 2, size -= 2; size; data += length, size -= length) {
		length = size < piece ? size : piece;
		if (send(host, data, length, MSG_NOSIGNAL) != (ssize_t)length)
			return;
		serve_on(f, front, host, now);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size)
		fuzz_front(data[0] & 1, SOCK_STREAM, front_usbredir_open, say, data, size);
	return 0;
}
