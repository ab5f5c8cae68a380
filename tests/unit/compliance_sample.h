/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A report for the tests, small, with each kind of content. */
#ifndef COMPLIANCE_SAMPLE_H
#define COMPLIANCE_SAMPLE_H

#include <string.h>

#include "report.h"

/* what a machine may call itself */
#define HOSTILE	"</script><script>alert(1)</script> \\\"'&\\u0001\\u202e ]]> -->"

static const char sample_text[] =
"{\"dealbox-compliance\":1,\"version\":\"0.1.0\",\"started\":\"2026-11-24T01:00:00Z\","
"\"ended\":\"2026-11-24T01:40:00Z\",\"complete\":true,"
"\"machine\":{\"address\":\"usb:1-2\",\"serial\":\"0007\",\"product\":\"" HOSTILE "\","
"\"firmware\":\"1.2.3\",\"dialect\":\"native\",\"protocol\":\"1.1\",\"descriptor\":\"1825\","
"\"kind\":\"stored plan\"},"
"\"host\":{\"system\":\"lab\",\"kernel\":\"6.1.0\",\"module\":\"\"},\"profile\":\"club\","
"\"tests\":["
"{\"group\":\"descriptors\",\"test\":\"interface\",\"result\":\"ok\",\"requirements\":[\"R-1-1\"],"
"\"failed\":[],\"why\":\"\",\"seconds\":0.1,\"evidence\":[]},"
"{\"group\":\"queries\",\"test\":\"limits\",\"result\":\"fail\",\"requirements\":[\"R-2-3\"],"
"\"failed\":[\"R-2-3\"],\"why\":\"R-2-3: " HOSTILE "\",\"seconds\":1.25,"
"\"evidence\":[{\"us\":1200,\"what\":\"GET_STATUS " HOSTILE "\"}]},"
"{\"group\":\"dealing\",\"test\":\"by-card\",\"result\":\"not run\",\"requirements\":[\"R-5-1\"],"
"\"failed\":[],\"why\":\"a person is needed\",\"seconds\":0.002,\"evidence\":[]},"
"{\"group\":\"dealing\",\"test\":\"gate\",\"result\":\"warn\",\"requirements\":[\"R-5-2\"],"
"\"failed\":[],\"why\":\"501 ms\",\"seconds\":0.5,\"evidence\":[]}],"
"\"requirements\":["
"{\"requirement\":\"R-1-1\",\"result\":\"ok\",\"tests\":[\"descriptors/interface\"],\"why\":\"\"},"
"{\"requirement\":\"R-1-2\",\"result\":\"not testable\",\"tests\":[],\"why\":\"about hosts\"},"
"{\"requirement\":\"R-2-3\",\"result\":\"fail\",\"tests\":[\"queries/limits\"],\"why\":\"late\"},"
"{\"requirement\":\"R-5-1\",\"result\":\"not run\",\"tests\":[\"dealing/by-card\"],\"why\":\"\"},"
"{\"requirement\":\"R-5-2\",\"result\":\"warn\",\"tests\":[\"dealing/gate\"],\"why\":\"501 ms\"}],"
"\"measurements\":{\"readings\":["
"{\"reader\":\"camera\",\"expected\":0,\"read\":0,\"count\":4000},"
"{\"reader\":\"camera\",\"expected\":0,\"read\":13,\"count\":2},"
"{\"reader\":\"camera\",\"expected\":51,\"read\":51,\"count\":998},"
"{\"reader\":\"camera\",\"expected\":51,\"read\":255,\"count\":5},"
"{\"reader\":\"second\",\"expected\":53,\"read\":53,\"count\":10}],"
"\"gates\":["
"{\"gate\":0,\"cards\":2600,\"wrong\":0,\"feed_faults\":3,\"latency_us\":[900,1100,1000,1050]},"
"{\"gate\":1,\"cards\":2400,\"wrong\":1,\"feed_faults\":0,\"latency_us\":[2000]}],"
"\"times\":{\"control_ms\":[0.5,0.75,1],\"card_ms\":[300,310,305,330,900],"
"\"board_ms\":[20000,21000]},"
"\"endurance\":{\"boards\":100,\"wrong\":0}}}";

static inline struct json_object *sample(void)
{
	struct json_object *report = NULL;
	struct dealbox_error error = { 0 };

	if (report_parse(sample_text, strlen(sample_text), &report, &error))
		fprintf(stderr, "the sample: %s\n", error.what);
	return report;
}

static inline struct dealbox_signer *sample_signer(char digit)
{
	char key[] = "dealbox signing key 1 "
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";
	struct dealbox_signer *signer = NULL;

	*strchr(key, 'f') = digit;
	return dealbox_signer_parse(key, strlen(key), &signer, NULL) ? NULL : signer;
}

#endif
