// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * node present.mjs SOURCES WORDS.js OPERATOR-TABLE: what the screen shows, without a page (node:test). SOURCES is
 * tools/screen; OPERATOR-TABLE is the program of that name, which has examples of the library's sentences.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const [sources, words_file, operator_table] = process.argv.slice(2);
const here = new URL(".", import.meta.url).pathname;

/* as a browser finds them: in one folder */
const folder = mkdtempSync(join(tmpdir(), "screen-"));

after(() => rmSync(folder, { recursive: true }));
for (const name of readdirSync(sources).filter(one => one.endsWith(".js")))
	cpSync(join(sources, name), join(folder, name));
cpSync(words_file, join(folder, "words.js"));
cpSync(join(here, "states.mjs"), join(folder, "states.mjs"));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');

const load = name => import(join(folder, name));
const e = await load("event.js"), m = await load("measured.js"), p = await load("present.js"), service = await load("service.js"), problems = await load("problems.js"), s = await load("sentence.js"), sounds = await load("sounds.js"), { table, words } = await load("words.js");
const { machine, job } = await load("states.mjs");
const languages = Object.keys(s.LANGUAGES);

test("every state of the library has its screen, and no other", () => {
	assert.deepEqual(Object.keys(p.STATES), s.state_names());
	assert.ok(s.state_names().length > 40);
});

test("sentences are those of the library", () => {
	const examples = JSON.parse(execFileSync(operator_table, ["--examples"]));

	assert.ok(examples.length >= 5 * s.state_names().length);
	for (const { state, facts, text } of examples)
		assert.equal(s.instruction("en", state, facts), text, state);
});

test("every state is shown whole in every language", () => {
	for (const language of languages)
		for (const state of s.state_names()) {
			const shown = p.present(machine(state), null, language), name = `${state}, ${language}`;

			assert.ok(p.TONES.includes(shown.tone), name);
			assert.ok(shown.title && shown.shape && shown.spoken, name);
			assert.doesNotMatch(JSON.stringify(shown), /[{]\w+[}]|undefined|NaN/, name);
			if (language !== "en")
				assert.notEqual(shown.title, p.present(machine(state), null, "en").title, name);
		}
});

