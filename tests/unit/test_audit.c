// SPDX-License-Identifier: LGPL-2.1-or-later
/* Audits: exact expectations, and detection of wrong dealing. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dealbox/format.h>

#include "fairness/audit-stats.h"
#include "cards/number-internal.h"
#include "cards/random-internal.h"

static int fixed_origin(uint8_t key[RANDOM_KEY_SIZE])
{
	memset(key, 42, RANDOM_KEY_SIZE);
	return 0;
}

static struct dealbox_random *fixed_random(void)
{
	struct dealbox_random *random;

	assert_int_equal(random_new_from(fixed_origin, &random), 0);
	return random;
}

static void set_put(struct dealbox_set *set, const struct dealbox_deal *deal)
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;

	board.deal = *deal;
	board.number = (uint32_t)dealbox_set_count(set) + 1;
	assert_int_equal(dealbox_set_add(set, &board), 0);
}

static void set_put_random(struct dealbox_set *set, struct dealbox_random *random, int deals)
{
	struct dealbox_deal deal;

	while (deals--) {
		assert_int_equal(dealbox_random_deal(random, NULL, NULL, &deal), 0);
		set_put(set, &deal);
	}
}

static struct dealbox_deal turned(const struct dealbox_deal *deal, int by)
{
	struct dealbox_deal out;

	for (int seat = 0; seat < DEALBOX_HANDS; seat++)
		out.hand[(seat + by) % DEALBOX_HANDS] = deal->hand[seat];
	return out;
}

static void assert_close(double got, double want, double within)
{
	if (fabs(got - want) > within)
		fail_msg("%.15g is not %.15g", got, want);
}

static void test_chi_square_table(void **state)
{
	(void)state;
	/* two degrees: exp(-x/2); the others from tables of quantiles */
	assert_close(audit_chi_square_above(3, 2), exp(-1.5), 1e-14);
	assert_close(audit_chi_square_above(60, 2), exp(-30), 1e-25);
	assert_close(audit_chi_square_above(3.841458820694124, 1), 0.05, 1e-12);
	assert_close(audit_chi_square_above(18.307038053275146, 10), 0.05, 1e-12);
	assert_close(audit_chi_square_above(135.80672317102676, 100), 0.01, 1e-12);
	assert_close(audit_chi_square_above(70.06489492539978, 100), 0.99, 1e-12);
	assert_close(audit_chi_square_above(0, 5), 1, 0);
}

static void test_expectations_are_exact(void **state)
{
	struct audit_stats stats;
	struct dealbox_deal deal;
	double sum = 0;

	(void)state;
	audit_stats_init(&stats);
	for (int i = 0; i < STATS_SHAPES; i++)
		sum += stats.shape_probability[i];
	assert_close(sum, 1, 1e-14);
	/* the counts of one deal show the cell of each hand */
	assert_int_equal(dealbox_deal_parse("N:AKQJ.AKQ.AKQ.AKQ T987.JT98.JT9.JT 65432.765.876.98 "
					    ".432.5432.765432", &deal), 0);
	audit_stats_add(&stats, &deal);
	for (int i = 0; i < STATS_SHAPES; i++) {
		if (stats.shape[DEALBOX_NORTH][i])	/* 4-3-3-3 */
			assert_close(stats.shape_probability[i], 66905856160. / 635013559600.,
				     1e-15);
		if (stats.shape[DEALBOX_EAST][i])	/* 4-4-3-2 */
			assert_close(stats.shape_probability[i], 136852887600. / 635013559600.,
				     1e-15);
		if (stats.shape[DEALBOX_WEST][i])	/* 6-4-3-0 */
			assert_close(stats.shape_probability[i], 8421716160. / 635013559600.,
				     1e-15);
	}
	assert_int_equal(stats.points[DEALBOX_NORTH][37], 1);
	assert_int_equal(stats.points[DEALBOX_EAST][3], 1);
	assert_int_equal(stats.points[DEALBOX_SOUTH][0], 1);
}

static void test_every_shape_has_its_cell(void **state)
{
	struct audit_stats stats;
	unsigned int cells = 0;

	(void)state;
	audit_stats_init(&stats);
	/* hands of all length patterns in all orders, by the first cards of each suit */
	for (unsigned int s = 0; s <= 13; s++)
	for (unsigned int h = 0; s + h <= 13; h++)
	for (unsigned int d = 0; s + h + d <= 13; d++) {
		const unsigned int length[4] = { s, h, d, 13 - s - h - d };
		struct dealbox_deal deal = { { 0 } };
		unsigned int dealt = 0;

		for (unsigned int suit = 0; suit < 4; suit++) {
			const dealbox_cards cards = ((dealbox_cards)1 << length[suit]) - 1;

			deal.hand[0] |= cards << 13 * suit;
		}
		for (dealbox_cards left = DEALBOX_PACK_BRIDGE & ~deal.hand[0]; left;
		     left &= left - 1)
			deal.hand[1 + dealt++ / 13] |= left & -left;
		audit_stats_add(&stats, &deal);
	}
	for (int i = 0; i < STATS_SHAPES; i++)
		cells += stats.shape[0][i] > 0;
	assert_int_equal(cells, STATS_SHAPES);
}

