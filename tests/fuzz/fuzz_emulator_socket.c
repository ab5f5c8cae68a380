// SPDX-License-Identifier: LGPL-2.1-or-later
/* Packets of the emulator's own socket (lib/machine/emu.h): a length, then as many bytes. */
#include "machine/emu.h"
#include "fuzz_front.h"

static void say(struct fuzz_machine *f, struct front *front, int host, uint64_t *now,
		const uint8_t *data, size_t size)
{
	static const struct emu_frame attach = { .kind = EMU_ATTACH, .id = EMU_VERSION };

	/* One bit decides whether the host greets, because the emulator hangs up otherwise. */
	if (size && data[0] & 1)
		send(host, &attach, sizeof(attach), MSG_NOSIGNAL);
	serve_on(f, front, host, now);
	for (int i = 0; i < PIECES && size > 2; i++) {
		size_t length = (data[0] | data[1] << 8) % (size - 1);

		data += 2;
		size -= 2;
		if (length > size)
			length = size;
		send(host, data, length, MSG_NOSIGNAL);
		serve_on(f, front, host, now);
		data += length;
		size -= length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size)
		fuzz_front(data[0] >> 1 & 1, SOCK_SEQPACKET, front_socket_open, say, data, size);
	return 0;
}
