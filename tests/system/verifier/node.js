// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The page's verification without a page, for tests: reads one test vector a line, as JSON, and
 * writes one line each: [status, findings, proven].
 *
 * usage: node node.js SODIUM     SODIUM: folder of the npm packages of tools/verifier
 */
'use strict';

const fs = require('fs');
const path = require('path');
const readline = require('readline');

const source = (name) => fs.readFileSync(name, 'utf8');
const own = path.join(__dirname, '../../../tools/verifier');
const script = ['libsodium-sumo.js', 'libsodium-wrappers.js'].map((name) => source(path.join(process.argv[2], name)))
	.concat(source(path.join(own, 'verify.js')), 'return [sodium, DealboxVerify];').join('\n');
/* the packages and the page are classic scripts; libsodium looks for node's randomness by itself */
const [sodium, verify] = new Function('require', '__dirname', script)(require, __dirname);

sodium.ready.then(() => {
	readline.createInterface({ input: process.stdin }).on('line', (line) => {
		const result = verify.verifyVector(JSON.parse(line));

		console.log(JSON.stringify([result.status, [...new Set(result.findings.map((f) => f.word))].sort(),
			result.proven]));
	});
});