/* Adds a set to an audit. Returns the least corrected p. */
static double least_p(const struct dealbox_audit *audit)
{
	struct dealbox_audit_test tests[AUDIT_TESTS];
	size_t count = dealbox_audit_run(audit, tests, AUDIT_TESTS);
	double least = 1;

	assert_int_equal(count, 18);
	for (size_t i = 0; i < count; i++) {
		assert_true(tests[i].enough);
		assert_true(tests[i].corrected >= tests[i].p);
		least = fmin(least, tests[i].corrected);
	}
	return least;
}

static void test_good_deals_pass(void **state)
{
	struct dealbox_random *random = fixed_random();
	struct dealbox_audit *audit = dealbox_audit_new();

	(void)state;
	for (int s = 0; s < 500; s++) {
		struct dealbox_set *set = dealbox_set_new(NULL);

		set_put_random(set, random, 32);
		assert_int_equal(dealbox_audit_add(audit, set, "set"), 0);
		dealbox_set_free(set);
	}
	assert_int_equal(dealbox_audit_deals(audit), 16000);
	assert_int_equal(dealbox_audit_sets(audit), 500);
	assert_true(least_p(audit) > 0.05);
	dealbox_audit_free(audit);
	dealbox_random_free(random);
}

/* Faults of dealing that occurred in the field, or might. Each changes a random deal. */
static void wrong_ace(struct dealbox_deal *deal, unsigned int n, const struct dealbox_deal *last)
{
	const int at = dealbox_deal_holder(deal, 0);

	(void)last;
	/* every 20th time the spade ace goes to North for the lowest card there */
	if (n % 20 == 0 && at) {
		const dealbox_cards give = (dealbox_cards)1
					   << (63 - __builtin_clzll(deal->hand[0]));

		deal->hand[0] ^= give | 1;
		deal->hand[at] ^= give | 1;
	}
}

static void wrong_too_flat(struct dealbox_deal *deal, unsigned int n,
			   const struct dealbox_deal *last)
{
	(void)n;
	/* a deal with a long suit is replaced by the last one, rotated */
	for (int seat = 0; seat < DEALBOX_HANDS; seat++)
		for (int suit = 0; suit < 4; suit++)
			if (__builtin_popcountll(deal->hand[seat] >> 13 * suit & 0x1fff) > 6)
				*deal = turned(last, 1);
}

static void wrong_carried_over(struct dealbox_deal *deal, unsigned int n,
			       const struct dealbox_deal *last)
{
	/* the deck was hardly shuffled: some cards lie as in the deal before */
	for (unsigned int card = n % 8; n && card < DEALBOX_CARDS; card += 8) {
		const int now = dealbox_deal_holder(deal, card);
		const int before = dealbox_deal_holder(last, card);
		const dealbox_cards back = deal->hand[before] & ~(dealbox_cards)1;
		const dealbox_cards give = (dealbox_cards)1 << (63 - __builtin_clzll(back));

		if (now == before || give >> card & 1)
			continue;
		deal->hand[before] ^= give | (dealbox_cards)1 << card;
		deal->hand[now] ^= give | (dealbox_cards)1 << card;
	}
}

static void wrong_stronger_later(struct dealbox_deal *deal, unsigned int n,
				 const struct dealbox_deal *last)
{
	(void)last;
	/* later in the set North and East change places when East has the club ace */
	if (n % 32 > 16 && deal->hand[1] >> 39 & 1)
		*deal = (struct dealbox_deal){ { deal->hand[1], deal->hand[0], deal->hand[2],
						 deal->hand[3] } };
}

