import type { JournaldFilter } from '../../lib/config/sections/localfile.js';
import { isObject } from '../../lib/json/is-object.js';
import { compilePattern } from '../../lib/patterns/compile-pattern.js';
import { MatchContext, type Matcher } from '../../lib/patterns/matcher.js';
import { strftime } from './strftime.js';

/** Longest message sent; the rest of a longer one is cut off. */
const MAX_MESSAGE_BYTES = 65_279;
const STEPS = 500_000;

/** An entry of the journal as `journalctl -o json` writes it. */
export type JournalEntry = ReadonlyMap<string, string>;

/**
 * Reads a line of `journalctl -o json`. Values that are no text come as arrays of bytes; fields that occur several times
 * as arrays, of which the first counts.
 *
 * @returns undefined for a line that is no entry
 */
export function parseJournalEntry(line: string): JournalEntry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isObject(value)) {
    return undefined;
  }
  const entry = new Map<string, string>();
  for (const [name, field] of Object.entries(value)) {
    const text = fieldText(field);
    if (text !== undefined) {
      entry.set(name, text);
    }
  }
  return entry.has('__CURSOR') ? entry : undefined;
}

function fieldText(field: unknown): string | undefined {
  if (typeof field === 'string') {
    return field;
  }
  if (!Array.isArray(field)) {
    return undefined;
  }
  return field.every((byte) => typeof byte === 'number')
    ? Buffer.from(field as number[]).toString('utf8')
    : fieldText(field[0]);
}

/** Microseconds since the epoch at which the journal took an entry. */
export function entryTime(entry: JournalEntry): string {
  return entry.get('__REALTIME_TIMESTAMP') ?? '0';
}

/** `Mon DD HH:MM:SS <host> <ident>[<pid>]: <message>` (daemons-and-config.md 6.2); undefined without a message. */
export function formatJournalEntry(entry: JournalEntry): Buffer | undefined {
  const message = entry.get('MESSAGE');
  if (message === undefined || message === '') {
    return undefined;
  }
  const date = new Date(Number(entry.get('_SOURCE_REALTIME_TIMESTAMP') ?? entryTime(entry)) / 1000);
  const ident = entry.get('SYSLOG_IDENTIFIER') ?? entry.get('_COMM') ?? 'unknown';
  const pid = entry.get('SYSLOG_PID') ?? entry.get('_PID');
  const process = pid === undefined || ident === 'kernel' ? ident : `${ident}[${pid}]`;
  const head = `${strftime('%b %e %T', date)} ${entry.get('_HOSTNAME') ?? 'localhost'} ${process}: `;
  return Buffer.from(head + message).subarray(0, MAX_MESSAGE_BYTES);
}

type JournalCondition = { readonly field: string; readonly ignoreIfMissing: boolean; readonly matcher: Matcher };

/** Filters of all journald blocks: the conditions of one block are AND-ed, blocks are OR-ed, none means everything. */
export class JournalFilter {
  readonly #blocks: readonly (readonly JournalCondition[])[];
  readonly #context = new MatchContext();

  /** @throws PatternError for a pattern that does not compile */
  constructor(blocks: readonly (readonly JournaldFilter[])[]) {
    const compiled = blocks.map((filters) =>
      filters.map(({ field, ignoreIfMissing, pattern }) => ({
        field,
        ignoreIfMissing,
        matcher: compilePattern('pcre2', Buffer.from(pattern, 'utf8').toString('latin1')),
      })),
    );
    this.#blocks = compiled.some((conditions) => conditions.length === 0) ? [] : compiled;
  }

  accepts(entry: JournalEntry): boolean {
    return (
      this.#blocks.length === 0 ||
      this.#blocks.some((conditions) => conditions.every((condition) => this.#holds(condition, entry)))
    );
  }

  #holds({ field, ignoreIfMissing, matcher }: JournalCondition, entry: JournalEntry): boolean {
    const value = entry.get(field);
    if (value === undefined) {
      return ignoreIfMissing;
    }
    this.#context.stepsLeft = STEPS;
    return matcher.test(Buffer.from(value, 'utf8').toString('latin1'), this.#context);
  }
}
