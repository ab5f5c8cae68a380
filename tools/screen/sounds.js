// SPDX-License-Identifier: LGPL-2.1-or-later
/* One short sound for each tone of present.js. A browser plays none before the first key or tap. */

/* Frequencies in Hz, each for 0.16 s; rising: good; falling: something is wrong. */
const NOTES = {
	put: [523, 659], take: [523, 659, 784], deal: [], look: [440, 440], void: [392, 294, 220],
	ask: [523, 440, 523], rest: [],
};
const LENGTH = 0.16;

let context = null;

/* Call it in the handler of a key or a tap: only then may a page make sounds. */
export function allow() {
	context = context || new AudioContext();
	if (context.state === "suspended")
		context.resume();
}

export function play(tone) {
	if (!context || context.state !== "running")
		return;
	(NOTES[tone] || []).forEach((frequency, n) => {
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
