// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How many deals a second on one thread: ours, Big Deal's, and in the same run those of Debian's
 * dealer and deal, which are not cryptographic. How many numbers a second are made into deals
 * and back. How long it takes to verify a championship of 1,186 boards.
 *
 * CPU time of the process, children included; wanted: 5 million deals, 1 million of Big
 * Deal's, 5 million ranks or unranks, 10 ms.
 */
#include <math.h>
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

#define DEALS	4000000
#define RUNS	10	/* of which the best counts, where others use the machine, too */
#define NUMBERS	4096	/* numbers or deals that are gone through again and again */

static uint64_t sink;	/* so that nothing is left out as unused */

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

/* CPU seconds of a command in that folder, 0 when it cannot be run. */
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
	if (write(pipe_fd[1], input, strlen(input)) < 0)
		die("cannot write to a program");
	close(pipe_fd[1]);
	wait4(child, &status, 0, &usage);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return 0;
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
	       (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

/* The two that everybody has; the honour points of all hands are asked for, so that they deal */
static double bench_others(void)
{
	const char *const dealer[] = { "/usr/games/dealer", "-p", "2000000", "-g", "2000000", "-s", "1", NULL };
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

static void bench_deals(double dealer)
{
	struct dealbox_random *random;
	struct dealbox_bigdeal *bigdeal;
	struct dealbox_deal deal;
	double begin, best_random, best_bigdeal;

	if (dealbox_random_new(&random) || dealbox_bigdeal_new("owner", 5, "entropy", 7, &bigdeal))
		die("no random bits, or no memory");
	best_random = best_bigdeal = 1e9;
	for (int run = 0; run < RUNS; run++) {
		begin = cpu_seconds();
		for (int i = 0; i < DEALS / RUNS; i++) {
			dealbox_random_deal(random, NULL, NULL, &deal);
			sink += deal.hand[1];
		}
		best_random = fmin(best_random, cpu_seconds() - begin);
		begin = cpu_seconds();
		for (int i = 0; i < DEALS / RUNS; i++) {
			dealbox_bigdeal_deal(bigdeal, &deal);
			sink += deal.hand[1];
		}
		best_bigdeal = fmin(best_bigdeal, cpu_seconds() - begin);
	}
	rate_print("dealbox, ChaCha20", DEALS / RUNS, best_random, dealer);
	rate_print("dealbox, the deals of Big Deal", DEALS / RUNS, best_bigdeal, dealer);
	dealbox_random_free(random);
	dealbox_bigdeal_free(bigdeal);
}

static void bench_numbers(void)
{
	static struct dealbox_deal deals[NUMBERS];
	static dealbox_number numbers[NUMBERS];
	struct dealbox_random *random;
	struct dealbox_deal deal;
	dealbox_number number;
	char what[64];
	double begin, best_rank, best_unrank;

	if (dealbox_random_new(&random))
		die("no random bits");
	for (int n = 0; n < DEALBOX_NUMBERINGS; n++) {
		const char *name = dealbox_numbering_name((enum dealbox_numbering)n);

		for (int i = 0; i < NUMBERS; i++) {
			dealbox_random_deal(random, NULL, NULL, &deals[i]);
			dealbox_number_rank(&deals[i], (enum dealbox_numbering)n, &numbers[i]);
		}
		best_rank = best_unrank = 1e9;
		for (int run = 0; run < RUNS; run++) {
			begin = cpu_seconds();
			for (int i = 0; i < DEALS / RUNS; i++) {
				dealbox_number_rank(&deals[i % NUMBERS], (enum dealbox_numbering)n, &number);
				sink += (uint64_t)number;
			}
			best_rank = fmin(best_rank, cpu_seconds() - begin);
			begin = cpu_seconds();
			for (int i = 0; i < DEALS / RUNS; i++) {
				dealbox_number_unrank(numbers[i % NUMBERS], (enum dealbox_numbering)n, &deal);
				sink += deal.hand[1];
			}
			best_unrank = fmin(best_unrank, cpu_seconds() - begin);
		}
		snprintf(what, sizeof(what), "rank, %s", name);
		rate_print(what, DEALS / RUNS, best_rank, 0);
		snprintf(what, sizeof(what), "unrank, %s", name);
		rate_print(what, DEALS / RUNS, best_unrank, 0);
	}
	dealbox_random_free(random);
}

/* Every session of a tournament goes into the set. */
static void sessions_deal(const struct dealbox_square *square, const struct dealbox_square_keys *keys,
			  struct dealbox_set *set)
{
	struct dealbox_square_phase phase;
	struct dealbox_square_session session;

	for (unsigned int p = 1; !dealbox_square_phase(square, p, &phase); p++)
		for (unsigned int s = 1; s <= phase.sessions; s++)
			if (dealbox_square_session(square, p, s, false, NULL, &session, NULL) ||
			    dealbox_square_deal(square, keys, &session, set, NULL))
				die("a session cannot be dealt");
}

/* The size and shape of the World Bridge Games of 2024: 90 sessions, 1,186 boards. */
static void bench_verify(void)
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
	printf("%-44s %8.2f ms for %zu boards\n", "verifying a championship", begin * 1e3, same);

	free(sqd);
	free(sqk);
	dealbox_set_free(published);
	dealbox_set_free(set);
	dealbox_square_keys_free(keys);
	dealbox_square_keys_free(keys_again);
	dealbox_square_free(square);
	dealbox_square_free(again);
	dealbox_random_free(random);
}

int main(void)
{
	bench_deals(bench_others());
	bench_numbers();
	bench_verify();
	return sink == 0;
}
