// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dealbox/card.h>

#include "hand-show.h"
#include "ui/tool.h"

/* ---- large letters --------------------------------------------------------- */

#define ROWS	7
#define COLUMNS	5

/* All letters of seats in these languages, 5 by 7. Letters that look alike are one row. */
static const struct {
	const char *letters;
	const char *rows[ROWS];
} font[] = {
	{ "N Ν", { "#...#", "##..#", "#.#.#", "#.#.#", "#.#.#", "#..##", "#...#" } },
	{ "E", { "#####", "#....", "#....", "####.", "#....", "#....", "#####" } },
	{ "S", { ".####", "#....", "#....", ".###.", "....#", "....#", "####." } },
	{ "W", { "#...#", "#...#", "#...#", "#.#.#", "#.#.#", "##.##", "#...#" } },
	{ "V", { "#...#", "#...#", "#...#", "#...#", ".#.#.", ".#.#.", "..#.." } },
	{ "O", { ".###.", "#...#", "#...#", "#...#", "#...#", "#...#", ".###." } },
	{ "Ø", { ".####", "#..##", "#.#.#", "#.#.#", "#.#.#", "##..#", "####." } },
	{ "Β В", { "####.", "#...#", "#...#", "####.", "#...#", "#...#", "####." } },
	{ "Α", { "..#..", ".#.#.", "#...#", "#...#", "#####", "#...#", "#...#" } },
	{ "Δ", { "..#..", ".#.#.", ".#.#.", ".#.#.", "#...#", "#...#", "#####" } },
	{ "С", { ".####", "#....", "#....", "#....", "#....", "#....", ".####" } },
	{ "Ю", { "#.###", "#.#.#", "#.#.#", "###.#", "#.#.#", "#.#.#", "#.###" } },
	{ "З", { "####.", "....#", "....#", "..##.", "....#", "....#", "####." } },
	{ "!", { "..#..", "..#..", "..#..", "..#..", "..#..", ".....", "..#.." } },
};

static const char *const *glyph(const char *letter)
{
	for (size_t n = 0; n < sizeof(font) / sizeof(font[0]); n++)
		if (strstr(font[n].letters, letter))
			return font[n].rows;
	return NULL;
}

/*
 * Draw a letter as large as width and height allow; a cell of a terminal is twice as high as wide.
 */
static void draw(FILE *out, const char *letter, unsigned int width, unsigned int height)
{
	const char *const *rows = glyph(letter);
	unsigned int scale = height / ROWS, row, n, column, k;

	while (scale > 1 && scale * 2 * COLUMNS > width)
		scale--;
	if (!rows || !scale || scale * 2 * COLUMNS > width) {
		fprintf(out, "%s\n", letter);
		return;
	}
	for (row = 0; row < ROWS; row++)
		for (n = 0; n < scale; n++) {
			fprintf(out, "%*s", (int)((width - scale * 2 * COLUMNS) / 2), "");
			for (column = 0; column < COLUMNS; column++)
				for (k = 0; k < 2 * scale; k++)
					fputs(rows[row][column] == '#' ? "█" : " ", out);
			fputs("\n", out);
		}
}

/* ---- the screen ------------------------------------------------------------ */

static int seat_of(const struct hand_show *show, const struct dealbox_prompt *hand)
{
	return hand->pocket < 4 ? dealbox_seat_parse(show->pockets[hand->pocket]) : -1;
}

static const char *rank_name(const struct hand_show *show, unsigned int rank)
{
	static const char *const numbers[] = { "10", "9", "8", "7", "6", "5", "4", "3", "2" };

	return rank < 4 ? show->words->ranks[rank] : rank < 13 ? numbers[rank - 4] : "";
}

static const char *sentence_of(const struct hand_show *show, const struct dealbox_prompt *hand)
{
	if (hand->shows == DEALBOX_PROMPT_CARD && !hand->number)
		return show->says->first;
	return hand->shows < DEALBOX_PROMPT_KINDS ? show->says->of[hand->shows] : NULL;
}

static void speak(const struct hand_show *show, const char *text)
{
	if (!show->voice || !text)
		return;
	/* one that has ended is not missed */
	fprintf(show->voice, "%s\n", text);
	fflush(show->voice);
}

