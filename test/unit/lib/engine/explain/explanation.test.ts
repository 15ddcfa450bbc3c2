import { expect } from 'chai';
import fc from 'fast-check';
import { type Diagnostics, EngineEvent } from '../../../../../lib/engine/event.js';
import { failureText } from '../../../../../lib/engine/explain/describe-condition.js';
import { explainWhy, type LoadMessage, type WhyNot } from '../../../../../lib/engine/explain/explain-why.js';
import { Explainer } from '../../../../../lib/engine/explain/explainer.js';
import { type Explanation, explanationOf } from '../../../../../lib/engine/explain/explanation.js';
import { headerFormat } from '../../../../../lib/engine/explain/header-format.js';
import type { EngineRuleset } from '../../../../../lib/engine/load/engine-ruleset.js';
import { predecode } from '../../../../../lib/engine/predecode/predecode.js';
import { readLocation } from '../../../../../lib/engine/predecode/read-location.js';
import { group, loadTestRuleset, TestEngine, type TestEngineOptions } from '../../../../support/engine/engine-kit.js';
import { RecordingDiagnostics } from '../../../../support/recording-diagnostics.js';

type Answer = { readonly explanation: Explanation; readonly why: (rule: number) => WhyNot };

/** An engine whose events are all explained. */
class Bench {
  readonly #ruleset: EngineRuleset;
  readonly #engine: TestEngine;
  readonly #messages: LoadMessage[] = [];

  constructor(rules: string, options: TestEngineOptions & Parameters<typeof loadTestRuleset>[1] = {}) {
    const keep: Diagnostics['warn'] = (text, place) => this.#messages.push({ text, place });
    const diagnostics = Object.assign(new RecordingDiagnostics(), { warn: keep, error: keep });
    this.#ruleset = loadTestRuleset(group(rules), { ...options, diagnostics });
    this.#engine = new TestEngine(this.#ruleset, { mode: 'test', ...options });
  }

  at(seconds: number): this {
    this.#engine.now = 1_741_083_330 + seconds;
    return this;
  }

