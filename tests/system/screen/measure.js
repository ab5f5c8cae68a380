// SPDX-License-Identifier: LGPL-2.1-or-later
/* A function that returns what is wrong with the large machine on the screen, as a list of sentences. */
name => {
	const found = [];
	const hero = document.querySelector(".hero");
	const view = document.querySelector("main").getBoundingClientRect();
	const texts = [...hero.querySelectorAll("h1, p, li, .keys button"), ...document.querySelectorAll("header button, header select, .tile, .job > *")];
	const phone = innerWidth <= 760;
	const boxes = texts.map(one => [one, one.getBoundingClientRect()]);
	const label = one => (one.textContent || one.id || one.tagName).slice(0, 40);

	if (document.documentElement.scrollWidth > innerWidth)
		found.push(`the page is wider than the screen: ${document.documentElement.scrollWidth}`);
	if (!phone && document.documentElement.scrollHeight > innerHeight)
		found.push("the page is higher than the screen");
	for (const one of document.getAnimations())
		found.push(`something moves or blinks: ${one.effect.target.outerHTML.slice(0, 60)}`);
	for (const [one, box] of boxes) {
		if (!box.width || !box.height)
			found.push(`"${label(one)}" is not seen`);
		if (one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline" && one.clientWidth)
			found.push(`"${label(one)}" is cut off: ${one.scrollWidth} in ${one.clientWidth}`);
		if (box.left < -1 || box.right > innerWidth + 1)
			found.push(`"${label(one)}" is beside the screen`);
		if (hero.contains(one)) {
			const around = hero.getBoundingClientRect();

			/* the text scrolls, the keys do not */
			if (hero.matches(".scrolls") && !one.matches(".keys button"))
				continue;
			if (box.top < around.top - 1 || box.bottom > around.bottom + 1 || box.right > around.right + 1)
				found.push(`"${label(one)}" is outside its area: ${Math.round(box.bottom)} of ${Math.round(around.bottom)}`);
		}
	}
	for (let a = 0; a < boxes.length; a++)
		for (let b = a + 1; b < boxes.length; b++) {
			const [one, p] = boxes[a], [other, q] = boxes[b];

			/* text that is scrolled passes under the keys */
			if (hero.matches(".scrolls") && (one.matches(".hero .keys button") || other.matches(".hero .keys button") ||
							 one.matches(".part, .keeper") || other.matches(".part, .keeper")))
				continue;
			const width = Math.min(p.right, q.right) - Math.max(p.left, q.left);
			const height = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);

			/* lines of one paragraph stand close; the number's box is higher than its digits */
			if (width > 2 && height > (one.matches(".number, h1") || other.matches(".number") ? 12 : 2) &&
			    !one.contains(other) && !other.contains(one) && hero.contains(one) === hero.contains(other) &&
			    !(one.closest("header") && !other.closest("header")))
				found.push(`"${label(one)}" and "${label(other)}" overlap by ${Math.round(width)} x ${Math.round(height)}`);
		}
	const number = hero.querySelector(".number"), fit = Number(hero.style.getPropertyValue("--fit"));

	if (number && parseFloat(getComputedStyle(number).fontSize) < 40)
		found.push(`the number is small: ${getComputedStyle(number).fontSize}`);
	/* only beside Cockpit's menu */
	if (hero.matches(".scrolls") && innerWidth > 900)
		found.push("the large machine does not fit");
	if (fit < 0.6)
		found.push(`everything is small: ${fit}`);
	return found;
}
