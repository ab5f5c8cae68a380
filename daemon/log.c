// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>
#include <unistd.h>

#include <systemd/sd-journal.h>

#include <dealbox/ledger.h>

#include "dealing/job.h"
#include "log.h"

/* Message ids must never change. dealbox.catalog explains them. */
static const struct {
	const char *id;
	int priority;
} rows[MESSAGES] = {
	[MESSAGE_STARTED] = { "3c1f0d8b5ab84f0f9b9e0f3e5b0f6a01", LOG_INFO },
	[MESSAGE_STOPPED] = { "3c1f0d8b5ab84f0f9b9e0f3e5b0f6a02", LOG_INFO },
	[MESSAGE_MACHINE] = { "3c1f0d8b5ab84f0f9b9e0f3e5b0f6a03", LOG_INFO },
	[MESSAGE_GONE] = { "3c1f0d8b5ab84f0f9b9e0f3e5b0f6a04", LOG_WARNING },
	[MESSAGE_RECORDED] = { "3c1f0d8b5ab84f0f9b9e0f3e5b0f6a05", LOG_INFO },
	[MESSAGE_VOID] = { "3c1f0d8b5ab84f0f9b9e0f3e5b0f6a06", LOG_WARNING },
	[MESSAGE_OPERATOR] = { "3c1f0d8b5ab84f0f9b9e0f3e5b0f6a07", LOG_NOTICE },
	[MESSAGE_JOB] = { "3c1f0d8b5ab84f0f9b9e0f3e5b0f6a08", LOG_INFO },
	[MESSAGE_LEDGER] = { "3c1f0d8b5ab84f0f9b9e0f3e5b0f6a09", LOG_ERR },
	[MESSAGE_REFUSED] = { "3c1f0d8b5ab84f0f9b9e0f3e5b0f6a0a", LOG_WARNING },
	[MESSAGE_CONFIG] = { "3c1f0d8b5ab84f0f9b9e0f3e5b0f6a0b", LOG_ERR },
	[MESSAGE_SERVICE] = { "3c1f0d8b5ab84f0f9b9e0f3e5b0f6a0c", LOG_NOTICE },
	[MESSAGE_PANEL] = { "3c1f0d8b5ab84f0f9b9e0f3e5b0f6a0d", LOG_INFO },
	[MESSAGE_PANEL_LOST] = { "3c1f0d8b5ab84f0f9b9e0f3e5b0f6a0e", LOG_ERR },
	[MESSAGE_STOP] = { "3c1f0d8b5ab84f0f9b9e0f3e5b0f6a0f", LOG_WARNING },
	[MESSAGE_EVENT] = { "3c1f0d8b5ab84f0f9b9e0f3e5b0f6a10", LOG_NOTICE },
};

static struct dealbox_ledger *witnessed;

void log_ledger(struct dealbox_ledger *ledger)
{
	witnessed = ledger;
}

void log_message(enum message message, const char *machine, const struct copy *copy,
		 const char *format, ...)
{
	char text[1024], head[DEALBOX_LEDGER_HEAD_TEXT] = "";
	struct dealbox_ledger_head now;
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	/* The head in the journal is a witness for `dealbox ledger verify --head`. */
	if (machine && witnessed && (message == MESSAGE_RECORDED || message == MESSAGE_VOID) &&
	    !dealbox_ledger_get_head(witnessed, &now))
		dealbox_ledger_head_format(&now, head);
	/* With JOURNAL_STREAM, standard error is the journal too: do not log twice. */
	if (!getenv("JOURNAL_STREAM"))
		fprintf(stderr, "dealboxd: %s%s%s\n", machine ? machine : "", machine ? ": " : "",
			text);
	sd_journal_send("MESSAGE=%s", text, "PRIORITY=%d", rows[message].priority,
			"MESSAGE_ID=%s", rows[message].id,
			"DEALBOX_MACHINE=%s", machine ? machine : "",
			"DEALBOX_JOB=%llu", copy ? (unsigned long long)copy->job : 0ULL,
			"DEALBOX_BOARD=%u", copy ? copy->board : 0,
			"DEALBOX_HEAD=%s", head, NULL);
}
