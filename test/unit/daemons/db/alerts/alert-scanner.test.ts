import { expect } from 'chai';
import fc from 'fast-check';
import { ReadContent } from '../../../../../daemons/db/alerts/alert-content.js';
import { FAMILIES } from '../../../../../daemons/db/alerts/alert-fields.js';
import { AlertScanner } from '../../../../../daemons/db/alerts/alert-scanner.js';
import { OpenSegment } from '../../../../../daemons/db/alerts/open-segment.js';
import type { AlertField } from '../../../../../lib/bus/contracts/db-alerts.js';
import { AlertView } from '../../../../../lib/output/alert-view.js';
import { variedAlert } from '../../../../support/db/alert-kit.js';

const scanner = new AlertScanner();

const words = (content: { visitWords: (visit: (hash: number) => void) => void }): number[] => {
  const found = new Set<number>();
  content.visitWords((hash) => void found.add(hash));
  return [...found].sort((a, b) => a - b);
};

/** Whether the scanner takes a line; what it says of it must be what JSON says. */
function isTaken(line: string): boolean {
  if (!scanner.scan(line)) return false;
  const read = readOf(line);
  expect(scanner.time, line).to.deep.equal(read.time);
  expect(words(scanner), line).to.deep.equal(words(read));
  for (const family of FAMILIES.keys()) expect(scanner.values(family), line).to.deep.equal(read.values(family));
  return true;
}

const SRCIP = FAMILIES.findIndex((fields) => fields.includes('data.srcip'));

function readOf(line: string): ReadContent {
  const view = AlertView.parse(line);
  if (view === undefined) throw new Error(`it is no alert: ${line}`);
  return new ReadContent(view);
}

/** A segment with lines that were read as the store reads them. */
function segmentOf(lines: readonly string[]): OpenSegment {
  const file = 20_250_605_000;
  const segment = new OpenSegment({ file, offset: 0 });
  let offset = 0;
  for (const line of lines) {
    segment.add(scanner.scan(line) ? scanner : readOf(line), line, { file, offset });
    offset += line.length + 1;
  }
  return segment;
}

/** What a segment keeps of lines for the family of a field. */
function tuplesOf(lines: readonly string[], field: AlertField) {
  return segmentOf(lines).family(FAMILIES.findIndex((fields) => fields.includes(field))).tuples;
}

/** Names that mean something, and others. */
const name = fc.constantFrom(
  ...['rule', 'id', 'level', 'groups', 'agent', 'name', 'data', 'win', 'system', 'eventID', 'srcip', 'location'],
  ...['timestamp', 'mitre', 'tactic', 'rule.id', 'a"b', 'Łódź', '__proto__', ''],
);
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.constantFrom(
    '10.0.0.1',
    'ROOT login',
    '1.2.3',
    'C:\\Temp\\"x"',
    'Σίσυφος',
    '\u212a',
    'İstanbul',
    'two\nlines',
    '007.1.2.3.4',
  ),
  fc.constantFrom('2025-06-05T10:00:00.123+0000', '2025-13-05T10:00:00.123+0200', '2025-06-05T10:00:00.5-0330'),
);
const { alert } = fc.letrec<{ value: unknown; alert: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(true, false, null),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('alert'),
  ),
  alert: fc.dictionary(name, tie('value'), { maxKeys: 6 }),
}));

