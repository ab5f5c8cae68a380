// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Verification of certificates, written from docs/certificate.md. No page, no files: texts go in,
 * and findings come out. Needs libsodium.
 *
 * Texts are strings with one character for each byte, so that lengths and offsets are those of the
 * files. read*() finds out what a text says, examine() compares a certificate with its deal, and
 * judge() puts everything together. read and examine can be done in parts, by workers.
 */
const DealboxVerify = (() => {
	'use strict';

	const HASH = 32;
	const U32 = 0xffffffff;
	const SESSIONS = 9999;		/* of a phase whose number is open */
	const SEATS = 'NESW';
	const ATTESTED = 'dealing machine attestation\n';

	/* A text is not what it must be: why is a word of the table of findings. */
	class Defect extends Error {
		constructor(why, what) {
			super(what || why);
			this.why = why;
		}
	}

	/* -- bytes -------------------------------------------------------------- */

	const bytesOf = (text) => {
		const bytes = new Uint8Array(text.length);

		for (let i = 0; i < text.length; i++)
			bytes[i] = text.charCodeAt(i);
		return bytes;
	};

	const textOf = (bytes) => {
		const parts = [];

		for (let i = 0; i < bytes.length; i += 32768)
			parts.push(String.fromCharCode.apply(null, bytes.subarray(i, i + 32768)));
		return parts.join('');
	};

	/* For people: the same text with its characters */
	const readable = (text) => new TextDecoder().decode(bytesOf(text));

	const hexOf = (bytes) => {
		let text = '';

		for (const byte of bytes)
			text += (byte < 16 ? '0' : '') + byte.toString(16);
		return text;
	};

	const fromHex = (hex) => {
		const bytes = new Uint8Array(hex.length / 2);

		for (let i = 0; i < bytes.length; i++)
			bytes[i] = parseInt(hex.substr(2 * i, 2), 16);
		return bytes;
	};

	const join = (...parts) => {
		const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
		let at = 0;

		for (const part of parts) {
			whole.set(part, at);
			at += part.length;
		}
		return whole;
	};

	const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);
	const isZero = (bytes) => bytes.every((byte) => !byte);
	const le32 = (bytes, at) =>
		(bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | bytes[at + 3] << 24) >>> 0;
	const put32 = (bytes, at, number) => {
		for (let i = 0; i < 4; i++)
			bytes[at + i] = number >>> 8 * i;
	};

	const sha256 = (bytes) => sodium.crypto_hash_sha256(bytes);
	const blake2b = (bytes, key) => sodium.crypto_generichash(HASH, bytes, key || null);
	const signed = (signature, bytes, key) => {
		try {
			return sodium.crypto_sign_verify_detached(signature, bytes, key);
		} catch {
			return false;
		}
	};

	const crcTable = (() => {
		const table = new Uint32Array(256);

		for (let n = 0; n < 256; n++) {
			let crc = n;

			for (let bit = 0; bit < 8; bit++)
				crc = crc & 1 ? crc >>> 1 ^ 0x82f63b78 : crc >>> 1;
			table[n] = crc;
		}
		return table;
	})();

	const crc32c = (bytes) => {
		let crc = U32;

		for (const byte of bytes)
			crc = crc >>> 8 ^ crcTable[(crc ^ byte) & 255];
		return (crc ^ U32) >>> 0;
	};

	/* -- values of lines ------------------------------------------------------ */

	const form = (good, what) => {
		if (!good)
			throw new Defect('form', what);
	};

	const number = (text, least, most) => {
		form(/^(0|[1-9]\d{0,9})$/.test(text) && +text >= least && +text <= most, 'number');
		return +text;
	};

	const hex = (text, size) => {
		form(text.length === 2 * size && /^[0-9a-f]*$/.test(text), 'bytes');
		return text;
	};

	const name = (text) => {
		form(text.length > 0 && text.length < 128 && !/[\x00-\x1f\x7f]/.test(text), 'name');
		return text;
	};

	const oneOf = (text, words) => {
		form(words.includes(text), 'word');
		return text;
	};

	const time = (text) => {
		const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.\d{6}Z$/.exec(text);

		form(match && match[1] >= '1970', 'time');
		const [year, month, day, hour, minute, second] = match.slice(1).map(Number);
		const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));

		date.setUTCFullYear(year);
		form(date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 &&
		     second < 60, 'time');
		return text;
	};

	/* -- signed texts ----------------------------------------------------------- */

	/* Return the end of the text at an offset: behind its line signature; -1 if it has none. */
	const textEnd = (file, at) => {
		const line = file.indexOf('\nsignature ', at);
		const end = line < 0 ? -1 : file.indexOf('\n', line + 1);

		return end < 0 ? -1 : end + 1;
	};

	/* Check the signature of a whole text. Return its lines before signer, and the signer. */
	const openText = (text) => {
		const at = text.lastIndexOf('\nsignature ', text.length - 2) + 1;
		const match = /\nsigner ([0-9a-f]{64})\nsignature ([0-9a-f]{128})\n$/.exec(text.slice(Math.max(0, at - 73)));

		form(at && match, 'signature');
		if (!signed(fromHex(match[2]), bytesOf(text.slice(0, at)), fromHex(match[1])))
			throw new Defect('signature', 'signature');
		return { lines: text.slice(0, at - 72).split('\n').slice(0, -1), signer: match[1] };
	};

	/* Takes lines off a text in their order. */
	const taker = (lines) => {
		let next = 0;

		return {
			take(word) {
				const line = lines[next];

				form(line !== undefined && line.startsWith(word + ' '), word);
				next++;
				return line.slice(word.length + 1);
			},
			has: (word) => next < lines.length && lines[next].startsWith(word + ' '),
			end: () => form(next === lines.length, 'more lines'),
		};
	};

	/* -- manifest ---------------------------------------------------------------- */

	const boardItems = (text) => {
		if (text === '?')
			return null;
		const blocks = /^(\d{1,6})x(\d{1,6})$/.exec(text);
		const items = [];

		if (blocks) {
			const [count, size] = [+blocks[1], +blocks[2]];

			form(count && size && count * size <= 9999, 'boards');
			for (let i = 0; i < count; i++)
				items.push([i * size + 1, (i + 1) * size]);
			return items;
		}
		for (const item of text.split(',')) {
			const match = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(item);

			form(match, 'boards');
			const range = match[2] === undefined ? [1, +match[1]] : [+match[1], +match[2]];

			form(range[0] >= 1 && range[0] <= range[1] && range[1] <= 9999, 'boards');
			items.push(range);
		}
		return items;
	};

	const phase = (text) => {
		const [sessions, boards, prefix] = text.split(':', 3);

		form(prefix !== undefined && text.split(':').length > 3, 'phase');
		const description = text.slice(sessions.length + boards.length + prefix.length + 3);

		form(/^(0|[1-9]\d{0,3})$/.test(sessions), 'sessions');
		form(prefix.length <= 100 && /^[A-Za-z][A-Za-z0-9_-]*(#{1,6}[A-Za-z0-9_-]*)?$/.test(prefix), 'prefix');
		form(prefix.includes('#') || +sessions === 1, 'prefix');
		form(description.length > 0 && description.length <= 200 && !/[\x00-\x1f\x7f]/.test(description) &&
		     !description.endsWith(' '), 'description');
		return { sessions: +sessions, items: boardItems(boards), prefix };
	};

	const freeText = (text) => {
		form(!/[\x00-\x1f\x7f]/.test(text) && !/^ | $/.test(text), 'text');
		return text;
	};

	const readManifest = (text) => {
		form(textEnd(text, 0) === text.length && text.length, 'manifest');
		const { lines, signer } = openText(text);
		const body = taker(lines);
		const version = number(body.take('dealbox manifest'), 1, 2);
		const at = time(body.take('time'));
		const manifest = { signer, version, hash: hexOf(sha256(bytesOf(text))), phases: [], pcs: [], machines: [],
			copies: 0 };

		form(at.endsWith('.000000Z'), 'time');
		manifest.title = freeText(body.take('TN'));
		freeText(body.take('DI'));
		do
			manifest.phases.push(phase(body.take('SN')));
		while (body.has('SN'));
		form(new Set(manifest.phases.map((p) => p.prefix)).size === manifest.phases.length, 'prefix');
		const names = new Set();

		for (const p of manifest.phases)
			for (let n = 1; n <= (p.sessions || SESSIONS); n++)
				for (const session of [sessionName(p.prefix, n), `${sessionName(p.prefix, n)}reserve`]) {
					form(!names.has(session), 'two sessions of one name');
					names.add(session);
				}
		hex(body.take('KH'), HASH);
		if (version > 1) {
			manifest.copies = number(body.take('copies'), 1, 65535);
			while (body.has('pc'))
				manifest.pcs.push(hex(body.take('pc'), HASH));
			while (body.has('machine')) {
				const match = /^([0-9a-f]{64}|-) (real|emulator) (.*)$/.exec(body.take('machine'));

				form(match && match[3] !== '-', 'machine');
				manifest.machines.push({ key: match[1], emulator: match[2] === 'emulator', name: name(match[3]) });
			}
			form(manifest.pcs.every((key, i) => !i || manifest.pcs[i - 1] < key), 'order of the PCs');
			form(manifest.machines.every((m, i) => !i || manifest.machines[i - 1].name < m.name),
			     'order of the machines');
		}
		body.end();
		return manifest;
	};

	/* -- certificates -------------------------------------------------------------- */

	const pocketOrder = (text) => {
		form(text.length === 4 && [...SEATS].every((seat) => text.includes(seat)), 'pockets');
		return text;
	};

	const readCertificate = (body, version) => {
		const c = { kind: 'certificate', version };
		const dash = (word, size) => {
			const value = body.take(word);

			return value === '-' ? null : hex(value, size);
		};

		c.manifest = hex(body.take('manifest'), HASH);
		c.session = name(body.take('session'));
		c.board = number(body.take('board'), 1, U32);
		c.copy = number(body.take('copy'), 1, U32);
		c.pockets = pocketOrder(body.take('pockets'));
		c.plan = hex(body.take('plan'), HASH);
		hex(body.take('trace'), HASH);
		c.exact = oneOf(body.take('verdict'), ['exact', 'void']) === 'exact';
		c.by = version > 1 ? oneOf(body.take('by'), ['machine', 'emulator', 'hand']) : 'machine';
		c.basis = oneOf(body.take('basis'), ['sensors', 'gates', 'none']);
		c.cards = oneOf(body.take('cards'), ['read', 'counted']);
		c.machine = name(body.take('machine'));
		c.insertion = number(body.take('insertion'), 0, U32);
		c.number = 0;
		if (version > 1) {
			c.number = number(body.take('number'), 0, U32);
			c.key = dash('key', 32);
			c.statement = dash('statement', 96);
			c.attestation = dash('attestation', 64);
			c.nonce = dash('nonce', 32);
			const word = [c.key, c.statement, c.attestation, c.nonce].filter((value) => value !== null).length;

			form(word === 0 || word === 4, "machine's word");
			form((c.by === 'hand') === (c.machine === '-'), 'machine');
			form(c.by !== 'hand' || (!c.insertion && !c.number && !word), 'by hand');
		}
		time(body.take('time'));
		c.previous = hex(body.take('previous'), HASH);
		return c;
	};

	const readOpening = (body) => ({
		kind: 'opening',
		manifest: hex(body.take('manifest'), HASH),
		count: number(body.take('certificates'), 0, U32),
		previous: hex(body.take('previous'), HASH),
		opening: hex(body.take('opening'), 32),
	});

	/*
	 * Read one text of a file of certificates, made for a manifest of that version. Return what it says;
	 * or { defect }. The leaf is its hash in the log.
	 */
	const readText = (text, manifestVersion) => {
		try {
			const { lines, signer } = openText(text);
			const body = taker(lines);
			let read;

			if (body.has('dealbox opening')) {
				number(body.take('dealbox opening'), 1, 1);
				read = readOpening(body);
			} else {
				const version = number(body.take('dealbox certificate'), 1, 2);

				form(version > 1 || manifestVersion === 1, 'version');
				read = readCertificate(body, version);
			}
			body.end();
			const bytes = bytesOf(text);

			read.signer = signer;
			read.hash = hexOf(sha256(bytes));
			read.leaf = sha256(join(Uint8Array.of(0), bytes));
			if (read.statement) {
				const statement = fromHex(read.statement);

				read.emulated = (statement[6] & 1) === 1;
				read.counter = le32(statement, 16);
			}
			return read;
		} catch (error) {
			if (!(error instanceof Defect))
				throw error;
			return { defect: error.why };
		}
	};

	/* Split a file into texts. What is left without a signature is the last one. */
	const splitTexts = (file) => {
		const texts = [];

		for (let at = 0; at < file.length;) {
			const end = textEnd(file, at);

			texts.push(file.slice(at, end < 0 ? file.length : end));
			at = end < 0 ? file.length : end;
		}
		return texts;
	};

	/* Check the order of the texts of a file. Return { certificates, opening, signer }. */
	const chain = (texts, manifest) => {
		const file = { certificates: [], opening: null, signer: null, leaves: [] };
		let previous = manifest.hash;

		for (const text of texts) {
			if (text.defect)
				throw new Defect(text.defect);
			if (file.signer === null)
				file.signer = text.signer;
			if (file.opening !== null || text.signer !== file.signer || text.manifest !== manifest.hash ||
			    text.previous !== previous ||
			    (text.kind === 'opening' && text.count !== file.certificates.length))
				throw new Defect('chain');
			file.leaves.push(text.leaf);
			if (text.kind === 'opening')
				file.opening = text.opening;
			else
				file.certificates.push(text);
			previous = text.hash;
		}
		return file;
	};

	/* -- deals -------------------------------------------------------------------- */

	/* Parse "N:AKQ.. ..". Return the seat (0..3) of each card. */
	const readDeal = (text) => {
		const match = /^([NESW]):(\S+) (\S+) (\S+) (\S+)$/.exec(text.trim());
		const seats = new Array(52).fill(-1);

		if (!match)
			throw new Defect('deals', 'deal');
		match.slice(2).forEach((hand, turn) => {
			const seat = (SEATS.indexOf(match[1]) + turn) % 4;
			const suits = hand.split('.');
			let count = 0;

			if (suits.length !== 4)
				throw new Defect('deals', 'hand');
			suits.forEach((ranks, suit) => {
				for (const rank of ranks) {
					const card = 13 * suit + 'AKQJT98765432'.indexOf(rank.toUpperCase());

					if (card < 13 * suit || seats[card] >= 0)
						throw new Defect('deals', 'card');
					seats[card] = seat;
					count++;
				}
			});
			if (count !== 13)
				throw new Defect('deals', 'hand');
		});
		return seats;
	};

	/*
	 * What a line of PBN is made of: its end, blanks, a comment, a tag (name and value), a string or a
	 * word of a section. A string has \" in a tag only, and ends in its line.
	 */
	const PBN_PART = new RegExp([
		/(?<end>\n)/, /[ \t]+/, /\{(?<comment>[^}]*)\}/, /;[^\n]*/,
		/\[[ \t]*(?<tag>\w+)[ \t]*"(?<value>(?:\\[^\n]|[^"\\\n])*)"[ \t]*\]/,
		/(?<word>"[^"\\\n]*"|[^\x00-\x20{};["]+)/,
	].map((part) => part.source).join('|'), 'y');
	const PBN_ESCAPE = /%[^\n]*\n?/y;
	const PBN_EMPTY = /[ \t]*(?:\n|$)/y;

	/*
	 * Parse a PBN file. Return a map of board → seats of the cards. Programs differ in what they make of
	 * a file that is not quite right, and could so be shown other deals: refused if there is any doubt.
	 */
	const readPbn = (text) => {
		const boards = new Map();
		const file = text.replace(/^\xef\xbb\xbf/, '').replace(/\r\n?/g, '\n');
		let at = 0;
		let game = {};
		const sure = (good, what) => {
			if (!good)
				throw new Defect('deals', what);
		};
		const skip = (pattern) => {
			pattern.lastIndex = at;
			const match = pattern.exec(file);

			at += match ? match[0].length : 0;
			return match;
		};
		const endGame = () => {
			if (game.begun) {
				sure(/^[1-9]\d{0,4}$/.test(game.Board) && game.Deal !== undefined && !boards.has(+game.Board), 'board');
				boards.set(+game.Board, readDeal(game.Deal));
			}
			game = {};
		};

		while (at < file.length) {
			if (skip(PBN_ESCAPE))
				continue;
			if (skip(PBN_EMPTY)) {
				endGame();
				continue;
			}
			let words = false;

			for (let ended = false; !ended && at < file.length;) {
				const part = skip(PBN_PART)?.groups;

				sure(part, 'neither a tag, nor a comment, nor data');
				ended = part.end !== undefined;
				/* a deal that is put away, or a comment that ends too late */
				sure(!/^(%|[ \t]*\[[ \t]*[A-Z])/im.test(part.comment || ''), 'a game in a comment');
				if (part.word !== undefined) {
					sure(words || !/^(Board|Deal)$/.test(part.word), 'a tag without its bracket');
					words = true;
				}
				if (part.tag === undefined)
					continue;
				sure(!words, 'data before a tag');
				/* such values are for all games, and may stand alone */
				game.begun = game.begun || !part.value.startsWith('##') || part.tag === 'Board';
				if (part.tag === 'Board' || part.tag === 'Deal') {
					sure(game[part.tag] === undefined, `two tags ${part.tag} in one game`);
					game[part.tag] = part.value;
				}
			}
		}
		endGame();
		sure(boards.size, 'board');
		return boards;
	};

	/* -- one certificate ------------------------------------------------------------ */

	const saltOf = (c, opening) => blake2b(bytesOf(
		`dealbox salt 1\nmanifest ${c.manifest}\nsession ${c.session}\nboard ${c.board}\ncopy ${c.copy}\n` +
		`machine ${c.machine}\ninsertion ${c.insertion}\n`), opening);

	const planCommitment = (c, seats, salt) => {
		const pockets = new Uint8Array(32);

		seats.forEach((seat, card) => {
			pockets[8 * c.pockets.indexOf(SEATS[seat]) + (card >> 3)] |= 1 << (card & 7);
		});
		return hexOf(blake2b(join(bytesOf('dealbox plan 1\n'), pockets), salt));
	};

	/* The plan block of docs/protocol.md, section 3 */
	const planBlock = (c, seats, mode) => {
		const block = new Uint8Array(36 + 52);

		block.set(bytesOf('DBXP'));
		block[5] = 1;
		block[6] = mode;
		put32(block, 8, c.number);
		block[12] = 52;
		block[13] = 52;
		seats.forEach((seat, card) => {
			const pocket = c.pockets.indexOf(SEATS[seat]);

			block[16 + pocket]++;
			block[32 + card] = pocket;
		});
		put32(block, 84, crc32c(block.subarray(0, 84)));
		return block;
	};

	/*
	 * Compare what the machine signed with the published deal; the key is trusted. Return proven, differs
	 * or unclear; null: the deal is not known.
	 */
	const compare = (c, key, seats, salt) => {
		const statement = fromHex(c.statement);
		const digest = statement.subarray(32, 64);

		if (!signed(fromHex(c.attestation), join(bytesOf(ATTESTED), statement), key) ||
		    textOf(statement.subarray(0, 4)) !== 'DBXA' ||
		    !same(statement.subarray(8, 16), blake2b(key).subarray(0, 8)))
			return 'differs';
		if (statement[5] !== 1 || statement[7] || statement[6] & ~3 || !isZero(statement.subarray(28, 32)))
			return 'unclear';
		if (le32(statement, 20) !== c.insertion)
			return 'differs';
		if (!(statement[6] & 2))
			return isZero(digest) ? 'unclear' : 'differs';
		if (!seats || !salt)
			return null;
		const pad = blake2b(join(bytesOf('dealbox nonce 1\n'), statement), salt);
		const nonce = fromHex(c.nonce).map((byte, i) => byte ^ pad[i]);
		const modes = c.cards === 'read' ? [2, 1] : [2];

		return modes.some((mode) => same(digest, blake2b(
			join(Uint8Array.of(1), blake2b(planBlock(c, seats, mode))), nonce))) ? 'proven' : 'differs';
	};

	/*
	 * Compare a certificate that counts with its deal (null: not known) by the opening of its file (null:
	 * not published). Return { opens, comparison }: opens is null if that cannot be said.
	 */
	const examine = (c, opening, seats) => {
		const salt = opening ? saltOf(c, fromHex(opening)) : null;
		const opens = salt && seats ? planCommitment(c, seats, salt) === c.plan : null;

		return { opens, comparison: c.key ? compare(c, fromHex(c.key), seats, salt) : null };
	};

	/* -- everything ------------------------------------------------------------------- */

	const sessionName = (prefix, n) =>
		prefix.replace(/#+/, (run) => String(n).padStart(run.length, '0'));

	/* Find the phase of a session. Return { phase, n, reserve }, or null. */
	const sessionFind = (manifest, session) => {
		for (const reserve of [false, true]) {
			if (reserve && !session.endsWith('reserve'))
				break;
			const plain = reserve ? session.slice(0, -7) : session;

			for (const p of manifest.phases) {
				const [head, tail] = p.prefix.split(/#+/);
				const digits = tail === undefined ? '' : plain.slice(head.length, plain.length - tail.length);
				const n = tail === undefined ? 1 : /^\d{1,6}$/.test(digits) ? +digits : 0;

				if (n && sessionName(p.prefix, n) === plain && n <= (p.sessions || SESSIONS))
					return { phase: p, n, reserve };
			}
		}
		return null;
	};

	const boardsOf = (p, n, deals) => {
		if (!p.items)
			return deals ? [...deals.keys()] : [];
		const [first, last] = p.items[(n - 1) % p.items.length];

		return Array.from({ length: last - first + 1 }, (_, i) => first + i);
	};

	/* The sessions that are promised: name → { boards, deals } */
	const promisedSessions = (manifest, deals, certificates) => {
		const sessions = new Map();
		const add = (session, p, n) => {
			if (!sessions.has(session))
				sessions.set(session, { boards: new Set(boardsOf(p, n, deals.get(session))), deals: deals.get(session),
					known: p.items !== null || deals.has(session), certificates: 0 });
		};

		for (const p of manifest.phases)
			for (let n = 1; n <= p.sessions; n++)
				add(sessionName(p.prefix, n), p, n);
		for (const session of [...deals.keys(), ...certificates.map((c) => c.session)]) {
			const found = sessionFind(manifest, session);

			if (found && !found.reserve && !found.phase.sessions)
				add(session, found.phase, found.n);
		}
		return sessions;
	};

	const boardKey = (c) => `${c.session}/${c.board}/${c.copy}`;
	const insertionKey = (c) => `${c.machine}\n${c.insertion}`;

	/* Mark the certificates that count: exact, and not taken back by a later one of the same file. */
	const markCounting = (file) => {
		const taken = new Set();

		for (let i = file.certificates.length; i--;) {
			const c = file.certificates[i];
			const key = `${boardKey(c)}/${insertionKey(c)}`;

			c.counts = c.exact && !taken.has(key);
			if (!c.exact)
				taken.add(key);
		}
	};

	/*
	 * Call found(a, b, within) for neighbours, in the order of the numbers that numberOf() gives, of each
	 * group. within: a promised session has certificates up to a, and from b on.
	 */
	const neighbours = (certificates, group, numberOf, found) => {
		const groups = new Map();

		for (const c of certificates) {
			if (!groups.has(group(c)))
				groups.set(group(c), []);
			groups.get(group(c)).push(c);
		}
		for (const list of groups.values()) {
			list.sort((a, b) => numberOf(a) - numberOf(b));
			const last = new Map(list.map((c, i) => [c.session, i]));
			let until = 0;

			for (let i = 1; i < list.length; i++) {
				if (list[i - 1].promised)
					until = Math.max(until, last.get(list[i - 1].session));
				found(list[i - 1], list[i], until >= i);
			}
		}
	};

	/*
	 * Judge all. input: manifest; files (from chain()), deals (session → board → seats); signer, pcs,
	 * copies as given by the user, or undefined; heads (from readHead() or readSpoken()). examined(c) gives what examine()
	 * returned. Returns { status, findings: [{ word, certificate, ...}], proven, promised, certificates }.
	 */
	const judge = (input, examined) => {
		const { manifest, files, deals } = input;
		const findings = [];
		const find = (word, certificate, more) => findings.push({ word, certificate, ...more });

		if (input.signer && input.signer !== manifest.signer) {
			find('signer', null, { key: manifest.signer });
			return { status: 1, findings, proven: 0, promised: 0, certificates: [], rehearsal: false };
		}
		if (!input.signer)
			find('signer-unnamed', null, { key: manifest.signer });
		const pcs = input.pcs && input.pcs.length ? input.pcs : manifest.pcs;
		const copies = input.copies || manifest.copies || 1;

		if (!pcs.length)
			find('pc-unnamed');
		if (!input.copies && !manifest.copies)
			find('copies-unnamed');
		files.forEach((file, i) => {
			file.named = pcs.includes(file.signer);
			if (pcs.length && file.signer !== null && !file.named)
				find('pc', null, { key: file.signer, file: file.name });
			if (file.signer !== null && files.slice(0, i).some((other) => other.signer === file.signer))
				find('fork', null, { file: file.name });
			if (file.certificates.length && file.opening === null)
				find('not-open', null, { file: file.name });
			file.certificates.forEach((c) => { c.file = file; });
		});
		for (const key of pcs)
			if (!files.some((file) => file.signer === key))
				find('pc-missing', null, { key });
		for (const head of input.heads || [])
			if (head.digits)
				judgeSpoken(head, files, find);
			else
				judgeHead(head, files, manifest, find);

		const certificates = files.flatMap((file) => file.certificates);
		const sessions = promisedSessions(manifest, deals, certificates);
		const unpromised = new Set();

		for (const c of certificates) {
			const session = sessions.get(c.session);

			if (session) {
				c.promised = true;
				session.certificates++;
			} else if (!unpromised.has(c.session)) {
				unpromised.add(c.session);
				find(sessionFind(manifest, c.session)?.reserve ? 'reserve' : 'session-unknown', null,
				     { session: c.session });
			}
		}
		for (const [session, s] of sessions) {
			const lacking = s.deals && [...s.boards].filter((board) => !s.deals.has(board));

			if (!s.deals || lacking.length)
				find('deals-missing', null, { session, board: lacking && lacking[0] });
			if (!s.certificates)
				find('session-missing', null, { session });
		}

		const bad = new Set();
		const findBad = (word, c) => {
			find(word, c);
			bad.add(c);
		};
		const counting = new Map();
		let rehearsal = false;

		for (const c of certificates.filter((one) => one.promised)) {
			const line = manifest.machines.find((machine) => machine.name === c.machine);
			const marked = c.key && manifest.machines.some((m) => m.emulator && m.key === c.key);
			const play = c.by === 'emulator' || marked || c.emulated || (line && line.emulator);

			rehearsal = rehearsal || Boolean(play);
			c.word = c.by === 'hand' ? 'hand' : play ? 'emulator' : 'pc';
			if (play)
				findBad('rehearsal', c);
			if (!c.counts)
				continue;
			const session = sessions.get(c.session);

			if (session.known && !session.boards.has(c.board)) {
				findBad('board-unknown', c);
			} else {
				if (!counting.has(boardKey(c)))
					counting.set(boardKey(c), []);
				counting.get(boardKey(c)).push(c);
				if (c.copy > copies)
					findBad('further', c);
			}
			const { opens, comparison } = examined(c);

			c.opens = opens;
			if (opens === false)
				findBad('deal', c);
			if (c.by === 'hand') {
				findBad('hand', c);
				continue;
			}
			if (manifest.machines.length && !line)
				findBad('machine', c);
			if (play)
				continue;
			judgeWord(c, line, opens, comparison, findBad);
		}
		for (const list of counting.values())
			if (list.length > 1)
				list.forEach((c, i) => (i ? findBad('further', c) : bad.add(c)));
		judgeNumbers(certificates, find, bad);

		let promised = 0;
		let proven = 0;

		for (const [session, s] of sessions)
			for (const board of s.boards)
				for (let copy = 1; copy <= copies; copy++) {
					const list = counting.get(`${session}/${board}/${copy}`) || [];

					promised++;
					if (!list.length && s.certificates)
						find('missing', null, { session, board, copy });
					if (list.length === 1 && list[0].opens && list[0].file.named && !bad.has(list[0])) {
						list[0].proven = true;
						proven++;
					}
				}
		return { status: findings.length || !proven ? 1 : 0, findings, proven, promised, certificates, rehearsal };
	};

	/* The findings about the machine's word */
	const judgeWord = (c, line, opens, comparison, findBad) => {
		const enrolled = line && line.key !== '-';

		if (!c.key) {
			if (enrolled)
				findBad('word-missing', c);
			return;
		}
		if (enrolled && line.key !== c.key) {
			findBad('word-key', c);
			return;
		}
		/* with another deal, the comparison says nothing more */
		if (comparison === 'differs' && opens !== false)
			findBad('word-differs', c);
		else if (enrolled && comparison === 'unclear')
			findBad('word-unclear', c);
		if (comparison === 'unclear')
			c.word = enrolled ? 'unclear' : 'pc';
		else if (enrolled && comparison === 'proven')
			c.word = 'machine';
	};

	/* Insertions and counters that are missing, or there twice */
	const judgeNumbers = (certificates, find, bad) => {
		const dealt = certificates.filter((c) => c.by !== 'hand');
		const withWord = dealt.filter((c) => c.key);
		const twice = new Set();

		neighbours(dealt, (c) => c.machine, (c) => c.insertion, (a, b, within) => {
			if (b.insertion - a.insertion > 1 && within)
				find('gap', b, { before: a, count: b.insertion - a.insertion - 1 });
			if (a.insertion === b.insertion && boardKey(a) !== boardKey(b) && (a.promised || b.promised)) {
				find('insertion-twice', b, { before: a });
				twice.add(insertionKey(a));
			}
		});
		/* one of these boards is wrong, and nobody can tell which */
		for (const c of dealt)
			if (twice.has(insertionKey(c)))
				bad.add(c);
		neighbours(withWord, (c) => c.key, (c) => c.counter, (a, b, within) => {
			if (b.counter - a.counter > 1 && within)
				find('counter-gap', b, { before: a, count: b.counter - a.counter - 1 });
			if (a.counter === b.counter && (insertionKey(a) !== insertionKey(b) || a.statement !== b.statement) &&
			    (a.promised || b.promised))
				find('counter-twice', b, { before: a });
		});
	};

	/* -- heads -------------------------------------------------------------------------- */

	const b64 = (text) => {
		try {
			return sodium.from_base64(text, sodium.base64_variants.ORIGINAL);
		} catch {
			throw new Defect('form', 'base64');
		}
	};

	/* Parse a head. Signatures are not checked. */
	const readHead = (text, file) => {
		const blank = text.lastIndexOf('\n\n');
		const body = text.slice(0, blank + 1);
		const [origin, size, root, ...rest] = body.split('\n');
		const lines = text.slice(blank + 2).split('\n');

		form(blank > 0 && root !== undefined && rest.pop() === '' && rest.every(Boolean), 'head');
		form(lines.pop() === '' && lines.length, 'signature');
		form(origin && /^[1-9]\d{0,14}$/.test(size), 'size');
		const signatures = lines.map((line) => {
			const match = /^\xe2\x80\x94 ([^ +]+) ([A-Za-z0-9+/]+=*)$/.exec(line);

			form(match, 'signature');
			return { name: match[1], bytes: b64(match[2]) };
		});
		const head = { file, origin, size: +size, root: b64(root), body, signatures };

		form(head.root.length === HASH, 'root');
		return head;
	};

	const treeHash = (leaves) => {
		if (leaves.length === 1)
			return leaves[0];
		let left = 1;

		while (2 * left < leaves.length)
			left *= 2;
		return sha256(join(Uint8Array.of(1), treeHash(leaves.slice(0, left)), treeHash(leaves.slice(left))));
	};

	/* Parse a head as it was read aloud. */
	const readSpoken = (text, file) => {
		const match = /^([1-9]\d{0,14})[ -]([0-9a-f -]*)$/i.exec(text.trim().replace(/\s+/g, ' '));
		const digits = match ? match[2].replace(/[ -]/g, '').toLowerCase() : '';

		form(digits.length === 40, 'head');
		return { file, size: +match[1], digits };
	};

	/* No signature: who has heard it knows who said it. */
	const judgeSpoken = (head, files, find) => {
		const long = files.filter((file) => head.size <= file.leaves.length);

		if (!long.some((file) => hexOf(treeHash(file.leaves.slice(0, head.size)).subarray(0, 20)) === head.digits))
			find('head', null, { file: head.file, why: long.length ? 'rewritten' : 'cut' });
	};

	const originOf = (manifest, signer) => `dealbox/${manifest.hash.slice(0, 16)}/${signer.slice(0, 16)}`;

	const judgeHead = (head, files, manifest, find) => {
		const own = files.filter((file) => file.signer !== null && originOf(manifest, file.signer) === head.origin);
		const wrong = (why) => find('head', null, { file: head.file, why });

		if (!own.length)
			return wrong('other');
		const key = fromHex(own[0].signer);
		const id = sha256(join(bytesOf(`${head.origin}\n\x01`), key)).subarray(0, 4);
		const line = head.signatures.find((s) => s.name === head.origin && same(s.bytes.subarray(0, 4), id));

		if (!line || line.bytes.length !== 68 || !signed(line.bytes.subarray(4), bytesOf(head.body), key))
			return wrong('signature');
		if (own.some((file) => head.size <= file.leaves.length &&
			     same(treeHash(file.leaves.slice(0, head.size)), head.root)))
			return undefined;
		return wrong(own.some((file) => head.size > file.leaves.length) ? 'cut' : 'rewritten');
	};

	/* The head as it is read aloud */
	const spokenHead = (leaves) =>
		`${leaves.length} ${hexOf(treeHash(leaves).subarray(0, 20)).match(/.{4}/g).join(' ')}`;

	/* -- all at once ---------------------------------------------------------------------- */

	const refused = (why) => ({ status: 2, findings: [{ word: why }], proven: 0, promised: 0, certificates: [],
		rehearsal: false });

	/* Verify a test vector of docs/vectors, whose texts are strings of characters. */
	const verifyVector = (vector) => {
		const raw = (text) => textOf(new TextEncoder().encode(text));

		try {
			const manifest = readManifest(raw(vector.manifest));
			const input = { manifest, signer: vector.signer, pcs: vector.pc, copies: vector.copies };

			if (!input.signer || input.signer === manifest.signer) {
				input.files = vector.certificates.map((file) =>
					chain(splitTexts(raw(file)).map((text) => readText(text, manifest.version)), manifest));
				input.files.forEach(markCounting);
				input.deals = new Map(Object.entries(vector.deals).map(([session, boards]) =>
					[raw(session), new Map(Object.entries(boards).map(([board, deal]) => [+board, readDeal(deal)]))]));
			}
			return judge(input, (c) => examine(c, c.file.opening,
				input.deals.get(c.session)?.get(c.board) || null));
		} catch (error) {
			if (!(error instanceof Defect))
				throw error;
			return refused(error.why);
		}
	};

	return { Defect, bytesOf, textOf, readable, hexOf, readManifest, readText, splitTexts, chain, markCounting, readPbn,
		 readHead, readSpoken, examine, judge, refused, spokenHead, sessionFind, verifyVector };
})();
