// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * In the place of panel.c, where libgpiod is missing. The operator relies on the buttons that the
 * settings name, so with such settings no machine of the panel may deal.
 */
#include <string.h>

#include "log.h"
#include "panel.h"
#include "service.h"
#include "stations.h"

static const char without[] =
	"this dealboxd was built without panels; take [panel] out of the settings";

void panel_open(struct service *s)
{
	if (!*s->config.chip || *s->panel->wrong)
		return;
	memcpy(s->panel->wrong, without, sizeof(without));
	log_message(MESSAGE_PANEL_LOST, NULL, NULL, "the panel: %s. Dealing is stopped until then",
		    without);
	service_notify(s, &(struct notice){ .kind = NOTICE_PANEL_CHANGED });
	stations_run_later(s);
}

void panel_look(struct service *s)
{
	(void)s;
}

void panel_notice(struct service *s, const struct notice *notice)
{
	struct station *st = notice->station;

	if (notice->kind == NOTICE_MACHINE_TURN)
		engine_bar(&st->dealing.engine,
			   *s->config.chip &&
			   (!*s->config.machine || !strcmp(s->config.machine, st->id)) ?
			   DEALBOX_OPERATOR_PANEL : DEALBOX_OPERATOR_NONE);
}

int panel_fd(const struct service *s)
{
	(void)s;
	return -1;
}

void panel_read_early(struct service *s)
{
	(void)s;
}

const char *panel_state(const struct service *s)
{
	return *s->config.chip ? s->panel->wrong : "";
}

void panel_close(struct service *s)
{
	*s->panel->wrong = 0;
	service_notify(s, &(struct notice){ .kind = NOTICE_PANEL_CHANGED });
}

void panel_end(struct service *s)
{
	(void)s;
}
