import { membersOf } from '../../lib/logtest/logtest-request.js';
import { pythonNotation } from './python-notation.js';

/** Rule id, level and decoder name as texts; empty for what is absent. */
export type UnitTriple = readonly [rule: string, level: string, decoder: string];

/** Reads the argument of `-U`, `rule:level:decoder`; undefined when it is none. */
export function parseUnitTest(text: string): UnitTriple | undefined {
  const [rule, level, decoder, ...more] = text.split(':');
  if (rule === undefined || level === undefined || decoder === undefined || more.length > 0) return undefined;
  return [rule, level, decoder];
}

/** What became of an event, from `data` of its reply. */
export function resultTriple(data: ReadonlyMap<string, unknown>): UnitTriple {
  const output = membersOf(data.get('output'));
  const rule = membersOf(output?.get('rule'));
  const decoder = membersOf(output?.get('decoder'));
  return [textOf(rule?.get('id')), textOf(rule?.get('level')), textOf(decoder?.get('name'))];
}

/** Whether two triples are the same. */
export function sameTriple(a: UnitTriple, b: UnitTriple): boolean {
  return a.every((text, i) => text === b[i]);
}

/** The verdict line of an event (rules-and-alerts.md 9.8). */
export function verdict(expected: UnitTriple, result: UnitTriple): string {
  return sameTriple(expected, result)
    ? 'Unit test OK'
    : `Unit test FAIL. Expected ${pythonNotation(expected)} , Result ${pythonNotation(result)}`;
}

/** Exit status at the end of the input: empty parts of the expectation when the last event met it, else 1 (9.8). */
export function unitTestStatus(expected: UnitTriple, last: UnitTriple | undefined): number {
  if (last === undefined || !sameTriple(expected, last)) return 1;
  return expected.filter((text) => text === '').length;
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