  send(message: string, location = 'stdin', explainer = new Explainer()): Answer {
    const incoming = { ...readLocation(location), queue: '1', message, receivedAt: this.#engine.now * 1000 };
    const outcome = this.#engine.engine.process(incoming, undefined, explainer);
    expect(this.#engine.engine.failures).to.equal(0);
    return {
      explanation: explanationOf(explainer, outcome, this.#ruleset),
      why: (rule) => explainWhy(rule, this.#ruleset, explainer, outcome, this.#messages),
    };
  }

  app(...pairs: string[]): Answer {
    return this.send(`Mar  4 10:15:30 web app: ${pairs.map((pair) => `;${pair};`).join(' ')}`);
  }
}

const rule = (id: number, body: string, attributes = 'level="5"'): string =>
  `<rule id="${String(id)}" ${attributes}>${body}<description>d</description></rule>`;

describe('an explanation', () => {
  it('names the header format as pre-decoding takes it', () => {
    const formats: [string, string][] = [
      ['Mar  7 09:15:02 gate doord[812]: door opened', 'syslog'],
      ['M\u00c3\u00a4r 07 09:15:02 gate doord: opened now', 'syslog'],
      ['2024-03-07 09:15:02,805 gate doord[8]: opened now', 'syslog with comma milliseconds'],
      ['2024-03-07T09:15:02+01:00 gate doord[8]: opened now', 'syslog with ISO 8601 date'],
      ['2024-03-07T09:15:02.288Z gate doord[8]: opened now', 'syslog with ISO 8601 date'],
      ['2024 Mar 07 09:15:02 gate doord[8]: opened', 'syslog with year first'],
      ['2024-03-07 09:15:02.404756-0700 gate doord[8]: opened now', 'syslog with microseconds'],
      ['Mon Mar  7 09:15:02 2024 1 10.0.0.1 rest of it', 'xferlog'],
      ['03/07-09:15:02.240702  [**] [1:2:3] text', 'snort'],
      ['03/07/2024-09:15:02.240702  [**] [1:2:3] text', 'suricata'],
      ['[Thu Mar 07 09:15:02 2024] [warn] text', 'apache'],
      ['[Time 2024.03.07 09:15:02 UTC] [Sender doord] [Message hello] [Host gate]', 'macOS ASL'],
      ['1709800502.370  11623 10.0.0.1 TCP_MISS/200 text', 'squid'],
      ['2024-03-07T09:15:02Z gate doord[8]: opened now', 'none'],
      ['<34>1 2024-03-07T09:15:02.003Z gate su - ID47 - msg', 'none'],
      ['short', 'none'],
    ];
    for (const [message, format] of formats) expect(headerFormat(message), message).to.equal(format);
  });

  it('finds a format exactly where pre-decoding does', () => {
    const pieces = fc.constantFrom(
      'Mar  7 09:15:02 ',
      '2024-03-07',
      'T09:15:02',
      '.288',
      '+01:00 ',
      '[',
      ' ',
      ':',
      'x',
      '1',
      '-',
      ',',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
        const message = parts.join('');
        const event = new EngineEvent({ queue: '1', location: 'x', message, receivedAt: 0 });
        predecode(event, 'mgr');
        const found = event.timestamp !== undefined || headerFormat(message) === 'macOS ASL';
        expect(headerFormat(message) !== 'none').to.equal(found);
      }),
      { numRuns: 2000 },
    );
  });

  it('tells each step of decoding with pattern, offset and subject', () => {
    const decoders = `<decoder name="su"><program_name>^su$</program_name></decoder>
<decoder name="door"><program_name>^doord$</program_name><prematch>^door </prematch></decoder>
<decoder name="door-shut"><parent>door</parent><prematch offset="after_parent">^shut</prematch><regex>x</regex><order>id</order></decoder>
<decoder name="door-open"><parent>door</parent><prematch offset="after_parent">^open </prematch><regex offset="after_prematch">^by (\\S+) n</regex><order>user</order></decoder>
<decoder name="door-open"><parent>door</parent><regex offset="after_regex">u=(\\d+)</regex><order>door.u</order></decoder>
<decoder name="plain"><prematch>^hello</prematch></decoder>
<decoder name="plain-all"><parent>plain</parent><regex>(\\d+)</regex><order>id</order></decoder>`;
    const bench = new Bench(rule(100, '<match>zzz</match>'), { decoders });
    const { explanation } = bench.send('Mar  7 09:15:02 gate doord: door open by ann n=1 u=7');
    expect(explanation.predecoding).to.deep.equal({
      format: 'syslog',
      timestamp: 'Mar  7 09:15:02',
      hostname: 'gate',
      program_name: 'doord',
      log: 'door open by ann n=1 u=7',
    });
    const { steps, ...rest } = explanation.decoding;
    expect(rest).to.deep.equal({
      roots: 'with program_name',
      decoder: 'door',
      parent: 'door',
      category: 'syslog',
      fields: [
        { name: 'dstuser', value: 'ann' },
        { name: 'door.u', value: '7' },
      ],
    });
    expect(steps.map(({ decoder, what, matched, from, next }) => [decoder, what, matched, from, next])).to.deep.equal([
      ['su', 'program_name', false, 0, undefined],
      ['door', 'program_name', true, 0, undefined],
      ['door', 'prematch', true, 0, 5],
      ['door', 'selected', true, undefined, undefined],
      ['door-shut', 'prematch', false, 5, undefined],
      ['door-open', 'prematch', true, 5, 10],
      ['door-open', 'selected', true, undefined, undefined],
      ['door-open', 'regex', true, 10, 18],
      ['door-open', 'regex', true, 18, 24],
    ]);
    expect(steps[4]).to.deep.equal({
      decoder: 'door-shut',
      place: 'decoders/test.xml:3',
      what: 'prematch',
      matched: false,
      language: 'osregex',
      pattern: '^shut',
      from: 5,
      subject: 'open by ann n=1 u=7',
    });
    const plain = bench.send('hello 5').explanation.decoding;
    expect(plain.roots).to.equal('without program_name');
    expect(plain.steps.map(({ decoder, what }) => `${decoder} ${what}`)).to.deep.equal([
      'plain prematch',
      'plain selected',
      'plain-all taken',
      'plain-all regex',
    ]);
  });

  it('names the first condition that failed, what it wanted and what it met', () => {
    const cases: [body: string, pairs: string[], text: string][] = [
      ['<decoded_as>json</decoded_as>', [], "decoded_as 'json': the decoder is 'app'"],
      ['<match>zzz</match><id>1</id>', ['id=1'], "match osmatch 'zzz': in ';id=1;'"],
      ['<id>^2$</id>', ['id=1'], "id osmatch '^2$': in '1'"],
      ['<id>2</id>', [], "id osmatch '2': the event has no id"],
      ['<url negate="yes" type="pcre2">^a</url>', ['url=abc'], "url not pcre2 '^a': in 'abc'"],
      ['<action>Deny</action>', ['action=deny'], "action exactly 'Deny': in 'deny'"],
      ['<user>root</user>', ['srcuser=ann'], "user osmatch 'root': in 'ann'"],
      ['<field name="app.mode">^x</field>', ['app.mode=y'], "field app.mode osregex '^x': in 'y'"],
      ['<field name="nope">^x</field>', [], "field nope osregex '^x': the event has no such field"],
      ['<srcip>10.0.0.0/8</srcip>', ['srcip=192.0.2.1'], "srcip 10.0.0.0/8: in '192.0.2.1'"],
      ['<srcip negate="yes">10.0.0.0/8</srcip>', ['srcip=10.1.1.1'], "srcip not 10.0.0.0/8: in '10.1.1.1'"],
      ['<compiled_rule>check_id_size</compiled_rule>', ['id=1'], 'compiled_rule check_id_size'],
      ['<weekday>sunday</weekday>', [], 'weekday sunday: it is Tuesday'],
      ['<if_fts/>', [], 'if_fts a key that was never seen: the decoder declares no fts'],
      ['<check_diff/>', [], 'check_diff another log than the last one of this host: no log is stored yet'],
      [
        '<list field="user" lookup="match_key_value" check_value="yes">etc/lists/users</list>',
        ['srcuser=ann'],
        "list etc/lists/users match_key_value of user 'yes': in 'ann', the list has 'no' for it",
      ],
      [
        '<list field="srcip" lookup="address_match_key">etc/lists/users</list>',
        ['srcip=10.1.2.3'],
        "list etc/lists/users address_match_key of srcip: in '10.1.2.3', the list has no such key",
      ],
    ];
    for (const [body, pairs, text] of cases) {
      const bench = new Bench(rule(100, body), { lists: { 'etc/lists/users': 'ann:no\n' } });
      const attempt = bench.app(...pairs).explanation.rules.find(({ id }) => id === 100);
      expect(attempt?.failed && failureText(attempt.failed), body).to.equal(text);
    }
    const size = new Bench(rule(100, '', 'level="5" maxsize="900"')).app();
    expect(size.explanation.rules[1]?.failed?.note).to.match(/^the log has \d+ bytes$/);
    const time = new Bench(rule(100, '<time>1 am - 1:01 am</time>')).app();
    expect(time.explanation.rules[1]?.failed?.note).to.match(/^it is \d\d:\d\d$/);
  });

  it('cuts long texts and shows bytes that are no UTF-8', () => {
    const { explanation } = new Bench(rule(100, '<match>zzz</match>')).send(`\u00ff${'x'.repeat(500)}`);
    expect(explanation.predecoding?.log).to.equal(`\ufffd${'x'.repeat(199)}...`);
    expect(explanation.rules[1]?.failed?.subject).to.equal(explanation.predecoding?.log);
  });

  it('tells the order of the attempts, the winner and its ancestors', () => {
    const bench = new Bench(
      [
        rule(100, '<decoded_as>app</decoded_as>', 'level="3"'),
        rule(110, '<if_sid>100</if_sid><id>1</id>', 'level="4"'),
        rule(111, '<if_sid>110</if_sid><url>a</url>', 'level="0"'),
        rule(120, '<if_sid>100</if_sid>', 'level="9" noalert="1"'),
      ].join(''),
    );
    const shown = (answer: Answer) => answer.explanation.rules.map(({ id, depth, result }) => [id, depth, result]);
    expect(shown(bench.app('id=1', 'url=a'))).to.deep.equal([
      [1, 0, 'through'],
      [100, 1, 'through'],
      [120, 2, 'passed'],
      [110, 2, 'through'],
      [111, 3, 'final'],
    ]);
    const { result } = bench.app('id=1', 'url=a').explanation;
    expect(result).to.deep.equal({
      rule: 111,
      level: 0,
      ancestors: [1, 100, 110],
      alert: false,
      text: 'Rule 111 (level 0) took the event: no alert, its level is 0.',
    });
    expect(bench.app('id=2').explanation.result.text).to.equal('Rule 100 (level 3) took the event: an alert.');
    expect(bench.send('nothing').explanation.result.text).to.equal('No rule took the event.');
    expect(bench.send('x', '[001').explanation.result.text).to.equal('The event could not be analysed.');
  });

  it('says that no alert is written of a rule that says no_log, though a test tells of one', () => {
    const bench = new Bench(rule(100, '<decoded_as>app</decoded_as><options>no_log</options>', 'level="3"'));
    const text = 'no alert is written, as the rule says no_log; a test tells of one all the same.';
    const { explanation, why } = bench.app('id=1');
    expect(explanation.result).to.deep.include({ alert: true, text: `Rule 100 (level 3) took the event: ${text}` });
    expect(why(100)).to.include({ fired: true, answer: `Rule 100 did fire: ${text}` });
  });

  it('counts the events of composite rules', () => {
    const composite = '<if_matched_sid>100</if_matched_sid><same_srcip/><different_url/>';
    const bench = new Bench(
      [rule(100, '<decoded_as>app</decoded_as>'), rule(200, composite, 'level="9" frequency="3" timeframe="60"')].join(
        '',
      ),
    );
    const count = (answer: Answer): string => {
      const tried = answer.explanation.rules.find(({ id }) => id === 200);
      return tried?.failed?.note ?? `${String(tried?.result)}: ${tried?.held?.[0]?.note ?? ''}`;
    };
    const what = 'events of rule 100 within 60 s with the same srcip and another url';
    expect(count(bench.app('srcip=10.0.0.1', 'url=a'))).to.equal(`1 of 3 ${what}`);
    expect(count(bench.app('srcip=10.0.0.1', 'url=a'))).to.equal(`1 of 3 ${what}; 1 passed over`);
    expect(count(bench.app('srcip=10.0.0.2', 'url=a'))).to.equal(`1 of 3 ${what}`);
    expect(count(bench.app('url=a'))).to.equal(`1 of 3 ${what}; this event has no srcip`);
    expect(count(bench.app('srcip=10.0.0.1', 'url=b'))).to.equal(`final: 3 of 3 ${what}`);
    expect(count(bench.app('srcip=10.0.0.1', 'url=c'))).to.equal(
      `1 of 3 ${what}; the ones before were used up by a composite rule that fired`,
    );
    expect(count(bench.at(61).app('srcip=10.0.0.2', 'url=b'))).to.equal(`1 of 3 ${what}; the ones before are older`);
  });

  it('ends at a search that takes more steps than an explanation has left', () => {
    const composite = '<if_matched_sid>100</if_matched_sid>';
    const bench = new Bench(
      [rule(100, '<decoded_as>app</decoded_as>'), rule(200, composite, 'level="9" frequency="9" timeframe="60"')].join(
        '',
      ),
    );
    const line = 'Mar  4 10:15:30 web app: ;x;';
    bench.send(line);
    bench.send(line);
    const enough = bench.send(line).explanation;
    const short = bench.send(line, 'stdin', new Explainer(4)).explanation;
    const stopOf = ({ rules }: Explanation) => rules.find(({ id }) => id === 200)?.failed?.search?.stop;
    expect(stopOf(enough)).to.equal('no more events');
    expect(stopOf(short)).to.equal('limit');
  });

  it('tells a composite rule that can never fire', () => {
    const unloaded = rule(200, '<if_sid>100</if_sid><if_matched_sid>300</if_matched_sid>', 'level="9" frequency="3"');
    const bench = new Bench([rule(100, '<decoded_as>app</decoded_as>'), unloaded, rule(300, '<id>1</id>')].join(''));
    const { failed } = bench.app().explanation.rules.find(({ id }) => id === 200) ?? {};
    expect(failed?.note).to.match(/the rule that if_matched_sid names was not loaded before this one$/);
  });
});

describe('why a rule did not fire', () => {
  const answer = (why: WhyNot): string => why.answer;

  it('names the first ancestor that stopped it, and what would stop it next', () => {
    const bench = new Bench(
      [
        rule(100, '<decoded_as>app</decoded_as>'),
        rule(110, '<if_sid>100</if_sid><id>1</id>'),
        rule(111, '<if_sid>110</if_sid><url>a</url>'),
      ].join(''),
    );
    const { why } = bench.app('id=2', 'url=b');
    expect(answer(why(110))).to.equal("Rule 110 was tried, and did not match: id osmatch '1': in '2'.");
    expect(answer(why(111))).to.equal("Rule 110, above it, was tried, and did not match: id osmatch '1': in '2'.");
    expect(why(111).details).to.deep.equal([
      "Rule 111 would not match either: url osmatch 'a': in 'b'.",
      'Rule 111 is at rules/test.xml:1.',
    ]);
    expect(answer(why(1))).to.equal('Rule 1 matched, but so did rule 100 below it, and the deeper match wins.');
    expect(why(100)).to.include({ fired: true, answer: 'Rule 100 did fire: an alert.' });
    expect(answer(why(2))).to.equal(
      "Rule 2 is for events of category firewall; this one is of category syslog (decoder 'app').",
    );
    expect(answer(bench.send('x').why(2))).to.match(/category syslog \(no decoder took it\)\.$/);
  });

  it('names the sibling that was tried earlier, of level 0 too', () => {
    const bench = new Bench(
      [
        rule(100, '<decoded_as>app</decoded_as>'),
        rule(110, '<if_sid>100</if_sid>', 'level="9"'),
        rule(120, '<if_sid>100</if_sid><id>1</id>', 'level="0"'),
        rule(121, '<if_sid>120</if_sid><url>a</url>', 'level="0"'),
        rule(130, '<if_sid>110</if_sid><url>b</url>'),
      ].join(''),
    );
    const zero =
      'its sibling 120, which comes before all others since its level is 0, was tried earlier and took the event';
    expect(answer(bench.app('id=1').why(110))).to.equal(`Rule 110 was not tried: ${zero}.`);
    expect(answer(bench.app('id=1', 'url=a').why(110))).to.equal(
      `Rule 110 was not tried: ${zero} (with rule 121 below it).`,
    );
    expect(bench.app('id=1').why(130)).to.deep.include({ answer: `Rule 110, above it, was not tried: ${zero}.` });
    expect(bench.app('id=1').why(130).details[0]).to.equal(
      "Rule 130 would not match either: url osmatch 'b': the event has no url.",
    );
    expect(answer(bench.app().why(110))).to.equal('Rule 110 did fire: an alert.');
  });

  it('chooses the way to the rule on which the event came furthest', () => {
    const bench = new Bench(
      [
        rule(100, '<decoded_as>json</decoded_as>'),
        rule(110, '<decoded_as>app</decoded_as>'),
        rule(200, '<if_sid>100, 110</if_sid><id>9</id>'),
      ].join(''),
    );
    expect(answer(bench.app('id=1').why(200))).to.equal(
      "Rule 200 was tried, and did not match: id osmatch '9': in '1'.",
    );
  });

  it('tells counters that are short, and events that never count', () => {
    const bench = new Bench(
      [
        rule(100, '<decoded_as>app</decoded_as><group>door,</group>'),
        rule(101, '<if_sid>100</if_sid><id>0</id>', 'level="0"'),
        rule(200, '<if_matched_sid>100</if_matched_sid>', 'level="9" frequency="4" timeframe="60"'),
        rule(
          210,
          '<if_sid>100</if_sid><if_matched_group>door</if_matched_group>',
          'level="9" frequency="4" timeframe="60"',
        ),
      ].join(''),
    );
    expect(bench.app().why(200)).to.deep.include({
      answer: 'Rule 200 was tried, and did not match: 1 of 4 events of rule 100 within 60 s.',
      details: ['Rule 200 is at rules/test.xml:1.'],
    });
    expect(bench.app().why(210).details[0]).to.equal(
      'This event is not counted for it later: it ended at rule 100, which some if_matched_sid names; such events count ' +
        'for those rules and for no if_matched_group.',
    );
    expect(answer(bench.app('id=0').why(200))).to.match(/its sibling 101, which comes before all others/);
  });

  it('tells noalert, ignore time and levels that give no alert', () => {
    const rules = [
      rule(100, '<decoded_as>app</decoded_as>', 'level="5" ignore="60"'),
      rule(110, '<match>quiet</match>', 'level="2"'),
      rule(120, '<match>passing</match>', 'level="3" noalert="1"'),
    ].join('');
    const bench = new Bench(rules, { logLevel: 3 });
    expect(bench.app().why(100).fired).to.equal(true);
    expect(bench.at(10).app().why(100)).to.include({
      fired: false,
      answer: 'Rule 100 matched, but is in its ignore time of 60 s, which began at 2025-03-04T10:15:30.000Z: no alert.',
    });
    expect(answer(bench.send('quiet').why(110))).to.equal(
      'Rule 110 did fire: no alert, its level is below 3, from which alerts are written.',
    );
    expect(answer(bench.send('passing').why(120))).to.equal(
      'Rule 120 matched, but says noalert, and none of its children matched.',
    );
    const live = new Bench(rules, { mode: 'live' });
    live.app();
    expect(live.app().why(100).answer).to.match(
      /^Rule 100 matched, but is in its ignore time .*: its parent 1 stands in\.$/,
    );
  });

  it('says which message of the load dropped a rule, or that no file has it', () => {
    const bench = new Bench(
      [
        rule(100, '<decoded_as>app</decoded_as>'),
        rule(110, '<if_sid>999</if_sid>'),
        rule(120, '<if_group>nobody</if_group>'),
        rule(100, '<id>1</id>'),
      ].join('\n'),
    );
    const { why } = bench.app();
    expect(why(110)).to.deep.include({
      answer:
        "Rule 110 was not loaded: (7617): Signature ID '999' was not found and will be ignored in the 'if_sid' option of rule '110'. (rules/test.xml:2, rule 110)",
    });
    expect(why(110).details).to.have.length(1);
    expect(answer(why(120))).to.match(/^Rule 120 was not loaded: \(7610\): Group 'nobody' was not found\./);
    expect(why(555)).to.deep.equal({
      rule: 555,
      fired: false,
      answer: 'Rule 555 is in no rule file that was loaded.',
      details: [],
    });
    expect(why(100).details[1]).to.match(/^\(7612\): Rule ID '100' is duplicated\./);
    expect(why(11).answer, 'no part of another id').to.match(/in no rule file/);
  });

  it('says when an event never comes to the rules', () => {
    const bench = new Bench(rule(100, '<decoded_as>app</decoded_as>'));
    expect(answer(bench.send('x', '[001').why(100))).to.equal('The event does not come to the rules.');
  });

  it('answers for every rule and any event', () => {
    const bench = new Bench(
      [
        rule(100, '<decoded_as>app</decoded_as>'),
        rule(110, '<if_sid>100</if_sid><id>1</id>', 'level="0"'),
        rule(120, '<if_sid>100</if_sid><check_diff/>'),
        rule(200, '<if_matched_sid>100</if_matched_sid><same_id/>', 'level="9" frequency="2" timeframe="60"'),
      ].join(''),
    );
    fc.assert(
      fc.property(fc.constantFrom('id=1', 'id=2', 'url=a'), fc.string(), fc.boolean(), (pair, text, app) => {
        const { why, explanation } = app ? bench.app(pair, text) : bench.send(text);
        for (const id of [1, 2, 100, 110, 120, 200, 7777]) {
          const found = why(id);
          expect(found.answer).to.match(/\S\.$/);
          expect(found.fired).to.equal(explanation.result.rule === id);
        }
      }),
      { numRuns: 200 },
    );
  });
});
