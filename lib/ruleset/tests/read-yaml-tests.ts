import { CORE_SCHEMA, load, YAMLException } from 'js-yaml';
import * as z from 'zod';
import { QUEUE_IDS } from '../../events/queue-ids.js';
import { expandsBeyond } from './expands-beyond.js';
import {
  DEFAULT_TEST_TIME,
  type Exclusion,
  type Expectation,
  type RuleTest,
  RuleTestError,
  type TestEvent,
} from './rule-test.js';

/** Most events one test may have: a slip in `times` must not run for hours. */
const MAX_EVENTS = 100_000;
/** Most events of a file. */
const MAX_EVENTS_OF_FILE = 500_000;
/** What a file may come to once its aliases are followed. */
const MAX_EXPANDED = { values: 200_000, characters: 4 * 1024 * 1024 };
/** Longest name and the like of a test, and longest value that one expects, characters: answers repeat them. */
const MAX_NAME = 1000;
const MAX_VALUE = 10_000;

const ruleId = z.union([z.int().min(1), z.string().regex(/^\d{1,6}$/)]).transform(Number);
/** An id, or `none`. */
const expectedRule = z.union([ruleId, z.literal('none').transform(() => null)]);
const oneOrMore = z.union([ruleId.transform((id) => [id]), z.array(ruleId)]);
const textOf = (most: number) => z.union([z.string().max(most), z.number(), z.boolean()]).transform(String);
const name = textOf(MAX_NAME);
const value = textOf(MAX_VALUE);
const nameOrNone = z.union([z.null(), z.literal('none').transform(() => null), name]);
const seconds = z.number().min(0).max(1_000_000_000);
const queue = z.string().length(1);

const eventSchema = z.strictObject({
  log: z.string(),
  location: z.string().optional(),
  queue: queue.optional(),
  /** Seconds after the event before. */
  after: seconds.optional(),
  /** How often the log comes, `every` seconds. */
  times: z.int().min(1).max(MAX_EVENTS).optional(),
  every: seconds.optional(),
});

const testSchema = z.strictObject({
  name,
  log: z.string().optional(),
  logs: z
    .array(z.union([z.string(), eventSchema]))
    .min(1)
    .optional(),
  location: z.string().optional(),
  queue: queue.optional(),
  at: z.iso.datetime({ offset: true }).optional(),
  skip: z.string().min(1).max(MAX_NAME).optional(),
  expect: z
    .strictObject({
      rule: expectedRule.optional(),
      level: z.int().min(0).max(16).optional(),
      decoder: nameOrNone.optional(),
      parent: nameOrNone.optional(),
      alert: z.boolean().optional(),
      description: value.optional(),
      groups: z.array(name).optional(),
      through: z.array(ruleId).optional(),
      fields: z.record(z.string().max(MAX_NAME), z.union([z.null(), value])).optional(),
    })
    .optional(),
  expect_not: z.strictObject({ rule: oneOrMore.optional(), through: oneOrMore.optional() }).optional(),
});

type TestEntry = z.output<typeof testSchema>;

/**
 * Reads a test file in our YAML form: a list of entries `name`, `log` or `logs`, `expect`, `expect_not`.
 *
 * @param source the file's text
 * @param file name for errors
 * @throws RuleTestError with the line of the entry
 */
export function readYamlTests(source: string, file: string): RuleTest[] {
  let entries: unknown;
  try {
    entries = load(source, { filename: file, schema: CORE_SCHEMA });
  } catch (error) {
    if (!(error instanceof YAMLException)) {
      throw error;
    }
    throw new RuleTestError(file, (error.mark?.line ?? -1) + 1, error.reason);
  }
  if (entries === undefined || entries === null) {
    return [];
  }
  if (!Array.isArray(entries)) {
    throw new RuleTestError(file, 1, 'a test file is a list of entries with name, log and expect');
  }
  if (expandsBeyond(entries, MAX_EXPANDED)) {
    throw new RuleTestError(file, 0, 'too much of it once its aliases are followed');
  }
  const lines = entryLines(source, entries.length);
  let events = 0;
  return entries.map((entry: unknown, index) => {
    const line = lines[index] ?? 0;
    const test = readEntry(entry, file, line, index);
    events += test.events.length;
    if (events > MAX_EVENTS_OF_FILE) {
      throw new RuleTestError(file, line, `more than ${String(MAX_EVENTS_OF_FILE)} events in all`);
    }
    return test;
  });
}