static void show_line(const struct hand_show *show, const struct dealbox_prompt *hand,
		      const char *sentence)
{
	int seat = seat_of(show, hand);

	if (hand->cards && hand->number) {
		fprintf(show->terminal, show->says->card, hand->number,
			hand->cards);
		if (hand->card < 52)
			fprintf(show->terminal, "   %s%s", suit_signs[hand->card / 13],
				rank_name(show, hand->card % 13));
	}
	if (hand->rank != DEALBOX_NONE)
		fprintf(show->terminal, "   %s 1♠ 2♥ 3♦ 4♣ ?", rank_name(show, hand->rank));
	if (show->plain && seat >= 0)
		fprintf(show->terminal, "   %s", show->words->seat_names[seat]);
	if (sentence)
		fprintf(show->terminal, "   %s", sentence);
	fputs("\n", show->terminal);
}

void hand_show(struct hand_show *show, const struct dealbox_prompt *hand)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	const char *sentence = sentence_of(show, hand);
	bool question = hand->shows > DEALBOX_PROMPT_LAST;
	int seat = seat_of(show, hand);

	/* what is to be done then stands on the ordinary screen */
	if (hand->shows == DEALBOX_PROMPT_NOTHING || hand->shows >= DEALBOX_PROMPT_PAUSED) {
		hand_show_leave(show);
		return;
	}
	if (ioctl(fileno(show->terminal), TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	if (!show->shown)
		fputs("\033[?1049h", show->terminal);
	show->shown = true;
	fputs(show->plain ? "" : "\033[H\033[2J", show->terminal);
	show_line(show, hand, sentence);
	if (!show->plain && (seat >= 0 || question))
		draw(show->terminal, question ? "!" : show->words->seats[seat], size.ws_col,
		     size.ws_row > 4 ? size.ws_row - 4u : 1);
	if (question && !show->plain)
		fputc('\a', show->terminal);
	fflush(show->terminal);
	if (hand->rank == DEALBOX_NONE) {
		speak(show, seat >= 0 ? show->words->seat_names[seat] : NULL);
		speak(show, sentence);
	}
}

void hand_show_leave(struct hand_show *show)
{
	if (!show->shown)
		return;
	/* the other screen is wiped: some terminals keep it */
	fputs("\033[2J\033[H\033[?1049l", show->terminal);
	fflush(show->terminal);
	show->shown = false;
}

/* ---- the voice ------------------------------------------------------------- */

/* Speak through a pipe: every user can read the arguments of a program. */
static bool voice_open(struct hand_show *show)
{
	char *arguments[] = { "spd-say", "--pipe-mode", "--language", (char *)show->words->language,
			      NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], err;

	if (pipe(ends)) {
		complain("close other programs", "no pipe can be made: %m");
		return false;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	posix_spawn_file_actions_addclose(&actions, ends[1]);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1 /* O_WRONLY */, 0);
	err = posix_spawnp(&show->voice_pid, arguments[0], &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	if (err) {
		close(ends[1]);
		complain("run `sudo apt install speech-dispatcher`, or deal without --speak",
			 "nothing can be spoken: spd-say: %s", strerror(err));
		return false;
	}
	show->voice = fdopen(ends[1], "w");
	/* a voice that ends must not end the deal */
	signal(SIGPIPE, SIG_IGN);
	return show->voice;
}

bool hand_show_open(struct hand_show *show, const char *language, const char *pockets, bool speaks)
{
	*show = (struct hand_show){
		.words = words_find(language ? language : "en"),
		.pockets = pockets,
		.plain = is_plain(),
	};
	if (!show->words)
		show->words = words_find("en");
	show->says = hand_words_find(language);
	show->terminal = fopen("/dev/tty", "we");
	if (!show->terminal) {
		complain("run the command in a terminal", "there is no terminal to show the seats");
		return false;
	}
	return !speaks || voice_open(show);
}

void hand_show_close(struct hand_show *show)
{
	if (show->terminal) {
		hand_show_leave(show);
		fclose(show->terminal);
	}
	if (show->voice) {
		fclose(show->voice);
		kill(show->voice_pid, SIGTERM);
		waitpid(show->voice_pid, NULL, 0);
	}
	*show = (struct hand_show){ 0 };
}
