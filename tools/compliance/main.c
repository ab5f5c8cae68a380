// SPDX-License-Identifier: LGPL-2.1-or-later
#include "compliance.h"

int main(int argc, char **argv)
{
	return compliance(argc, argv);
}