describe('Scanning lines of alerts.json', () => {
  it('takes those that svc-analysisd writes, and says of them what JSON says', () => {
    for (let seed = 0; seed < 300; seed += 1) expect(isTaken(JSON.stringify(variedAlert(seed)))).to.equal(true);
    expect(isTaken('{"rule":{}}')).to.equal(true);
    expect(isTaken('{"timestamp":"2025-06-05T10:00:00.123+0200","rule":{"id":"7","groups":["a","B c"]}}')).to.equal(
      true,
    );
  });

  it('says of any other that it takes what JSON says', () => {
    fc.assert(
      fc.property(alert, alert, (members, rule) => {
        isTaken(JSON.stringify({ ...(members as object), rule }));
      }),
      { numRuns: 1000 },
    );
  });

  it('takes none that is no alert', () => {
    const whole = JSON.stringify(variedAlert(3));
    fc.assert(
      fc.property(
        fc.nat(whole.length - 1),
        fc.constantFrom('', '"', '\\', '{', '}', ',', ':', '0', ' ', '\u0001'),
        (at, put) => {
          isTaken(whole.slice(0, at) + put + whole.slice(at + 1));
        },
      ),
      { numRuns: 2000 },
    );
    const lines = [
      ...[
        '',
        '{}',
        '[]',
        '{"rule":1}',
        '{"rule":[]}',
        '{"no":{"rule":{}}}',
        '{"rule":{}}x',
        '{"rule":{},}',
        '{"rule":{"id":01}}',
      ],
      ...[
        '{"rule":{"id":tru}}',
        '{"rule":{"id":}}',
        '{"rule":{"id":"a\u0009b"}}',
        '{"rule":{"id":"\\x"}}',
        '{"rule":{"id":"a}}',
      ],
    ];
    for (const line of lines) expect(isTaken(line), line).to.equal(false);
  });

  it('leaves to JSON what is there twice, or nests deeply', () => {
    expect(scanner.scan('{"rule":{"id":"1"},"rule":{"id":"2"}}')).to.equal(false);
    expect(scanner.scan('{"rule":{"id":"1","id":"2"}}')).to.equal(false);
    expect(scanner.scan(`{"rule":{},"data":${'['.repeat(50)}1${']'.repeat(50)}}`)).to.equal(false);
  });

  it('leaves to JSON a time with an escape', () => {
    expect(isTaken('{"rule":{},"timestamp":"2025-06-05T10:00:00.123+0000"}')).to.equal(true);
    expect(isTaken('{"rule":{},"timestamp":"2025-06-05T10:00:00.123\\u002b0000"}')).to.equal(false);
  });

  it('has one tuple for all alerts with objects where a value is kept', () => {
    const objects = [1, 2, 3].map((n) => `{"rule":{"id":{"n":${n}}},"data":{"srcip":{"n":${n},"of":[${n}]}}}`);
    for (const line of objects) expect(isTaken(line)).to.equal(true);
    expect(tuplesOf(objects, 'data.srcip')).to.deep.equal([[null]]);
    expect(tuplesOf(objects, 'rule.id')).to.have.length(1);
    const within = [1, 2, 3].flatMap((n) => [`[{"n":${n}}]`, `[[${n}]]`]);
    const lists = within.map((value) => `{"rule":{},"data":{"srcip":${value}}}`);
    expect(tuplesOf(lists, 'data.srcip')).to.deep.equal([[null]]);
  });

  it('never takes a value for one that JSON read', () => {
    // A name with a dot is left to JSON.
    const byJson = (value: string) => `{"rule":{},"a.b":1,"data":{"srcip":${value}}}`;
    const scanned = (value: string) => `{"rule":{},"data":{"srcip":${value}}}`;
    expect([isTaken(byJson('"a"')), isTaken(scanned('["a"]'))]).to.deep.equal([false, true]);
    for (const [one, other] of [
      [byJson('"a"'), scanned('["a"]')],
      [byJson('["a","b"]'), scanned('[["a","b"]]')],
    ] as const) {
      const read = [one, other].map((line) => readOf(line).values(SRCIP)[0]);
      for (const lines of [
        [one, other],
        [other, one],
      ]) {
        const { tuples, codes } = segmentOf(lines).family(SRCIP);
        const found = lines.map((_line, row) => tuples[codes[row] ?? 0]?.[0]);
        expect(found, lines.join(' ')).to.deep.equal(lines[0] === one ? read : read.toReversed());
      }
    }
  });
});
