/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef COMPLIANCE_H
#define COMPLIANCE_H

/* Run the program. Returns its exit status. */
int compliance(int argc, char **argv);

#endif
