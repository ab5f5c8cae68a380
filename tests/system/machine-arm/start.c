// SPDX-License-Identifier: LGPL-2.1-or-later
/* Startup of a Cortex-M0 before main(): vectors, data, and semihosting where it is linked in. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern uint8_t data_from[], data_start[], data_end[], bss_start[], bss_end[], stack_top[];

int main(void);
/* of librdimon; not there in an image without semihosting */
__attribute__((weak)) void initialise_monitor_handles(void);

void reset(void);
void fault(void);

/* A fault of the processor ends QEMU: "halt" would never be noticed. */
void fault(void)
{
	if (initialise_monitor_handles)
		abort();
	for (;;)
		;
}

void reset(void)
{
	memcpy(data_start, data_from, (size_t)(data_end - data_start));
	memset(bss_start, 0, (size_t)(bss_end - bss_start));
	if (initialise_monitor_handles) {
		initialise_monitor_handles();
		exit(main());
	}
	main();
	fault();
}

__attribute__((section(".vectors"), used)) static const struct {
	void *stack;
	void (*handlers[15])(void);
} vectors = { stack_top, { reset, fault, fault } };
