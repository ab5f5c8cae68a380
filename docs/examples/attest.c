// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * attest MACHINE: prints the machine's public key.
 * attest MACHINE FILE KEY: deals the first board of a file, lets the machine sign what it said, and
 * compares that with the plan and the events. KEY is the key that was printed before the deal.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <dealbox/attestation.h>
#include <dealbox/event.h>
#include <dealbox/format.h>
#include <dealbox/machine.h>
#include <dealbox/plan.h>
#include <dealbox/trace.h>

#define WAIT_MS	10000

/*
 * Reads events until one of this type comes. Returns 0, or -errno; -ECANCELED: the machine stopped.
 */
static int follow(struct dealbox_machine *machine, struct dealbox_trace *trace, uint32_t type,
		  int wait_ms)
{
	struct dealbox_event event = { .type = 0 };

	while (event.type != type) {
		struct pollfd poll_fd = { .fd = dealbox_machine_fd(machine), .events = POLLIN };
		ssize_t got = dealbox_machine_read(machine, &event, 1);

		if (got == -EAGAIN && poll(&poll_fd, 1, wait_ms))
			continue;
		if (got < 0)
			return (int)got;
		got = dealbox_trace_add(trace, &event);
		if (got < 0)
			return (int)got;
		if (dealbox_event_stops(event.type))
			return -ECANCELED;
	}
	return event.type == DEALBOX_EV_ATTESTED && event.arg[0] ? -ECANCELED : 0;
}

static int key_parse(const char *text, uint8_t key[DEALBOX_PUBLIC_KEY_SIZE])
{
	int length = 0;

	for (int i = 0; i < DEALBOX_PUBLIC_KEY_SIZE; i++, text += length)
		if (sscanf(text, "%2hhx%n", &key[i], &length) != 1 || length != 2)
			return -EINVAL;
	return *text ? -EINVAL : 0;
}

static int compare(struct dealbox_machine *machine, const struct dealbox_plan *plan,
		   const struct dealbox_trace *trace, const uint8_t *nonce, const uint8_t *key)
{
	struct dealbox_attestation attestation;
	struct dealbox_statement statement;
	struct dealbox_error reason;
	enum dealbox_attested result;

	if (dealbox_machine_get_attestation(machine, &attestation) ||
	    dealbox_attestation_read(&attestation, &statement))
		return -EPROTO;
	result = dealbox_attestation_verify(&attestation, key, nonce, plan, trace, &reason);
	printf("%s%s%s\n", dealbox_attested_name(result),
	       result == DEALBOX_ATTESTED_PROVEN ? "" : ": ",
	       result == DEALBOX_ATTESTED_PROVEN ? "" : reason.what);
	printf("attestation %u of this key%s\n", statement.counter,
	       statement.emulated ? ", by an emulator: a rehearsal" : "");
	return result == DEALBOX_ATTESTED_PROVEN ? 0 : 1;
}

static int deal(struct dealbox_machine *machine, struct dealbox_plan *plan, const uint8_t *key)
{
	uint8_t nonce[DEALBOX_NONCE_SIZE];
	struct dealbox_status status;
	struct dealbox_trace *trace;
	int ret;

	/* secret as long as the cards are, and never used again */
	if (getrandom(nonce, sizeof(nonce), 0) != sizeof(nonce) ||
	    dealbox_machine_claim(machine) || dealbox_machine_set_plan(machine, plan) ||
	    dealbox_machine_get_status(machine, &status))
		return -EIO;
	trace = dealbox_trace_new(status.insertion);
	ret = trace ? dealbox_machine_start(machine, plan->plan_id, status.insertion) : -ENOMEM;
	if (!ret)
		ret = follow(machine, trace, DEALBOX_EV_DEAL_DONE, -1);
	if (!ret)
		ret = dealbox_machine_attest(machine, status.insertion, nonce);
	if (!ret)
		ret = follow(machine, trace, DEALBOX_EV_ATTESTED, WAIT_MS);
	if (!ret)
		ret = compare(machine, plan, trace, nonce, key);
	dealbox_trace_free(trace);
	return ret;
}

static int deal_file(struct dealbox_machine *machine, const char *file, const uint8_t *key)
{
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct dealbox_board board;
	struct dealbox_plan plan;
	int ret = -EINVAL;

	if (set && !dealbox_format_read_file(NULL, file, set, NULL, NULL) &&
	    !dealbox_set_get(set, 0, &board) &&
	    !dealbox_plan_by_card(&plan, 1, &board.deal, dealbox_set_pack(set), NULL))
		ret = deal(machine, &plan, key);
	dealbox_plan_wipe(&plan);
	dealbox_deal_wipe(&board.deal);
	dealbox_set_free(set);
	return ret;
}

static int print_key(struct dealbox_machine *machine)
{
	struct dealbox_identity identity;
	int ret = dealbox_machine_get_identity(machine, &identity);

	for (int i = 0; !ret && i < DEALBOX_PUBLIC_KEY_SIZE; i++)
		printf("%02x", identity.public_key[i]);
	if (!ret)
		putchar('\n');
	return ret;
}

int main(int argc, char **argv)
{
	uint8_t key[DEALBOX_PUBLIC_KEY_SIZE];
	struct dealbox_machine *machine;
	struct dealbox_error reason;
	int ret;

	if (argc != 2 && (argc != 4 || key_parse(argv[3], key)))
		return 2;
	if (dealbox_machine_open(argv[1], 0, &machine, &reason)) {
		fprintf(stderr, "%s: %s\n", reason.what, reason.next);
		return 3;
	}
	ret = argc == 2 ? print_key(machine) : deal_file(machine, argv[2], key);
	if (ret < 0)
		fprintf(stderr, "%s: %s\n", strerror(-ret), dealbox_machine_error(machine)->what);
	dealbox_machine_close(machine);
	return ret < 0 ? 3 : ret;
}
