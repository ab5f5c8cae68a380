// SPDX-License-Identifier: LGPL-2.1-or-later
/* Building the page. Text is set as text, never as HTML: names of sessions and machines are external. */

/* Make an element: h("button", { class: "main", onclick: f }, "text", other elements). */
export function h(name, attributes = {}, ...children) {
	const one = document.createElement(name);

	for (const [key, value] of Object.entries(attributes)) {
		if (key.startsWith("on"))
			one.addEventListener(key.slice(2), value);
		else if (value === true)
			one.setAttribute(key, "");
		else if (value !== false && value !== null && value !== undefined)
			one.setAttribute(key, value);
	}
	one.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
	return one;
}

/* Show these instead of what the element has. */
export function show(element, ...children) {
	element.replaceChildren(...children.flat().filter(child => child));
}

/* `dealbox doctor` in a sentence: a command that somebody types. */
export function with_commands(text) {
	return text.split(/`([^`]*)`/).map((part, n) => n % 2 ? h("code", {}, part) : part);
}

/* Ask a question; resolves to true or false. Escape is no. */
export function ask(question, yes, no) {
	return new Promise(resolve => {
		const dialog = h("dialog", { "aria-label": question }, h("p", {}, question),
			h("div", { class: "keys" },
			  h("button", { type: "button", class: "main", onclick: () => dialog.close("yes") }, yes),
			  h("button", { type: "button", onclick: () => dialog.close("no") }, no)));

		dialog.addEventListener("close", () => {
			dialog.remove();
			resolve(dialog.returnValue === "yes");
		});
		document.body.append(dialog);
		dialog.showModal();
	});
}

/* Ask for a number; resolves to it, or to null. */
export function ask_number(question, yes, no) {
	return new Promise(resolve => {
		const input = h("input", { type: "number", min: 1, max: 9999, "aria-label": question });
		const form = h("form", { method: "dialog" }, h("p", {}, question), input,
			h("div", { class: "keys" },
			  h("button", { type: "submit", class: "main", value: "yes" }, yes),
			  h("button", { type: "button", onclick: () => dialog.close("no") }, no)));
		const dialog = h("dialog", { "aria-label": question }, form);

		dialog.addEventListener("close", () => {
			dialog.remove();
			resolve(dialog.returnValue === "yes" && Number(input.value) > 0 ? Number(input.value) : null);
		});
		document.body.append(dialog);
		dialog.showModal();
		input.focus();
	});
}

/*
 * Ask for a password with the prompt of another program, and what that program says besides.
 * Resolves to the password, or to null.
 */
export function ask_password(prompt, said, yes, no) {
	return new Promise(resolve => {
		const input = h("input", { type: "password", autocomplete: "off", "aria-label": prompt });
		const form = h("form", { method: "dialog" }, said ? h("p", {}, said) : null, h("p", {}, prompt), input,
			h("div", { class: "keys" },
			  h("button", { type: "submit", class: "main", value: "yes" }, yes),
			  h("button", { type: "button", onclick: () => dialog.close("no") }, no)));
		const dialog = h("dialog", { class: "password", "aria-label": prompt }, form);

		dialog.addEventListener("close", () => {
			const password = input.value;

			input.value = "";
			dialog.remove();
			resolve(dialog.returnValue === "yes" ? password : null);
		});
		document.body.append(dialog);
		dialog.showModal();
		input.focus();
	});
}

/* Ask for one of these names; resolves to it, or to null. */
export function choose(question, names, no) {
	return new Promise(resolve => {
		const dialog = h("dialog", { "aria-label": question }, h("p", {}, question),
			h("div", { class: "keys" },
			  names.map((name, n) => h("button", { type: "button", onclick: () => dialog.close(String(n)) }, name)),
			  h("button", { type: "button", onclick: () => dialog.close("") }, no)));

		dialog.addEventListener("close", () => {
			dialog.remove();
			resolve(dialog.returnValue === "" ? null : names[Number(dialog.returnValue)]);
		});
		document.body.append(dialog);
		dialog.showModal();
	});
}

/*
 * Ask for a passphrase, or for a file that has a key. Resolves to its text, or to null. The field is emptied, so
 * that the page keeps nothing of it.
 */
export function ask_secret(question, yes, no, key) {
	return new Promise(resolve => {
		const input = h("input", { type: "password", autocomplete: "off", "aria-label": question });
		const file = h("input", { type: "file", hidden: true, onchange: async () => finish(await file.files[0].text()) });
		const form = h("form", { onsubmit: event => { event.preventDefault(); finish(input.value); } }, h("p", {}, question), input,
			h("div", { class: "keys" },
			  h("button", { type: "submit", class: "main" }, yes),
			  h("button", { type: "button", onclick: () => file.click() }, key),
			  h("button", { type: "button", onclick: () => finish(null) }, no)), file);
		const dialog = h("dialog", { "aria-label": question }, form);

		function finish(secret) {
			input.value = "";
			dialog.remove();
			resolve(secret || null);
		}

		dialog.addEventListener("cancel", () => finish(null));
		document.body.append(dialog);
		dialog.showModal();
		input.focus();
	});
}
