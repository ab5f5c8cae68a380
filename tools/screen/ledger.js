// SPDX-License-Identifier: LGPL-2.1-or-later
/* The view "Ledger": what was dealt when, on which machine. No card. */
import { h, show } from "./dom.js";
import { OUTCOMES } from "./present.js";
import { N_, say } from "./sentence.js";
import { command } from "./service.js";

/* The name of a user of that computer; the number if it has none. */
const user_name = user => command(["getent", "passwd", String(user)]).then(line => line.split(":")[0] || String(user), () => String(user));

function receipt(app, job, [added, , head, insertions], user) {
	const text = (message, values) => say(app.language, message, values);
	const time = at => at ? new Date(at / 1000).toLocaleString(app.language) : "";

	return h("div", {},
		 h("p", {}, text(N_("Job {job}, added {time}"), { job: job.Id, time: time(added) })),
		 h("p", { class: "soft" }, text(N_("Added by {user}. For checks of the ledger: head {head}"), { user, head: head.slice(0, 16) })),
		 h("div", { class: "scroll", tabindex: 0 }, h("table", {},
			h("thead", {}, h("tr", {}, [N_("Board"), N_("Copy"), N_("Machine"), N_("Begun"), N_("Ended"), N_("Outcome")]
				.map(name => h("th", { scope: "col" }, text(name))))),
			h("tbody", {}, insertions.map(([board, copy, machine, , begun, ended, outcome]) => {
				const [sign, word] = OUTCOMES[outcome] || OUTCOMES.unknown;

				return h("tr", {}, [String(board), String(copy), machine, time(begun), time(ended),
					`${sign} ${text(word)}`].map(value => h("td", {}, value)));
			})))));
}

export function ledger_view(main, app) {
	const list = h("div", { class: "page" });
	const panels = {};
	let drawn = "";

	show(main, h("h1", { class: "unseen" }, say(app.language, N_("Ledger"))), list);

	function panel_of(path, job) {
		const inside = h("div", {}, h("p", {}, say(app.language, N_("One moment"))));

		app.service.call(path, "Job", "GetReceipt")
			.then(async values => show(inside, receipt(app, job, values, await user_name(values[1])))).catch(app.refused);
		return h("section", { class: "panel" }, h("h2", {}, job.Session), inside);
	}

	return {
		draw() {
			const jobs = Object.entries(app.service.jobs).sort(([, a], [, b]) => b.Id - a.Id).slice(0, 12);
			const now = JSON.stringify(jobs.map(([path, job]) => [path, job.Recorded, job.Void, job.State]));

			if (now === drawn)
				return;
			drawn = now;
			for (const [path, job] of jobs) {
				const key = [job.Recorded, job.Void, job.State].join();

				if (!panels[path] || panels[path].key !== key)
					panels[path] = { key, panel: panel_of(path, job) };
			}
			show(list, jobs.length ? jobs.map(([path]) => panels[path].panel) :
				h("p", { class: "panel" }, say(app.language, N_("Nothing has been dealt yet."))));
		},
		end() {},
	};
}
