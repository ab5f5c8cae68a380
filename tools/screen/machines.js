// SPDX-License-Identifier: LGPL-2.1-or-later
/* The view "Machines": what each is and can do, its counters, parameters and service. */
import { ask, h, show } from "./dom.js";
import { STATES, machine_name } from "./present.js";
import { N_, say } from "./sentence.js";

/* Parameters of the protocol (docs/protocol.md, GET_PARAM). */
const PARAMETERS = [[1, N_("Speed")]];
const LOCATE_S = 10;

/* A number that the machine counts: "cards-read" as a person would write it. */
const counter_name = name => name.replace(/[-_]/g, " ");

function panel_of(app, path, machine) {
	const text = (message, values) => say(app.language, message, values);
	const details = h("div");
	const call = (method, type, args) => app.call(path, "Machine", method, type, args);
	const button = (label, act, more = {}) => h("button", { type: "button", onclick: act, ...more }, label);

	async function release() {
		if (await ask(text(N_("Let go of the board? A board that is being dealt is void then.")), text(N_("Release the board")), text(N_("No"))))
			call("ReleaseBoard");
	}

	async function test() {
		if (!await ask(text(N_("Put in an empty board for a test deal of all cards. It is no board of a job.")), text(N_("Test deal")), text(N_("No"))))
			return;
		app.service.call_as_administrator(path, "Machine", "TestDeal", "u", [0])
			.then(() => app.message(text(N_("The test deal runs; its result comes when it is done."))), app.refused);
	}

	async function ask_machine() {
		const counters = await call("GetCounters");
		const parameters = [];

		for (const [number, label] of PARAMETERS) {
			const values = counters && await app.service.call(path, "Machine", "GetParameter", "u", [number]).catch(() => null);

			if (values)
				parameters.push(h("p", {}, text(N_("{name}: {value} (from {least} to {most})"),
					{ name: text(label), value: values[0], least: values[1], most: values[2] })));
		}
		if (!counters)
			return;
		show(details, parameters, h("table", {}, h("caption", { class: "soft" }, text(N_("Counted by the machine since it was made"))),
			h("tbody", {}, Object.entries(counters[0]).map(([name, value]) =>
				h("tr", {}, h("th", { scope: "row" }, counter_name(name)), h("td", { class: "amount" }, value.toLocaleString(app.language)))))));
	}

	return h("section", { class: "panel" },
		 h("h2", {}, machine_name(machine)),
		 h("p", {}, text((STATES[machine.State] || STATES["machine-silent"]).title) + (machine.Board ? " " + machine.Board : "")),
		 h("p", { class: "soft" }, [machine.Model, machine.Port, ...(machine.Capabilities || [])].filter(x => x).join(" · ")),
		 h("div", { class: "row" },
		   button(text(N_("Locate")), () => call("Locate", "u", [LOCATE_S]), { disabled: !machine.Present }),
		   button(text(N_("Release the board")), release, { disabled: !machine.Present }),
		   button(text(N_("Counters")), ask_machine, { disabled: !machine.Present }),
		   button(text(N_("Test deal")), test, { disabled: !machine.Present || machine.Dealing })),
		 details);
}

export function machines_view(main, app) {
	const list = h("div", { class: "page" });
	const panels = {};

	show(main, h("h1", { class: "unseen" }, say(app.language, N_("Machines"))), list);
	return {
		draw() {
			const paths = Object.keys(app.service.machines).sort();

			for (const path of paths) {
				const { Cards, Copy, ...machine } = app.service.machines[path]; // eslint-disable-line no-unused-vars
				const now = JSON.stringify([machine, app.language]);

				if (panels[path] && panels[path].now === now)
					continue;
				panels[path] = { now, panel: panel_of(app, path, machine) };
			}
			const wanted = paths.map(path => panels[path].panel);

			if (wanted.length !== list.children.length || wanted.some((one, n) => list.children[n] !== one))
				show(list, wanted.length ? wanted : h("p", { class: "panel" }, say(app.language, N_("No machine yet"))));
		},
		end() {},
	};
}
