// SPDX-License-Identifier: LGPL-2.1-or-later
/* The view "Jobs": a new job from a file, and what becomes of the others. */
import { ask, ask_number, ask_secret, h, show, with_commands } from "./dom.js";
import { event_pcs, event_pcs_now } from "./event.js";
import { boards_text, grid, parse_boards, progress, progress_text, refusal } from "./present.js";
import { problem_lines } from "./problems.js";
import { N_, P_, say, say_count } from "./sentence.js";

/* Deal files are text of some kB; the service takes no set above this. */
const FILE_MOST = 4 << 20;

/* Options of AddJob, as boxes. */
const OPTIONS = [
	["automatic-start", N_("Begin when a board is put in"), true],
	["descending", N_("From the last board to the first"), false],
	["by-reader", N_("Any order: the machine reads the numbers"), false],
	["sets-in-a-row", N_("One whole set after the other"), false],
	["stop-card", N_("A stop card lies between decks"), false],
	["reversed-pockets", N_("Boards are put in the other way round"), false],
	["by-position", N_("Sorted decks (the cards are not read)"), false],
	["replay", N_("Deals of another session may be dealt again"), false],
];

const JOB_STATES = {
	open: N_("open"), paused: N_("paused"), cancelled: N_("cancelled"), done: N_("done"),
	repeat: N_("stopped: dealt for another session"),
};

function today() {
	const now = new Date();

	return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map(n => String(n).padStart(2, "0")).join("-");
}

/* Sealed files begin with this (`dealbox seal`). */
const SEALED = "DBSEAL";

/* Sets that can be chosen again: more are not looked for in a list. */
const SETS_SHOWN = 30;

const bytes_of = text => new TextEncoder().encode(text);

/* Returns both, one behind the other. */
function joined(one, other) {
	const both = new Uint8Array(one.length + other.length);

	both.set(one);
	both.set(other, one.length);
	return both;
}

/* Why a file was not taken, as paragraphs: what is wrong with it, or why the service did not take it. */
function what_is_wrong(language, name, problem) {
	const line = text => h("p", {}, with_commands(text));
	let answer = [];

	try {
		answer = (problem.output || "").split("\n").filter(one => one).map(one => JSON.parse(one));
	} catch (broken) {
		/* no answer: the message says what there is to say */
	}
	const found = answer.filter(one => one.kind === "problem"), summary = answer.find(one => one.kind === "summary");

	if (answer.some(one => one.kind === "refusal" && one.reason === "secret"))
		return [line(say(language, N_("The passphrase or the key does not open {name}. Choose the file again; if the secret is right, get the file again."), { name }))];
	if (!summary)
		return [line(refusal(language, problem.name, problem.message))];
	return [line(say(language, N_("{name} cannot be dealt. Nothing was added."), { name })),
		h("ul", {}, problem_lines(language, found, summary.problem_counts).map(one => h("li", {}, with_commands(one)))),
		line(say(language, N_("Correct it in the program that made it, and choose it again.")))];
}

