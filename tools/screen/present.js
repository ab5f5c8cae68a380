// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Maps a machine's state and numbers to the colour, shape, words, steps and keys that the screen shows.
 * Pure: no page, no bus, no clock. tests/system/screen/present.mjs walks all states.
 */
import { N_, P_, say, say_count, seat_name, state_row, what_happened, what_the_keeper_does, what_to_mind } from "./sentence.js";

/*
 * Tones. Each is a colour (style.css), a shape (shapes.js) and a sound (sounds.js):
 *   put   the operator puts something in        take  a board is exact: take it out
 *   deal  the machine works                     look  something is to be done, the deal goes on
 *   void  the board is void, or all has stopped ask   only the operator knows
 *   rest  nothing to do
 */
export const TONES = ["put", "take", "deal", "look", "void", "ask", "rest"];

/*
 * Each state: tone, shape, title. The title is short enough to be read at 3 m. board: "Board 17" is above
 * it. plain: title and number say it all, so the library's sentence is not shown; next: so is the next
 * board. place: the part of the machine that is marked on the sketch, as the library numbers places of jams:
 * 1 feeder, 2 reader, 3 gate, 4 pocket; and "hopper", "cover", "board"; "machine" marks none. first: what the
 * library says behind the instruction is done before the cards go back. titled: title and steps say what the
 * library's first sentence does. call: somebody else may be needed; "now": before anything else.
 */