test("a void board has its steps, in order, and no answer that calls it good", () => {
	for (const { name, empties } of table.states.filter(row => row.empties)) {
		const shown = p.present(machine(name), null, "en"), steps = shown.steps.map(one => one.text);

		assert.equal(shown.tone, "void", name);
		const look = name === "card-repeated";

		assert.ok(steps.includes(look ? "Take the board out. Do not empty it yet." : name === "board-pulled" ?
			"Empty the board that was taken out." : "Take the board out and empty it.") && empties, name);
		assert.equal(steps.at(-2), look ? "Empty the board. Put its cards and the rest of the deck back into the hopper, face down." :
			name === "deck-wrong" ? "Put this deck back into the hopper, face down, and the stop card behind it." :
			name === "deck-short" ? "Put this deck back into the hopper, face down." :
			"Put the board's cards and the rest of the deck back into the hopper, face down.", name);
		assert.equal(steps.at(-1), "Put board 17 in again. Then the screen asks whether it is empty.", name);
		/* "void" is a hand without a suit */
		assert.doesNotMatch(JSON.stringify([shown.title, shown.text, steps, shown.mind]), /void/i, name);
	}
	assert.ok(p.present(machine("card-repeated"), null, "en").steps.some(one =>
		one.text === "Look at card 3 from the top in North first, then at the card at the reader: are they the same?"));
	/* whoever empties the board first does not find that card any more */
	const order = p.present(machine("card-repeated"), null, "en").steps.map(one => one.text);

	assert.ok(order.findIndex(text => /^Look/.test(text)) < order.findIndex(text => /^Empty/.test(text)));
	/* cards are counted, and those that stick together parted, before they go back */
	for (const name of ["double-feed"]) {
		const of = p.present(machine(name), null, "en").steps.map(one => one.text);

		assert.equal(of.findIndex(text => /before you put/.test(text)), of.findIndex(text => /^Put the board's cards/.test(text)) - 1, name);
	}
	/* a board that is exact may have a card of this deck: it is counted also where this deck is not whole */
	const before = "Also count the board dealt here just before. If it does not have 13 a pocket: empty it, and tap its ✓ under Jobs to deal it again.";

	assert.deepEqual(p.present(machine("deck-wrong"), null, "en").steps.map(one => one.text).slice(1, 4),
			 ["Put the board's cards with the rest of the deck and count them, without the stop card: 52.",
			  "If it is not 52: find the missing card, or take the extra one away.", before]);
	/* the hopper is empty, so all cards are in the board, or missing */
	assert.deepEqual(p.present(machine("deck-short"), null, "en").steps.map(one => one.text).slice(1, 4),
			 ["Count its cards, without the stop card: 52.",
			  "If it is not 52: look for the missing cards in the machine and on the floor.", before]);
	for (const row of table.states)
		if (p.STATES[row.name].tone === "void" && row.name !== "stopped")
			assert.ok(row.empties, row.name);
});

test("only what the service offers is a key, each with one letter", () => {
	for (const state of s.state_names()) {
		const shown = p.present(machine(state, { Keys: [] }), null, "en");

		assert.deepEqual(shown.keys.filter(key => !key.act.go), [], state);
		const all = p.present(machine(state, { Keys: ["start", "deal-this", "name-board", "skip", "redeal", "pause", "release",
							      "accept", "reveal", "test-deal", "locate"] }), null, "en").keys;
		assert.equal(new Set(all.map(key => key.code)).size, all.length, state);
	}
});

test("what the text calls start, the button calls so, too", () => {
	const word = { en: "Start", nb: "Start", fr: "Départ", el: "Έναρξη", ru: "Старт" };

	for (const language of languages)
		for (const state of s.state_names())
			for (const key of p.present(machine(state), null, language).keys.filter(one => one.act.method === "Answer"))
				assert.ok(key.label.startsWith(word[language]), `${language}, ${state}: ${key.label}`);
	for (const { name, says, behind } of table.states)
		if (/press start/i.test([says, behind].join()))
			assert.ok(p.present(machine(name, { Keys: ["start"] }), null, "en").keys.some(key => /^Start/.test(key.label)), name);
});

test("nothing is said twice", () => {
	const shown = p.present(machine("jam"), null, "en");

	assert.equal(shown.text, "This was at card 21 of 52. It is stuck at the gate.");
	assert.equal(p.present(machine("cover-open"), null, "en").text, "");
	assert.doesNotMatch(p.present(machine("cover-opened"), null, "en").text, /[Cc]lose/);
	/* of a capture, the copy is a pocket, which has one name */
	const capture = p.present(machine("capture"), null, "en");

	assert.equal(capture.title, "Put in the cards of North");
	assert.match(capture.text, /pocket North alone/);
	assert.equal(capture.below, "");
	assert.equal(p.present(machine("number-range"), null, "en").below, "");
});

test("only the recommended way looks like it", () => {
	const main = (state, more) => p.present(machine(state, more), null, "en").keys.filter(key => key.main).map(key => key.label);

	assert.deepEqual(main("number-other"), []);
	assert.deepEqual(main("number-done"), []);
	assert.deepEqual(main("hardware", { Keys: ["start"] }), []);
	assert.deepEqual(main("bad-set"), ["New job"]);
	assert.deepEqual(main("paused", { Keys: ["resume"] }), ["Resume the job"]);
	/* .. and the text calls it by the name that is on it */
	for (const language of languages) {
		const { text, keys } = p.present(machine("paused", { Keys: ["resume"] }), null, language);

		assert.ok(text.includes(keys[0].label), `${language}: ${text}`);
	}
	assert.equal(p.present(machine("paused"), null, "en").text, "Press start to go on. Leave the board in until then.");
});

test("the number belongs to the board, and comes first", () => {
	assert.equal(p.present(machine("deck-short"), null, "en").heading, "Board 17: Deal it again: cards are missing");
	assert.equal(p.present(machine("cover-open"), null, "en").heading, "Close the cover");
	assert.match(p.present(machine("insert-board"), null, "nb").spoken, /^EMU1: Mappe 17: Sett den inn, tom[.]/);
});

test("commands are for the person in charge of the computer, apart from what the operator reads", () => {
	for (const language of languages)
		for (const state of s.state_names()) {
			const shown = p.present(machine(state), null, language);

			assert.doesNotMatch([shown.title, shown.text, shown.mind, ...shown.steps.map(one => one.text)].join(), /`/, `${language}, ${state}`);
			if (s.state_row(state).keeper)
				assert.ok(shown.keeper.includes(s.what_the_keeper_does(language, state)), `${language}, ${state}`);
		}
});

test("where nobody at the machine can mend it, somebody is called first, and Start comes after", () => {
	const shown = p.present(machine("ledger"), null, "en");

	assert.equal(shown.title, "Call the person in charge");
	assert.deepEqual(shown.keys.map(key => key.label), ["Start: it is mended"]);
	assert.match(shown.keeper, /^For that person:/);
	assert.match(p.present(machine("machine-refuses"), null, "en").keeper, /^If this does not help, call/);
});

test("who takes a board out sees which one comes next", () => {
	for (const state of ["take-out", "used", "number-range", "number-done"]) {
		assert.equal(p.present(machine(state, { Facts: { board: 17, copy: 1, copies: 1 } }), null, "en").next, "Next: board 19", state);
		assert.equal(p.present(machine(state, { NextBoard: 0 }), null, "en").next, "", state);
	}
});

test("an answer names the question that was on the screen", () => {
	const [enter] = p.present(machine("confirm-empty", { Question: 77 }), null, "en").keys;

	assert.deepEqual(enter.act, { on: "machine", method: "Answer", args: ["u", [77]] });
	const [deal, skip] = p.present(machine("number-other"), null, "en").keys;

	assert.equal(deal.label, "Deal board 11 now");
	assert.deepEqual(deal.act, { on: "machine", method: "DealThis", args: ["u", [12]] });
	assert.deepEqual(skip.act, { on: "job", method: "Skip", args: ["uu", [17, 1]] });
});

test("a diagnosis is not on the screen, nor a card", () => {
	const shown = JSON.stringify(p.present(machine("card-repeated", { Diagnosis: "spade ace twice", Instruction: "club two" }), null, "en"));

	assert.doesNotMatch(shown, /spade|club/);
});

test("a state of a newer service is shown as the service words it", () => {
	const shown = p.present(machine("moon-phase", { Instruction: "Wait for the moon.", Keys: ["start"] }), null, "fr");

	assert.equal(shown.tone, "look");
	assert.equal(shown.text, "Wait for the moon.");
	assert.equal(shown.keys[0].code, "Enter");
});

test("the end of a job says what to do next", () => {
	const shown = p.present(machine("no-work"), job({ State: "done", Recorded: 48 }), "en");

	assert.equal(shown.title, "Done");
	assert.match(shown.text, /^48 boards are dealt/);
	assert.deepEqual(shown.keys.map(key => key.act), [{ go: "jobs" }, { print: 3 }]);
});

test("where only another file helps, a key leads there", () => {
	for (const state of ["bad-set", "placeholder-deal", "repeat"]) {
		const [first, ...others] = p.present(machine(state), null, "en").keys;

		assert.deepEqual([first.act, first.main], [{ go: "jobs" }, true], state);
		assert.ok(others.every(key => !key.main), state);
	}
	/* deals of an old file are not skipped one by one; where one is, it is said when */
	assert.equal(p.present(machine("repeat"), null, "en").keys.length, 1);
	assert.match(p.present(machine("placeholder-deal"), null, "en").mind, /^Only if board 17 is not played tonight, skip it[.]/);
	/* the boards go to another machine, so this one needs no job */
	assert.deepEqual(p.present(machine("machine-unsuited"), null, "en").keys, []);
});

test("a machine without work says that its job has stopped, and why", () => {
	const stopped = p.present(machine("no-work"), job({ State: "repeat" }), "en");

	assert.equal(stopped.title, "Old file? Make a new job");
	assert.match(stopped.text, /^A board of this job was dealt for another session[.]/);
	assert.deepEqual([stopped.number, stopped.keys.map(key => key.act)], ["", [{ go: "jobs" }]]);
	/* another one has work */
	assert.equal(p.present(machine("none"), job({ State: "repeat" }), "en").title, "Dealing");
});

test("a second deck in the hopper is lifted out, where there can be one", () => {
	for (const { name } of table.states.filter(row => row.empties))
		assert.equal(/A second deck in the hopper: lift it out, and put it in again after this one[.]$/.test(p.present(machine(name), null, "en").mind),
			     name !== "deck-short", name);
	/* "after that" is after the steps */
	assert.match(p.present(machine("hardware"), null, "en").mind, /^If the machine still reports the fault after that, press start[.] A second deck/);
});

test("the machine that is shown stays while it needs somebody", () => {
	const machines = { a: machine("insert-board"), b: machine("jam"), c: machine("none") };

	assert.equal(p.choose_machine(machines, null, null), "b");
	assert.equal(p.choose_machine(machines, "a", null), "a");
	assert.equal(p.choose_machine(machines, "c", null), "b");
	assert.equal(p.choose_machine(machines, "a", "c"), "c");
	assert.equal(p.choose_machine({ ...machines, a: machine("none") }, "a", null), "b");
	assert.equal(p.choose_machine({}, "a", "a"), null);
	/* of two that wait alike, the one that has waited longer */
	assert.equal(p.choose_machine({ a: machine("take-out"), b: machine("take-out") }, null, null, { a: 9, b: 5 }), "b");
});

test("plural forms", () => {
	const boards = (language, n) => s.say_count(language, "{n} board", n);

	assert.deepEqual([1, 2, 5, 11, 21, 22, 25].map(n => boards("ru", n)),
			 ["1 доска", "2 доски", "5 досок", "11 досок", "21 доска", "22 доски", "25 досок"]);
	assert.deepEqual([0, 1, 2].map(n => boards("fr", n)), ["0 étui", "1 étui", "2 étuis"]);
	assert.deepEqual([0, 1, 2].map(n => boards("en", n)), ["0 boards", "1 board", "2 boards"]);
	assert.deepEqual([1, 2].map(n => boards("el", n)), ["1 θήκη", "2 θήκες"]);
	assert.deepEqual([1, 2].map(n => boards("nb", n)), ["1 mappe", "2 mapper"]);
});

test("every language has every text of English", () => {
	for (const language of languages.filter(one => one !== "en"))
		for (const text of Object.keys(words.en))
			assert.ok(words[language][text], `${language}: ${text}`);
});

test("the browser's languages choose the page's", () => {
	assert.equal(s.choose_language(["", undefined, "fr-CA", "en"]), "fr");
	assert.equal(s.choose_language(["nn-NO"]), "nb");
	assert.equal(s.choose_language(["no"]), "nb");
	assert.equal(s.choose_language(["de", "xx"]), "en");
});

test("boards as people write them", () => {
	const set = [1, 2, 3, 4, 7];

	assert.deepEqual(p.parse_boards("1-3, 7", set), [1, 2, 3, 7]);
	assert.deepEqual(p.parse_boards("  ", set), set);
	assert.deepEqual(p.parse_boards("7 2–3", set), [7, 2, 3]);
	for (const wrong of ["5", "3-1", "x", "1-", "8-9", "-2"])
		assert.equal(p.parse_boards(wrong, set), null, wrong);
	assert.equal(p.boards_text([1, 2, 3, 7]), "1–3, 7");
	assert.deepEqual(p.parse_boards(p.boards_text(set), set), set);
});

test("progress, rate and minutes", () => {
	const minute = 60e6, ended = (at, outcome = "exact") => [1, 1, "EMU1", 1, 0, at * minute, outcome];

	assert.equal(p.rate_of([]), null);
	assert.equal(p.rate_of([ended(1), ended(2)]), null);
	assert.equal(p.rate_of([ended(1), ended(2), ended(2.5, "void"), ended(3)]), 60);
	/* a pause of an hour does not count */
	assert.equal(p.rate_of([ended(1), ended(61), ended(62), ended(63)]), 60);
	assert.deepEqual(p.progress(job({ Recorded: 33, Skipped: 1 }), 60), { recorded: 33, all: 48, rate: 60, minutes: 14 });
	assert.deepEqual(p.progress(job({ Copies: 0 }), 60), { recorded: 33, all: 0, rate: 60, minutes: null });
	assert.equal(p.progress_text("en", p.progress(job(), 60)), "33 of 48 boards · 60 boards per hour · 15 minutes left");
	assert.equal(p.progress_text("ru", p.progress(job({ Copies: 0 }))), "33 доски");
});

test("the grid of a job", () => {
	const [one, two] = p.grid(job(), [1, 2], [[1, 1, 1, "recorded"], [1, 2, 2, "dealing"], [2, 1, 1, "open"], [2, 2, 0, "skipped"]]);

	assert.deepEqual(one.cells.map(cell => cell.sign), ["✓", "◐"]);
	assert.deepEqual(two.cells.map(cell => [cell.sign, cell.act]), [["✗", "Skip"], ["–", "Redeal"]]);
	assert.deepEqual(p.grid(job(), [9], [])[0].cells.map(cell => cell.sign), ["○", "○"]);
	/* without a limit, as many as there are */
	assert.equal(p.grid(job({ Copies: 0 }), [1], [[1, 3, 1, "recorded"]])[0].cells.length, 3);
});

test("a refusal says what to do", () => {
	assert.match(p.refusal("en", "org.freedesktop.DBus.Error.AccessDenied", "x"), /group dealbox/);
	assert.equal(p.refusal("en", "io.dealbox1.Error.BadSet", "two aces"), "two aces");
});

const all_capabilities = ["by-card", "exit-sensors", "test-deal"];
const tested = more => ({ state: "done", insertion: 40, cards: 52, fed: 52, read: 52, "face-up": 0, repeated: 0, landed: 52, ...more });

test("parameters are those that the machine has, and take what it takes", () => {
	const rows = m.parameter_rows("en", [[1, "speed", 600, 60, 1200, "cards-per-minute"], [2, "read-retries", 2, 0, 9, "readings"],
					     [7, "warp", 1, 0, 1, "gauss"]]);

	assert.deepEqual(rows.map(row => [row.label, row.unit]),
			 [["Speed", "cards a minute"], ["Readings before a card counts as not read", ""], ["warp", "gauss"]]);
	assert.equal(m.parameter_value(rows[0], " 60 "), 60);
	for (const wrong of ["", "59", "1201", "6e2", "-60", "100.5", "x"])
		assert.equal(m.parameter_value(rows[0], wrong), null, wrong);
});

test("counters in words, those of a newer service too", () => {
	assert.deepEqual(m.counter_rows("en", { seconds: 7300, "boards-dealt": 2374, warps: 1 }),
			 [["boards dealt", "2,374"], ["hours of running", "2"], ["warps", "1"]]);
	assert.deepEqual(m.capability_texts("nb", ["by-card", "warp"]), ["leser kort", "warp"]);
});

test("what came of a test deal", () => {
	const lines = (test, capabilities = all_capabilities) => m.test_report("en", test, capabilities);

	assert.equal(lines({}), null);
	assert.equal(lines(tested({ state: "running" })).good, null);
	assert.deepEqual(lines(tested()), { good: true, lines: ["52 of 52 cards came.", "Each was read.", "Each fell into its pocket."] });
	for (const wrong of [{ fed: 51 }, { read: 51 }, { landed: 51 }, { "face-up": 1 }, { repeated: 1 }, { state: "lost" }])
		assert.equal(lines(tested(wrong)).good, false, JSON.stringify(wrong));
	assert.deepEqual(lines(tested({ read: 50, repeated: 1 })).lines.slice(1),
			 ["2 cards were not read.", "1 card was read as one that had come before."]);
	assert.match(lines(tested({ state: "stopped", stop: "jam", fed: 7, read: 7, landed: 7 })).lines[0], /stopped: a card is stuck$/);
	/* without a reader and without sensors there is nothing to miss */
	assert.deepEqual(lines(tested({ read: 0, landed: 0 }), []), { good: true, lines: ["52 of 52 cards came."] });
	/* no number of a test can be taken for a board */
	const running = p.present(machine("none", { Dealing: false, Test: tested({ state: "running" }), Cards: 9 }), null, "en");

	assert.deepEqual([running.title, running.number, running.bar.text], ["Test deal", "", "card 9 of 52"]);
	assert.match(p.present(machine("used", { Test: tested(), Insertion: 40 }), null, "en").title, /^Test deal done/);
	assert.doesNotMatch(p.present(machine("used", { Test: tested(), Insertion: 41 }), null, "en").title, /^Test/);
});

const wrong = (problem, more = {}) => ({ kind: "problem", file: "standard input", severity: table.problems[problem].severity ? "problem" : "note",
					 problem, text: "in English", ...more });

test("each code of a problem has a sentence in every language, and no field is left", () => {
	const codes = Object.keys(table.problems);

	assert.ok(codes.length > 60);
	for (const language of languages)
		for (const code of codes) {
			const said = problems.problem_sentence(language, wrong(code, { hand: "E", hands: "NW", count: 12, expected: 13, quote: "board 9" }));

			assert.doesNotMatch(said, /[{}]|undefined|NaN/, `${language}: ${code}`);
			if (language !== "en")
				assert.notEqual(said, problems.problem_sentence("en", wrong(code, { hand: "E", hands: "NW", count: 12, expected: 13, quote: "board 9" })),
						`${language}: ${code}`);
		}
});

test("problems in words: seats, plural forms, places, how many more", () => {
	const said = (language, code, more) => problems.problem_lines(language, [wrong(code, more)], { [code]: 1 });

	assert.deepEqual(said("en", "card-repeated", { board: 7, line: 12, hands: "EW" }), ["Board 7, line 12: a card is there twice, held by East and West"]);
	assert.deepEqual(said("nb", "card-repeated", { board: 7, hands: "S" }), ["Mappe 7: et kort finnes to ganger, hos Syd alene"]);
	assert.deepEqual([1, 2, 12].map(count => said("ru", "hand-size", { hand: "N", count, expected: 13 })[0]),
			 ["Север: 1 карта, а не 13", "Север: 2 карты, а не 13", "Север: 12 карт, а не 13"]);
	assert.deepEqual([1, 12].map(count => said("en", "hand-size", { hand: "N", count, expected: 13 })[0]),
			 ["North has 1 card, not 13", "North has 12 cards, not 13"]);
	assert.deepEqual(said("fr", "deal-repeated", { board: 9, byte: 0, quote: "board 3" }), ["Étui 9: la même donne que\u00a0: étui 3"]);
	assert.deepEqual(said("el", "format-unknown").length, 1);
	/* notes are no reason, and a code of a newer tool has its message */
	assert.deepEqual(said("nb", "ten-as-10"), []);
	assert.deepEqual(problems.problem_lines("nb", [{ ...wrong("card-missing"), problem: "moon-phase" }], {}), ["in English"]);
	const many = Array.from({ length: 9 }, (_, n) => wrong("card-missing", { board: n + 1 }));

	assert.equal(problems.problem_lines("ru", many, { "card-missing": 1500 }).at(-1), "и ещё 1494 такие ошибки");
	assert.equal(problems.problem_lines("ru", many, { "card-missing": 9 }).length, 7);
	/* thirteen cards of one deal */
	assert.deepEqual(problems.problem_lines("en", [...many.slice(0, 1), ...many.slice(0, 1), wrong("ten-as-10")], { "card-missing": 2, "ten-as-10": 1 }),
			 ["Board 1: a card is missing (× 2)"]);
});

test("the texts of problems are those of the library", () => {
	const files = ["formats/dup.c", "cards/set.c"].map(name => readFileSync(join(sources, "../../lib", name), "utf8")).join("");

	for (const text of problems.texts())
		assert.ok(files.includes('"' + text) || files.match(new RegExp('"' + text.replace(/{[a-z]+}/g, "%z?[us]"))), text);
});

test("cards are named as the language names them", () => {
	assert.deepEqual(["en", "nb", "el", "fr", "ru"].map(language => [0, 3, 4, 51].map(card => s.card_name(language, card)).join(" ")),
			 ["♠A ♠J ♠10 ♣2", "♠E ♠Kn ♠10 ♣2", "♠Α ♠Β ♠10 ♣2", "♠A ♠V ♠10 ♣2", "♠Т ♠В ♠10 ♣2"]);
	assert.equal(s.with_cards("nb", "the card is HQ, H10 or C2 (STOP, S1, Ace)"), "the card is ♥D, ♥10 or ♣2 (STOP, S1, Ace)");
	assert.equal(s.with_cards("en", "ST CA"), "♠10 ♣A");
});

test("statistics: a plot, its words, and tables", () => {
	const months = [["2026-08", 100, 50, 26, 0, [], [[0, 1300, 0, 0], [3, 1300, 2, 0]]],
			["2026-09", 200, 80, 104, 1, [[1, 31]], [[3, 2600, 1, 4]]]];
	const of = m.statistics("en", months);

	assert.deepEqual(of.months, [["2026-08", "100", "26", "5", "0", "–"], ["2026-09", "200", "104", "10", "1", "♠K (31)"]]);
	assert.deepEqual(of.gates, [["1", "1,300", "0", "0"], ["4", "3,900", "3", "4"]]);
	assert.deepEqual(of.bars, [{ month: "2026-08", value: 5, text: "5" }, { month: "2026-09", value: 10, text: "10" }]);
	assert.equal(of.most, 10);
	assert.equal(m.statistics("fr", months).months[1][5], "♠R (31)");
	assert.deepEqual(m.statistics("en", []).bars, []);
});

test("each state has its tune, which is no other's", () => {
	const tunes = Object.fromEntries(s.state_names().map(state => [state, sounds.tune_of(state).join(" ") + " "]));
	const begins = Object.fromEntries(Object.entries(sounds.BEGINNINGS).map(([tone, notes]) => [tone, notes + " "]));

	assert.deepEqual(Object.keys(sounds.ENDS), s.state_names());
	assert.deepEqual(Object.keys(sounds.BEGINNINGS).sort(), [...p.TONES].sort());
	/* nor is one the beginning of another, so each is known when it ends */
	for (const of of [tunes, begins])
		for (const [one, notes] of Object.entries(of))
			for (const [other, others] of Object.entries(of))
				assert.ok(one === other || !others.startsWith(notes), `${one} and ${other} sound alike`);
	for (const state of s.state_names()) {
		const notes = sounds.tune_of(state);

		assert.ok(notes.length >= 2 && notes.length <= 5 && notes.every(one => one > 150 && one < 1400), `${state}: ${notes}`);
	}
	assert.deepEqual(sounds.tune_of("insert-board"), [392, 523, 659, 659]);
	/* of a newer service */
	assert.deepEqual(sounds.tune_of("what"), [440, 440]);
});

test("each state is heard once when it comes, and none with sounds off", () => {
	for (const state of s.state_names()) {
		const other = state === "none" ? "no-work" : "none", now = { "/a": machine(state), "/b": machine("none") };
		const before = { "/a": other, "/b": "none" };

		assert.deepEqual(sounds.due(now, before, true), { states: { "/a": state, "/b": "none" }, heard: [state] }, state);
		assert.deepEqual(sounds.due(now, before, false).heard, [], state);
		/* the next change of another property, and the page's beginning */
		assert.deepEqual(sounds.due(now, sounds.due(now, before, true).states, true).heard, [], state);
		assert.deepEqual(sounds.due(now, {}, true).heard, [], state);
		/* the key that switches sounds off answers nothing */
		assert.ok(!p.present(machine(state), null, "en").keys.some(key => key.code === sounds.KEY), state);
	}
	/* switched off while a state changes, it is not heard later */
	const quiet = sounds.due({ "/a": machine("jam") }, { "/a": "none" }, false);

	assert.deepEqual(sounds.due({ "/a": machine("jam") }, quiet.states, true).heard, []);
});

test("a tune is its notes, one tune after the other, and there is none before a key or a tap", () => {
	const begun = [];
	const node = () => ({ frequency: {}, gain: { setValueAtTime() {}, exponentialRampToValueAtTime() {} },
		connect: next => next, start(at) { begun.push([this.frequency.value, at]); }, stop() {} });

	globalThis.AudioContext = class {
		state = "suspended"; currentTime = 0; destination = null;
		resume() { this.state = "running"; }
		createOscillator() { return node(); }
		createGain() { return node(); }
	};
	sounds.play("jam");
	assert.deepEqual(begun, []);
	sounds.allow();
	const wanted = s.state_names().flatMap(state => sounds.tune_of(state));

	s.state_names().forEach(sounds.play);
	assert.deepEqual(begun.map(([frequency]) => frequency), wanted);
	assert.ok(begun.every(([, at], n) => !n || at > begun[n - 1][1]));
	delete globalThis.AudioContext;
});

test("an event is drawn anew when a minute more or less is shown, though the service sends nothing", () => {
	const { now } = Date, begun = Date.UTC(2026, 10, 27, 18) + 500;
	const at = (seconds, of) => {
		Date.now = () => begun + seconds * 1000;
		return of({ event: { State: "offline", LeaseEnds: (begun + 600e3) * 1000, Pcs: [{ name: "B", heard: begun * 1000 }],
				     Machines: [{ pc: "B", heard: begun * 1000 }] } });
	};

	try {
		/* the countdown of the lease */
		assert.equal(at(10, e.event_panel_now), at(50, e.event_panel_now));
		assert.notEqual(at(10, e.event_panel_now), at(70, e.event_panel_now));
		/* the lease is over, and only the silence of the PCs grows */
		assert.notEqual(at(610, e.event_panel_now), at(670, e.event_panel_now));
		assert.equal(at(10, e.event_pcs_now), at(70, e.event_pcs_now));
		assert.notEqual(at(610, e.event_pcs_now), at(670, e.event_pcs_now));
	} finally {
		Date.now = now;
	}
	assert.equal(e.event_panel_now({ event: null }), "");
});

test("the time of an event is that of the service, whatever the browser's clock says", async () => {
	const heard = (Date.now() + 3600e3) * 1000, of = { event: { State: "online", LeaseEnds: 0, Pcs: [{ name: "B", heard: heard - 300e6 }] } };
	const answer = output => {
		globalThis.cockpit = { spawn: words => ({ input() {}, then: (found, none) => output ?
			found(new TextEncoder().encode(words[0] === "date" ? output : "")) : none({}, null) }) };
		return service.ask_clock();
	};
	const silent = () => JSON.parse(e.event_panel_now(of)).Pcs[0].heard;

	assert.equal(silent(), false);
	/* the browser is an hour slow */
	await answer(`${heard / 1000 + 30e3}\n`);
	assert.equal(silent(), 6);
	await answer("");
	assert.equal(silent(), 6);
	await answer(`${Date.now()}\n`);
	assert.equal(silent(), false);
	delete globalThis.cockpit;
});
