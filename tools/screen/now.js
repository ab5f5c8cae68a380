// SPDX-License-Identifier: LGPL-2.1-or-later
/* The view "Now": one machine large, the others as tiles, and how far the job is. */
import { h, show, with_commands } from "./dom.js";
import { choose_machine, heading_of, part_name, present, progress, progress_text } from "./present.js";
import { N_, say } from "./sentence.js";
import { shape, sketch } from "./shapes.js";

/* Sizes that are tried, until everything fits; and the size of what is scrolled because nothing did. */
const SMALLEST = 0.6, STEP = 0.05, SCROLLED = 0.7;

const is_full = hero => hero.scrollHeight > hero.clientHeight + 1 || hero.scrollWidth > hero.clientWidth + 1;

/* Beside Cockpit's own menu there is less room than on the whole screen: the keys stay in sight, too. */
function fit(hero) {
	hero.classList.remove("scrolls");
	hero.style.setProperty("--fit", 1);
	if (getComputedStyle(hero).getPropertyValue("--fixed").trim() !== "1")
		return;
	for (let size = 1 - STEP; size > SMALLEST - STEP / 2 && is_full(hero); size -= STEP)
		hero.style.setProperty("--fit", size.toFixed(2));
	if (is_full(hero)) {
		hero.style.setProperty("--fit", SCROLLED);
		hero.classList.add("scrolls");
	}
}

function key_button(key, app) {
	return h("button", { type: "button", class: key.main ? "main" : "", "data-key": key.code,
			     "aria-keyshortcuts": key.code, onclick: () => app.act(key) },
		 h("kbd", {}, key.code === "Enter" ? "⏎ Enter" : key.code), h("span", {}, key.label));
}

function hero_of(shown, app) {
	const part = part_name(app.language, shown.place);

	return h("section", { class: `hero ${shown.tone}${shown.steps.length ? " steps" : ""}`, "aria-label": shown.name },
		 h("div", { class: "picture" }, shape(shown.shape), shown.place ? [sketch(shown.place),
			part && h("p", { class: "part" }, part)] : null),
		 h("div", { class: "words" },
		   h("p", { class: "machine" }, shown.name),
		   h("div", { class: "headline" },
		     shown.number && h("p", { class: "below" }, say(app.language, N_("Board"))),
		     shown.number && h("p", { class: "number" }, shown.number),
		     shown.below && h("p", { class: "below copy" }, shown.below),
		     h("h1", {}, shown.title)),
		   shown.bar && h("div", { class: "dealt" },
			h("progress", { max: shown.bar.most, value: shown.bar.value, "aria-label": shown.title }),
			h("p", { class: "card" }, shown.bar.text)),
		   shown.text && h("p", { class: "text" }, with_commands(shown.text)),
		   shown.next && h("p", { class: "text" }, shown.next),
		   shown.steps.length ? h("ol", {}, shown.steps.map(one => h("li", {}, one.text))) : null,
		   shown.mind && h("p", { class: "mind" }, with_commands(shown.mind)),
		   shown.keys.length ? h("div", { class: "keys" }, shown.keys.map(key => key_button(key, app))) : null,
		   shown.keeper && h("p", { class: "keeper" }, with_commands(shown.keeper))));
}

function tile_of(path, shown, app) {
	return h("button", { type: "button", class: `tile ${shown.tone}`, onclick: () => app.pin(path) },
		 shape(shown.shape),
		 h("span", { class: "name" }, shown.name),
		 h("strong", {}, heading_of(app.language, shown)));
}

function job_of(app, path, job) {
	const { language } = app;
	const of = progress(job, app.rates[path]);
	const call = method => app.call(path, "Job", method);

	return h("div", { class: "job" },
		 h("span", { class: "session" }, job.Session),
		 of.all ? h("progress", { max: of.all, value: of.recorded, "aria-label": job.Session }) : null,
		 h("span", { class: "far" }, progress_text(language, of)),
		 job.State === "paused" ?
			h("button", { type: "button", onclick: () => call("Resume") }, say(language, N_("Resume the job"))) :
			job.State === "open" && h("button", { type: "button", onclick: () => call("Pause") }, say(language, N_("Pause the job"))));
}

/* Without a machine, or without the service. */
function nothing(app) {
	const { language, service } = app;
	const shown = { tone: "rest", shape: "plug", number: "", below: "", steps: [], mind: "", keeper: "", keys: [], bar: null, place: null,
			name: "", next: "" };

	shown.title = service.here ? say(language, N_("No machine yet")) : say(language, N_("Waiting for the service"));
	shown.text = service.here ? say(language, N_("Connect the dealing machine by its cable and switch it on.")) :
		say(language, N_("It is started again by itself. If this stays, call whoever keeps this computer."));
	shown.heading = shown.title;
	shown.spoken = shown.title + ". " + shown.text;
	return shown;
}

/* Make the view in an element; returns what draws it again. */
export function now_view(main, app) {
	const hero_place = h("div", { class: "hero-place" }), rest = h("div", { class: "rest-place" });
	let path = null, drawn = "", drawn_rest = "", hero = null;

	show(main, hero_place, rest);
	const resized = new ResizeObserver(() => hero && fit(hero));

	resized.observe(hero_place);

	function draw() {
		const { service, language } = app;
		const open = Object.entries(service.jobs).filter(([, job]) => ["open", "paused", "repeat"].includes(job.State));
		/* one that has stopped is the news until another job has come */
		const newest = Object.values(service.jobs).sort((a, b) => b.Id - a.Id)[0];
		const done = newest && newest.State === "repeat" ? newest :
			app.finished && open.every(([, job]) => job.State === "repeat") ? service.jobs[app.finished] : null;
		const shown_of = one => present(service.machines[one], done, language);

		path = choose_machine(service.machines, path, app.pinned, service.since);
		const shown = path ? shown_of(path) : nothing(app);
		let room_changed = false;
		const others = Object.keys(service.machines).sort().filter(one => one !== path)
			.map(one => [one, shown_of(one)]);
		const now_rest = JSON.stringify([others.map(([one, { tone, title, number }]) => [one, tone, title, number]),
						 open.map(([one, job]) => [one, job.Session, job.State, progress(job, app.rates[one])]), language]);

		if (now_rest !== drawn_rest) {
			drawn_rest = now_rest;
			room_changed = true;
			show(rest, open.map(([one, job]) => job_of(app, one, job)),
			     others.map(([one, of]) => tile_of(one, of, app)));
		}
		const { bar, ...still } = shown;
		const now = JSON.stringify([path, still, bar && bar.most]);

		if (now !== drawn) {
			app.shown(path, shown);
			hero = hero_of(shown, app);
			show(hero_place, hero);
			fit(hero);
			drawn = now;
		} else if (bar) {
			hero.querySelector("progress").value = bar.value;
			hero.querySelector(".card").textContent = bar.text;
		}
		if (room_changed)
			fit(hero);
	}
	return { draw, end: () => resized.disconnect() };
}
