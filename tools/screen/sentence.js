// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Texts in the user's language. What the operator is told is made of the library's own table
 * (lib/dealing/operator.c), as dealbox_operator_text() does; a test compares the two.
 */
import { table, words } from "./words.js";

/* Each in its own language. */
export const LANGUAGES = { nb: "Norsk", el: "Ελληνικά", fr: "Français", ru: "Русский", en: "English" };

/* Mark a text for words.py; say() translates it. */
export const N_ = text => text;
/* The same for singular and plural; say_count() translates the singular. */
export const P_ = (one, many) => one; // eslint-disable-line no-unused-vars

/* The order in which gettext has the forms; languages without a row have two. */
const FORMS = { ru: ["one", "few", "many"] };

/* Choose the page's language: the first of these that it has, such as "fr" for "fr-CA". */
export function choose_language(wanted) {
	const norwegian = { no: "nb", nn: "nb" };

	for (const tag of wanted) {
		const name = (tag || "").toLowerCase().split(/[-_]/)[0];

		if ((norwegian[name] || name) in LANGUAGES)
			return norwegian[name] || name;
	}
	return "en";
}

/* Insert values: "{board}" becomes values.board. */
function fill(text, values = {}) {
	return text.replace(/{(\w+)}/g, (all, name) => name in values ? String(values[name]) : all);
}

export function say(language, text, values) {
	const found = (words[language] || {})[text];

	return fill(Array.isArray(found) ? found[0] : found || text, values);
}

/* The form for a number, which is the field {n}. */
export function say_count(language, text, n, values = {}) {
	const forms = (words[language] || words.en)[text];
	const kind = new Intl.PluralRules(language).select(n);
	let form = FORMS[language] ? FORMS[language].indexOf(kind) : kind === "one" ? 0 : 1;

	if (form < 0)
		form = forms.length - 1;
	return fill(Array.isArray(forms) ? forms[form] : forms || text, { n, ...values });
}

const states = new Map(table.states.map((state, number) => [state.name, { ...state, number }]));

export const state_names = () => [...states.keys()];

/* Returns the row of a state; an unknown one, of a newer service, has no sentence and no way on. */
export const state_row = name =>
	states.get(name) || { name, ways: [], empties: false, says: null, behind: null, shuffled: null, keeper: null, number: -1 };

/* The seat with this number, 1 = N .. 4 = W; "" for any other. */
export const seat_name = (language, seat) => table.seats[seat] ? say(language, table.seats[seat]) : "";

/* Tells whether the facts that a further sentence needs are known. */
const known = {
	"card": f => f.card && f.cards,
	"card-alone": f => f.card && !f.cards,
	"cell": f => f.seat && f.seat < table.seats.length && f.depth,
	"place": f => f.place && f.place < table.places.length,
	"code": f => f.code && !known.place(f),
	"there": f => f.there,
};

/* Returns what happened, as a list of sentences. */
export function what_happened(language, name, facts) {
	const row = state_row(name);
	const text = message => say(language, message, {
		...facts,
		seat: seat_name(language, facts.seat),
		/* a capture reads the pocket whose number is that of the copy */
		pocket: seat_name(language, facts.copy) || facts.copy,
		place: table.places[facts.place] ? say(language, table.places[facts.place]) : "",
	});
	const says = facts.shuffled && row.shuffled ? row.shuffled : row.says;
	const found = says ? [text(says)] : [];

	for (const detail of table.details)
		if (row.number >= detail.first && row.number <= detail.last &&
		    detail.needs.every(need => known[need](facts)))
			found.push(text(detail.text));
	return found;
}

/* Returns what to mind behind the steps that empty a void board; "" if nothing. */
export const what_to_mind = (language, name) => {
	const { behind } = state_row(name);

	return behind ? say(language, behind) : "";
};

/* Returns what the person in charge of the computer can do; "" if nothing. */
export const what_the_keeper_does = (language, name) => {
	const { keeper } = state_row(name);

	return keeper ? say(language, keeper) : "";
};

/* Returns everything, as the service's Instruction says it. */
export function instruction(language, name, facts) {
	const found = what_happened(language, name, facts);

	if (state_row(name).empties)
		found.push(say(language, facts.shuffled ? table.voidShuffled : table.voidBoard));
	found.push(what_to_mind(language, name), what_the_keeper_does(language, name));
	return found.filter(text => text).join(" ");
}

/* The honours of a language, from ace to jack, as its players write them. */
const HONOURS = N_("A K Q J");
const SUITS = "♠♥♦♣";

/* A card by its number, as docs/daemon.md numbers them: "♠K" in English is "♠Ρ" in Greek. */
export function card_name(language, card) {
	const rank = card % 13;

	return SUITS[Math.floor(card / 13)] + (rank < 4 ? say(language, HONOURS).split(" ")[rank] : String(14 - rank));
}

/* The same for each card that is named in a text of the service, such as "SK" or "H10". */
export const with_cards = (language, text) => text.replace(/\b([SHDC])(10|[AKQJT2-9])\b/g, (all, suit, rank) => {
	const honour = "AKQJT".indexOf(rank);

	return card_name(language, 13 * "SHDC".indexOf(suit) + (honour >= 0 ? honour : 14 - Number(rank)));
});
