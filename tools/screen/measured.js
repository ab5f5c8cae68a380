// SPDX-License-Identifier: LGPL-2.1-or-later
/* Puts the service's parameters, counters and test deals of a machine into words. Pure. */
import { STATES } from "./present.js";
import { N_, P_, card_name, say, say_count } from "./sentence.js";

/* The words of the property Capabilities. */
const CAPABILITIES = {
	"stored-plan": N_("holds the plan itself"), "host-routed": N_("is steered card by card"),
	"by-card": N_("reads cards"), "by-position": N_("deals sorted decks"), "capture": N_("reads originals"),
	"board-reader": N_("reads board numbers"), "board-lock": N_("locks the board in"),
	"exit-sensors": N_("sees each card fall"), "face-sensor": N_("sees cards face up"),
	"double-feed-sensor": N_("sees two cards at once"), "keys": N_("has keys"), "test-deal": N_("can make test deals"),
	"attest": N_("signs what it has dealt"),
};

/* The words of GetCounters, in the order in which they are shown. */
const COUNTERS = {
	"boards-dealt": N_("boards dealt"), "boards-voided": N_("boards void"), "cards-fed": N_("cards fed"),
	"cards-read": N_("cards read"), "unreadable": N_("cards not read"), "repeated": N_("same card twice"),
	"not-in-plan": N_("foreign cards"), "double-feeds": N_("two cards at once"), "feed-timeouts": N_("no card came"),
	"jams": N_("cards stuck"), "wrong-pockets": N_("wrong pocket"), "gates-late": N_("gate too late"),
	"gates-ignored": N_("gate commands ignored"), "power-ons": N_("switched on"), "seconds": N_("hours of running"),
};

/* The words of GetParameters, and its units. */
const PARAMETERS = {
	"speed": N_("Speed"), "read-retries": N_("Readings before a card counts as not read"),
	"feed-timeout": N_("Time for a card to come"), "volume": N_("Volume"),
};
const UNITS = { "cards-per-minute": N_("cards a minute"), "readings": "", "ms": N_("ms"), "percent": N_("%") };

/* A newer service may have words that this page does not know: they are shown as they are. */
const known = (language, words, name) => name in words ? say(language, words[name]) : name;

export const capability_texts = (language, names) => names.map(name => known(language, CAPABILITIES, name));

/* Returns [label, number as text] for each counter that the machine has. */
export function counter_rows(language, counters) {
	const names = [...Object.keys(COUNTERS).filter(name => name in counters),
		       ...Object.keys(counters).filter(name => !(name in COUNTERS))];

	return names.map(name => [known(language, COUNTERS, name),
		(name === "seconds" ? Math.floor(counters[name] / 3600) : counters[name]).toLocaleString(language)]);
}

/* Returns what is shown of each parameter of GetParameters: number, label, value, least, most, unit. */
export const parameter_rows = (language, parameters) => parameters.map(([number, name, value, least, most, unit]) =>
	({ number, label: known(language, PARAMETERS, name), value, least, most, unit: unit && known(language, UNITS, unit) }));

/* Returns the value that was typed for a parameter; null if the machine does not take it. */
export function parameter_value(row, text) {
	const value = /^\s*\d+\s*$/.test(text) ? Number(text) : null;

	return value !== null && value >= row.least && value <= row.most ? value : null;
}

/*
 * Returns the result of a test deal (the property Test): null if there was none; else good (true, false, or null
 * while it runs) and lines. capabilities: nothing is said of sensors that the machine does not have.
 */
export function test_report(language, test, capabilities = []) {
	const count = (text, n) => say_count(language, text, n);
	const lines = [];

	if (!test || !test.state)
		return null;
	if (test.state === "running")
		return { good: null, lines: [say(language, N_("The test deal is running."))] };
	if (test.state === "lost")
		return { good: false, lines: [say(language, N_("The connection to the machine was lost during the test deal."))] };
	if (test.state === "stopped")
		lines.push(say(language, N_("The test deal was stopped: {why}"),
			       { why: say(language, STATES[test.stop] ? STOPS[test.stop] || STATES[test.stop].title : N_("Look at the machine")) }));
	lines.push(say(language, N_("{fed} of {cards} cards came."), test));
	const reads = capabilities.includes("by-card"), sees = capabilities.includes("exit-sensors");
	const faults = [
		[reads ? test.fed - test.read : 0, P_("{n} card was not read.", "{n} cards were not read.")],
		[test["face-up"], P_("{n} card lay face up.", "{n} cards lay face up.")],
		[test.repeated, P_("{n} card was read as one that had come before.", "{n} cards were read as ones that had come before.")],
		[sees ? test.fed - test.landed : 0, P_("{n} card was not seen to fall into a pocket.", "{n} cards were not seen to fall into a pocket.")],
	].filter(([n]) => n > 0);

	lines.push(...faults.map(([n, text]) => count(text, n)));
	const good = test.state === "done" && test.fed === test.cards && !faults.length;

	if (good && reads)
		lines.push(say(language, N_("Each was read.")));
	if (good && sees)
		lines.push(say(language, N_("Each fell into its pocket.")));
	return { good, lines };
}

/* A test deal is no board, so it is not void either. */
const STOPS = {
	"jam": N_("a card is stuck"), "double-feed": N_("two cards came at once"), "wrong-pocket": N_("a card fell into the wrong pocket"),
	"board-pulled": N_("the board was taken out"), "cover-opened": N_("the cover was opened"), "hardware": N_("machine fault"),
	"aborted": N_("somebody stopped it"), "card-repeated": N_("the same card came twice"),
};

/* True if the board that is in the machine is that of a test deal. */
export const is_test_board = machine => Boolean(machine.Test && machine.Test.state && machine.Test.insertion === machine.Insertion &&
						machine.Insertion);

const CARDS = 52;

/*
 * Puts GetStatistics into words. It has [month, boards, deals, failed, late, [[card, failed]], [[pocket, routed,
 * wrong, stuck]]] of each month. Returns months, as rows of a table; bars of a plot of failed readings for each
 * 1000 cards, of which the longest is most; and gates, the sums of all months.
 */
export function statistics(language, months) {
	const rate = ([, boards, , failed]) => boards ? Math.round(1e4 * failed / (boards * CARDS)) / 10 : 0;
	const number = value => value.toLocaleString(language);
	const most = Math.max(1, ...months.map(rate));
	const gates = {};

	for (const month of months)
		for (const [pocket, routed, wrong, stuck] of month[6]) {
			const sum = gates[pocket] = gates[pocket] || [0, 0, 0];

			[routed, wrong, stuck].forEach((value, n) => { sum[n] += value; });
		}
	return {
		most, bars: months.map(month => ({ month: month[0], value: rate(month), text: number(rate(month)) })),
		months: months.map(month => [month[0], number(month[1]), number(month[3]), number(rate(month)), number(month[4]),
			month[5].map(([card, failed]) => `${card_name(language, card)} (${number(failed)})`).join(", ") || "–"]),
		gates: Object.entries(gates).map(([pocket, values]) => [String(Number(pocket) + 1), ...values.map(number)]),
	};
}

export const MONTH_COLUMNS = [N_("Month"), N_("Boards"), N_("Readings that failed"), N_("Of 1000 cards"), N_("Late gate commands"),
			      N_("Cards to be replaced")];
export const GATE_COLUMNS = [N_("Pocket"), N_("Cards"), N_("Fell elsewhere"), N_("Stuck")];
