// SPDX-License-Identifier: LGPL-2.1-or-later
/* Every state of a machine, with facts as the service gives them. Its names are those of the library's table. */
import { state_row } from "./sentence.js";

export const machine = (state, more = {}) => ({
	Id: "EMU1", Serial: "EMU1", Port: "1-2", Model: "emulator", Capabilities: ["by-card", "board-lock", "exit-sensors"],
	Present: state !== "machine-absent", State: state,
	Instruction: "", Diagnosis: "", Dealing: state === "none", Job: 3, JobPath: "/io/dealbox1/job/3", Board: 17, Copy: 1,
	Cards: state === "none" ? 23 : 0, CardsTotal: 52, Insertion: 40, Question: 12, NextBoard: 19, NextCopy: 1, Keys: keys[state] || state_row(state).ways.filter(way => way === "start"),
	Facts: { board: 17, copy: 1, copies: 2, ...facts[state] }, ...more,
});

const stopped = { card: 21, cards: 52 };
const facts = {
	"card-unreadable": stopped, "card-face-up": stopped, "card-not-in-plan": stopped, "gate-late": stopped,
	"feed-timeout": stopped, "deck-short": { card: 50, cards: 52 }, "wrong-pocket": stopped, "double-feed": stopped,
	"card-repeated": { ...stopped, seat: "N", depth: 3, suspect: "earlier", chance: 80 },
	"jam": { ...stopped, place: "gate" }, "hardware": { ...stopped, code: 5 }, "number-other": { there: 11 },
	"capture": { pocket: "N" },
};
const keys = {
	"none": ["pause"], "slow": ["pause"], "machine-new": ["accept"], "card-repeated": ["reveal"],
	"number-unread": ["start", "name-board", "skip"], "number-other": ["deal-this", "skip"], "take-out": ["redeal"],
	"placeholder-deal": ["skip"], "repeat": ["skip"],
};

export const job = (more = {}) => ({
	Id: 3, Set: 1, Session: "2026-11-24", Boards: 24, Copies: 2, Machines: [], Priority: 0, State: "open", Recorded: 33,
	Void: 1, Skipped: 0, Options: ["automatic-start"], ...more,
});

/* The objects of the service with these machines and jobs, in Cockpit's JSON. */
export function objects(machines, jobs) {
	const variant = value => ({ t: "v", v: value });
	const all = values => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, variant(value)]));
	const found = { "/io/dealbox1": { "io.dealbox1.Manager": all({ Version: "1", Panel: "" }) } };

	for (const one of machines)
		found["/io/dealbox1/machine/" + one.Id] = { "io.dealbox1.Machine": all(one) };
	for (const one of jobs)
		found["/io/dealbox1/job/" + one.Id] = { "io.dealbox1.Job": all(one) };
	return found;
}
