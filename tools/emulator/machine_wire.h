/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Encoding and decoding of the protocol by a machine. The host's part is driver/wire.h. */
#ifndef EMULATOR_MACHINE_WIRE_H
#define EMULATOR_MACHINE_WIRE_H

#include "wire.h"

/* Encoders write exactly the size defined in wire.h, and zero the reserved bytes. */
void wire_descriptor_put(u8 *buf, const struct wire_descriptor *in);
void wire_info_put(u8 *buf, const struct wire_info *in);
void wire_status_put(u8 *buf, const struct wire_status *in);
void wire_result_put(u8 *buf, const struct wire_result *in);
void wire_counters_put(u8 *buf, const struct dealbox_counters *in);
void wire_param_put(u8 *buf, const struct wire_param *in);
void wire_event_put(u8 *buf, const struct wire_event *in);

void wire_command_get(const u8 *buf, struct wire_command *out);
/* Returns false if length, type or reason are invalid (section 6). */
bool wire_gate_get(const u8 *buf, size_t len, struct wire_gate *out);

#endif