export const STATES = {
	"none": { tone: "deal", shape: "deal", title: N_("Dealing"), board: true, next: true },
	"no-work": { tone: "rest", shape: "rest", title: N_("Nothing to deal") },
	"insert-board": { tone: "put", shape: "in", title: N_("Put it in, empty"), board: true, plain: true },
	"insert-any": { tone: "put", shape: "in", title: N_("Put in any empty board of the set"), plain: true },
	"press-start": { tone: "put", shape: "start", title: N_("Ready: press start"), board: true, plain: true },
	"take-out": { tone: "take", shape: "exact", title: N_("Exact. Take it out"), board: true, plain: true, next: true },
	"paused": { tone: "rest", shape: "pause", title: N_("Paused"), board: true },
	"stop-card": { tone: "look", shape: "card", title: N_("Take out the stop card"), place: 2 },
	"capture": { tone: "put", shape: "hopper", title: N_("Put in the cards of {seat}"), board: true, place: "hopper" },
	"take-original": { tone: "take", shape: "out", title: N_("The board is read. Take it out") },

	"machine-absent": { tone: "look", shape: "plug", title: N_("No connection to the machine"), call: true },
	"cover-open": { tone: "look", shape: "cover", title: N_("Close the cover"), plain: true, place: "cover" },
	"hopper-empty": { tone: "put", shape: "hopper", title: N_("Put cards into the hopper"), place: "hopper" },
	"machine-refuses": { tone: "look", shape: "machine", title: N_("The machine refuses to deal"), call: true },
	"machine-unsuited": { tone: "look", shape: "machine", title: N_("Use another machine"), call: true },
	"machine-silent": { tone: "look", shape: "machine", title: N_("The machine does not go on"), call: true },
	"slow": { tone: "deal", shape: "deal", title: N_("Dealing, but slowly"), board: true },
	"stopped": { tone: "void", shape: "stop", title: N_("Emergency stop") },
	"not-seated": { tone: "look", shape: "in", title: N_("Push the board in"), place: "board" },
	"panel-lost": { tone: "look", shape: "stop", title: N_("No connection to the stop button"), call: true },
	"machine-new": { tone: "ask", shape: "ask", title: N_("Is this the club's machine?"), call: true },

	"card-unreadable": { tone: "look", shape: "card", title: N_("A card cannot be read"), place: 2 },
	"card-face-up": { tone: "look", shape: "card", title: N_("A card lies face up"), place: 2 },
	"card-not-in-plan": { tone: "look", shape: "card", title: N_("This card does not belong here"), place: 2 },
	"gate-late": { tone: "look", shape: "card", title: N_("The computer was too slow"), place: 2 },
	"feed-timeout": { tone: "look", shape: "card", title: N_("No card came"), place: 1 },

	"deck-short": { tone: "void", shape: "void", title: N_("Deal it again: cards are missing"), board: true, place: "machine", first: true, titled: true },
	"card-repeated": { tone: "void", shape: "void", title: N_("Deal it again: same card twice"), board: true, place: 2, first: true },
	"deck-wrong": { tone: "void", shape: "void", title: N_("Deal it again: deck not complete"), board: true, place: "machine", first: true, titled: true },
	"wrong-pocket": { tone: "void", shape: "void", title: N_("Deal it again: wrong pocket"), board: true, place: 3 },
	"double-feed": { tone: "void", shape: "void", title: N_("Deal it again: two cards at once"), board: true, place: 1, first: true },
	"jam": { tone: "void", shape: "void", title: N_("Deal it again: a card is stuck"), board: true, place: "jam", titled: true },
	"board-pulled": { tone: "void", shape: "void", title: N_("Deal it again: taken out too early"), board: true, place: "board" },
	"cover-opened": { tone: "void", shape: "void", title: N_("Deal it again: the cover was opened"), board: true, place: "cover", titled: true },
	"hardware": { tone: "void", shape: "void", title: N_("Deal it again: machine fault"), board: true, place: "machine", titled: true, call: true },
	"aborted": { tone: "void", shape: "void", title: N_("Deal it again: it was stopped"), board: true },
	"differs": { tone: "void", shape: "void", title: N_("Deal it again: wrong cards in it"), board: true },
	"in-doubt": { tone: "void", shape: "void", title: N_("Deal it again: contents unknown"), board: true },
	"used": { tone: "look", shape: "out", title: N_("Take the old board out"), next: true },
	"number-reused": { tone: "look", shape: "again", title: N_("Take it out, look into it"), call: true },
	"confirm-empty": { tone: "ask", shape: "ask", title: N_("Is it empty? Look into all pockets"), board: true },

	"number-unread": { tone: "ask", shape: "ask", title: N_("Number not read: is it this board?"), board: true },
	"number-range": { tone: "look", shape: "out", title: N_("Not in this job. Take it out"), board: true, plain: true, next: true },
	"number-other": { tone: "look", shape: "other", title: N_("Wrong board is in. Put in this one"), board: true },
	"number-done": { tone: "look", shape: "out", title: N_("Dealt already. Take it out"), board: true, next: true },

	"placeholder-deal": { tone: "look", shape: "file", title: N_("No deal for it in the file"), board: true, call: true },
	"repeat": { tone: "look", shape: "file", title: N_("Old file? Make a new job"), call: true },
	"bad-set": { tone: "look", shape: "file", title: N_("The deal file cannot be used"), call: true },
	"ledger": { tone: "look", shape: "file", title: N_("Call the person in charge"), call: "now" },

	"lease-over": { tone: "look", shape: "network", title: N_("No network: please wait"), call: true },
};

/* Of a newer service. */
const UNKNOWN = { tone: "look", shape: "machine", title: N_("Look at the machine") };

/*
 * Label of the key Enter by state: Enter gives the answer "start", and instructions say "press start", so each label
 * begins with that word.
 */
const ENTER = {
	"press-start": N_("Start"),
	"paused": N_("Start: go on"),
	"stopped": N_("Start: all is safe"),
	"confirm-empty": N_("Start: it is empty"),
	"stop-card": N_("Start: card taken out"),
	"card-unreadable": N_("Start: read it again"),
	"card-face-up": N_("Start: card turned"),
	"card-not-in-plan": N_("Start: card taken out"),
	"gate-late": N_("Start: read it again"),
	"feed-timeout": N_("Start: go on"),
	"capture": N_("Start: cards are in"),
	"number-unread": N_("Start: yes, it is"),
	"machine-refuses": N_("Start: try again"),
	"hardware": N_("Start: try again"),
	"ledger": N_("Start: it is mended"),
};

/* Cards of a pack, until the service says how many the plan has. */
const CARDS = 52;

/* As lib/dealing/operator.c numbers them. */
const SEATS = ["", "N", "E", "S", "W"];
const PLACES = ["", "feeder", "reader", "gate", "pocket"];