/* A new job: first the file, which becomes a set of the service; then what is dealt of it. */
function new_job(app) {
	const text = (message, values) => say(app.language, message, values);
	const panel = h("section", { class: "panel" });
	const session = h("input", { value: today(), maxlength: 200 });
	const outcome = h("div", { role: "status" });
	const form = h("div"), again = h("div", { class: "form" });
	const file = h("input", { type: "file", hidden: true, onchange: () => take(file.files) });
	const drop = h("div", { class: "drop" },
		h("p", {}, text(N_("Drop the deal file here"))),
		h("p", { class: "soft" }, text(N_("The file is only checked. Nothing is dealt before you press Deal."))),
		h("button", { type: "button", class: "main", onclick: () => file.click() }, text(N_("Choose a file"))), file);

	drop.addEventListener("dragover", event => { event.preventDefault(); drop.classList.add("over"); });
	drop.addEventListener("dragleave", () => drop.classList.remove("over"));
	drop.addEventListener("drop", event => {
		event.preventDefault();
		drop.classList.remove("over");
		take(event.dataTransfer.files);
	});

	/* The file goes to the tool, and no variable of the page outlives that. */
	async function take([one]) {
		if (!one)
			return;
		file.value = "";
		show(form);
		if (one.size > FILE_MOST) {
			show(outcome, h("p", { class: "bad" }, text(N_("{name} is too large for a deal file."), { name: one.name })));
			return;
		}
		show(outcome, h("p", {}, text(N_("Checking {name}…"), { name: one.name })));
		try {
			const command = ["dealbox", "set", "add", "-", "--json", "--session", session.value];
			let input = new Uint8Array(await one.arrayBuffer());

			/* the secret goes the way of the file: to the tool's standard input, and nowhere else */
			if (new TextDecoder().decode(input.slice(0, SEALED.length)) === SEALED) {
				const secret = await ask_secret(text(N_("{name} is sealed. Type its passphrase, or choose the director's key."), { name: one.name }),
					text(N_("Open")), text(N_("Cancel")), text(N_("The director's key…")));

				if (!secret) {
					show(outcome);
					return;
				}
				command.push("--secret-first");
				input = joined(bytes_of(secret.split("\n")[0] + "\n"), input);
			}
			const added = JSON.parse(await app.command(command, input));

			input.fill(0);
			await take_set(added.set, one.name);
		} catch (problem) {
			show(outcome, h("div", { class: "bad" }, what_is_wrong(app.language, one.name, problem)));
		}
	}

	/* A set that the service has; name: of the file or session. */
	async function take_set(set, name) {
		const [boards] = await app.service.call("/io/dealbox1", "Manager", "GetBoards", "t", [set]);
		const before = Object.values(app.service.jobs).find(job => job.Set === set && job.Recorded);

		show(outcome, h("p", { class: "good" }, "✓ " + say_count(app.language,
			P_("{name}: {n} board without a problem.", "{name}: {n} boards without a problem."), boards.length, { name })),
		     before ? h("p", { class: "bad" }, text(N_("Boards of this set were dealt for {session} already. Deal them for more copies only: to play the same deals twice is against Law 6D2."),
							    { session: before.Session })) : null);
		show(form, options(set, boards));
	}

	/* Sets that were given before: for more copies of an evening, or for a file that is not at hand. */
	async function list_sets() {
		const [sets] = await app.service.call("/io/dealbox1", "Manager", "GetSets").catch(() => [[]]);
		const choice = h("select", { id: "sets", onchange: () => {
			const one = sets.find(([set]) => set === Number(choice.value));

			if (one)
				take_set(one[0], one[2]).catch(app.refused);
		} }, h("option", { value: "" }, text(N_("…"))), sets.slice(0, SETS_SHOWN).map(([set, added, name, boards]) =>
			h("option", { value: set }, [name, say_count(app.language, P_("{n} board", "{n} boards"), boards),
				new Date(added / 1000).toLocaleDateString(app.language)].join(" · "))));

		show(again, sets.length ? h("label", {}, text(N_("Or choose a set that is here already")), choice) : null);
	}

	function options(set, boards) {
		const range = h("input", { value: boards_text(boards), inputmode: "numeric" });
		const copies = h("input", { type: "number", min: 1, max: 1000, value: 2 });
		const unlimited = h("input", { type: "checkbox", onchange: () => { copies.disabled = unlimited.checked; } });
		const boxes = OPTIONS.map(([name, label, on]) => [name, h("input", { type: "checkbox", checked: on }), label]);
		const machines = Object.values(app.service.machines).filter(one => one.Id)
			.map(one => [one.Id, h("input", { type: "checkbox", checked: true }), one.Id]);
		const check = ([, box, label]) => h("label", { class: "check" }, box, label);

		async function add() {
			const wanted = parse_boards(range.value, boards);
			const to = machines.filter(([, box]) => box.checked).map(([id]) => id);
			const values = {};

			if (!wanted) {
				show(outcome, h("p", { class: "bad" }, text(N_("Write boards of the set, such as 1-8, 11."))));
				range.focus();
				return;
			}
			for (const [name, box] of boxes)
				values[name] = { t: "b", v: box.checked };
			if (to.length < machines.length)
				values.machines = { t: "as", v: to };
			const added = await app.call("/io/dealbox1", "Manager", "AddJob", "tauua{sv}",
						     [set, wanted, unlimited.checked ? 0 : Number(copies.value), values]);

			if (!added)
				return;
			show(outcome);
			show(form);
			app.go("now");
		}

		return [
			h("div", { class: "form" },
			  h("label", {}, text(N_("Boards")), range),
			  h("label", {}, text(N_("Copies of each")), copies),
			  h("label", { class: "check" }, unlimited, text(N_("no limit")))),
			h("details", {}, h("summary", {}, text(N_("Order and options"))),
			  h("div", { class: "form" }, boxes.map(([name, box, label]) => check([name, box, text(label)])))),
			machines.length > 1 ? h("div", {}, h("h3", {}, text(N_("Deal on these machines:"))), h("div", { class: "form" }, machines.map(check))) : null,
			h("div", { class: "keys" }, h("button", { type: "button", class: "main", id: "deal", onclick: add }, text(N_("Deal")))),
		];
	}

	show(panel, h("h2", {}, text(N_("New job"))),
	     h("div", { class: "form" }, h("label", {}, text(N_("Session: its name or date")), session)), h("br"), drop, again, outcome, form);
	list_sets();
	return panel;
}

