/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine that the kernel module drives: local:NODE. The module stands between test and machine,
 * so nothing can be sent that the kernel ABI does not have. What the machine says is given in the
 * form of docs/protocol.md nevertheless, so that the same tests judge it.
 */
#ifndef COMPLIANCE_LOCAL_H
#define COMPLIANCE_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access.h"
#include "wire.h"

struct local;

struct access *access_open_local(const char *node, char *error, size_t size);

/* The file that holds the claim, and the node, for tests of the ABI. */
int local_file(const struct local *local);
const char *local_node(const struct local *local);

/* Wait until the file tells that its machine is gone, or ms. */
void local_await_gone(const struct local *local, unsigned int ms);
/* Take the claim again, if a test that failed has left it. */
void local_claim(const struct local *local);
/*
 * Describe the machine: descriptor, serial number and product. The last two have room for size
 * bytes each. Returns true if it speaks the serial dialect. *error: -errno of GET_INFO, or 0.
 */
bool local_describe(const struct local *local, struct wire_descriptor *out, char *serial,
		    char *product, size_t size, int *error);
/*
 * A query, answered as the machine would, with zeros where the ABI does not show a field. Returns
 * its size, -EPIPE if it is refused, -EOPNOTSUPP if the ABI has no such call, or -errno.
 */
int local_query(struct local *local, uint8_t request, uint16_t value, uint8_t *data);
/*
 * A command. Returns the machine's error code, with its detail; -EINVAL if the module refused it
 * before the machine saw it, -EOPNOTSUPP if the ABI has no such call, or -errno.
 */
int local_command(struct local *local, uint8_t request, const struct wire_command *command,
		  uint32_t *detail);
/* SET_PLAN. Returns as local_command(). */
int local_load(struct local *local, const struct wire_plan *plan, uint32_t *detail);

#endif