/* Returns the facts of a state as sentence.js takes them; 0 is unknown. */
export function facts_of(machine) {
	const facts = { board: 0, copy: 0, copies: 0, there: 0, card: 0, cards: 0, depth: 0, code: 0,
			...machine.Facts };

	facts.seat = Math.max(0, SEATS.indexOf(facts.seat));
	facts.place = Math.max(0, PLACES.indexOf(facts.place));
	return facts;
}

export const cards_total = machine => machine.CardsTotal || CARDS;

/* A machine's name: its model and serial number may be long, so the number alone if it has one. */
export const machine_name = machine => machine.Serial || machine.Id || machine.Port || "";

/* Returns how urgent a tone is: whose hands are needed comes first. */
const URGENCY = { void: 5, look: 4, ask: 3, take: 3, put: 2, deal: 1, rest: 0 };

export function tone_of(machine) {
	return (STATES[machine.State] || UNKNOWN).tone;
}

/*
 * Choose the machine that is shown large. The one that is shown stays as long as it needs somebody, so that
 * no key answers for another machine. since: when each came into its state, by path.
 */
export function choose_machine(machines, shown, pinned, since = {}) {
	const paths = Object.keys(machines).sort();
	const urgency = path => URGENCY[tone_of(machines[path])];

	if (pinned && machines[pinned])
		return pinned;
	if (shown && machines[shown] && urgency(shown) >= URGENCY.put)
		return shown;
	return paths.sort((a, b) => urgency(b) - urgency(a) || (since[a] || 0) - (since[b] || 0) ||
			  (a < b ? -1 : 1))[0] || null;
}

const step = (text, done = false) => ({ text, done });

/* Of two same cards, the one that was probably misread is looked at first. */
const LOOK = {
	earlier: N_("Look at card {depth} from the top in {seat} first, then at the card at the reader: are they the same?"),
	reader: N_("Look at the card at the reader first, then at card {depth} from the top in {seat}: are they the same?"),
	either: N_("Look at the card at the reader, and at card {depth} from the top in {seat}: are they the same?"),
};

/* The steps that empty a void board. */
function void_steps(language, machine, facts) {
	const row = STATES[machine.State] || {}, steps = [];

	if (machine.State === "jam")
		steps.push(say(language, N_("Open the cover, take the card out, close the cover. It belongs to the deck.")));
	if (machine.State === "cover-opened")
		steps.push(say(language, N_("Close the cover.")));
	/* a card is found by its place, so it is looked at before the board is emptied */
	const look = machine.State === "card-repeated" && facts.seat && facts.depth;

	steps.push(say(language, look ? N_("Take the board out. Do not empty it yet.") :
			machine.State === "board-pulled" ? N_("Empty the board that was taken out.") : N_("Take the board out and empty it.")));
	if (look)
		steps.push(say(language, LOOK[facts.suspect] || LOOK.either, { depth: facts.depth, seat: seat_name(language, facts.seat) }),
			   say(language, N_("Same card: one is from another deck (see its back); take it away. Different: one was misread; turn the deck end to end, face down.")));
	if (facts.shuffled)
		return (look ? [...steps, say(language, N_("Empty the board."))] : steps).map(text => step(text));
	/* a card that is missing, or one too many, may have gone into the board before: that one is counted, whatever this deck has */
	const short = machine.State === "deck-short", counted = (short || machine.State === "deck-wrong") &&
		{ cards: cards_total(machine), hand: Math.floor(cards_total(machine) / 4) };

	if (short)
		steps.push(say(language, N_("Count its cards, without the stop card: {cards}."), counted),
			   say(language, N_("If it is not {cards}: look for the missing cards in the machine and on the floor."), counted));
	else if (counted)
		steps.push(say(language, N_("Put the board's cards with the rest of the deck and count them, without the stop card: {cards}."), counted),
			   say(language, N_("If it is not {cards}: find the missing card, or take the extra one away."), counted));
	if (counted)
		steps.push(say(language, N_("Also count the board dealt here just before. If it does not have {hand} a pocket: empty it, and tap its ✓ under Jobs to deal it again."), counted));
	else if (row.first && !look)
		steps.push(what_to_mind(language, machine.State));
	steps.push(look ? say(language, N_("Empty the board. Put its cards and the rest of the deck back into the hopper, face down.")) :
		short ? say(language, N_("Put this deck back into the hopper, face down.")) :
		counted ? say(language, N_("Put this deck back into the hopper, face down, and the stop card behind it.")) :
		say(language, N_("Put the board's cards and the rest of the deck back into the hopper, face down.")));
	steps.push(facts.board ? say(language, N_("Put board {board} in again. Then the screen asks whether it is empty."), facts) :
		   say(language, N_("Put the board in again. Then the screen asks whether it is empty.")));
	return steps.map(text => step(text));
}

