// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A worker: reads texts of certificates, and later compares them with their deals. It keeps what it
 * has read, so that texts go one way only.
 */
const DealboxWorker = (() => {
	'use strict';

	const BATCH = 64;	/* texts between two reports of progress */
	const held = [];

	/* { file, texts, version }: a reader never throws */
	const read = (message, report) => {
		const texts = DealboxVerify.splitTexts(DealboxVerify.textOf(new Uint8Array(message.bytes)));
		const results = [];

		texts.forEach((text, i) => {
			results.push(DealboxVerify.readText(text, message.version));
			if (i % BATCH === BATCH - 1)
				report(BATCH);
		});
		report(texts.length % BATCH);
		held.push(results);
		return { part: message.part, held: held.length - 1, results };
	};

	/* { held, opening, wanted: [index], deals: [seats or null] } */
	const examine = (message, report) => {
		const results = message.wanted.map((index, i) => {
			if (i % BATCH === BATCH - 1)
				report(BATCH);
			return DealboxVerify.examine(held[message.held][index], message.opening, message.deals[i]);
		});

		report(message.wanted.length % BATCH);
		return { part: message.part, results };
	};

	const start = () => {
		self.onmessage = async ({ data }) => {
			await sodium.ready;
			const result = (data.task === 'read' ? read : examine)(data,
				(count) => self.postMessage({ progress: count }));

			self.postMessage({ result });
		};
	};

	return { start };
})();
