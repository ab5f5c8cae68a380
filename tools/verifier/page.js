// SPDX-License-Identifier: LGPL-2.1-or-later
/* The page: files in, workers, and results. */
const DealboxPage = (() => {
	'use strict';

	const LINES = 20;	/* findings of one word that are shown */
	const V = DealboxVerify;
	const words = DealboxWords.en;
	const at = (id) => document.getElementById(id);
	let files = [];

	/* Make an element with a text and children. */
	const element = (name, text, ...children) => {
		const made = document.createElement(name);

		if (text !== undefined)
			made.textContent = text;
		made.append(...children);
		return made;
	};

	/* -- what was given -------------------------------------------------------- */

	const kindOf = (text) => {
		if (/^dealbox manifest /.test(text))
			return 'manifest';
		if (text === '' || /^dealbox (certificate|opening) /.test(text))
			return 'certificates';
		if (/\n\n\xe2\x80\x94 /.test(text) && !/^\[/m.test(text))
			return 'head';
		if (/^\s*KH [0-9a-f]{64}\s*$/m.test(text) && /^\s*SN /m.test(text))
			return 'description';
		if (/^\s*\d+,\d+:[^: \t\r\n]+\s*$/m.test(text) && !text.includes('['))
			return 'keys';
		return /^\s*\[Deal /m.test(text) ? 'deals' : 'unknown';
	};

	const addFiles = async (list) => {
		for (const file of list) {
			const bytes = new Uint8Array(await file.arrayBuffer());
			const start = V.textOf(bytes.subarray(0, 4096));
			const kind = kindOf(start) === 'unknown' && bytes.length > 4096 ? kindOf(V.textOf(bytes)) : kindOf(start);

			/* every PC calls its file certificates: of one name, those of another signer stay */
			const signer = kind === 'certificates' ? /\nsigner (\w+)\n/.exec(start)?.[1] : undefined;

			files = files.filter((other) => other.name !== file.name || other.signer !== signer);
			files.push({ name: file.name, kind, bytes, signer });
		}
		at('given').replaceChildren(...files.map((file) =>
			element('li', `${file.name}: ${words.given[file.kind]}`)));
	};

	/* -- workers ----------------------------------------------------------------- */

	const makeWorkers = () => {
		const address = URL.createObjectURL(new Blob([DealboxSource], { type: 'text/javascript' }));
		const count = Math.max(1, Math.min(8, navigator.hardwareConcurrency || 1));
		const workers = Array.from({ length: count }, () => new Worker(address));

		return { workers, end: () => {
			workers.forEach((worker) => worker.terminate());
			URL.revokeObjectURL(address);
		} };
	};

	/* Let a worker do one task. Resolves with its result. */
	const ask = (worker, message, transfer, progress) => new Promise((resolve, reject) => {
		worker.onerror = (event) => reject(new Error(event.message));
		worker.onmessage = ({ data }) => {
			if (data.progress !== undefined)
				progress(data.progress);
			else
				resolve(data.result);
		};
		worker.postMessage(message, transfer);
	});

	/* Give the tasks of each worker one after the other. tasks: [{ worker, message, transfer }] */
	const askAll = async (workers, tasks, progress) => {
		const results = [];

		await Promise.all(workers.map(async (worker, n) => {
			for (const task of tasks.filter((one) => one.worker === n))
				results.push({ task, result: await ask(worker, task.message, task.transfer || [], progress) });
		}));
		return results.sort((a, b) => a.task.order - b.task.order);
	};

	/* Cut a file into parts of about that size, each of whole texts. */
	const cutFile = (bytes, size) => {
		const mark = V.bytesOf('\nsignature ');
		const parts = [];
		let start = 0;

		while (start < bytes.length) {
			let end = Math.min(bytes.length, start + size);

			while (end < bytes.length) {
				if (bytes[end] === 10 && mark.every((byte, i) => bytes[end + i] === byte)) {
					end = bytes.indexOf(10, end + 1) + 1 || bytes.length;
					break;
				}
				end++;
			}
			parts.push(bytes.slice(start, end));
			start = end;
		}
		return parts;
	};

	const countTexts = (bytes) => Math.max(1, V.textOf(bytes).split('\nsignature ').length - 1);

	/* -- checking ------------------------------------------------------------------ */

	class Refused extends Error {
		constructor(why, file) {
			super(why);
			this.result = Object.assign(V.refused(why), { file });
		}
	}

	/* Call a reader of a file; what it refuses names the file. */
	const reading = (file, reader) => {
		try {
			return reader();
		} catch (error) {
			throw error instanceof V.Defect ? new Refused(error.why, file) : error;
		}
	};

	const readFiles = async (given, manifest, pool, progress) => {
		const tasks = [];
		const total = given.reduce((sum, file) => sum + file.bytes.length, 0);
		const size = Math.max(65536, Math.ceil(total / pool.workers.length / 4));
		const read = given.map((file) => ({ name: file.name, texts: [], from: [] }));

		given.forEach((file, n) => cutFile(file.bytes, size).forEach((bytes) => {
			tasks.push({ worker: tasks.length % pool.workers.length, order: tasks.length, file: n,
				message: { task: 'read', bytes: bytes.buffer, version: manifest.version }, transfer: [bytes.buffer] });
		}));
		for (const { task, result } of await askAll(pool.workers, tasks, progress)) {
			result.results.forEach((text, index) => {
				read[task.file].texts.push(text);
				read[task.file].from.push({ worker: task.worker, held: result.held, index });
			});
		}
		return read.map((file) => {
			const chained = reading(file.name, () => V.chain(file.texts, manifest));

			chained.name = file.name;
			chained.certificates.forEach((c, i) => { c.from = file.from[i]; });
			V.markCounting(chained);
			return chained;
		});
	};

	/* Compare the certificates that count with their deals. */
	const examineAll = async (chains, deals, pool, progress) => {
		const tasks = new Map();

		for (const file of chains)
			for (const c of file.certificates.filter((one) => one.counts)) {
				const key = `${c.from.worker}/${c.from.held}`;

				if (!tasks.has(key))
					tasks.set(key, { worker: c.from.worker, order: tasks.size, certificates: [],
						message: { task: 'examine', held: c.from.held, opening: file.opening, wanted: [], deals: [] } });
				tasks.get(key).certificates.push(c);
				tasks.get(key).message.wanted.push(c.from.index);
				tasks.get(key).message.deals.push(deals.get(c.session)?.get(c.board) || null);
			}
		for (const { task, result } of await askAll(pool.workers, [...tasks.values()], progress))
			task.certificates.forEach((c, i) => { c.examined = result.results[i]; });
	};

	const givenKeys = () => {
		const keys = (id) => at(id).value.toLowerCase().split(/\s+/).filter(Boolean);
		const [signer] = keys('signer');
		const pcs = keys('pc');

		if ([...(signer ? [signer] : []), ...pcs].some((key) => !/^[0-9a-f]{64}$/.test(key)))
			throw new Error(words.badKey);
		return { signer, pcs, copies: +at('copies').value || undefined };
	};

	/* A head that somebody has heard, or read with a phone */
	const givenHead = () => {
		const text = at('heard').value.replace(/\r/g, '').trim();

		if (!text)
			return [];
		try {
			return [text.includes('\u2014') ?
				V.readHead(V.textOf(new TextEncoder().encode(`${text}\n`)), words.heard) :
				V.readSpoken(text, words.heard)];
		} catch (error) {
			throw error instanceof V.Defect ? new Error(words.badHead) : error;
		}
	};

	/* Make the deals from description and keys. */
	const addKeysDeals = (descriptions, keys, input) => {
		const given = [...descriptions, ...keys];

		if (!given.length)
			return;
		reading(given[0].name, () => {
			if (descriptions.length !== 1 || keys.length !== 1)
				throw new V.Defect('deals', 'one description with its keys');
			input.value = V.addSquareDeals(input.manifest, V.textOf(descriptions[0].bytes), V.textOf(keys[0].bytes),
						       input.deals, input.files.flatMap((file) => file.certificates));
		});
	};

	const verifyAll = async (progress) => {
		const of = (kind) => files.filter((file) => file.kind === kind);
		const keys = givenKeys();
		const heard = givenHead();
		const unknown = of('unknown')[0];

		if (unknown)
			throw new Error(words.unreadable(unknown.name));
		if (of('manifest').length !== 1)
			throw new Error(of('manifest').length ? words.twoManifests : words.noManifest);
		if (!of('certificates').length)
			throw new Error(words.noCertificates);
		const steps = of('certificates').reduce((sum, file) => sum + 2 * countTexts(file.bytes), 0);
		let done = 0;
		const step = (count) => progress(done += count, steps);
		const [manifestFile] = of('manifest');
		const manifest = reading(manifestFile.name, () => V.readManifest(V.textOf(manifestFile.bytes)));
		const input = { ...keys, manifest, files: [], deals: new Map(), heads: [] };
		const pool = makeWorkers();

		try {
			if (!keys.signer || keys.signer === manifest.signer) {
				input.files = await readFiles(of('certificates'), manifest, pool, step);
				input.heads = of('head').map((file) =>
					reading(file.name, () => V.readHead(V.textOf(file.bytes), file.name))).concat(heard);
				for (const file of of('deals'))
					reading(file.name, () => V.addDeals(manifest, input.deals, file.name, V.textOf(file.bytes)));
				addKeysDeals(of('description'), of('keys'), input);
				await examineAll(input.files, input.deals, pool, step);
			}
		} finally {
			pool.end();
		}
		return Object.assign(V.judge(input, (c) => c.examined), { files: input.files });
	};

	/* -- showing -------------------------------------------------------------------- */

	const sentence = (result) => {
		const s = words.sentence;

		for (const text of ['value', 'info'])
			result[text] = result[text] && V.readable(result[text]);
		result.machine = result.certificates.filter((c) => c.proven && c.word === 'machine').length;
		if (result.status === 2)
			return s.refused(result);
		if (result.rehearsal)
			return s.rehearsal(result);
		if (!result.proven)
			return s.nothing(result);
		return result.status ? s.some(result) : s.proven(result);
	};

	const showFindings = (result) => {
		const byWord = new Map();

		for (const finding of result.findings) {
			if (!byWord.has(finding.word))
				byWord.set(finding.word, []);
			byWord.get(finding.word).push(finding);
		}
		const rows = [];

		for (const [word, list] of byWord) {
			for (const finding of list.slice(0, LINES)) {
				const place = finding.certificate ? `${words.place(finding.certificate)}: ` : '';
				const row = element('li', `${place}${words.finding[word](finding)}`);

				row.dataset.word = word;
				rows.push(row);
			}
			if (list.length > LINES)
				rows.push(element('li', words.more(list.length - LINES)));
		}
		at('findings').replaceChildren(...rows);
		at('findings-part').hidden = !rows.length;
	};

	const fillSession = (details, name, list) => {
		const table = element('table', undefined, element('caption', words.caption(name)));
		const head = element('tr');
		const body = element('tbody');

		for (const column of words.columns)
			head.append(Object.assign(element('th', column), { scope: 'col' }));
		for (const c of list) {
			const state = c.proven ? 'proven' : c.counts ? 'not' : 'void';
			const row = element('tr');

			for (const cell of [c.board, c.copy, V.readable(c.machine), c.insertion, words.verdict[state],
					    words.word[c.word || 'pc']])
				row.append(element('td', String(cell)));
			row.className = state;
			body.append(row);
		}
		table.append(element('thead', undefined, head), body);
		details.append(table);
	};

	/* One line a session; the table of its boards is made when it is opened. */
	const showBoards = (result) => {
		const sessions = new Map();

		for (const c of result.certificates) {
			if (!sessions.has(c.session))
				sessions.set(c.session, []);
			sessions.get(c.session).push(c);
		}
		at('boards').replaceChildren(...[...sessions].map(([session, list]) => {
			const name = V.readable(session);
			const counting = list.filter((c) => c.counts);
			const details = element('details', undefined, element('summary', words.session(name,
				counting.filter((c) => c.proven).length, counting.length)));

			details.addEventListener('toggle', () => fillSession(details, name, list), { once: true });
			return details;
		}));
		at('boards-part').hidden = !sessions.size;
		at('heads').replaceChildren(...(result.files || []).filter((file) => file.leaves.length).map((file) =>
			element('li', words.readAloud(file.name, V.spokenHead(file.leaves)))));
		at('heads-part').hidden = !at('heads').childElementCount;
	};

	const show = (result) => {
		at('sentence').textContent = sentence(result);
		at('sentence').className = result.status === 0 ? 'good' : 'bad';
		showFindings(result);
		showBoards(result);
		/* for programs that drive this page */
		document.body.dataset.status = result.status;
		document.body.dataset.proven = result.proven;
		document.body.dataset.findings = [...new Set(result.findings.map((f) => f.word))].sort().join(' ');
		at('result').hidden = false;
		at('sentence').focus();
	};

	const check = async () => {
		const bar = at('progress');
		let shown = 0;

		delete document.body.dataset.status;
		at('check').disabled = true;
		at('result').hidden = true;
		at('problem').textContent = '';
		at('working').hidden = false;
		try {
			await sodium.ready;
			show(await verifyAll((done, all) => {
				bar.max = all;
				bar.value = done;
				/* a screen reader is told of every quarter */
				if (Math.floor(4 * done / all) > shown) {
					shown = Math.floor(4 * done / all);
					at('steps').textContent = words.progress(done, all);
				}
			}));
		} catch (error) {
			if (error instanceof Refused)
				show(error.result);
			else
				at('problem').textContent = error.message;
		} finally {
			at('working').hidden = true;
			at('check').disabled = false;
		}
	};

	const start = () => {
		document.title = words.title;
		for (const part of document.querySelectorAll('[data-text]'))
			part.textContent = words[part.dataset.text];
		at('files').addEventListener('change', () => addFiles(at('files').files));
		at('form').addEventListener('submit', (event) => {
			event.preventDefault();
			check();
		});
		for (const kind of ['dragover', 'drop'])
			document.addEventListener(kind, (event) => {
				event.preventDefault();
				if (kind === 'drop')
					addFiles(event.dataTransfer.files);
			});
	};

	return { start, addFiles };
})();
