// SPDX-License-Identifier: LGPL-2.1-or-later
/* The view "Machines": what each is and can do, its counters, parameters and test deals. */
import { ask, h, show } from "./dom.js";
import { event_panel, event_panel_now } from "./event.js";
import { GATE_COLUMNS, MONTH_COLUMNS, capability_texts, counter_rows, parameter_rows, parameter_value, statistics, test_report } from "./measured.js";
import { machine_name, present } from "./present.js";
import { N_, say } from "./sentence.js";

const LOCATE_S = 10;
/* Cards of a test deal: a pack. */
const TEST_CARDS = 52;

/* A bar for each month, with its name and its number. */
const plot = ({ bars, most }) => h("div", { class: "plot" }, bars.flatMap(({ month, value, text }) =>
	[h("span", {}, month), h("progress", { max: most, value, "aria-label": month }), h("span", { class: "amount" }, text)]));

/* Counters and parameters, which stay while the rest of the panel is drawn anew. */
function details_of(app, path) {
	const text = (message, values) => say(app.language, message, values);
	const inside = h("div", { class: "details" });

	async function set(row, input) {
		const value = parameter_value(row, input.value);

		if (value === null) {
			app.message(text(N_("{label}: from {least} to {most}."), row));
			input.focus();
			return;
		}
		try {
			await app.administer(path, "Machine", "SetParameter", "uu", [row.number, value]);
			app.message(text(N_("{label}: {value} {unit}"), { ...row, value }).trim());
		} catch (problem) {
			app.refused(problem);
		}
		ask_machine();
	}

	function parameter(row) {
		const input = h("input", { type: "number", min: row.least, max: row.most, value: row.value, step: 1 });

		return h("form", { class: "parameter", novalidate: true, onsubmit: event => { event.preventDefault(); set(row, input); } },
			h("label", {}, row.label + (row.unit ? ` (${row.unit}, ${row.least}–${row.most})` : ` (${row.least}–${row.most})`), input),
			h("button", { type: "submit" }, text(N_("Set"))));
	}

	/* A message that is shown stays. */
	async function ask_machine() {
		let counters, parameters;

		try {
			[counters, parameters] = await Promise.all(["GetCounters", "GetParameters"].map(method => app.service.call(path, "Machine", method)));
		} catch (problem) {
			app.refused(problem);
			return;
		}
		show(inside,
		     h("h3", {}, text(N_("Settings of the machine"))),
		     parameters[0].length ? h("div", { class: "form" }, parameter_rows(app.language, parameters[0]).map(parameter)) :
			h("p", {}, text(N_("The machine has no settings."))),
		     h("table", {}, h("caption", { class: "soft" }, text(N_("Counted by the machine since it was made"))),
			h("tbody", {}, counter_rows(app.language, counters[0]).map(([name, value]) =>
				h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "amount" }, value))))));
	}

	const table = (caption, columns, rows) => h("div", { class: "scroll", tabindex: 0 }, h("table", {}, h("caption", { class: "soft" }, caption),
		h("thead", {}, h("tr", {}, columns.map(name => h("th", { scope: "col" }, text(name))))),
		h("tbody", {}, rows.map(row => h("tr", {}, row.map(value => h("td", {}, value)))))));

	async function ask_statistics() {
		try {
			const [months] = await app.administer(path, "Machine", "GetStatistics");
			const of = statistics(app.language, months);

			show(inside, h("h3", {}, text(N_("Statistics"))), months.length ? [
				h("p", {}, text(N_("Readings that failed, of 1000 cards"))),
				plot(of),
				table(text(N_("By month. A card is named, with how often it failed, if it did in eight deals of the month.")), MONTH_COLUMNS, of.months),
				table(text(N_("Gates, all months together")), GATE_COLUMNS, of.gates),
			] : h("p", {}, text(N_("Nothing can be shown yet. A month is shown when it is over and eight deals were dealt in it, so that no card of a board can be guessed."))));
		} catch (problem) {
			app.refused(problem);
		}
	}

	return { inside, ask_machine, ask_statistics };
}

function test_panel(app, machine) {
	const report = test_report(app.language, machine.Test, machine.Capabilities);

	return report && h("div", { class: "test", role: "status" },
		h("h3", {}, say(app.language, N_("Test deal"))),
		report.lines.map((line, n) => h("p", { class: report.good === null ? "" : report.good ? "good" : "bad" },
			n || report.good === null ? line : `${report.good ? "✓" : "✗"} ${line}`)));
}

function panel_of(app, path, machine, details) {
	const text = (message, values) => say(app.language, message, values);
	const call = (method, type, args) => app.call(path, "Machine", method, type, args);
	const button = (label, act, more = {}) => h("button", { type: "button", onclick: act, ...more }, label);

	async function release() {
		if (await call("ReleaseBoard"))
			app.message(text(N_("{name}: the board is released as soon as nothing is being dealt."), { name: machine_name(machine) }));
	}

	async function test() {
		if (!(machine.Keys || []).includes("test-deal")) {
			app.message(text(N_("For a test deal, pause the jobs, then put an empty board in.")));
			return;
		}
		if (!await ask(text(N_("A test deal of all cards goes into the board that is in. It is no board of a job.")), text(N_("Test deal")), text(N_("No"))))
			return;
		app.administer(path, "Machine", "TestDeal", "u", [TEST_CARDS]).catch(app.refused);
	}

	return h("section", { class: "panel" },
		 h("h2", {}, machine_name(machine)),
		 h("p", {}, present(machine, null, app.language).heading),
		 h("p", { class: "soft" }, [machine.Model, machine.Port, ...capability_texts(app.language, machine.Capabilities || [])].filter(x => x).join(" · ")),
		 h("div", { class: "row" },
		   button(text(N_("Find it: blink")), () => call("Locate", "u", [LOCATE_S]), { disabled: !machine.Present }),
		   (machine.Capabilities || []).includes("board-lock") &&
			button(text(N_("Release the board")), release, { disabled: !(machine.Keys || []).includes("release") }),
		   button(text(N_("Settings and counters")), details.ask_machine, { disabled: !machine.Present }),
		   button(text(N_("Statistics")), details.ask_statistics),
		   (machine.Capabilities || []).includes("test-deal") &&
			button(text(N_("Test deal")), test, { disabled: !machine.Present || machine.Dealing })),
		 test_panel(app, machine),
		 details.inside);
}

export function machines_view(main, app) {
	const list = h("div", { class: "page" });
	const panels = {}, event = { now: null, panel: null };

	show(main, h("h1", { class: "unseen" }, say(app.language, N_("Machines"))), list);
	return {
		draw() {
			const paths = Object.keys(app.service.machines).sort();

			for (const path of paths) {
				const { Cards, Copy, ...machine } = app.service.machines[path]; // eslint-disable-line no-unused-vars
				const now = JSON.stringify([machine, app.language]);

				if (panels[path] && panels[path].now === now)
					continue;
				const details = panels[path] ? panels[path].details : details_of(app, path);

				panels[path] = { now, details, panel: panel_of(app, path, machine, details) };
			}
			const event_now = app.language + event_panel_now(app.service);

			if (event.now !== event_now)
				Object.assign(event, { now: event_now, panel: event_panel(app) });
			const wanted = [...event.panel ? [event.panel] : [], ...paths.map(path => panels[path].panel)];

			if (wanted.length !== list.children.length || wanted.some((one, n) => list.children[n] !== one))
				show(list, wanted.length ? wanted : h("p", { class: "panel" }, say(app.language, N_("No machine yet"))));
		},
		end() {},
	};
}
