// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A short tune for each state: its beginning says what to do (the tone of present.js), its end which state it is.
 * A browser plays none before the first key or tap.
 */

import { tone_of } from "./present.js";

/* The key that switches sounds off, and on again, in every view. */
export const KEY = "M";

/* Rising: good; falling: something is wrong. Low and short: nobody has to come. None begins like another. */
export const BEGINNINGS = {
	put: "G4 C5", take: "C5 E5 G5", look: "A4 A4", void: "G4 E4 C4", ask: "C5 A4 C5", deal: "C4", rest: "G3",
};

export const ENDS = {
	"none": "E4",
	"no-work": "C4",
	"insert-board": "E5 E5",
	"insert-any": "E5 D5",
	"press-start": "E5 G5",
	"take-out": "C6",
	"paused": "E3",
	"stop-card": "E5 E5",
	"capture": "D5 E5",
	"take-original": "E6",

	"machine-absent": "C4 C4",
	"cover-open": "C5 C5",
	"hopper-empty": "E5 C5",
	"machine-refuses": "C4 E4",
	"machine-unsuited": "C4 G4",
	"machine-silent": "C4 D4",
	"slow": "A3",
	"stopped": "C4 C4",
	"not-seated": "C5 D5",
	"panel-lost": "C4 A4",
	"machine-new": "G5",

	"card-unreadable": "E5 D5",
	"card-face-up": "E5 G5",
	"card-not-in-plan": "E5 C5",
	"gate-late": "E5 A5",
	"feed-timeout": "D5 D5",

	"deck-short": "G4 G4",
	"card-repeated": "E4 E4",
	"deck-wrong": "G4 E4",
	"wrong-pocket": "D4 D4",
	"double-feed": "E4 G4",
	"jam": "A4 A4",
	"board-pulled": "D4 G4",
	"cover-opened": "D4 E4",
	"hardware": "A3 A3",
	"aborted": "G3 G3",
	"differs": "A4 G4",
	"in-doubt": "A4 E4",
	"used": "G4 G4",
	"number-reused": "G4 A4",
	"confirm-empty": "E5",

	"number-unread": "D5",
	"number-range": "G4 E4",
	"number-other": "G4 C5",
	"number-done": "G4 D4",

	"placeholder-deal": "D4 D4",
	"repeat": "D4 E4",
	"bad-set": "D4 C4",
	"ledger": "D4 G4",

	"lease-over": "E4 E4",
};

/* Seconds of a note. */
const LENGTH = 0.12;
/* Semitones above C. */
const SEMITONES = { C: 0, D: 2, E: 4, F: 5, G: 7, A: 9, B: 11 };

let context = null;
/* Two tunes are not played at once. */
let free = 0;

/* The frequency of a note such as "A4", in Hz. */
const frequency_of = ([name, octave]) => Math.round(440 * 2 ** (Number(octave) - 4 + (SEMITONES[name] - SEMITONES.A) / 12));

/* The notes of a state, as frequencies; of a state of a newer service, only what to do. */
export const tune_of = state => [BEGINNINGS[tone_of({ State: state })], ENDS[state]].filter(notes => notes).join(" ").split(" ")
	.map(frequency_of);

/*
 * Which tunes a change of the machines makes. before: the state of each when this was asked last, by path;
 * on: whether sounds are on. Returns the states for the next time, and those whose tunes are to be played.
 */
export function due(machines, before, on) {
	const states = {}, heard = [];

	for (const [path, machine] of Object.entries(machines)) {
		states[path] = machine.State;
		/* what is there when the page begins is seen, not heard */
		if (on && before[path] !== undefined && before[path] !== machine.State)
			heard.push(machine.State);
	}
	return { states, heard };
}

/* Call it in the handler of a key or a tap: only then may a page make sounds. */
export function allow() {
	context = context || new AudioContext();
	if (context.state === "suspended")
		context.resume();
}

export function play(state) {
	if (!context || context.state !== "running")
		return;
	const begin = Math.max(context.currentTime, free), tune = tune_of(state);

	tune.forEach((frequency, n) => {
		const at = begin + n * LENGTH;
		const note = context.createOscillator(), volume = context.createGain();

		note.type = "triangle";
		note.frequency.value = frequency;
		volume.gain.setValueAtTime(0.0001, at);
		volume.gain.exponentialRampToValueAtTime(0.3, at + 0.02);
		volume.gain.exponentialRampToValueAtTime(0.0001, at + LENGTH);
		note.connect(volume).connect(context.destination);
		note.start(at);
		note.stop(at + LENGTH);
	});
	free = begin + (tune.length + 1) * LENGTH;
}
