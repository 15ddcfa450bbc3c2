import { membersOf } from '../../lib/logtest/logtest-request.js';
import type { TextStyle } from '../terminal/text-style.js';
import { pythonText } from './python-notation.js';

type AnswerMembers = ReadonlyMap<string, unknown>;

const NOTHING: AnswerMembers = new Map();

/**
 * The three phases of one answered event, as rules-and-alerts.md 9.8 lays them out.
 * @param data `data` of the reply
 * @returns lines, each ended; the first one is empty
 */
export function renderPhases(data: AnswerMembers, style: TextStyle): string {
  const output = membersOf(data.get('output')) ?? NOTHING;
  const lines: string[] = ['', style.heading('**Phase 1: Completed pre-decoding.')];
  const items = (members: AnswerMembers | undefined, first: readonly string[]): void => {
    for (const line of itemsOf(members, first)) lines.push(style.foreign(line));
  };
  if (output.has('full_log')) lines.push(style.foreign(item('full event', output.get('full_log'))));
  items(membersOf(output.get('predecoder')), ['timestamp', 'hostname', 'program_name']);

  lines.push('', style.heading('**Phase 2: Completed decoding.'));
  const decoder = membersOf(output.get('decoder'));
  if (decoder === undefined || decoder.size === 0) {
    lines.push(`\t${style.faint('No decoder matched.')}`);
  } else {
    items(decoder, ['name', 'parent']);
    items(membersOf(output.get('data')), []);
  }

  const trace = data.get('rules_debug');
  if (Array.isArray(trace)) {
    lines.push('', style.heading('**Rule debugging:'));
    for (const line of trace.map(String)) lines.push(style.foreign(`${line.startsWith('*') ? '\t\t' : '\t'}${line}`));
  }

  const rule = membersOf(output.get('rule'));
  if (rule !== undefined) {
    lines.push('', style.heading('**Phase 3: Completed filtering (rules).'));
    items(rule, ['id', 'level', 'description', 'groups', 'firedtimes']);
  }
  if (data.get('alert') === true) lines.push(style.good('**Alert to be generated.'));
  return `${lines.join('\n')}\n`;
}

/** Members: those of `first` in that order, then the rest sorted; objects are spread under dotted names. */
function* itemsOf(members: AnswerMembers | undefined, first: readonly string[], prefix = ''): Iterable<string> {
  if (members === undefined) return;
  for (const name of first) {
    if (members.has(name)) yield item(prefix + name, members.get(name));
  }
  const rest = [...members.keys()].filter((name) => !first.includes(name)).sort(byCodePoint);
  for (const name of rest) {
    const value = members.get(name);
    const nested = membersOf(value);
    if (nested === undefined) yield item(prefix + name, value);
    else yield* itemsOf(nested, [], `${prefix}${name}.`);
  }
}

function item(name: string, value: unknown): string {
  return `\t${name}: '${pythonText(value)}'`;
}

function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8'));
}
