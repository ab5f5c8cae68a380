// SPDX-License-Identifier: LGPL-2.1-or-later
/* The operator's screen: joins the service, the views, keys and sounds. */
/* global cockpit */
import { ask, ask_number, ask_password, choose, h, show, with_commands } from "./dom.js";
import { jobs_view } from "./jobs.js";
import { ledger_view } from "./ledger.js";
import { machines_view } from "./machines.js";
import { now_view } from "./now.js";
import { rate_of, refusal, tone_of } from "./present.js";
import { LANGUAGES, N_, choose_language, say, with_cards } from "./sentence.js";
import { ask_clock, command, watch } from "./service.js";
import * as sounds from "./sounds.js";

/* An answer that comes sooner after a change was meant for what was shown before. */
const TOO_SOON_MS = 400;
const MESSAGE_MS = 12000;
const REVEAL_MS = 10000;
/* Minutes since or until something pass while the service sends nothing. */
const MINUTE_MS = 60000;

const VIEWS = [
	["now", N_("Now"), now_view], ["jobs", N_("Jobs"), jobs_view],
	["machines", N_("Machines"), machines_view], ["ledger", N_("Ledger"), ledger_view],
];

/* Settings of this browser, not of the club: what each is until it is changed. */
const SETTINGS = { sound: "on", light: "day", hand: "right", language: "" };

function setting(name) {
	return localStorage.getItem("dealbox-" + name) || SETTINGS[name];
}

const app = {
	language: choose_language([setting("language"), cockpit.language, ...navigator.languages]),
	service: null, rates: {}, copies: {}, pinned: null, keys: [], busy: false,
	finished: sessionStorage.getItem("dealbox-finished"),
	administer, call, act, pin, shown, message, refused, receive, command, print, go,
};
let view = null, view_name = sessionStorage.getItem("dealbox-view") || "now";
let changed_at = 0, shown_path = null, heard = {}, message_timer = 0;

const $ = id => document.getElementById(id);

/* ---- messages ---- */

function message(text) {
	clearTimeout(message_timer);
	show($("message"), text ? h("p", {}, with_commands(text)) : null);
	if (text)
		message_timer = setTimeout(() => message(""), MESSAGE_MS);
}

function refused(problem) {
	if (problem.name === "cancelled")
		return;
	message(refusal(app.language, problem.name, problem.message));
}

/* Call a method of the service; a refusal is shown. Resolves to its values, or to null. */
function call(path, interface_name, method, type = "", args = []) {
	message("");
	return app.service.call(path, interface_name, method, type, args).catch(problem => {
		refused(problem);
		return null;
	});
}

/* ---- keys ---- */

function password(prompt, said) {
	return ask_password(prompt, said, say(app.language, N_("Reveal")), say(app.language, N_("Cancel")));
}

/* The same for other work of an administrator; resolves to the values of the method. */
function administer(...call_of) {
	return app.service.call_as_administrator((prompt, said) =>
		ask_password(prompt, said, say(app.language, N_("Go on")), say(app.language, N_("Cancel"))), ...call_of);
}

/* Names of cards, for as short as can be: they are in the page only while they are looked at. */
async function reveal(path) {
	if (!await ask(say(app.language, N_("Seeing cards is recorded with your name. Does nobody play this deal who sees them?")),
		       say(app.language, N_("Reveal")), say(app.language, N_("Cancel"))))
		return;
	try {
		const [text] = await app.service.call_as_administrator(password, path, "Machine", "Reveal");
		const dialog = h("dialog", { class: "reveal" }, h("p", {}, with_cards(app.language, text)));
		const close = () => dialog.close();
		const timer = setTimeout(close, REVEAL_MS);

		dialog.addEventListener("close", () => {
			clearTimeout(timer);
			document.removeEventListener("keydown", close, true);
			document.removeEventListener("pointerdown", close, true);
			dialog.remove();
		});
		document.addEventListener("keydown", close, true);
		document.addEventListener("pointerdown", close, true);
		document.body.append(dialog);
		dialog.showModal();
	} catch (problem) {
		if (problem.name !== "cancelled")
			refused(problem);
	}
}

/* The deals go from the service to the printer by the tool: no card is in the page. */
async function print(job) {
	const printers = (await command(["lpstat", "-e"]).catch(() => "")).split("\n").filter(name => name);
	const printer = printers.length < 2 ? printers[0] :
		await choose(say(app.language, N_("On which printer?")), printers, say(app.language, N_("Cancel")));

	if (!printers.length)
		message(say(app.language, N_("This computer has no printer: set one up, or print with `dealbox print --job {job}`."), { job }));
	if (!printer)
		return;
	message(say(app.language, N_("Printing…")));
	command(["dealbox", "print", "--job", String(job), "--printer", printer], null, { superuser: "try" }).then(
		() => message(say(app.language, N_("The hand records are at the printer."))), refused);
}

/* Do what a key or button of the large machine stands for. */
async function act(key) {
	const path = shown_path, { act: what } = key;

	if (app.busy || Date.now() - changed_at < TOO_SOON_MS)
		return;
	if (key.confirm && !await ask(key.confirm === true ? key.label + "?" : key.confirm, say(app.language, N_("Yes")), say(app.language, N_("No"))))
		return;
	if (what.go)
		go(what.go);
	else if (what.print)
		print(what.print);
	else if (what.reveal)
		reveal(path);
	else {
		const args = [...(what.args || [])];

		if (what.ask) {
			const number = await ask_number(say(app.language, N_("Which number is on the board?")),
							say(app.language, N_("Deal")), say(app.language, N_("Cancel")));
			if (!number)
				return;
			args[0] += "u";
			args[1] = [...args[1], number];
		}
		app.busy = true;
		const machine = app.service.machines[path];

		if (what.on === "machine")
			await call(path, "Machine", what.method, ...args);
		else
			await call(machine.JobPath, "Job", what.method, ...args);
		app.busy = false;
	}
}

