// SPDX-License-Identifier: LGPL-2.1-or-later
/* The event that this PC deals together with others: a panel of the view "Machines". */
import { ask, h, with_commands } from "./dom.js";
import { STATES } from "./present.js";
import { N_, say } from "./sentence.js";
import { service_now } from "./service.js";

export const PATH = "/io/dealbox1/event";

const EVENT_STATES = {
	connecting: N_("Connecting to the server of the event"),
	online: N_("The server of the event answers"),
	offline: N_("The server of the event does not answer"),
	refused: N_("The server of the event refuses this PC"),
};

/* A PC tells every few seconds what its machines do. */
const GONE_S = 120;

const minutes_of = seconds => Math.ceil(seconds / 60);
/* Seconds since a point in time of the service, in microseconds. */
const since = time => (service_now() - time / 1000) / 1000;

function machine_row(text, { pc, name, state, seconds, heard }) {
	const silent = since(heard);
	const doing = silent >= GONE_S ? text(N_("not heard of for {n} min"), { n: minutes_of(silent) }) :
		text((STATES[state] || STATES["machine-silent"]).title);

	return h("tr", { class: silent >= GONE_S ? "bad" : "" }, h("th", { scope: "row" }, pc), h("td", {}, name), h("td", {}, doing),
		h("td", { class: "amount" }, seconds || "–"));
}

/* What a PC of the event does, and who has said so. */
function pc_state(text, state, resting, by, silent) {
	return [
		state !== "here" ? text(N_("declared lost")) :
			silent >= GONE_S ? text(N_("not heard of for {n} min"), { n: minutes_of(silent) }) : "",
		by && (resting ? text(N_("takes no copies: {by} has said so"), { by }) : text(N_("takes copies: {by} has said so"), { by })),
	].filter(x => x).join(" · ");
}

/* Another PC hears of this from the server, and gives back itself what it has not begun. */
function pc_row(app, text, { name: pc, state, open, resting, "rest-by": by, heard }) {
	const silent = since(heard);
	const label = resting ? text(N_("Take copies again")) : text(N_("Let other PCs deal"));

	async function rest() {
		if (resting || await ask(text(N_("Is {pc} to give back what nobody has begun there, so that other PCs deal it?"), { pc }), label, text(N_("No"))))
			app.call(PATH, "Event", "RestPc", "sb", [pc, !resting]);
	}

	return h("tr", { class: silent >= GONE_S ? "bad" : "", "data-pc": pc }, h("th", { scope: "row" }, pc), h("td", { class: "amount" }, String(open)),
		h("td", {}, pc_state(text, state, resting, by, silent)),
		h("td", {}, pc === app.service.event.Pc ? null :
			h("button", { type: "button", "aria-label": `${pc}: ${label}`, disabled: app.service.event.State !== "online", onclick: rest }, label)));
}

/* Points in time as what is shown of them, which changes while the service sends nothing. */
const minutes_left = time => since(time) < 0 && minutes_of(-since(time));
const with_silence = list => (list || []).map(one => ({ ...one, heard: since(one.heard) >= GONE_S && minutes_of(since(one.heard)) }));

/* All that event_pcs() shows, as text. */
export function event_pcs_now({ event }) {
	return event ? JSON.stringify([event.State, event.Resting, event.Pc, with_silence(event.Pcs)]) : "";
}

/* All that event_panel() shows, as text. */
export function event_panel_now({ event }) {
	return event ? JSON.stringify({ ...event, LeaseEnds: minutes_left(event.LeaseEnds), Pcs: with_silence(event.Pcs),
					Machines: with_silence(event.Machines) }) : "";
}

