/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libdealbox: everything. Each header also stands alone. */
#ifndef DEALBOX_DEALBOX_H
#define DEALBOX_DEALBOX_H

#include <dealbox/api.h>
#include <dealbox/attestation.h>
#include <dealbox/audit.h>
#include <dealbox/bigdeal.h>
#include <dealbox/card.h>
#include <dealbox/certificate.h>
#include <dealbox/deal.h>
#include <dealbox/dealing.h>
#include <dealbox/diagnosis.h>
#include <dealbox/error.h>
#include <dealbox/event.h>
#include <dealbox/format.h>
#include <dealbox/law.h>
#include <dealbox/ledger.h>
#include <dealbox/log.h>
#include <dealbox/machine.h>
#include <dealbox/manifest.h>
#include <dealbox/number.h>
#include <dealbox/operator.h>
#include <dealbox/pack.h>
#include <dealbox/plan.h>
#include <dealbox/random.h>
#include <dealbox/report.h>
#include <dealbox/seal.h>
#include <dealbox/set.h>
#include <dealbox/square.h>
#include <dealbox/trace.h>
#include <dealbox/verify.h>
#include <dealbox/version.h>

#endif