function pin(path) {
	app.pinned = path;
	changed_at = Date.now();
	draw();
}

document.addEventListener("keydown", event => {
	sounds.allow();
	if (event.defaultPrevented || event.repeat || event.ctrlKey || event.altKey || event.metaKey ||
	    document.querySelector("dialog[open]") || /^(INPUT|SELECT|TEXTAREA|BUTTON|SUMMARY)$/.test(event.target.tagName))
		return;
	const name = event.key.length === 1 ? event.key.toUpperCase() : event.key;

	if (name === sounds.KEY) {
		event.preventDefault();
		$("settings").firstElementChild.click();
		return;
	}
	if (view_name !== "now") {
		if (name === "Escape")
			go("now");
		return;
	}
	const key = app.keys.find(one => one.code === name);

	if (key) {
		event.preventDefault();
		act(key);
	}
});
document.addEventListener("pointerdown", sounds.allow);

/* ---- drawing ---- */

/* The view "Now" tells what its large machine shows. */
function shown(path, of) {
	const other = path !== shown_path;

	shown_path = path;
	app.keys = of.keys;
	changed_at = Date.now();
	document.title = of.heading + " · dealbox";
	$("spoken").textContent = of.spoken;
	if (other)
		app.busy = false;
}

function play_sounds() {
	const now = sounds.due(app.service.machines, heard, setting("sound") === "on");

	heard = now.states;
	now.heard.forEach(sounds.play);
}

/* Ask for what a job's properties do not say: its copies, for the grid, and how fast they came. */
async function receive(path) {
	const job = (method, ...args) => app.service.call(path, "Job", method, ...args).catch(() => null);
	const [boards, copies, receipt] = await Promise.all([job("GetBoards"), job("GetCopies"), job("GetReceipt")]);

	if (boards && copies)
		app.copies[path] = [boards[0], copies[0]];
	if (receipt)
		app.rates[path] = rate_of(receipt[3]);
	draw();
}

function draw() {
	if (view)
		view.draw();
}

const states = {}, known_jobs = {};

function changed(service) {
	app.service = service;
	if (app.pinned && (!service.machines[app.pinned] || tone_of(service.machines[app.pinned]) === "rest"))
		app.pinned = null;
	for (const [path, job] of Object.entries(service.jobs)) {
		if (states[path] !== undefined && states[path] !== "done" && job.State === "done") {
			app.finished = path;
			sessionStorage.setItem("dealbox-finished", path);
		}
		const now = [job.State, job.Recorded, job.Void, job.Skipped, job.Copies].join();

		if (known_jobs[path] !== now && ["open", "paused", "done"].includes(job.State))
			receive(path);
		known_jobs[path] = now;
		states[path] = job.State;
	}
	/* of jobs that the service has dropped, nothing is kept */
	for (const known of [app.copies, app.rates, states, known_jobs])
		for (const path of Object.keys(known).filter(one => !(one in service.jobs)))
			delete known[path];
	play_sounds();
	draw();
}

function go(name) {
	view_name = name;
	sessionStorage.setItem("dealbox-view", name);
	if (view)
		view.end();
	const [, , make] = VIEWS.find(one => one[0] === name) || VIEWS[0];

	app.keys = [];
	document.body.dataset.view = name;
	view = make($("view"), app);
	frame();
	draw();
}

/* ---- the frame ---- */

function toggle(name, on, off, sign, label) {
	const is = setting(name) === on;

	return h("button", { type: "button", "aria-pressed": String(is), title: label, "aria-label": label,
			     onclick: () => {
				     localStorage.setItem("dealbox-" + name, is ? off : on);
				     frame();
				     message(say(app.language, is ? N_("{what}: off") : N_("{what}: on"), { what: label }));
			     } }, sign);
}

function frame() {
	const text = message_text => say(app.language, message_text);

	document.documentElement.lang = app.language;
	document.documentElement.dataset.light = setting("light");
	document.documentElement.dataset.hand = setting("hand");
	show($("views"), VIEWS.map(([name, label]) =>
		h("button", { type: "button", "aria-current": name === view_name ? "page" : null, onclick: () => go(name) }, text(label))));
	show($("settings"),
	     toggle("sound", "on", "off", "♪", `${text(N_("Sounds"))} (${sounds.KEY})`),
	     toggle("light", "dark", "day", "☾", text(N_("Dark hall"))),
	     toggle("hand", "left", "right", "⇄", text(N_("Left-handed"))),
	     h("select", { "aria-label": text(N_("Language")), onchange: event => {
		     localStorage.setItem("dealbox-language", event.target.value);
		     app.language = event.target.value;
		     go(view_name);
	     } }, Object.entries(LANGUAGES).map(([tag, name]) =>
		     h("option", { value: tag, selected: tag === app.language, lang: tag }, name))));
	show($("stop"), text(N_("STOP")), h("small", {}, text(N_("all machines"))));
	$("stop").title = text(N_("Emergency stop of all machines"));
}

$("stop").addEventListener("click", () => call("/io/dealbox1", "Manager", "Stop"));

app.service = watch(changed);
go(view_name);

/* Drawn at once, too: the answer may not come. */
function every_minute() {
	draw();
	ask_clock().then(draw);
}

every_minute();
setInterval(every_minute, MINUTE_MS);