/* Answers for the question that is shown, so that a late tap cannot answer another one. */
const answer = (machine, method) => ({ on: "machine", method, args: ["u", [machine.Question || 0]] });

/* Buttons for the words of the property Keys, in the order in which they are shown. */
const KEYS = {
	/* a fault that stays is the last thing to be tried, behind the steps */
	"start": (language, machine) => ({ code: "Enter", main: machine.State !== "hardware", act: answer(machine, "Answer"),
					   label: say(language, ENTER[machine.State] || N_("Start")) }),
	"resume": language => ({ code: "Enter", main: true, label: say(language, N_("Resume the job")), act: { on: "job", method: "Resume" } }),
	"deal-this": (language, machine, facts) => ({ code: "D", act: answer(machine, "DealThis"),
		label: facts.there ? say(language, N_("Deal board {there} now"), facts) : say(language, N_("Deal this one now")) }),
	"name-board": (language, machine) => ({ code: "N", label: say(language, N_("Another number: type it")),
					       act: { ask: "board", ...answer(machine, "NameBoard") } }),
	"skip": (language, machine, facts) => facts.board && facts.copy ? { code: "S", label: say(language, N_("Skip board {board}"), facts),
		act: { on: "job", method: "Skip", args: ["uu", [facts.board, facts.copy]] } } : null,
	"redeal": (language, machine, facts) => facts.board && facts.copy ? { code: "R", confirm: true,
		label: say(language, N_("Redeal: deal board {board} again"), facts),
		act: { on: "job", method: "Redeal", args: ["uu", [facts.board, facts.copy]] } } : null,
	"accept": language => ({ code: "A", main: true, label: say(language, N_("It is the club's: let it deal")),
				 act: { on: "machine", method: "Accept" } }),
	"pause": language => ({ code: "P", label: say(language, N_("Pause")), act: { on: "machine", method: "Pause" } }),
	"release": language => ({ code: "L", label: say(language, N_("Release the board")), act: { on: "machine", method: "ReleaseBoard" } }),
	"reveal": language => ({ code: "V", label: say(language, N_("Show which card it was; not if you play tonight")), act: { reveal: true } }),
};

/* States in which a key is worth its place on the screen; everywhere else it is in the other views. */
const WORTH = { "skip": ["number-other", "number-range", "placeholder-deal"], "redeal": ["take-out"] };

/* States that only another file, or another job, ends. */
const NEW_JOB = ["no-work", "placeholder-deal", "repeat", "bad-set"];

function keys_of(language, machine, facts) {
	/* a board that is locked in is released where it is to be taken out */
	const words = (machine.Keys || []).filter(word => word !== "release" || state_row(machine.State).ways.includes("remove"));
	const keys = Object.keys(KEYS).filter(word => words.includes(word) && (!WORTH[word] || WORTH[word].includes(machine.State)))
		.map(word => KEYS[word](language, machine, facts)).filter(key => key);

	if (NEW_JOB.includes(machine.State))
		keys.unshift({ code: "J", main: true, label: say(language, N_("New job")), act: { go: "jobs" } });
	return keys;
}

