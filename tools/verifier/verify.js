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
	const BOARDS = 9999;
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

		form(at && match && !/[\x00-\x09\x0b-\x1f\x7f]/.test(text), 'signature');
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
		manifest.square = [`TN ${manifest.title}`, `DI ${freeText(body.take('DI'))}`];
		do {
			const line = body.take('SN');

			manifest.phases.push(phase(line));
			manifest.square.push(`SN ${line}`);
		} while (body.has('SN'));
		form(new Set(manifest.phases.map((p) => p.prefix)).size === manifest.phases.length, 'prefix');
		const names = new Set();

		for (const p of manifest.phases)
			for (let n = 1; n <= (p.sessions || SESSIONS); n++)
				for (const session of [sessionName(p.prefix, n), `${sessionName(p.prefix, n)}reserve`]) {
					form(!names.has(session), 'two sessions of one name');
					names.add(session);
				}
		manifest.keyHash = hex(body.take('KH'), HASH);
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

	/* Reads the machine's statement in a certificate. The caller decides whether to trust its key. */
	const readStatement = (c) => {
		const statement = fromHex(c.statement);
		const key = fromHex(c.key);

		c.emulated = (statement[6] & 1) === 1;
		c.later = statement[5] !== 1 || statement[7] !== 0 || (statement[6] & ~3) !== 0 ||
			!isZero(statement.subarray(28, 32));
		c.counter = le32(statement, 16);
		c.attested = signed(fromHex(c.attestation), join(bytesOf(ATTESTED), statement), key) &&
			textOf(statement.subarray(0, 4)) === 'DBXA' &&
			same(statement.subarray(8, 16), blake2b(key).subarray(0, 8));
	};

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
			if (read.statement)
				readStatement(read);
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
		const match = /^([NESW]):(\S+)[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)$/.exec(text.trim());
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
				/* some programs write so */
				for (const rank of ranks.replace(/10/g, 'T')) {
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
	 * The parts of a line of PBN: its end, blanks, a comment, a tag (name and value), a string or a
	 * word of a section. A string has \" in a tag only, and ends in its line.
	 */
	const PBN_PART = new RegExp([
		/(?<end>\n)/, /[ \t]+/, /\{(?<comment>[^}]*)\}/, /;[^\n]*/,
		/\[[ \t]*(?<tag>\w+)[ \t]*"(?<value>(?:\\[^\n]|[^"\\\n])*)"[ \t]*\]/,
		/(?<word>"[^"\\\n]*"|[^\x00-\x20{};["]+)/,
	].map((part) => part.source).join('|'), 'y');
	const PBN_ESCAPE = /%[^\n]*\n?/y;
	const PBN_EMPTY = /[ \t]*(?:\n|$)/y;

	/* Law 2: dealer and vulnerability of a board by its number. A value may say that it is not known. */
	const PBN_DEALER = /^ *(?:([NESW])|\?)? *$/i;
	const PBN_VULNERABLE = [/^ *(none|love|-|o|nil) *$/i, /^ *(ns|n-s|n\/s) *$/i, /^ *(ew|e-w|e\/w) *$/i,
		/^ *(all|both) *$/i];
	const byLaw2 = (board, dealer, vulnerable) => {
		const seat = PBN_DEALER.exec(dealer);
		const sides = PBN_VULNERABLE.findIndex((words) => words.test(vulnerable));
		const round = board - 1 & 15;

		return seat && (!seat[1] || seat[1].toUpperCase() === SEATS[board - 1 & 3]) &&
			(sides < 0 ? /^ *\?? *$/.test(vulnerable) : sides === ((round & 3) + (round >> 2) & 3));
	};

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
				sure(/^[1-9]\d{0,3}$/.test(game.Board) && game.Deal !== undefined && !boards.has(+game.Board), 'board');
				sure(byLaw2(+game.Board, game.Dealer || '', game.Vulnerable || ''), 'dealer or vulnerability');
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
				if (/^(Board|Deal|Dealer|Vulnerable)$/.test(part.tag)) {
					sure(game[part.tag] === undefined, `two tags ${part.tag} in one game`);
					game[part.tag] = part.value;
				}
			}
		}
		endGame();
		sure(boards.size, 'board');
		return boards;
	};

	/* -- deals from their keys: docs/square-deal.md, "How the deals are made" ------------ */

	/*
	 * RIPEMD-160, which libsodium does not have: two lines of five rounds. Of each round, the order of the
	 * words, and by how many bits their sums are turned: 16 digits of base 16.
	 */
	const RIPEMD_LINES = [{
		words: ['0123456789abcdef', '74d1a6f3c0952eb8', '3ae49f812706db5c', '19ba08c4d37fe562', '40597c2ae138b6fd'],
		turns: ['befc5879bdef6798', '768db97f7cf9b7dc', 'bd67e9dfe8d65c75', 'bcefef989e56865c', '9f5b68dc5cdeb856'],
		constants: [0, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e],
		mixes: [0, 1, 2, 3, 4],
	}, {
		words: ['5e7092b4d6f81a3c', '6b370d5aef8c4912', 'f5137e69b8c2a04d', '86413bf05c2d97ae', 'cfa4158762de039b'],
		turns: ['899bdff5778beec6', '9df7c89b77c76fdb', '97fb866ecd5edd75', 'f58bee6e69c9c5f8', '85c9c5e68d65fdbb'],
		constants: [0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0],
		mixes: [4, 3, 2, 1, 0],
	}];
	const RIPEMD_MIXES = [(x, y, z) => x ^ y ^ z, (x, y, z) => x & y | ~x & z, (x, y, z) => (x | ~y) ^ z,
		(x, y, z) => x & z | y & ~z, (x, y, z) => x ^ (y | ~z)];

	const ripemd160 = (bytes) => {
		const blocks = new Uint8Array((bytes.length + 72) >> 6 << 6);
		const turn = (x, n) => x << n | x >>> 32 - n;
		const state = new Uint32Array([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]);
		const hash = new Uint8Array(20);

		blocks.set(bytes);
		blocks[bytes.length] = 0x80;
		put32(blocks, blocks.length - 8, 8 * bytes.length);
		for (let at = 0; at < blocks.length; at += 64) {
			const [left, right] = RIPEMD_LINES.map((line) => {
				let [a, b, c, d, e] = state;

				for (let n = 0; n < 80; n++) {
					const round = n >> 4;
					const word = le32(blocks, at + 4 * parseInt(line.words[round][n & 15], 16));
					const sum = a + (RIPEMD_MIXES[line.mixes[round]](b, c, d) >>> 0) + word + line.constants[round] | 0;

					[a, b, c, d, e] = [e, turn(sum, parseInt(line.turns[round][n & 15], 16)) + e | 0, b, turn(c, 10), d];
				}
				return [a, b, c, d, e];
			});

			state.set([1, 2, 3, 4, 0].map((n) => state[n] + left[(n + 1) % 5] + right[(n + 2) % 5]));
		}
		state.forEach((word, i) => put32(hash, 4 * i, word));
		return hash;
	};

	/* Number of ways to choose k of n cards */
	const CHOOSE = (() => {
		const rows = [[1]];

		for (let n = 1; n <= 52; n++)
			rows.push([1, ...Array.from({ length: n }, (_, k) => rows[n - 1][k] + (rows[n - 1][k + 1] || 0))]);
		return (n, k) => rows[n][k] || 0;
	})();

	/* Take the set of 13 of a rank, in lexicographic order, off a list of cards. */
	const takeHand = (left, rank) => {
		const hand = [];

		for (let at = 0; hand.length < 13;) {
			const ways = CHOOSE(left.length - at - 1, 12 - hand.length);

			if (rank < ways) {
				hand.push(...left.splice(at, 1));
			} else {
				rank -= ways;
				at++;
			}
		}
		return hand;
	};

	/* Return a function that makes one deal after the other, as seats of the cards. */
	const bigDeal = (owner, entropy) => {
		const hashes = join(ripemd160(entropy), ripemd160(owner));
		const [east, south] = [BigInt(CHOOSE(39, 13)), BigInt(CHOOSE(26, 13))];
		const deals = BigInt(CHOOSE(52, 13)) * east * south;
		let sequence = 0;

		return () => {
			const counter = new Uint8Array(4);
			let number;

			do {
				put32(counter, 0, ++sequence);
				number = BigInt(`0x${hexOf(ripemd160(join(counter, hashes)).subarray(0, 12))}`);
			} while (number >= deals);
			const left = [...Array(52).keys()];
			const seats = new Array(52).fill(3);

			[number / (east * south), number / south % east, number % south].forEach((rank, seat) => {
				for (const card of takeHand(left, Number(rank)))
					seats[card] = seat;
			});
			return seats;
		};
	};

	/* Lines of a file that mail may have changed, without white space around them */
	const trimmedLines = (text) =>
		text.split('\n').map((line) => line.replace(/^[ \t-\r]+|[ \t-\r]+$/g, '')).filter(Boolean);

	/* Read the .sqd of a manifest. Return the delayed value, or null. */
	const readDescription = (text, manifest) => {
		const lines = trimmedLines(text).filter((line) => line[0] !== '#').map((line) =>
			`${line.slice(0, 2)} ${line.slice(2).replace(/^[ \t-\r]+/, '').replace(/^(\d{1,6}):/, (_, n) => `${+n}:`)}`);
		const of = (word) => lines.filter((line) => line.startsWith(`${word} `));
		const value = of('DV').filter((line) => line.length > 3);
		const one = (word) => of(word).filter((line) => line.length > 3 || word === 'KH');
		const texts = ['TN', 'DI'].flatMap((word) => one(word).length ? one(word) : [`${word} `]);

		if (/\0/.test(text) || value.length > 1 || lines.some((line) => !/^(TN|DI|DV|SN|KH) /.test(line)) ||
		    [...texts, ...of('SN'), ...of('KH')].join('\n') !== [...manifest.square, `KH ${manifest.keyHash}`].join('\n'))
			throw new Defect('deals', 'the description is not that of the manifest');
		return value.length ? value[0].slice(3) : null;
	};

	/* Read the .sqk of a manifest. Return a map of "phase,session" → key; session 0: all of the phase. */
	const readKeys = (text, manifest) => {
		const lines = trimmedLines(text);
		const keys = new Map();
		const sure = (good, what) => {
			if (!good)
				throw new Defect('deals', what);
		};

		sure([text, lines.map((line) => `${line}\r\n`).join('')].some((one) =>
			hexOf(sha256(bytesOf(one))) === manifest.keyHash), 'these are not the keys that were promised');
		for (const line of lines) {
			const match = /^(\d{1,6}),(\d{1,6}):([^: \t\0]+)$/.exec(line);
			const at = match && `${+match[1]},${+match[2]}`;

			sure(match && !keys.has(at), 'a line of the keys');
			keys.set(at, match[3]);
		}
		manifest.phases.forEach((p, i) => {
			for (let n = p.sessions ? 1 : 0; n <= p.sessions; n++)
				sure(keys.has(`${i + 1},${n}`), 'a session has no key');
		});
		return keys;
	};

	/* The deals of boards low to high of session n of a phase, from its key */
	const sessionDeals = (manifest, keys, value, p, n, low, high) => {
		const key = keys.get(`${manifest.phases.indexOf(p) + 1},${p.sessions ? n : 0}`);
		const half = key.length >> 1;
		const next = bigDeal(bytesOf(key.slice(0, half)), bytesOf(key.slice(half) + sodium.to_base64(bytesOf(value),
			sodium.base64_variants.ORIGINAL) + 'original' + (p.sessions ? '' : `ses${n}`)));

		return new Map(Array.from({ length: high - low + 1 }, (_, i) => [low + i, next()]));
	};

	/*
	 * Make the deals of all sessions that are promised, or have certificates, from description and keys.
	 * Deals that were given are compared with them. deals: session → board → seats, which is added to.
	 * Return the delayed value.
	 */
	const addSquareDeals = (manifest, description, keyFile, deals, certificates) => {
		if (description === undefined || keyFile === undefined)
			throw new Defect('deals', 'description and keys belong together');
		const value = readDescription(description, manifest);
		const keys = readKeys(keyFile, manifest);

		for (const [session, s] of promisedSessions(manifest, deals, certificates)) {
			const { phase: p, n } = sessionFind(manifest, session);
			const given = deals.get(session);
			/* boards that were left open are those of the file */
			const boards = p.items ? [...s.boards] : [...given ? given.keys() : []];

			if (!boards.length)
				continue;
			if (value === null)
				throw new Defect('deals', 'the delayed value is missing');
			const made = sessionDeals(manifest, keys, value, p, n, Math.min(...boards), Math.max(...boards));

			for (const [board, seats] of given || [])
				if (made.has(board) && !same(made.get(board), seats))
					throw new Defect('deals', `${session} board ${board} is not what the keys make`);
			if (!given)
				deals.set(session, made);
		}
		return value;
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
	 * Compare what the machine signed with the published deal. Return proven, differs or unclear; null: the
	 * deal is not known.
	 */
	const compare = (c, seats, salt) => {
		const statement = fromHex(c.statement);
		const digest = statement.subarray(32, 64);

		if (!c.attested)
			return 'differs';
		if (c.later)
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

		return { opens, comparison: c.key ? compare(c, seats, salt) : null };
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
		return { status: findings.length || !proven ? 1 : 0, findings, proven, promised, certificates, rehearsal,
			 value: input.value, info: manifest.square[1].slice(3) };
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
		/* without the deal, or with another one, the comparison says nothing more */
		if (!opens)
			return;
		if (comparison === 'differs')
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
		/* with any other statement, whoever makes it up could fill the place of a board that was left out */
		const withWord = dealt.filter((c) => c.attested && !c.later);
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

	/* Add the deals of a file of PBN. Its name is that of its session. */
	const addDeals = (manifest, deals, fileName, text) => {
		const session = fileName.split('.')[0];

		if (!sessionFind(manifest, session) || deals.has(session))
			throw new Defect('deals', 'no session has this name, or it was given already');
		deals.set(session, readPbn(text));
	};

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
				input.deals = new Map();
				for (const [session, boards] of Object.entries(vector.deals)) {
					if (!sessionFind(manifest, raw(session)) || Object.keys(boards).some((board) => board > BOARDS))
						throw new Defect('deals');
					input.deals.set(raw(session), new Map(Object.entries(boards).map(([board, deal]) =>
						[+board, readDeal(deal)])));
				}
				const files = Object.entries(vector.files || {}).map(([file, text]) => [raw(file), raw(text)]);
				const [description, keys] = ['.sqd', '.sqk'].map((end) => files.find(([file]) => file.endsWith(end)));

				for (const [file, text] of files)
					if (file.endsWith('.pbn'))
						addDeals(manifest, input.deals, file, text);
				if (description || keys)
					input.value = addSquareDeals(manifest, description?.[1], keys?.[1], input.deals,
								     input.files.flatMap((file) => file.certificates));
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
		 addDeals, addSquareDeals, readHead, readSpoken, examine, judge, refused, spokenHead, sessionFind, verifyVector };
})();
