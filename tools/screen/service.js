// SPDX-License-Identifier: LGPL-2.1-or-later
/* The service on the bus, through Cockpit's bridge, as the user who has logged in. */
/* global cockpit */

const NAME = "io.dealbox1";
const ROOT = "/io/dealbox1";
const RETRY_MS = 1000;

/* A variant of Cockpit's JSON, without its types. */
function plain(value) {
	if (Array.isArray(value))
		return value.map(plain);
	if (value && typeof value === "object") {
		if ("t" in value && "v" in value && Object.keys(value).length === 2)
			return plain(value.v);
		return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
	}
	return value;
}

/*
 * Do some work as an administrator. Cockpit starts a second bridge by sudo or pkexec, whose prompts
 * question(prompt, said) answers: it resolves to a password, or to null. The password is asked for
 * each time, and the bridge is ended afterwards: a screen in a hall is left alone. Rejects with
 * { name, message }; the name is "access-denied" if there is no administrator, "cancelled" if nobody
 * wants to be one.
 */
let prompted_for = null;	/* the call whose prompts are answered */

async function as_administrator(question, work) {
	const mine = prompted_for = { asks: false };
	const bridge = cockpit.dbus(null, { bus: "internal" });
	const superuser = (method, ...args) => new Promise((resolve, reject) =>
		bridge.call("/superuser", "cockpit.Superuser", method, args).then(resolve, reject));
	let cancelled = false;

	const prompted = bridge.subscribe({ path: "/superuser", interface: "cockpit.Superuser", member: "Prompt" },
		(path, interface_name, name, [, prompt, , , said]) => {
			/* Cockpit 337 tells the second prompt of a page twice; a question under another cannot be answered */
			if (prompted_for !== mine || mine.asks)
				return;
			mine.asks = true;
			question(prompt, said).then(password => {
				mine.asks = false;
				cancelled = password === null;
				superuser(...cancelled ? ["Stop"] : ["Answer", password]).catch(() => {});
			});
		});
	try {
		const property = name => new Promise((resolve, reject) =>
			bridge.call("/superuser", "org.freedesktop.DBus.Properties", "Get", ["cockpit.Superuser", name])
				.then(([value]) => resolve(plain(value)), reject));
		const current = await property("Current");

		if (current === "root")
			return await work();
		if (current !== "none")
			await superuser("Stop");
		try {
			/* the C bridge knows none by the name "any" */
			await superuser("Start", (await property("Bridges"))[0] || "sudo");
		} catch (problem) {
			throw { name: cancelled ? "cancelled" : "access-denied", message: problem.message };
		}
		try {
			return await work();
		} finally {
			superuser("Stop").catch(() => {});
		}
	} finally {
		prompted.remove();
		bridge.close();
	}
}

/*
 * Watch the service. changed(service) is called whenever something is different. The object has: here (false: the service is not there), manager, event (null: none), machines and jobs
 * by path, and since, when each machine came into its state.
 */
export function watch(changed) {
	const service = { here: false, manager: {}, machines: {}, jobs: {}, since: {}, event: null };
	let client = null, asked = 0;

	const kinds = { [NAME + ".Manager"]: null, [NAME + ".Machine"]: "machines", [NAME + ".Job"]: "jobs",
			[NAME + ".Event"]: "event" };

	function set(path, interface_name, values) {
		const kind = kinds[interface_name];

		if (kind === undefined)
			return;
		if (kind === null) {
			Object.assign(service.manager, values);
			return;
		}
		if (kind === "event") {
			service.event = { ...service.event, ...values };
			return;
		}
		const before = service[kind][path] || {};

		if (kind === "machines" && values.State !== undefined && values.State !== before.State)
			service.since[path] = Date.now();
		service[kind][path] = { ...before, ...values };
	}

	function forget() {
		service.here = false;
		service.machines = {};
		service.jobs = {};
		service.manager = {};
		service.event = null;
	}

	function ask() {
		const number = ++asked;

		client.call(ROOT, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", []).then(([objects]) => {
			if (number !== asked)
				return;
			forget();
			service.here = true;
			for (const [path, interfaces] of Object.entries(objects))
				for (const [name, values] of Object.entries(interfaces))
					set(path, name, plain(values));
			changed(service);
		}, () => changed(service));
	}

	function signal(path, interface_name, name, args) {
		if (name === "PropertiesChanged") {
			set(path, args[0], plain(args[1]));
		} else if (name === "InterfacesAdded") {
			for (const [one, values] of Object.entries(args[1]))
				set(args[0], one, plain(values));
		} else if (name === "InterfacesRemoved") {
			delete service.machines[args[0]];
			delete service.jobs[args[0]];
		} else {
			return;
		}
		changed(service);
	}

	function open() {
		client = cockpit.dbus(NAME, { bus: "system" });
		client.addEventListener("owner", (event, owner) => {
			if (owner) {
				ask();
			} else {
				forget();
				changed(service);
			}
		});
		client.addEventListener("close", () => {
			forget();
			changed(service);
			setTimeout(open, RETRY_MS);
		});
		client.subscribe({ path_namespace: ROOT }, signal);
	}

	open();

	/* Cockpit's own promises would report a refusal on the console, although somebody handles it. */
	const call = (of, path, interface_name, method, type, args) => new Promise((resolve, reject) =>
		of.call(path, NAME + "." + interface_name, method, args, { type }).then(
			values => resolve(values.map(plain)),
			problem => reject({ name: problem.name || problem.problem, message: problem.message })));

	/* Call a method; rejects with { name, message }. */
	service.call = (path, interface_name, method, type = "", args = []) =>
		call(client, path, interface_name, method, type, args);

	/*
	 * The same as an administrator: see as_administrator().
	 */
	service.call_as_administrator = (question, path, interface_name, method, type = "", args = []) =>
		as_administrator(question, () => {
			const admin = cockpit.dbus(NAME, { bus: "system", superuser: "require" });

			return call(admin, path, interface_name, method, type, args).finally(() => admin.close());
		});
	return service;
}

/*
 * Run a command; input (bytes, or null) goes to its standard input. Resolves with its output,
 * and rejects with { name, message, output }.
 */
export function command(words, input = null, options = {}) {
	const process = cockpit.spawn(words, { err: "message", binary: true, ...options });

	process.input(input || "");
	return new Promise((resolve, reject) => process.then(
		bytes => resolve(new TextDecoder().decode(bytes)),
		(problem, bytes) => reject({ name: problem.problem || "", message: problem.message,
					     output: bytes ? new TextDecoder().decode(bytes) : "" })));
}

/* How far the clock of the service's computer is ahead of that of the browser, in ms. */
let ahead_ms = 0;

/* Compare the clocks. Without an answer, the last difference is kept. */
export async function ask_clock() {
	const time = Number(await command(["date", "+%s%3N"]).catch(() => 0));

	if (time > 0)
		ahead_ms = time - Date.now();
}

/* The time at the service, in ms since 1970: a tablet's clock may be wrong. */
export const service_now = () => Date.now() + ahead_ms;