/* Hints beside the instruction, in small letters. */
function mind_of(language, machine, facts, row) {
	const found = [];

	if (state_row(machine.State).empties && (!row.first || facts.shuffled))
		found.push(what_to_mind(language, machine.State));
	/* where the hopper is empty, there is none */
	if (state_row(machine.State).empties && !facts.shuffled && machine.State !== "deck-short")
		found.push(say(language, N_("A second deck in the hopper: lift it out, and put it in again after this one.")));
	if (machine.State === "placeholder-deal" && (machine.Keys || []).includes("skip"))
		found.push(say(language, N_("Only if board {board} is not played tonight, skip it."), facts));
	else if ((machine.Keys || []).includes("skip") && WORTH.skip.includes(machine.State))
		found.push(say(language, N_("A skipped board can still be dealt later, under Jobs.")));
	if (machine.State === "hopper-empty")
		found.push(say(language, N_("Then it goes on by itself.")));
	if (machine.State === "number-done")
		found.push(say(language, N_("To deal it again: tap its ✓ under Jobs.")));
	if (NEW_JOB.includes(machine.State))
		found.push(say(language, N_("What is dealt stays dealt and recorded.")));
	return found.filter(text => text).join(" ");
}

/* Whom to call, and what that person can do. */
function keeper_of(language, machine, row) {
	const what = what_the_keeper_does(language, machine.State);

	if (!row.call)
		return "";
	return [row.call !== "now" && say(language, N_("If this does not help, call the person in charge of the computer.")),
		what && say(language, N_("For that person: {what}"), { what })].filter(text => text).join(" ");
}

/* "Board 17: Dealing", where there is room for one line. */
export function heading_of(language, { title, number }) {
	return number ? say(language, N_("Board {board}: {what}"), { board: number, what: title }) : title;
}

/* Returns the part of the sketch that is marked, or null. */
function place_of(row, facts) {
	if (row.place === "jam")
		return facts.place || null;
	return row.place || null;
}

/* Names of the parts that a sketch marks, of one or two words in each language. */
const PARTS = {
	"hopper": N_("Hopper"), "cover": N_("Cover"), "board": N_("Board"),
	1: N_("Feed roller"), 2: N_("Reader"), 3: N_("Gate"), 4: N_("Pocket"),
};

export const part_name = (language, place) => PARTS[place] ? say(language, PARTS[place]) : "";

/* The end of a pause, by the name of the button that is there. */
function paused_text(language, machine) {
	return (machine.Keys || []).includes("resume") ?
		say(language, N_("Press “{button}” to go on. Leave the board in until then."), { button: say(language, N_("Resume the job")) }) :
		say(language, N_("Press start to go on. Leave the board in until then."));
}

/* A test deal is no board of a job: while it runs, and while its board is in. */
function test_shown(shown, machine, language) {
	const test = machine.Test || {};

	if (test.state === "running" && machine.State === "none") {
		shown.title = say(language, N_("Test deal"));
		shown.bar = { value: Math.min(machine.Cards || 0, test.cards), most: test.cards };
		shown.bar.text = say(language, N_("card {value} of {most}"), shown.bar);
		shown.text = "";
	} else if (machine.State === "used" && test.insertion === machine.Insertion && machine.Insertion) {
		shown.title = say(language, N_("Test deal done. Take the board out and empty it"));
		shown.text = say(language, N_("What came of it is shown under Machines."));
	}
	else
		return;
	shown.number = shown.below = shown.next = "";
}

/*
 * Describes what the screen shows of one machine.
 * machine: its properties on the bus; done: the properties of a job that has stopped because its deals were dealt for
 * another session, or of the job that was finished last, if no other is open, or null.
 * Returns tone, shape, number, below (beside the number), title, heading (number and title), text, steps, mind, keys,
 * keeper (small, for the person in charge of the computer), bar, place, and spoken, for screen readers. No card is in
 * any of them.
 */
