// SPDX-License-Identifier: LGPL-2.1-or-later
/* One short sound for each tone of present.js. A browser plays none before the first key or tap. */

import { tone_of } from "./present.js";

/* The key that switches sounds off, and on again, in every view. */
export const KEY = "M";

/* Frequencies in Hz, each for 0.16 s; rising: good; falling: something is wrong. */
const NOTES = {
	put: [523, 659], take: [523, 659, 784], deal: [], look: [440, 440], void: [392, 294, 220],
	ask: [523, 440, 523], rest: [],
};
const LENGTH = 0.16;

let context = null;

/* The notes of a tone; none where nobody has to come. */
export const notes_of = tone => NOTES[tone] || [];

/*
 * Which sounds a change of the machines makes. before: the state of each when this was asked last, by path;
 * on: whether sounds are on. Returns the states for the next time, and the tones to be played.
 */
export function due(machines, before, on) {
	const states = {}, tones = [];

	for (const [path, machine] of Object.entries(machines)) {
		states[path] = machine.State;
		/* what is there when the page begins is seen, not heard */
		if (on && before[path] !== undefined && before[path] !== machine.State)
			tones.push(tone_of(machine));
	}
	return { states, tones };
}

/* Call it in the handler of a key or a tap: only then may a page make sounds. */
export function allow() {
	context = context || new AudioContext();
	if (context.state === "suspended")
		context.resume();
}

export function play(tone) {
	if (!context || context.state !== "running")
		return;
	notes_of(tone).forEach((frequency, n) => {
		const at = context.currentTime + n * LENGTH;
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
}
