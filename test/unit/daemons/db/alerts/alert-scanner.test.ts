import { expect } from 'chai';
import fc from 'fast-check';
import { ReadContent } from '../../../../../daemons/db/alerts/alert-content.js';
import { FAMILIES } from '../../../../../daemons/db/alerts/alert-fields.js';
import { AlertScanner } from '../../../../../daemons/db/alerts/alert-scanner.js';
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
  const view = AlertView.parse(line);
  if (view === undefined) throw new Error(`it is no alert: ${line}`);
  const read = new ReadContent(view);
  expect(scanner.time, line).to.deep.equal(read.time);
  expect(words(scanner), line).to.deep.equal(words(read));
  for (const family of FAMILIES.keys()) expect(scanner.values(family), line).to.deep.equal(read.values(family));
  return true;
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
});
