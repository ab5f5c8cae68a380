// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Puts the problems of a deal file, from `dealbox set add --json`, into words. The sentences and their members are
 * the library's (lib/cards/report.c). No sentence names a card.
 */
import { N_, P_, say, say_count, seat_name } from "./sentence.js";
import { table } from "./words.js";

/* Problems of one kind that are shown; the others are counted. */
const SHOWN = 6;

/* The text of a problem, where it is not a name of the file's own. */
const TEXTS = [
	[/^board (?<board>.+)$/, N_("board {board}")],
	[/^the one in line (?<line>\d+)$/, N_("the one in line {line}")],
	[/^deal (?<deal>\d+) of the set$/, N_("deal {deal} of the set")],
	[/^it is not readable$/, N_("it is not readable")],
	[/^it says to count backwards$/, N_("it says to count backwards")],
	[/^(?<count>\d+) records do not fit it$/, N_("{count} records do not fit it")],
	[/^numbers above 999$/, N_("numbers above 999")],
	[/^some programs always say 1$/, N_("some programs always say 1")],
	[/^records differ$/, N_("records differ")],
];

/* All of them, for a test. */
export const texts = () => TEXTS.map(([, message]) => message);

function text_of(language, text) {
	for (const [pattern, message] of TEXTS) {
		const found = pattern.exec(text);

		if (found)
			return say(language, message, found.groups);
	}
	return text;
}

const seat = (language, letter) => seat_name(language, "NESW".indexOf(letter) + 1);

/* The seats that hold a card that occurs twice. One letter: that seat holds both. */
function seats(language, letters) {
	if (letters.length === 1)
		return say(language, N_("{hand} alone"), { hand: seat(language, letters) });
	return new Intl.ListFormat(language, { type: "conjunction" }).format([...letters].map(one => seat(language, one)));
}

/* The sentence; that of a code of a newer tool is in English. */
export function problem_sentence(language, problem) {
	const row = table.problems[problem.problem];

	if (!row)
		return problem.text || problem.problem;
	const values = {
		hand: seat(language, problem.hand || ""),
		hands: seats(language, problem.hands || ""),
		count: problem.count, expected: problem.expected,
		text: text_of(language, problem.quote || ""),
	};

	return row.one === row.text ? say(language, row.text, values) : say_count(language, row.one, problem.count, values);
}

/* The same behind its place: "Board 7, line 12: ..." */
function line_of(language, problem) {
	const place = [];

	if (problem.board || problem.board_label)
		place.push(say(language, N_("Board {board}"), { board: problem.board || problem.board_label }));
	if (problem.line)
		place.push(say(language, N_("line {line}"), problem));
	else if (problem.byte)
		place.push(say(language, N_("byte {byte}"), problem));
	return (place.length ? place.join(", ") + ": " : "") + problem_sentence(language, problem);
}

/* The problems of the tool, and how many of each there are, as lines, equal ones once; notes are left out. */
export function problem_lines(language, found, counts) {
	const notes = {}, kinds = new Map(), lines = [];

	for (const one of found) {
		if (one.severity !== "problem") {
			notes[one.problem] = (notes[one.problem] || 0) + 1;
			continue;
		}
		const kind = kinds.get(one.problem) || new Map(), line = line_of(language, one);

		kinds.set(one.problem, kind.set(line, (kind.get(line) || 0) + 1));
	}
	for (const [code, kind] of kinds) {
		const shown = [...kind].slice(0, SHOWN);
		const told = shown.reduce((sum, [, times]) => sum + times, 0);
		const more = (counts[code] || 0) - (notes[code] || 0) - told;

		lines.push(...shown.map(([line, times]) => times > 1 ? `${line} (× ${times})` : line));
		if (more > 0)
			lines.push(say_count(language, P_("and {n} more of this kind", "and {n} more of this kind"), more));
	}
	return lines;
}
