// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dealbox/version.h>

uint32_t dealbox_version(void)
{
	return DEALBOX_VERSION_NUMBER;
}
