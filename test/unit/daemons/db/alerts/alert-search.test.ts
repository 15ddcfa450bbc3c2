import { expect } from 'chai';
import fc from 'fast-check';
import type { AlertJson } from '../../../../../daemons/db/alerts/alert-fields.js';
import { AlertQuestion, type AlertScope } from '../../../../../daemons/db/alerts/alert-question.js';
import { matchingRows } from '../../../../../daemons/db/alerts/page-rows.js';
import { AlertKit, type OpenedKit, variedAlert } from '../../../../support/db/alert-kit.js';

const COUNT = 3000;

/** Clauses of `q` over fields that are kept apart and such that are not. */
const clause = fc.constantFrom(
  ...[
    'rule.id=5703',
    'rule.id!=5703',
    'rule.level>9',
    'rule.level<4',
    'rule.groups=auth',
    'rule.groups!=auth',
    'rule.groups~am',
  ],
  ...[
    'rule.mitre.id=T1110',
    'rule.mitre.id=null',
    'agent.name=WEB-2',
    'agent.name~eb-1',
    'data.srcip=10.0.1.4',
    'data.srcip~10.0.2',
  ],
  ...[
    'data.dstuser=alice',
    'data.dstuser=null',
    'data.n=3',
    'data.n>2',
    'data.n=03',
    'data.dstport=22',
    'full_log~session',
    'nothing=1',
  ],
  ...[
    'timestamp<2025-06-05 00:20:00',
    'timestamp>2025-06-05 00:40:00',
    'location=EventChannel',
    "agent.name=web'1",
    'data.n=null',
  ],
);
const q = fc
  .array(fc.tuple(clause, fc.constantFrom(';', ',')), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.map(([text, separator], index) => (index === 0 ? text : separator + text)).join(''));
const term = fc.constantFrom(
  ...[
    'failed',
    'PASSWORD',
    '"failed password"',
    'pass',
    'pass*',
    '-session',
    'łódź',
    'break',
    'nbreak',
    'kelvin',
    '10.0.0.5',
    '10.0.0',
    '0.0.5',
  ],
  ...[
    '203.0.113.9',
    '10.0.1.4',
    '"for bob from"',
    '"quoted"',
    'c:\\temp',
    'port',
    '-"port 17"',
    '1234',
    'auth.log',
    '-bob',
    'sess*',
    '5703',
    '22',
  ],
);
const scope: fc.Arbitrary<AlertScope> = fc.record(
  {
    from: fc.integer({ min: 0, max: COUNT }).map((second) => Date.UTC(2025, 5, 5, 0, 0, second)),
    to: fc.integer({ min: 0, max: COUNT }).map((second) => Date.UTC(2025, 5, 5, 0, 0, second)),
    q,
    filters: fc.constantFrom<Record<string, string[]>>(
      ...[
        { 'agent.id': ['001', '003'] },
        { 'data.srcip': ['10.0.2.5', '10.0.0.0'] },
        { 'data.dstport': ['22'] },
        { 'data.n': ['4'] },
      ],
    ),
    level: fc.integer({ min: 0, max: 16 }),
    search: fc.array(term, { minLength: 1, maxLength: 3 }).map((terms) => terms.join(' ')),
    agents: fc.constantFrom(['000', '002'], [], ['000', '001', '002', '003']),
    members: fc.constantFrom(Uint32Array.of(0, 3), Uint32Array.of(), Uint32Array.of(1, 2, 3, 1234)),
  },
  { requiredKeys: [] },
);

describe('Searching alerts', () => {
  const kit = new AlertKit();
  const alerts = Array.from({ length: COUNT }, (_none, index) => variedAlert(index));
  const texts = alerts.map((alert) => JSON.stringify(alert));
  let opened: OpenedKit;

  before(async () => {
    opened = kit.open();
    // One part is sealed, the other grows.
    kit.files().write(...alerts.slice(0, 2000));
    await opened.readAll();
    await opened.reader.seal();
    kit.files().write(...alerts.slice(2000));
    await opened.readAll();
  });

  after(() => {
    kit.remove();
  });

  it('finds what a look at each alert finds, in both orders and by pages', () => {
    fc.assert(
      fc.property(scope, fc.constantFrom('asc', 'desc'), fc.constantFrom(1000, 70, 2), (asked, order, limit) => {
        const question = new AlertQuestion(asked, 0);
        const expected = texts.filter((_text, index) =>
          question.matches(alerts[index] as AlertJson, Date.UTC(2025, 5, 5, 0, 0, index)),
        );
        const bounded = limit === 2 && expected.length > 200 ? 70 : limit;
        const found = opened.search(asked, { order, limit: bounded });
        expect(found).to.deep.equal(order === 'asc' ? expected : expected.toReversed());
      }),
      { numRuns: 300 },
    );
  });

  it('finds the same by the pages that have a value as by its column', () => {
    fc.assert(
      fc.property(scope, (asked) => {
        const question = new AlertQuestion(asked, 0);
        for (const segment of opened.reader.segments) {
          const [byColumn, byPages] = [0, Infinity].map((fewPages) => {
            const candidates = question.candidates(segment, () => false, fewPages);
            return segment.pages.flatMap((_page, index) => matchingRows(segment, index, candidates, question));
          });
          expect(byPages).to.deep.equal(byColumn);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('reads no column of a value that few pages have', () => {
    const question = new AlertQuestion({ filters: { 'data.srcip': ['10.0.1.4'] } }, 0);
    const [segment] = opened.reader.segments;
    if (segment === undefined) throw new Error('there is no segment');
    const exact = [0, 1000].map((fewPages) => question.candidates(segment, () => false, fewPages).isExact);
    expect(exact).to.deep.equal([true, false]);
  });

  it('takes words where they end, and phrases within a value', () => {
    const count = (search: string): number => opened.search({ search }).length;
    expect(count('failed'), 'a word').to.be.greaterThan(0);
    expect(count('faile'), 'the beginning of a word is none').to.equal(0);
    expect(count('faile*')).to.equal(count('failed'));
    expect(count('"password failed"')).to.equal(0);
    expect(count('nbreak'), 'an escape of JSON is no letter').to.equal(0);
    expect(count('break')).to.be.greaterThan(0);
    expect(count('failed') + count('-failed')).to.equal(COUNT);
    expect(count('fullog full_log'), 'names of members are not looked into').to.equal(0);
  });

  it('finds a value and a phrase of many words, though few of them are looked for', () => {
    const logs = alerts.map((alert) => String(alert['full_log']));
    const long = logs.find((log) => /^Failed password for bob from [\d.]+ port \d{4}$/.test(log));
    if (long === undefined) throw new Error('there is no such alert');
    const number = logs.filter((log) => log === long).length;
    expect(opened.search({ q: `full_log=${long}` })).to.have.length(number);
    expect(opened.search({ search: `"${long}"` })).to.have.length(number);
    expect(opened.search({ search: `"${long}0"` })).to.have.length(0);
  });

  it('refuses a search that is none', () => {
    expect(() => opened.search({ search: '"open' }))
      .to.throw()
      .with.property('code', 'bad_search');
    expect(() => opened.search({ q: 'rule.id' }))
      .to.throw()
      .with.property('code', 1407);
  });
});
