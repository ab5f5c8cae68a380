// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Deals per second on one thread: ours, Big Deal's, and in the same run those of Debian's dealer
 * and deal, which are not cryptographic. Numbers converted to deals and back per second. The time
 * to verify a championship of 1,186 boards.
 *
 * All by CPU time, of the best and the worst of several processes. The goals are 5 million deals,
 * 1 million of Big Deal's, 5 million ranks or unranks, and 10 ms.
 *
 * usage: bench_generate [MEASURE]
 *	with the name of a measurement only that one, in this process; prints seconds
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dealbox/bigdeal.h>
#include <dealbox/number.h>
#include <dealbox/random.h>
#include <dealbox/square.h>

#include "processes.h"

#define BATCH	50000	/* deals or numbers in a run */
#define RUNS	10	/* in each process; the best counts, because the computer may be busy */
#define NUMBERS	4096	/* numbers or deals, used again and again */

static uint64_t sink;	/* so that the compiler drops no result as unused */

static void die(const char *what)
{
	fprintf(stderr, "bench_generate: %s\n", what);
	exit(1);
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double rate_print(const char *what, double count, double seconds, double against)
{
	printf("%-44s %8.2f million/s", what, count / seconds / 1e6);
	if (against > 0)
		printf("   %6.1f times dealer", count / seconds / against);
	putchar('\n');
	return count / seconds;
}

/* Returns the CPU time in seconds of a command in that folder, 0 if it cannot be run. */
static double command_seconds(const char *folder, const char *const argv[], const char *input)
{
	struct rusage usage;
	int pipe_fd[2], status;
	pid_t child = -1;

	fflush(stdout);
	if (pipe(pipe_fd) || (child = fork()) < 0)
		die("cannot start a program");
	if (!child) {
		dup2(pipe_fd[0], STDIN_FILENO);
		close(pipe_fd[0]);
		close(pipe_fd[1]);
		if (chdir(folder) || !freopen("/dev/null", "w", stdout) ||
		    !freopen("/dev/null", "w", stderr))
			_exit(1);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(pipe_fd[0]);
	/* a missing program reads no input; its exit status tells */
	signal(SIGPIPE, SIG_IGN);
	if (write(pipe_fd[1], input, strlen(input)) < 0 && errno != EPIPE)
		die("cannot write to a program");
	signal(SIGPIPE, SIG_DFL);
	close(pipe_fd[1]);
	wait4(child, &status, 0, &usage);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return 0;
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
	       (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

/* The two usual programs. They must compute the honour points of all hands, so that they deal. */
static double bench_others(void)
{
	const char *const dealer[] = {
		"/usr/games/dealer", "-p", "2000000", "-g", "2000000", "-s", "1", NULL
	};
	const char *const deal[] = {
		"/usr/games/deal", "-i", "format/none", "-e",
		"main { hcp north; hcp east; hcp south; hcp west; accept }", "400000", NULL
	};
	double seconds = command_seconds("/", dealer, "condition 1\naction average hcp(north)\n");
	double rate = 0;

	if (seconds > 0)
		rate = rate_print("dealer", 2000000, seconds, 0);
	else
		puts("dealer: not there (apt-get install dealer)");
	seconds = command_seconds("/usr/share/deal", deal, "");
	if (seconds > 0)
		rate_print("deal", 400000, seconds, rate);
	else
		puts("deal: not there (apt-get install deal)");
	return rate;
}

static struct dealbox_random *new_random(void)
{
	struct dealbox_random *random;

	if (dealbox_random_new(&random))
		die("no random bits");
	return random;
}

/* Returns seconds for BATCH deals or numbers. */
static double time_deals(int unused)
{
	struct dealbox_random *random = new_random();
	struct dealbox_deal deal;
	double best = 1e9;

	(void)unused;
	for (int run = bench_times(RUNS); run; run--) {
		const double begin = cpu_seconds();

		for (int i = 0; i < BATCH; i++) {
			dealbox_random_deal(random, NULL, NULL, &deal);
			sink += deal.hand[1];
		}
		best = fmin(best, cpu_seconds() - begin);
	}
	dealbox_random_free(random);
	return best;
}

/* The same, many deals in one call; with several threads, their total CPU time. */
static double time_many(int threads)
{
	static struct dealbox_deal deals[BATCH];
	struct dealbox_random *random = new_random();
	double best = 1e9;

	for (int run = bench_times(RUNS); run; run--) {
		const double begin = cpu_seconds();

		dealbox_random_deals(random, deals, BATCH, (unsigned int)threads);
		sink += deals[BATCH - 1].hand[1];
		best = fmin(best, cpu_seconds() - begin);
	}
	dealbox_random_free(random);
	return best;
}

static double time_bigdeal(int unused)
{
	struct dealbox_bigdeal *bigdeal;
	struct dealbox_deal deal;
	double best = 1e9;

	(void)unused;
	if (dealbox_bigdeal_new("owner", 5, "entropy", 7, &bigdeal))
		die("no memory");
	for (int run = bench_times(RUNS); run; run--) {
		const double begin = cpu_seconds();

		for (int i = 0; i < BATCH; i++) {
			dealbox_bigdeal_deal(bigdeal, &deal);
			sink += deal.hand[1];
		}
		best = fmin(best, cpu_seconds() - begin);
	}
	dealbox_bigdeal_free(bigdeal);
	return best;
}

static double time_rank(int numbering)
{
	static struct dealbox_deal deals[NUMBERS];
	struct dealbox_random *random = new_random();
	struct dealbox_number number;
	double best = 1e9;

	for (int i = 0; i < NUMBERS; i++)
		dealbox_random_deal(random, NULL, NULL, &deals[i]);
	for (int run = bench_times(RUNS); run; run--) {
		const double begin = cpu_seconds();

		for (int i = 0; i < BATCH; i++) {
			dealbox_number_rank(&deals[i % NUMBERS], (enum dealbox_numbering)numbering,
					    &number);
			sink += number.low;
		}
		best = fmin(best, cpu_seconds() - begin);
	}
	dealbox_random_free(random);
	return best;
}

static double time_unrank(int numbering)
{
	static struct dealbox_number numbers[NUMBERS];
	struct dealbox_random *random = new_random();
	struct dealbox_deal deal;
	double best = 1e9;

	for (int i = 0; i < NUMBERS; i++) {
		dealbox_random_deal(random, NULL, NULL, &deal);
		dealbox_number_rank(&deal, (enum dealbox_numbering)numbering, &numbers[i]);
	}
	for (int run = bench_times(RUNS); run; run--) {
		const double begin = cpu_seconds();

		for (int i = 0; i < BATCH; i++) {
			dealbox_number_unrank(numbers[i % NUMBERS],
					      (enum dealbox_numbering)numbering, &deal);
			sink += deal.hand[1];
		}
		best = fmin(best, cpu_seconds() - begin);
	}
	dealbox_random_free(random);
	return best;
}

/* Adds every session of a tournament to the set. */
static void sessions_deal(const struct dealbox_square *square,
			  const struct dealbox_square_keys *keys, struct dealbox_set *set)
{
	struct dealbox_square_phase phase;
	struct dealbox_square_session session;

	for (unsigned int p = 1; !dealbox_square_get_phase(square, p, &phase); p++)
		for (unsigned int s = 1; s <= phase.sessions; s++)
			if (dealbox_square_get_session(square, p, s, false, NULL, &session, NULL) ||
			    dealbox_square_deal(square, keys, &session, set, NULL))
				die("a session cannot be dealt");
}

#define CHAMPIONSHIP	1186

/* The size and shape of the World Bridge Games of 2024: 90 sessions, 1,186 boards. */
static double time_verify(int unused)
{
	static const struct dealbox_square_phase phases[] = {
		{ 17, "1-16,17-32", "a##", "a ##" }, { 23, "1-12,13-24", "b##", "b ##" },
		{ 29, "1-10,11-20,21-30", "c##", "c ##" }, { 3, "20", "d#", "d #" },
		{ 6, "1-16,17-32", "e#", "e #" }, { 6, "1-16,17-32", "f#", "f #" },
		{ 6, "1-16,17-32", "g#", "g #" },
	};
	struct dealbox_square *square = dealbox_square_new(), *again;
	struct dealbox_set *published = dealbox_set_new(NULL), *set = dealbox_set_new(NULL);
	struct dealbox_square_keys *keys, *keys_again;
	struct dealbox_random *random;
	char *sqd, *sqk;
	size_t size, same = 0;
	double begin;

	(void)unused;
	if (dealbox_random_new(&random) || dealbox_square_set_name(square, "x", NULL) ||
	    dealbox_square_set_info(square, "y", NULL))
		die("no random bits, or no memory");
	for (size_t p = 0; p < sizeof(phases) / sizeof(phases[0]); p++)
		if (dealbox_square_add_phase(square, &phases[p], NULL))
			die("a phase cannot be added");
	if (dealbox_square_publish(square, random, &keys, NULL) ||
	    dealbox_square_set_value(square, "43275", NULL))
		die("it cannot be published");
	sessions_deal(square, keys, published);
	sqd = dealbox_square_print(square);
	sqk = dealbox_square_keys_print(keys, &size);

	begin = cpu_seconds();
	if (dealbox_square_parse(sqd, strlen(sqd), &again, NULL) ||
	    dealbox_square_keys_parse(sqk, size, again, &keys_again, NULL, NULL))
		die("what was written cannot be read");
	sessions_deal(again, keys_again, set);
	for (size_t i = 0; i < dealbox_set_count(set); i++) {
		struct dealbox_board a, b;

		dealbox_set_get(set, i, &a);
		dealbox_set_get(published, i, &b);
		same += !memcmp(&a.deal, &b.deal, sizeof(a.deal));
	}
	begin = cpu_seconds() - begin;
	sink += same;
	if (same != CHAMPIONSHIP)
		die("a board is not the one that was published");

	free(sqd);
	free(sqk);
	dealbox_set_free(published);
	dealbox_set_free(set);
	dealbox_square_keys_free(keys);
	dealbox_square_keys_free(keys_again);
	dealbox_square_free(square);
	dealbox_square_free(again);
	dealbox_random_free(random);
	return begin;
}

static const struct measure {
	const char *name;	/* the argument of the process that measures it */
	const char *text;
	double (*time)(int number);
	int number;
} measures[] = {
	{ "deals", "dealbox, ChaCha20, many at a time", time_many, 1 },
	{ "threads", "  the same by 4 threads, processor time", time_many, 4 },
	{ "single", "  one at a time", time_deals, 0 },
	{ "bigdeal", "dealbox, the deals of Big Deal", time_bigdeal, 0 },
	{ "rank-bigdeal", "rank, bigdeal", time_rank, DEALBOX_NUMBERING_BIGDEAL },
	{ "unrank-bigdeal", "unrank, bigdeal", time_unrank, DEALBOX_NUMBERING_BIGDEAL },
	{ "rank-andrews", "rank, andrews", time_rank, DEALBOX_NUMBERING_ANDREWS },
	{ "unrank-andrews", "unrank, andrews", time_unrank, DEALBOX_NUMBERING_ANDREWS },
	{ "rank-pavlicek", "rank, pavlicek", time_rank, DEALBOX_NUMBERING_PAVLICEK },
	{ "unrank-pavlicek", "unrank, pavlicek", time_unrank, DEALBOX_NUMBERING_PAVLICEK },
	{ "verify", "verifying a championship", time_verify, 0 },
};
#define MEASURES	(sizeof(measures) / sizeof(*measures))

static void bench(const struct measure *measure, double dealer)
{
	const char *const arguments[] = { "bench_generate", measure->name, NULL };
	const struct spread took = spread_measure(arguments);

	if (measure->time == time_verify) {
		printf("%-44s %8.2f ms, worst process %8.2f ms, for %d boards\n", measure->text,
		       took.best * 1e3, took.worst * 1e3, CHAMPIONSHIP);
		return;
	}
	printf("%-44s %8.2f million/s, worst process %8.2f", measure->text, BATCH / took.best / 1e6,
	       BATCH / took.worst / 1e6);
	if (dealer > 0 && (measure->time == time_many || measure->time == time_bigdeal))
		printf("   %6.1f times dealer", BATCH / took.best / dealer);
	putchar('\n');
}

int main(int argc, char **argv)
{
	double dealer;

	for (size_t m = 0; argc > 1 && m < MEASURES; m++)
		if (!strcmp(argv[1], measures[m].name)) {
			printf("%.9f\n", measures[m].time(measures[m].number));
			return sink == 0;
		}
	if (argc > 1)
		die("no such measure");
	dealer = bench_others();
	for (size_t m = 0; m < MEASURES; m++)
		bench(&measures[m], dealer);
	return 0;
}