/* Copies move between PCs: who has which that are not begun, and who rests. */
export function event_pcs(app) {
	const event = app.service.event, text = (message, values) => say(app.language, message, values);

	if (!event || event.State === undefined)
		return null;

	async function rest() {
		if (event.Resting || await ask(text(N_("Give back what nobody has begun here, so that other PCs deal it?")),
					       text(N_("Let other PCs deal")), text(N_("No"))))
			app.call(PATH, "Event", "Rest", "b", [!event.Resting]);
	}

	return h("div", {},
		 h("div", { class: "row" }, h("button", { type: "button", onclick: rest },
			text(event.Resting ? N_("Take copies again") : N_("Let other PCs deal")))),
		 (event.Pcs || []).length > 0 && h("div", { class: "scroll", tabindex: 0 }, h("table", {},
			h("caption", { class: "soft" }, text(N_("All PCs of the event"))),
			h("thead", {}, h("tr", {}, [N_("PC"), N_("Copies not begun"), N_("State"), N_("Change")].map(name =>
				h("th", { scope: "col" }, text(name))))),
			h("tbody", {}, event.Pcs.map(one => pc_row(app, text, one))))));
}

/* A list item that needs a person's attention: a board, or (board 0) a job. */
function trouble(text, { job, board, copy, machine, why }) {
	const what = board ? text(N_("Keep out of play: job {job}, board {board}, copy {copy}"), { job, board, copy }) :
		text(N_("Job {job} is not dealt here"), { job });

	return h("li", {}, with_commands([what, machine, why].filter(x => x).join(" · ")));
}

/* A copy that is dealt again only if a person says so, because its board was dealt here before. */
function again(app, text, { job, board, copy }) {
	async function redeal() {
		if (await ask(text(N_("Is the board that was dealt here for this copy out of play?")), text(N_("Deal it again here")), text(N_("No"))))
			app.call(PATH, "Event", "Redeal", "uuu", [job, board, copy]);
	}

	return h("div", { class: "row" }, h("span", {}, text(N_("Must be dealt again: job {job}, board {board}, copy {copy}"), { job, board, copy })),
		 h("button", { type: "button", onclick: redeal }, text(N_("Deal it again here"))));
}

/* The panel, or null without an event. */
export function event_panel(app) {
	const event = app.service.event, text = (message, values) => say(app.language, message, values);

	if (!event || event.State === undefined)
		return null;
	const bad = [...event.Surplus || [], ...event.Refused || []];

	return h("section", { class: "panel" },
		 h("h2", {}, [event.Name, event.Pc].filter(x => x).join(" · ")),
		 h("p", { class: event.State === "online" ? "" : "bad" }, text(EVENT_STATES[event.State] || EVENT_STATES.refused)),
		 event.Reason && h("p", { class: "soft" }, event.Reason),
		 h("p", {}, text(N_("Boards that can be dealt without the server: {n}"), { n: event.Open }), " · ",
		   since(event.LeaseEnds) < 0 ? text(N_("for {n} min"), { n: minutes_of(-since(event.LeaseEnds)) }) : text(N_("none may be begun now"))),
		 h("p", {}, text(N_("Boards that count: {n}"), { n: event.Recorded }), " · ",
		   text(N_("not reported yet: {n}"), { n: event.Waiting })),
		 h("p", {}, text(N_("Left in the event: {n}"), { n: event.Left }),
		   event.MinutesLeft ? " · " + text(N_("about {n} min"), { n: event.MinutesLeft }) : ""),
		 bad.length > 0 && h("ul", { class: "bad" }, bad.map(one => trouble(text, one))),
		 (event.Again || []).map(one => again(app, text, one)),
		 event_pcs(app),
		 (event.Machines || []).length > 0 && h("div", { class: "scroll", tabindex: 0 }, h("table", {},
			h("caption", { class: "soft" }, text(N_("All machines of the event"))),
			h("thead", {}, h("tr", {}, [N_("PC"), N_("Machine"), N_("State"), N_("Seconds for a board")].map(name =>
				h("th", { scope: "col" }, text(name))))),
			h("tbody", {}, event.Machines.map(one => machine_row(text, one))))));
}
