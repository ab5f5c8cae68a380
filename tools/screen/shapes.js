// SPDX-License-Identifier: LGPL-2.1-or-later
/* Drawings, in SVG: a shape for each situation, and a sketch of the machine that marks a place. */

const SVG = "http://www.w3.org/2000/svg";

/* Lines on a square of 120. "fill:" in front: an area. */
const BOARD = "M22 70 h76 v32 h-76 z M60 70 v32 M22 86 h76";
const CIRCLE = "M60 12 a48 48 0 1 0 0.01 0 z";
const OCTAGON = "M40 10 H80 L110 40 V80 L80 110 H40 L10 80 V40 z";
const TRIANGLE = "M60 12 L112 104 H8 z";
const SHAPES = {
	in: [BOARD, "M60 10 V54", "M40 36 L60 56 L80 36"],
	hopper: ["M26 66 V108 H94 V66", "M40 96 H80 M40 84 H80", "M60 10 V64", "M40 46 L60 66 L80 46"],
	out: [BOARD, "M60 58 V14", "M40 32 L60 12 L80 32"],
	exact: [BOARD, "M38 58 V14", "M20 32 L38 12 L56 32", "M70 34 L84 50 L108 16"],
	tick: [CIRCLE, "M36 62 L54 80 L86 42"],
	deal: ["M30 34 L62 22 L86 84 L54 96 z", "M66 26 h34 v66 h-12", "M24 44 L12 50 L40 104 L52 98"],
	start: [CIRCLE, "fill:M48 38 L86 60 L48 82 z"],
	pause: [CIRCLE, "fill:M42 38 h12 v44 h-12 z M66 38 h12 v44 h-12 z"],
	rest: [CIRCLE, "M38 60 H82"],
	ask: [CIRCLE, "M44 48 C44 28 76 28 76 48 C76 62 60 60 60 74", "fill:M54 84 h12 v11 h-12 z"],
	void: [OCTAGON, "M40 40 L80 80", "M80 40 L40 80"],
	stop: [OCTAGON, "fill:M36 52 h48 v16 h-48 z"],
	card: [TRIANGLE, "M60 44 V74", "fill:M54 82 h12 v11 h-12 z"],
	machine: [TRIANGLE, "M60 44 V74", "fill:M54 82 h12 v11 h-12 z"],
	plug: ["M42 12 V38 M78 12 V38", "M30 38 H90 V58 C90 74 78 84 60 84 C42 84 30 74 30 58 z", "M60 84 V110"],
	cover: ["M14 60 H106 V104 H14 z", "M14 60 L88 14", "M98 18 V46", "M86 36 L98 48 L110 36"],
	other: [BOARD, "M38 14 L82 54", "M82 14 L38 54"],
	again: [BOARD, "M40 58 V16", "M24 32 L40 14 L56 32", "M82 12 V52", "M66 38 L82 56 L98 38"],
	network: ["M44 12 h32 v24 h-32 z", "M12 84 h32 v24 h-32 z", "M76 84 h32 v24 h-32 z", "M60 36 V60 M28 84 V60 H92 V84"],
	file: ["M28 10 H72 L94 32 V110 H28 z", "M72 10 V32 H94", "M60 50 V78", "fill:M54 86 h12 v11 h-12 z"],
};

/* The sketch, on 240 x 150: outline, then the places in the order in which a card passes them. */
const MACHINE = [
	"M12 142 H228", "M20 142 V70 H132 V52 H222 V142",		// housing
	"M34 70 V14 H82 V70",						// hopper
	"M40 62 H76 M40 54 H76 M40 46 H76 M40 38 H76",			// cards
	"M82 84 H196", "M182 76 L196 84 L182 92",			// the cards' way
	"M146 108 H214 V132 H146 z M163 108 V132 M180 108 V132 M197 108 V132",	// board
];
const PLACES = {
	hopper: [58, 40, 30], 1: [70, 84, 20], 2: [112, 84, 20], 3: [152, 84, 20], 4: [180, 116, 24],
	board: [180, 118, 28], cover: [176, 47, 20],
};

function add(parent, name, attributes) {
	const one = document.createElementNS(SVG, name);

	for (const [key, value] of Object.entries(attributes))
		one.setAttribute(key, value);
	parent.append(one);
	return one;
}

function drawing(width, height, name) {
	const svg = document.createElementNS(SVG, "svg");

	svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
	svg.setAttribute("class", name);
	svg.setAttribute("aria-hidden", "true");
	return svg;
}

export function shape(name) {
	const svg = drawing(120, 120, "shape");

	for (const line of SHAPES[name] || SHAPES.machine)
		if (line.startsWith("fill:"))
			add(svg, "path", { d: line.slice(5), class: "area" });
		else
			add(svg, "path", { d: line, class: "line" });
	return svg;
}

/* The machine, with a ring around the place. */
export function sketch(place) {
	const svg = drawing(240, 150, "sketch");

	for (const line of MACHINE)
		add(svg, "path", { d: line, class: "line" });
	if (PLACES[place]) {
		const [cx, cy, r] = PLACES[place];

		add(svg, "circle", { cx, cy, r, class: "ring" });
	}
	return svg;
}
