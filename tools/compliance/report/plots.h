/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plots of a report, which the page and the paper show. */
#ifndef COMPLIANCE_PLOTS_H
#define COMPLIANCE_PLOTS_H

#include "print/plot.h"
#include "report.h"

/* Each returns a plot, to be freed by plot_free(), or NULL if out of memory. */

/* One square for each pair of a card in the deck and the card that a reader read */
struct plot *plot_of_readings(const struct readings *readings);

/* A histogram of sorted values; count > 0 */
struct plot *plot_of_values(const struct report_distribution *distribution, const double *values,
			    size_t count);

#endif