static void test_wrong_deals_are_found(void **state)
{
	static void (*const wrong[])(struct dealbox_deal *deal, unsigned int n,
				     const struct dealbox_deal *last) = {
		wrong_ace, wrong_too_flat, wrong_carried_over, wrong_stronger_later,
	};
	struct dealbox_random *random = fixed_random();

	(void)state;
	for (size_t w = 0; w < sizeof(wrong) / sizeof(wrong[0]); w++) {
		struct dealbox_audit *audit = dealbox_audit_new();
		struct dealbox_deal deal, last;

		assert_int_equal(dealbox_random_deal(random, NULL, NULL, &last), 0);
		for (unsigned int s = 0, n = 0; s < 500; s++) {
			struct dealbox_set *set = dealbox_set_new(NULL);

			for (int i = 0; i < 32; i++, n++) {
				assert_int_equal(dealbox_random_deal(random, NULL, NULL, &deal), 0);
				wrong[w](&deal, n, &last);
				last = deal;
				set_put(set, &deal);
			}
			assert_int_equal(dealbox_audit_add(audit, set, "set"), 0);
			dealbox_set_free(set);
		}
		if (least_p(audit) > 1e-3)
			fail_msg("way %zu was not found: %g", w, least_p(audit));
		dealbox_audit_free(audit);
	}
	dealbox_random_free(random);
}

struct findings {
	size_t count;
	struct dealbox_audit_finding finding[64];
};

static int finding_keep(const struct dealbox_audit_finding *finding, void *context)
{
	struct findings *findings = context;

	assert_in_range(findings->count, 0, 63);
	findings->finding[findings->count++] = *finding;
	return 0;
}

static void test_sorted_decks(void **state)
{
	struct dealbox_random *random = fixed_random();
	struct dealbox_audit *audit = dealbox_audit_new();
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct findings findings = { 0 };
	struct dealbox_deal deal;

	(void)state;
	set_put_random(set, random, 100);
	/* by suits, dealt in turn from each cut; ranks up in two suits and down in two */
	for (unsigned int cut = 0; cut < 4; cut++) {
		deal = (struct dealbox_deal){ { 0 } };
		for (unsigned int i = 0; i < 52; i++) {
			unsigned int card = (i + 11 * cut) % 52;

			if (card < 26)
				card = card / 13 * 13 + 12 - card % 13;
			deal.hand[i % 4] |= (dealbox_cards)1 << card;
		}
		set_put(set, &deal);
	}
	/* by ranks, suits in the order H C D S */
	for (unsigned int cut = 0; cut < 4; cut++) {
		static const unsigned int suits[4] = { 1, 3, 2, 0 };

		deal = (struct dealbox_deal){ { 0 } };
		for (unsigned int i = 0; i < 52; i++) {
			const unsigned int place = (i + 7 * cut) % 52;

			deal.hand[i % 4] |= (dealbox_cards)1 << (13 * suits[place % 4] + place / 4);
		}
		set_put(set, &deal);
	}
	/* the placeholder: 13 spades to North */
	for (unsigned int seat = 0; seat < 4; seat++)
		deal.hand[seat] = (dealbox_cards)0x1fff << 13 * seat;
	set_put(set, &deal);
	assert_int_equal(dealbox_audit_add(audit, set, "a"), 0);
	assert_int_equal(dealbox_audit_find(audit, finding_keep, &findings), 0);
	for (size_t i = 0; i < findings.count; i++)
		if (findings.finding[i].kind == DEALBOX_AUDIT_SORTED)
			assert_true(findings.finding[i].board > 100);
	size_t sorted = 0;

	for (size_t i = 0; i < findings.count; i++)
		sorted += findings.finding[i].kind == DEALBOX_AUDIT_SORTED;
	assert_int_equal(sorted, 9);
	dealbox_set_free(set);
	dealbox_audit_free(audit);
	dealbox_random_free(random);
}

static void test_repeats_and_seeds(void **state)
{
	struct dealbox_random *random = fixed_random();
	struct dealbox_audit *audit = dealbox_audit_new();
	struct dealbox_set *a = dealbox_set_new(NULL), *b = dealbox_set_new(NULL);
	struct findings findings = { 0 };
	struct dealbox_board board;
	struct dealbox_deal deal;

	(void)state;
	set_put_random(a, random, 32);
	set_put_random(b, random, 10);
	/* board 5 of a, turned by three, is board 11 of b; 20..27 of a are 12..19 of b */
	assert_int_equal(dealbox_set_get(a, 4, &board), 0);
	deal = turned(&board.deal, 3);
	set_put(b, &deal);
	for (size_t i = 19; i < 27; i++) {
		assert_int_equal(dealbox_set_get(a, i, &board), 0);
		set_put(b, &board.deal);
	}
	assert_int_equal(dealbox_audit_add(audit, a, "a"), 0);
	assert_int_equal(dealbox_audit_add(audit, b, "b"), 0);
	assert_int_equal(dealbox_audit_find(audit, finding_keep, &findings), 0);
	assert_int_equal(findings.count, 2);
	assert_int_equal(findings.finding[0].kind, DEALBOX_AUDIT_REPEATED);
	assert_int_equal(findings.finding[0].set, 1);
	assert_int_equal(findings.finding[0].board, 11);
	assert_int_equal(findings.finding[0].other_set, 0);
	assert_int_equal(findings.finding[0].other_board, 5);
	assert_int_equal(findings.finding[0].turned, 3);
	assert_int_equal(findings.finding[1].kind, DEALBOX_AUDIT_SEED);
	assert_int_equal(findings.finding[1].board, 12);
	assert_int_equal(findings.finding[1].count, 8);
	assert_int_equal(findings.finding[1].other_board, 20);
	assert_int_equal(findings.finding[1].turned, 0);
	assert_string_equal(dealbox_audit_set(audit, 1), "b");
	assert_null(dealbox_audit_set(audit, 2));
	dealbox_set_free(a);
	dealbox_set_free(b);
	dealbox_audit_free(audit);
	dealbox_random_free(random);
}

