// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * In place of Cockpit's cockpit.js, for gallery.py: no bridge, no bus. fake(objects) shows what the service
 * would have. What the page calls is in fake_calls; each call is answered by nothing.
 */
let fake_objects = {}, fake_owner = null;
const fake_calls = [];

function fake_client() {
	const listeners = {};

	fake_owner = owner => (listeners.owner || (() => {}))(null, owner);
	return {
		addEventListener: (name, listener) => { listeners[name] = listener; },
		subscribe: () => {},
		close: () => {},
		call: (path, interface_name, method, args) => {
			if (method === "GetManagedObjects")
				return Promise.resolve([fake_objects]);
			fake_calls.push([path, interface_name, method, args]);
			return new Promise(() => {});
		},
	};
}

window.cockpit = { language: "en", dbus: fake_client, spawn: () => ({ input: () => {}, then: () => new Promise(() => {}) }) };
window.fake_calls = fake_calls;
window.fake = objects => { fake_objects = objects; fake_owner(":1.1"); };