function cell_of(app, path, job, board, cell) {
	const { language } = app;
	const words = say(language, N_("Board {board}, copy {copy}: {word}"),
			  { board, copy: cell.copy, word: say(language, cell.word) });
	const doable = cell.act && ["open", "paused"].includes(job.State);

	return h("button", { type: "button", class: cell.state, title: words, "aria-label": words, disabled: !doable,
		onclick: async () => {
			const question = cell.act === "Skip" ? N_("Skip board {board}, copy {copy}?") : N_("Deal board {board}, copy {copy} again?");

			if (await ask(say(language, question, { board, copy: cell.copy }), say(language, N_("Yes")), say(language, N_("No"))))
				app.call(path, "Job", cell.act, "uu", [board, cell.copy]);
		} }, cell.sign);
}

/* The machines that may deal a job: a tick counts at once, and the last one stays. */
function machines_of(app, path, job) {
	const known = Object.values(app.service.machines).map(one => one.Id).filter(id => id);
	const all = [...new Set([...known, ...job.Machines])].sort();
	const kept = job.Machines.length ? job.Machines : all;

	if (all.length < 2)
		return null;
	const title = say(app.language, N_("Deal on these machines:"));

	return h("div", {}, h("p", { class: "soft" }, title), h("div", { class: "form", role: "group", "aria-label": title }, all.map(id => {
		const on = kept.includes(id);
		const change = () => {
			const wanted = on ? kept.filter(one => one !== id) : [...kept, id];

			/* all: those that are plugged in later, too */
			app.call(path, "Job", "SetMachines", "as", [all.every(one => wanted.includes(one)) ? [] : wanted]);
		};

		return h("label", { class: "check" }, h("input", { type: "checkbox", checked: on, disabled: on && kept.length < 2,
			"data-machine": id, onchange: change }), id);
	})));
}

/* Its copies may move to other PCs. */
const of_event = job => (job.Options || []).includes("event");

function job_panel(app, path, job) {
	const text = (message, values) => say(app.language, message, values);
	const of = progress(job, app.rates[path]);
	const running = ["open", "paused"].includes(job.State);
	const call = (method, label) => h("button", { type: "button", onclick: () => app.call(path, "Job", method) }, label);
	const rows = app.copies[path] ? grid(job, ...app.copies[path]) : [];

	async function more() {
		const copies = await ask_number(text(N_("How many copies of each board, those that are dealt counted?")), text(N_("Yes")), text(N_("Cancel")));

		if (copies)
			app.call(path, "Job", "SetCopies", "u", [copies]);
	}

	async function cancel() {
		if (await ask(text(N_("Cancel this job? Boards that are dealt stay in the record.")), text(N_("Cancel the job")), text(N_("No"))))
			app.call(path, "Job", "Cancel");
	}

	return h("section", { class: "panel" },
		 h("h2", {}, `${job.Session} · ${text(JOB_STATES[job.State] || job.State)}`),
		 h("div", { class: "row" },
		   of.all ? h("progress", { max: of.all, value: of.recorded, "aria-label": job.Session }) : null,
		   h("span", { class: "grow" }, progress_text(app.language, of)),
		   job.State === "open" && call("Pause", text(N_("Pause"))),
		   job.State === "paused" && call("Resume", text(N_("Resume"))),
		   running && job.Copies > 0 && h("button", { type: "button", onclick: more }, text(N_("More copies"))),
		   running && h("button", { type: "button", onclick: cancel }, text(N_("Cancel the job"))),
		   job.State === "done" && h("button", { type: "button", onclick: () => app.print(job.Id) }, text(N_("Print hand records")))),
		 running ? machines_of(app, path, job) : null,
		 running && of_event(job) ? event_pcs(app) : null,
		 rows.length ? h("div", { class: "grid" }, rows.map(row => h("div", { class: "of-board" }, h("span", {}, String(row.board)),
			row.cells.map(cell => cell_of(app, path, job, row.board, cell))))) : null);
}

export function jobs_view(main, app) {
	const list = h("div", { class: "page" });
	let drawn = "";

	show(main, h("h1", { class: "unseen" }, say(app.language, N_("Jobs"))), h("div", { class: "page" }, new_job(app), list));
	for (const path of Object.keys(app.service ? app.service.jobs : {}))
		app.receive(path);
	return {
		draw() {
			const order = { open: 0, paused: 1, repeat: 2, done: 3, cancelled: 4 };
			const jobs = Object.entries(app.service.jobs).sort(([, a], [, b]) => order[a.State] - order[b.State] || b.Id - a.Id).slice(0, 12);
			const now = JSON.stringify([Object.keys(app.service.machines),
				jobs.some(([, job]) => of_event(job)) && event_pcs_now(app.service),
				jobs.map(([path, job]) => [path, job, app.copies[path], app.rates[path]])]);

			if (now === drawn)
				return;
			drawn = now;
			show(list, jobs.map(([path, job]) => job_panel(app, path, job)));
		},
		end() {},
	};
}