/* A program that was built when there were fewer tests has an array of that size. */
static void test_no_more_results_than_have_room(void **state)
{
	struct dealbox_audit *audit = dealbox_audit_new();
	struct dealbox_audit_test tests[3];

	(void)state;
	memset(tests, 0x5a, sizeof(tests));
	assert_int_equal(dealbox_audit_run(audit, tests, 2), AUDIT_TESTS);
	assert_string_equal(tests[0].name, "card-seat");
	assert_string_equal(tests[1].name, "shapes-north");
	assert_int_equal(((const uint8_t *)&tests[2])[0], 0x5a);
	for (size_t i = 0; i < sizeof(tests[0].reserved) / sizeof(tests[0].reserved[0]); i++)
		assert_int_equal(tests[0].reserved[i], 0);
	assert_int_equal(dealbox_audit_run(audit, NULL, 0), AUDIT_TESTS);
	dealbox_audit_free(audit);
}

static void test_unplayed_sets_are_refused(void **state)
{
	struct dealbox_random *random = fixed_random();
	struct dealbox_audit *audit = dealbox_audit_new();
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct dealbox_set *other = dealbox_set_new(dealbox_pack_preferans());
	struct dealbox_audit_test tests[AUDIT_TESTS];

	(void)state;
	set_put_random(set, random, 4);
	dealbox_set_mark(set, DEALBOX_MARK_UNPLAYED);
	assert_int_equal(dealbox_audit_add(audit, set, "a"), -EPERM);
	assert_int_equal(dealbox_audit_add(audit, other, "a"), -EINVAL);
	assert_int_equal(dealbox_audit_deals(audit), 0);
	dealbox_set_mark(set, 0);
	assert_int_equal(dealbox_audit_add(audit, set, "a"), 0);
	/* no test draws a conclusion from four deals */
	assert_int_equal(dealbox_audit_run(audit, tests, AUDIT_TESTS), AUDIT_TESTS);
	for (size_t i = 0; i < AUDIT_TESTS; i++)
		assert_false(tests[i].enough);
	dealbox_set_free(set);
	dealbox_set_free(other);
	dealbox_audit_free(audit);
	dealbox_random_free(random);
}

/* The mark goes with the file. */
static void test_marks_stay_in_the_file(void **state)
{
	static const unsigned int marks[] = {
		0, DEALBOX_MARK_UNPLAYED, DEALBOX_MARK_RESTRICTED | DEALBOX_MARK_UNPLAYED,
	};
	const struct dealbox_format *pbn = dealbox_format_find("pbn");
	struct dealbox_random *random = fixed_random();

	(void)state;
	for (size_t m = 0; m < sizeof(marks) / sizeof(marks[0]); m++) {
		struct dealbox_set *set = dealbox_set_new(NULL), *again = dealbox_set_new(NULL);
		int fd = memfd_create("marks", 0);

		set_put_random(set, random, 4);
		dealbox_set_mark(set, marks[m]);
		assert_int_equal(dealbox_format_write_fd(pbn, set, fd, "marks", NULL), 0);
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		assert_int_equal(dealbox_format_read_fd(NULL, fd, "marks", again, NULL, NULL), 0);
		assert_int_equal(dealbox_set_count(again), 4);
		assert_int_equal(dealbox_set_marks(again), marks[m]);
		dealbox_set_free(set);
		dealbox_set_free(again);
		close(fd);
	}
	dealbox_random_free(random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chi_square_table),
		cmocka_unit_test(test_expectations_are_exact),
		cmocka_unit_test(test_every_shape_has_its_cell),
		cmocka_unit_test(test_good_deals_pass),
		cmocka_unit_test(test_wrong_deals_are_found),
		cmocka_unit_test(test_sorted_decks),
		cmocka_unit_test(test_repeats_and_seeds),
		cmocka_unit_test(test_no_more_results_than_have_room),
		cmocka_unit_test(test_unplayed_sets_are_refused),
		cmocka_unit_test(test_marks_stay_in_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