export function present(machine, done, language) {
	/* with nothing else to deal, it is said why: the state of such a job is that of no machine */
	if (machine.State === "no-work" && done && done.State === "repeat")
		return present({ ...machine, State: "repeat", Facts: {}, Keys: [] }, null, language);
	const facts = facts_of(machine);
	const row = STATES[machine.State] || UNKNOWN;
	const voided = state_row(machine.State).empties;
	/* where two cards are to be looked at, title and steps say all, and there is no room for more */
	const said = machine.State === "card-repeated" && facts.seat && facts.depth ? [] :
		machine.State === "paused" ? [paused_text(language, machine)] :
		what_happened(language, machine.State, facts).slice(row.titled ? 1 : 0);
	const shown = {
		tone: row.tone, shape: row.shape, heading: "",
		title: say(language, row.title, { seat: seat_name(language, Math.max(0, SEATS.indexOf(facts.pocket || ""))) }),
		number: "", below: "",
		text: said.length || voided ? said.join(" ") : machine.Instruction || "", next: "",
		steps: voided ? void_steps(language, machine, facts) : [],
		mind: mind_of(language, machine, facts, row), keeper: keeper_of(language, machine, row),
		place: place_of(row, facts), name: machine_name(machine), bar: null,
		keys: keys_of(language, machine, facts),
	};

	if (row.board && facts.board && !facts.shuffled) {
		shown.number = String(facts.board);
		if (facts.copy && facts.copies !== 1)
			shown.below = facts.copies ? say(language, N_("copy {copy} of {copies}"), facts) :
				      say(language, N_("copy {copy}"), facts);
	}
	if (row.next && machine.NextBoard)
		shown.next = machine.NextCopy && facts.copies > 1 ?
			say(language, N_("Next: board {board}, copy {copy}"), { board: machine.NextBoard, copy: machine.NextCopy }) :
			say(language, N_("Next: board {board}"), { board: machine.NextBoard });
	/* of a capture, the copy is a pocket; of a board that is in no job, there is none */
	if (["capture", "number-range"].includes(machine.State))
		shown.below = "";
	if (machine.State === "capture" && !facts.pocket)
		shown.title = say(language, N_("Read this board"));
	if (row.tone === "deal" && machine.Dealing) {
		shown.bar = { value: machine.Cards || 0, most: cards_total(machine) };
		shown.bar.text = say(language, N_("card {value} of {most}"), shown.bar);
		shown.text = machine.State === "none" ? "" : shown.text;
	}
	if (machine.State === "none" && !machine.Dealing)
		shown.title = say(language, N_("One moment"));
	test_shown(shown, machine, language);
	if (machine.State === "no-work" && done) {
		shown.tone = "take";
		shown.shape = "tick";
		shown.title = say(language, N_("Done"));
		shown.number = "";
		shown.below = done.Session;
		shown.mind = "";
		shown.text = say_count(language, P_("{n} board is dealt, exact and recorded.", "{n} boards are dealt, exact and recorded."),
				       done.Recorded);
		shown.keys.push({ code: "H", label: say(language, N_("Print hand records, for after play")), act: { print: done.Id },
				  confirm: say(language, N_("The printed pages show every hand. Print them now?")) });
	}
	if (row.plain && (shown.number || !row.board))
		shown.text = "";
	shown.heading = heading_of(language, shown);
	shown.spoken = [shown.name + ":", shown.heading + ".", shown.below && shown.below + ".",
			shown.text, ...shown.steps.map(one => one.text), shown.mind, shown.keeper].filter(x => x).join(" ");
	return shown;
}

/* How far back boards count for the rate, in microseconds, so that a pause does not. */
const RATE_WITHIN = 30 * 60 * 1e6;

/*
 * Boards per hour of late, or null if too few were dealt. insertions: of GetReceipt, [board, copy, machine,
 * insertion, begun, ended, outcome], times in microseconds.
 */
export function rate_of(insertions) {
	const ends = insertions.filter(one => one[6] === "exact" && one[5]).map(one => one[5]).sort((a, b) => a - b);
	const last = ends[ends.length - 1];
	const late = ends.filter(end => end > last - RATE_WITHIN).slice(-12);

	if (late.length < 3 || late[0] === last)
		return null;
	return Math.max(1, Math.round((late.length - 1) * 3600e6 / (last - late[0])));
}

/* Progress of a job: recorded, all (0: no limit), rate and minutes (null: unknown). */
export function progress(job, rate = null) {
	const all = (job.Boards || 0) * (job.Copies || 0);
	const recorded = job.Recorded || 0;
	const left = all ? Math.max(0, all - recorded - (job.Skipped || 0)) : null;

	return { recorded, all, rate, minutes: rate && left ? Math.ceil(left * 60 / rate) : null };
}