function readEntry(given: unknown, file: string, line: number, index: number): RuleTest {
  const parsed = testSchema.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const place = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
    const which = line > 0 ? '' : `entry ${String(index + 1)}: `;
    throw new RuleTestError(file, line, `${which}${place}${issue?.message ?? 'not a test'}`);
  }
  const entry = parsed.data;
  if ((entry.log === undefined) === (entry.logs === undefined)) {
    throw new RuleTestError(file, line, 'a test has either log or logs');
  }
  const expect = readExpectation(entry.expect);
  const expectNot: Exclusion = { rules: entry.expect_not?.rule ?? [], through: entry.expect_not?.through ?? [] };
  if (Object.keys(expect).length === 0 && expectNot.rules.length + expectNot.through.length === 0) {
    throw new RuleTestError(file, line, 'a test without expect and expect_not shows nothing');
  }
  const events = readEvents(entry);
  if (events === undefined) {
    throw new RuleTestError(file, line, `more than ${String(MAX_EVENTS)} events`);
  }
  return {
    name: entry.name,
    file,
    line,
    at: entry.at === undefined ? DEFAULT_TEST_TIME : Math.floor(Date.parse(entry.at) / 1000),
    events,
    expect,
    expectNot,
    ...(entry.skip === undefined ? {} : { skip: entry.skip }),
  };
}

function readExpectation(expect: TestEntry['expect']): Expectation {
  if (expect === undefined) {
    return {};
  }
  const { rule, level, decoder, parent, alert, description, groups, through, fields } = expect;
  return {
    ...(rule === undefined ? {} : { rule }),
    ...(level === undefined ? {} : { level }),
    ...(decoder === undefined ? {} : { decoder }),
    ...(parent === undefined ? {} : { parent }),
    ...(alert === undefined ? {} : { alert }),
    ...(description === undefined ? {} : { description }),
    ...(groups === undefined ? {} : { groups }),
    ...(through === undefined ? {} : { through }),
    ...(fields === undefined ? {} : { fields: new Map(Object.entries(fields)) }),
  };
}

/** @returns undefined when there are more than a test may have */
function readEvents(entry: TestEntry): TestEvent[] | undefined {
  const location = entry.location ?? '/var/log/test.log';
  const queueOfTest = entry.queue ?? QUEUE_IDS.log;
  const logs = entry.logs ?? [entry.log ?? ''];
  const events: TestEvent[] = [];
  for (const each of logs) {
    const times = typeof each === 'string' ? 1 : (each.times ?? 1);
    // Looked at before they are there: a file may ask for billions.
    if (events.length + times > MAX_EVENTS) return undefined;
    if (typeof each === 'string') {
      events.push({ log: each, location, queue: queueOfTest, after: 0 });
      continue;
    }
    const { log, after = 0, every = 0 } = each;
    const event = { log, location: each.location ?? location, queue: each.queue ?? queueOfTest };
    events.push({ ...event, after });
    const again = { ...event, after: every };
    for (let count = 1; count < times; count += 1) events.push(again);
  }
  return events;
}

/** Line of each entry, when the list stands at the left edge, as it usually does; else nothing. */
function entryLines(source: string, count: number): number[] {
  const lines = source.split('\n').flatMap((line, index) => (/^-(?:\s|$)/.test(line) ? [index + 1] : []));
  return lines.length === count ? lines : [];
}
