// Writes the type of the error codes, api/http/error-code.ts, from api/errors.yaml; with --check says whether it is current.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { JSON_SCHEMA, load } from 'js-yaml';
import { root } from './phases.mjs';

const CATALOGUE = 'api/errors.yaml';
const TYPE = 'api/http/error-code.ts';
const CODES_A_LINE = 15;

const codes = Object.keys(load(readFileSync(join(root, CATALOGUE), 'utf8'), { schema: JSON_SCHEMA }));
const lines = [];
for (let at = 0; at < codes.length; at += CODES_A_LINE) {
  lines.push(`  | ${codes.slice(at, at + CODES_A_LINE).join(' | ')}`);
}
const text = `/* Made from ${CATALOGUE} by npm run generate. */

/** The codes of the error catalogue (rest-api.md 3.6): no other compiles. */
// oxfmt-ignore
export type ErrorCode =
${lines.join('\n')};
`;

if (!process.argv.includes('--check')) {
  writeFileSync(join(root, TYPE), text);
} else if (readFileSync(join(root, TYPE), 'utf8') !== text) {
  console.error(`${TYPE} is not what ${CATALOGUE} says: run npm run generate`);
  process.exitCode = 1;
}
