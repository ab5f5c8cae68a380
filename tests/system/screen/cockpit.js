// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * In place of Cockpit's cockpit.js, for gallery.py: no bridge, no bus. fake(objects) shows what the service
 * would have; fake_signal() is a signal of it. What the page calls is in fake_calls; each call is answered by
 * nothing.
 */
let fake_objects = {}, fake_owner = null;
const fake_calls = [];

/* For the other views: an evening half over. */
const MINUTE = 60e6, BEGUN = Date.UTC(2026, 10, 24, 18, 45) * 1000;
const fake_answers = {
	/* cockpit.Superuser's property Current: whoever looks is an administrator */
	Get: [{ t: "s", v: "root" }],
	GetBoards: [Array.from({ length: 24 }, (_, n) => n + 1)],
	GetCopies: [Array.from({ length: 16 }, (_, n) => [n + 1, 1, 1, "recorded"]).concat(
		Array.from({ length: 12 }, (_, n) => [n + 1, 2, 1, "recorded"]),
		[[13, 2, 1, "skipped"], [14, 2, 1, "open"], [17, 1, 1, "dealing"]])],
	GetReceipt: [BEGUN, 1000, "5f0c3a9e77b1d2", Array.from({ length: 28 }, (_, n) =>
		[(n % 16) + 1, n < 16 ? 1 : 2, n % 2 ? "EMU2" : "EMU1", n + 1, BEGUN + n * MINUTE, BEGUN + (n + 0.7) * MINUTE,
		 n === 5 ? "void" : "exact"])],
	GetCounters: [{ "boards-dealt": 2374, "cards-read": 123456, "jams": 3, "seconds": 1234567 }],
	GetStatistics: [[["2026-08", 180, 96, 21, 0, [], [[0, 2340, 0, 0], [1, 2340, 0, 0], [2, 2340, 1, 0], [3, 2340, 0, 0]]],
			 ["2026-09", 210, 110, 64, 2, [[1, 31], [37, 12]], [[0, 2730, 0, 0], [1, 2730, 0, 1], [2, 2730, 9, 2], [3, 2730, 0, 0]]]]],
	GetParameters: [[[1, "speed", 600, 60, 1200, "cards-per-minute"], [2, "read-retries", 2, 0, 9, "readings"],
			 [3, "feed-timeout", 1500, 200, 4000, "ms"], [4, "volume", 50, 0, 100, "percent"]]],
};

function fake_client() {
	const listeners = {};

	fake_owner = fake_owner || (owner => (listeners.owner || (() => {}))(null, owner));
	return {
		addEventListener: (name, listener) => { listeners[name] = listener; },
		subscribe: (match, listener) => {
			if (match.path !== "/superuser")
				window.fake_signal = listener;
			return { remove: () => {} };
		},
		close: () => {},
		call: (path, interface_name, method, args) => {
			if (method === "GetManagedObjects")
				return Promise.resolve([fake_objects]);
			fake_calls.push([path, interface_name, method, args]);
			return method in fake_answers ? Promise.resolve(fake_answers[method]) : new Promise(() => {});
		},
	};
}

/* The computer's users: one. */
const fake_spawn = words => ({ input: () => {}, then: words[0] !== "getent" ? () => new Promise(() => {}) :
	(found, none) => words[2] === "1000" ? found(new TextEncoder().encode("kari:x:1000:1000:Kari:/home/kari:/bin/sh\n")) : none({}) });

window.cockpit = { language: "en", dbus: fake_client, spawn: fake_spawn };
window.fake_answers = fake_answers;
window.fake_calls = fake_calls;
window.fake = objects => { fake_objects = objects; fake_owner(":1.1"); };
