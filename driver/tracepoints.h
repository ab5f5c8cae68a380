/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints record times and results, never a card or a pocket: the deal is
 * secret.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM dealbox

#if !defined(DEALBOX_TRACEPOINTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define DEALBOX_TRACEPOINTS_H

#include <linux/tracepoint.h>
#include <linux/types.h>

TRACE_EVENT(dealbox_transfer,
	TP_PROTO(int minor, int status, unsigned int length),
	TP_ARGS(minor, status, length),
	TP_STRUCT__entry(
		__field(int, minor)
		__field(int, status)
		__field(unsigned int, length)
	),
	TP_fast_assign(
		__entry->minor = minor;
		__entry->status = status;
		__entry->length = length;
	),
	TP_printk("dealbox%d status=%d length=%u",
		  __entry->minor, __entry->status, __entry->length)
);

TRACE_EVENT(dealbox_event,
	TP_PROTO(int minor, u64 seqno, u32 machine_seq, u32 type, u8 position),
	TP_ARGS(minor, seqno, machine_seq, type, position),
	TP_STRUCT__entry(
		__field(int, minor)
		__field(u64, seqno)
		__field(u32, machine_seq)
		__field(u32, type)
		__field(u8, position)
	),
	TP_fast_assign(
		__entry->minor = minor;
		__entry->seqno = seqno;
		__entry->machine_seq = machine_seq;
		__entry->type = type;
		__entry->position = position;
	),
	TP_printk("dealbox%d seqno=%llu machine_seq=%u type=0x%02x position=%u",
		  __entry->minor, __entry->seqno, __entry->machine_seq,
		  __entry->type, __entry->position)
);

TRACE_EVENT(dealbox_gate,
	TP_PROTO(int minor, u32 machine_seq, u8 position, bool hold, int error),
	TP_ARGS(minor, machine_seq, position, hold, error),
	TP_STRUCT__entry(
		__field(int, minor)
		__field(u32, machine_seq)
		__field(u8, position)
		__field(bool, hold)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->minor = minor;
		__entry->machine_seq = machine_seq;
		__entry->position = position;
		__entry->hold = hold;
		__entry->error = error;
	),
	TP_printk("dealbox%d machine_seq=%u position=%u %s error=%d",
		  __entry->minor, __entry->machine_seq, __entry->position,
		  __entry->hold ? "hold" : "go", __entry->error)
);

TRACE_EVENT(dealbox_command,
	TP_PROTO(int minor, u8 request, u32 sequence, int error, u8 result),
	TP_ARGS(minor, request, sequence, error, result),
	TP_STRUCT__entry(
		__field(int, minor)
		__field(u8, request)
		__field(u32, sequence)
		__field(int, error)
		__field(u8, result)
	),
	TP_fast_assign(
		__entry->minor = minor;
		__entry->request = request;
		__entry->sequence = sequence;
		__entry->error = error;
		__entry->result = result;
	),
	TP_printk("dealbox%d request=0x%02x sequence=%u error=%d result=%u",
		  __entry->minor, __entry->request, __entry->sequence,
		  __entry->error, __entry->result)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE tracepoints
#include <trace/define_trace.h>