export function progress_text(language, of) {
	const found = [of.all ? say(language, N_("{recorded} of {all} boards"), of) :
		       say_count(language, P_("{n} board", "{n} boards"), of.recorded)];

	if (of.rate)
		found.push(say_count(language, P_("{n} board per hour", "{n} boards per hour"), of.rate));
	if (of.minutes)
		found.push(say_count(language, P_("{n} minute left", "{n} minutes left"), of.minutes));
	return found.join(" · ");
}

/* The next step after a refused call, by the error's name. */
const REFUSALS = {
	"org.freedesktop.DBus.Error.AccessDenied":
		N_("You may not do that. Ask an administrator to add you to the group dealbox, then log in again."),
	"io.dealbox1.Error.Busy": N_("The board is being dealt. Wait until it is done."),
	"io.dealbox1.Error.NotFound": N_("That is not there any more."),
	"io.dealbox1.Error.Machine": N_("The machine refuses, or is not there."),
	"io.dealbox1.Error.Absent": N_("The machine refuses, or is not there."),
	"io.dealbox1.Error.NotAsked": N_("Something else has happened meanwhile. Look again, then answer."),
	"io.dealbox1.Error.Changed": N_("Something else has happened meanwhile. Look again, then answer."),
	"access-denied": N_("Only an administrator may do that: log in as one."),
	"not-found": N_("The service does not run. It is started again by itself; if not, call who keeps this computer."),
};

export function refusal(language, name, message) {
	return REFUSALS[name] ? say(language, REFUSALS[name]) : message || name;
}

/* "1-4, 7" -> [1, 2, 3, 4, 7]; null if it is not a list of boards, each from the set. */
export function parse_boards(text, of) {
	const found = [];

	if (!text.trim())
		return [...of];
	for (const part of text.split(/[,;\s]+/).filter(x => x)) {
		const match = /^(\d+)(?:[-–](\d+))?$/.exec(part);

		if (!match)
			return null;
		const first = Number(match[1]), last = Number(match[2] || match[1]);

		if (first > last)
			return null;
		for (const board of of)
			if (board >= first && board <= last && !found.includes(board))
				found.push(board);
		if (!of.some(board => board >= first && board <= last))
			return null;
	}
	return found;
}

/* [1, 2, 3, 4, 7] -> "1–4, 7" */
export function boards_text(boards) {
	const found = [];

	for (const board of boards) {
		const last = found[found.length - 1];

		if (last && board === last[1] + 1)
			last[1] = board;
		else
			found.push([board, board]);
	}
	return found.map(([a, b]) => a === b ? a : a + "–" + b).join(", ");
}

/*
 * The grid of a job: a row for each board, a cell for each copy. boards: of GetBoards; copies: of GetCopies,
 * [board, copy, tries, state]. Each cell has a sign, a word, and what a tap does: "Redeal", "Skip" or null.
 */
export function grid(job, boards, copies) {
	const cells = {};
	let most = job.Copies || 1;

	for (const [board, copy, tries, state] of copies) {
		(cells[board] = cells[board] || {})[copy] = state === "open" && tries ? "void" : state;
		most = Math.max(most, copy);
	}
	return boards.map(board => ({
		board,
		cells: Array.from({ length: most }, (_, n) => {
			const state = (cells[board] || {})[n + 1] || "open";

			return { copy: n + 1, state, ...(CELLS[state] || CELLS.open) };
		}),
	}));
}

const CELLS = {
	"open": { sign: "○", word: N_("not dealt yet"), act: "Skip" },
	"dealing": { sign: "◐", word: N_("being dealt"), act: null },
	"recorded": { sign: "✓", word: N_("exact"), act: "Redeal" },
	"skipped": { sign: "–", word: N_("skipped"), act: "Redeal" },
	"void": { sign: "✗", word: N_("to be dealt again"), act: "Skip" },
};

/* Outcomes of insertions, as the service names them. */
export const OUTCOMES = {
	"": ["◐", N_("being dealt")], "exact": ["✓", N_("exact")], "captured": ["✓", N_("read")],
	"void": ["✗", N_("to be dealt again")], "differs": ["✗", N_("to be dealt again")],
	"unknown": ["✗", N_("in doubt, to be dealt again")], "revoked": ["✗", N_("taken back, to be dealt again")],
};
