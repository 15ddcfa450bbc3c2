import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import { expect } from 'chai';
import { jsonNumber } from '../../../../lib/engine/json-text.js';
import { readLocation } from '../../../../lib/engine/predecode/read-location.js';
import { CdbList } from '../../../../lib/engine/rules/cdb-list.js';
import { group, loadTestRuleset, TestEngine, testEngine } from '../../../support/engine/engine-kit.js';
import { RecordingDiagnostics } from '../../../support/recording-diagnostics.js';

/** A message of which work by the square of its length would take minutes, and fail by the time limit of each test. */
const LARGE = 1 << 22;
/** Bytes of the longest log that sources send. */
const LONGEST = 65_536;

const RULES = group(
  `<rule id="100" level="3"><if_sid>1</if_sid><description>one</description></rule>
   <rule id="101" level="3"><if_sid>7</if_sid><description>two</description></rule>`,
);

describe('hostile events', () => {
  const engine = (): TestEngine => testEngine(RULES);

  /** Processes a message of a queue and writes its alert; gives the fields and the JSON. */
  const take = (test: TestEngine, message: string, queue = '1'): { fields: Map<string, string>; json: string } => {
    const incoming = { ...readLocation('[004] (web-02) any->x'), queue, message, receivedAt: 1_741_083_330_000 };
    const { event, alert } = test.engine.process(incoming);
    expect(test.engine.failures).to.equal(0);
    const fields = new Map(event.fieldNames.map((name, i) => [name, event.fieldValues[i] ?? '']));
    return { fields, json: test.engine.alertJson(alert, { id: '1.1' }) };
  };

  it('of opening brackets behind the date of an Apple log are looked through once', () => {
    take(engine(), `[Time 2023.12.01 10:10:10 UTC] ${'['.repeat(LARGE)}`);
  });

  it('of quotes that rootcheck does not close are looked through once', () => {
    const { fields } = take(engine(), "File '".repeat(LARGE / 6), '9');
    expect(fields.get('title')).to.have.lengthOf(6 * Math.floor(LARGE / 6));
    expect(take(engine(), "File '/x' is odd", '9').fields.get('title')).to.equal('File is odd');
    expect(take(engine(), "A file '' file '/y' is odd", '9').fields.get('title')).to.equal("A file file '/y' is odd");
  });

  it('of dots as an address are looked up by as many prefixes as a list has lengths of networks', () => {
    let asked = 0;
    class Counted extends Map<string, string> {
      override get(key: string): string | undefined {
        asked += 1;
        return super.get(key);
      }
    }
    const entries: [string, string][] = [
      ['10.', 'ten'],
      ['10.0.', 'more'],
      ['host', '1'],
    ];
    const list = new CdbList('x', new Counted(entries));
    expect(list.findAddress('.'.repeat(LONGEST))).to.equal(undefined);
    expect(asked).to.equal(3);
    expect(list.findAddress(`10.0.${'.'.repeat(LONGEST)}`)).to.equal('more');
    expect(list.findAddress('10.1.2.3')).to.equal('ten');
  });

  it('whose name in JSON is dots open some objects, not one for each', () => {
    const { json } = take(engine(), `{ "${'.'.repeat(LONGEST - 20)}":"1"}`);
    expect(json.split('{').length).to.be.within(60, 80);
    const path = Array.from({ length: 100 }, (_, i) => String(i)).join('.');
    let data = (JSON.parse(take(engine(), `{ "${path}":"deep"}`).json) as { data: Record<string, unknown> }).data;
    for (let level = 0; level < 64; level += 1) data = data[String(level)] as Record<string, unknown>;
    expect(data).to.deep.equal({ [path.slice(path.indexOf('64'))]: 'deep' });
  });

  it('that nest long names fill fields up to a bound', () => {
    const wide = Array.from({ length: 3000 }, (_, i) => `"b${String(i)}":1`).join(',');
    const test = engine();
    const { fields, json } = take(test, `{ "${'a'.repeat(30_000)}":{${wide}},"id":"7","c":1}`);
    expect([...fields].reduce((sum, [name, value]) => sum + name.length + value.length, 0)).to.be.within(
      100_000,
      131_072,
    );
    expect(json.length).to.be.below(400_000);
    // Members of the event behind it are read, and a field that still has room.
    expect(json).to.contain('"id":"7"');
    expect(fields.get('c')).to.equal('1');
    expect(test.diagnostics.lines).to.deep.equal(['error Too many fields for JSON decoder.']);
  });

  it('of objects that nest deeply in an array are no field when they would be printed as megabytes', () => {
    const inner = Array.from({ length: 6000 }, () => '"a":1').join(',');
    const message = `{ "deep":[${'{"a":'.repeat(900)}{${inner}}${'}'.repeat(900)}],"flat":["x"]}`;
    const { fields } = take(engine(), message);
    expect([...fields]).to.deep.equal([['flat', '["x"]']]);
  });

  it('with thousands of standards in a policy check keep some', () => {
    const compliance = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${String(i)}`, '1']));
    const check = { id: 1, title: 't', result: 'failed', compliance, file: ','.repeat(20_000) };
    const { fields, json } = take(
      engine(),
      JSON.stringify({ type: 'check', id: 1, policy: 'p', policy_id: 'p', check }),
      'p',
    );
    expect([...fields.keys()].filter((name) => name.startsWith('sca.check.compliance.'))).to.have.lengthOf(100);
    expect(JSON.parse(fields.get('sca.check.file') ?? '')).to.have.lengthOf(1000);
    expect(json).to.contain('"k99":["1"]');
  });

  it('use up their steps with patterns that take little each, and then no rule is tried', () => {
    const costly = Array.from({ length: 400 }, (_, i) => {
      const id = String(1000 + i);
      return `<rule id="${id}" level="3"><if_sid>1</if_sid><regex type="pcre2">a[a-y]z${id}|[ab]c[xy]${id}</regex><description>x</description></rule>`;
    });
    const last =
      '<rule id="2000" level="3"><if_sid>1</if_sid><match negate="yes">nowhere</match><description>x</description></rule>';
    const test = testEngine(group([...costly, last].join('')));
    expect(test.send('acx 1000 acz').rule?.rule.id).to.equal(2000);
    const long = Array.from(
      { length: 13_000 },
      (_, i) => `ac${'xyz'.charAt(i % 3)}${String(1000 + (i % 400)).slice(1)}`,
    );
    expect(test.send(long.join('')).rule).to.equal(undefined);
    // Those that took all a match may take, and the one that took the last.
    const { exhausted } = test.engine.state;
    expect([...exhausted.keys()].join()).to.match(/^rule 1\d\d\d(,rule 1\d\d\d)*$/);
    expect([...exhausted.values()].reduce((sum, times) => sum + times, 0)).to.be.within(1, 5);
  });

  it('use up their steps of decoding with captures that overlap, and with objects that are read again', () => {
    const decoder = (name: string, rest: string): string => `<decoder name="${name}">${rest}</decoder>`;
    const many = (rest: string): string =>
      Array.from({ length: 20 }, () => decoder('kid', `<parent>d</parent>${rest}`)).join('');
    const root = decoder('d', '<prematch>^d </prematch>');
    const captures = testEngine(RULES, { decoders: root + many('<regex>^d (\\.+)</regex><order>text</order>') });
    const { event } = captures.send(`d ${'x'.repeat(LONGEST - 2)}`);
    expect(event.fieldValues).to.have.lengthOf(4);
    expect([...captures.engine.state.exhausted]).to.deep.equal([['decoder kid', 1]]);

    const plugin = '<plugin_decoder offset="after_parent">JSON_Decoder</plugin_decoder>';
    const json = testEngine(RULES, { decoders: root + many(plugin) });
    json.send(`d {"a":[${'1.5,'.repeat(12_000)}1]}`);
    expect([...json.engine.state.exhausted]).to.deep.equal([['decoder kid', 1]]);
    json.send('d {"a":1}');
    expect(json.engine.state.exhausted.get('decoder kid')).to.equal(1);
  });

  it('take the same steps in an engine that is new and in one that has remembered much', () => {
    const rules = Array.from({ length: 8 }, (_, i) => {
      const id = String(1000 + i);
      return `<rule id="${id}" level="3"><if_sid>1</if_sid><id type="pcre2">^(?:\\w+-)+${String(i)}$</id><status type="pcre2">(x+x+)+${String(i)}</status><description>x</description></rule>`;
    });
    const ruleset = loadTestRuleset(group(rules.join('')));
    const counts = (before: readonly string[]): [string, number][] => {
      const test = new TestEngine(ruleset, { budget: { event: 9000, match: 3000 } });
      for (const id of before) test.app({ id, status: `0123456789 ${'x'.repeat(30)}` });
      const known = new Map(test.engine.state.exhausted);
      for (const id of ['a-b-5', 'a-b-7']) test.app({ id, status: `0123456789 ${'x'.repeat(300)}` });
      return [...test.engine.state.exhausted].map(([owner, times]) => [owner, times - (known.get(owner) ?? 0)]);
    };
    const fresh = counts([]);
    expect(fresh).to.not.deep.equal([]);
    expect(counts(['a-b-5', 'a-b-7', 'c-3', 'd-4']).filter(([, times]) => times > 0)).to.deep.equal(fresh);
  });

  it('use up their steps with searches for earlier events that they skip', () => {
    const rules = `<rule id="100" level="3"><if_sid>1</if_sid><match>app</match><description>one</description></rule>
      <rule id="101" level="5" frequency="5" timeframe="999"><if_matched_sid>100</if_matched_sid><different_url /><description>many</description></rule>`;
    const test = testEngine(group(rules), { budget: { event: 900, match: 900 } });
    for (let i = 0; i < 500; i += 1) expect(test.app({ url: '/same' }, 'app')).to.equal(100);
    expect(test.engine.state.cutSearches).to.be.above(0);
    expect([...test.engine.state.exhausted.keys()]).to.deep.equal(['rule 101']);
  });

  it('behind a silence forget what came before it a part at a time', () => {
    const rules = `<rule id="100" level="3"><if_sid>1</if_sid><match>app</match><description>one</description></rule>
      <rule id="101" level="5" frequency="5" timeframe="60"><if_matched_sid>100</if_matched_sid><different_url /><description>many</description></rule>`;
    const test = testEngine(group(rules));
    for (let i = 0; i < 3000; i += 1) test.app({ url: '/same' }, 'app');
    const correlation = test.engine.state.correlation.of('004');
    expect(correlation.count).to.be.at.least(3000);
    test.now += 600;
    test.app({ url: '/same' }, 'app');
    expect(correlation.count).to.be.within(1900, 2500);
    for (let i = 0; i < 5; i += 1) test.app({ url: '/same' }, 'app');
    expect(correlation.count).to.be.at.most(6);
  });

  it('with values of 64 KB are counted as the same where they are', () => {
    const rules = `<rule id="100" level="3"><if_sid>1</if_sid><match>app</match><description>one</description></rule>
      <rule id="101" level="5" frequency="2" timeframe="60"><if_matched_sid>100</if_matched_sid><same_url /><description>many</description></rule>`;
    const test = testEngine(group(rules));
    const long = 'x'.repeat(60_000);
    expect(['a', 'b', 'a'].map((end) => test.app({ url: long + end }, 'app'))).to.deep.equal([100, 100, 101]);
  });

  it('with values of 64 KB are hashed once, however many rules count them', () => {
    const counting = Array.from(
      { length: 100 },
      (_, i) =>
        `<rule id="${String(1000 + i)}" level="5" frequency="9" timeframe="60"><if_matched_group>x</if_matched_group><same_url /><description>many</description></rule>`,
    );
    const one =
      '<rule id="100" level="3"><if_sid>1</if_sid><match>app</match><description>one</description><group>x,</group></rule>';
    const test = testEngine(group([one, ...counting].join('')));
    const hash = mock.method(crypto, 'createHash');
    syncBuiltinESMExports();
    try {
      for (let i = 0; i < 6; i += 1) test.app({ url: String(i) + 'x'.repeat(60_000) }, 'app');
      expect(hash.mock.callCount()).to.be.within(6, 12);
    } finally {
      hash.mock.restore();
      syncBuiltinESMExports();
    }
  });

  it('are not tried at a million places: a tree of rules that doubles with each of them is refused, naming the rule', () => {
    const doubling = Array.from({ length: 40 }, (_, i) => {
      const parent = i === 0 ? '<if_sid>1</if_sid>' : '<if_group>g</if_group>';
      return `<rule id="${String(100 + i)}" level="3">${parent}<description>x</description><group>g,</group></rule>`;
    });
    expect(() => loadTestRuleset(group(doubling.join('\n')))).to.throw(
      /^The tree of rules has more than 100000 places with rule '1\d\d'\. \(rules\/test\.xml:\d+, rule 1\d\d\)$/,
    );
  });

  it('are not remembered for thousands of rules: a thousand count one at most, and a warning names it', () => {
    const counting = (count: number): string =>
      Array.from(
        { length: count },
        (_, i) =>
          `<rule id="${String(1000 + i)}" level="5" frequency="9" timeframe="60"><if_matched_group>x</if_matched_group><description>many</description></rule>`,
      ).join('');
    const one =
      '<rule id="100" level="3"><if_sid>1</if_sid><match>app</match><description>one</description><group>x,</group></rule>';
    const test = testEngine(group(one + counting(1000)));
    for (let i = 0; i < 40; i += 1) test.app({}, 'app');
    test.now += 600;
    test.app({}, 'app');
    const { correlation } = test.engine.state;
    expect(correlation.of('004').count).to.be.below(40);
    correlation.of('004').forgetAgent('004');
    expect(correlation.of('004').bytes).to.equal(0);
    const remembered = (count: number): [number | undefined, string[]] => {
      const diagnostics = new RecordingDiagnostics();
      const { rules } = loadTestRuleset(group(one + counting(count)), { diagnostics });
      return [rules.byId.get(100)?.remembersIn.length, diagnostics.lines.filter((line) => !line.startsWith('info '))];
    };
    expect(remembered(1000)).to.deep.equal([1000, []]);
    const [places, lines] = remembered(1001);
    expect(places).to.equal(1000);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(
      /^warn Rules that count the groups of rule '100' would .* 1001 times .* @rules\/test\.xml:\d+$/,
    );
  });

  it('count no more often for being in thousands of places of the tree than a search can count', () => {
    const parents = Array.from(
      { length: 1500 },
      (_, i) =>
        `<rule id="${String(1000 + i)}" level="0"><if_sid>1</if_sid><match>p${String(i)}q</match><description>p</description><group>g,</group></rule>`,
    ).join('');
    const counting = (frequency: number, id: number): string =>
      `<rule id="${String(id)}" level="${String(id - 190)}" frequency="${String(frequency)}"><if_matched_group>auth</if_matched_group><description>many</description></rule>`;
    const child =
      '<rule id="100" level="5"><if_group>g</if_group><match>denied</match><group>auth,</group><description>a</description></rule>';
    const diagnostics = new RecordingDiagnostics();
    const ruleset = loadTestRuleset(group(parents + child + counting(8, 200)), { diagnostics });
    expect(ruleset.rules.byId.get(100)?.remembersIn).to.have.length(7);
    expect(diagnostics.lines.filter((line) => line.startsWith('warn '))).to.deep.equal([]);
    const test = new TestEngine(ruleset);
    expect([1, 2, 3].map(() => test.app({}, 'p7q denied'))).to.deep.equal([100, 200, 100]);
    // too many of them: each of the rules still counts it
    const frequencies = [500, 600, 700];
    const crowded = loadTestRuleset(
      group(parents + child + frequencies.map((each, i) => counting(each, 200 + i)).join('')),
    );
    const places = crowded.rules.byId.get(100)?.remembersIn ?? [];
    expect([...new Set(places)].map((list) => places.filter((each) => each === list).length)).to.deep.equal([
      333, 333, 333,
    ]);
  });

  it('with many fields find them by name, whatever the case, the first of equal ones', () => {
    const rules = group('<rule id="100" level="3"><if_sid>1</if_sid><description>$(LAST) $(n7)</description></rule>');
    const members = Array.from({ length: 200 }, (_, i) => `"n${String(i)}":"v${String(i)}"`);
    const outcome = testEngine(rules).send(`{ ${members.join(',')},"N7":"other","Last":"end"}`);
    expect(outcome.alert.description).to.equal('end v7');
  });
});

describe('jsonNumber', () => {
  it('writes few digits as it writes many', () => {
    const rows: readonly [number, string][] = [
      [-0, '0'],
      [1.5, '1.5'],
      [-2.25, '-2.25'],
      [1e14, '100000000000000'],
      [999999999999999, '999999999999999'],
      [1e15, '1e+15'],
      [1.5e20, '1.5e+20'],
      [-1e99, '-1e+99'],
      [0.0001, '0.0001'],
      [0.000099, '9.9e-05'],
      [1e-7, '1e-07'],
      [1e-100, '1e-100'],
      [5e-324, '4.94065645841247e-324'],
      [0.1 + 0.2, '0.30000000000000004'],
      [4294967295, '4294967295'],
    ];
    for (const [value, text] of rows) expect(jsonNumber(value), String(value)).to.equal(text);
  });
});
