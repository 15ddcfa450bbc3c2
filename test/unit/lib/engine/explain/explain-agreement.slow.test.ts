import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { Explainer } from '../../../../../lib/engine/explain/explainer.js';
import { type Explanation, explanationOf } from '../../../../../lib/engine/explain/explanation.js';
import type { EngineRuleset } from '../../../../../lib/engine/load/engine-ruleset.js';
import { readLocation } from '../../../../../lib/engine/predecode/read-location.js';
import { group, loadTestRuleset, TestEngine, type TestEngineOptions } from '../../../../support/engine/engine-kit.js';
import { rulesetOf } from '../../../../support/engine/shared-ruleset.js';
import { sharedData } from '../../../../support/shared-data.js';

/** An engine that explains beside one that does not. */
class Both {
  readonly #ruleset: EngineRuleset;
  readonly #plain: TestEngine;
  readonly #explaining: TestEngine;

  constructor(ruleset: EngineRuleset, options: TestEngineOptions = {}) {
    this.#ruleset = ruleset;
    this.#plain = new TestEngine(ruleset, options);
    this.#explaining = new TestEngine(ruleset, options);
  }

  /** Sends a message through both and compares all that can be seen, the explanation included. */
  send(message: string, now: number, location = '[004] (web) 10.0.0.24->/x'): Explanation {
    const incoming = { ...readLocation(location), queue: '1', message, receivedAt: now * 1000 };
    const explainer = new Explainer();
    const plain = this.#plain.engine.process(incoming);
    const explained = this.#explaining.engine.process(incoming, undefined, explainer);
    expect(this.#explaining.engine.failures, message).to.equal(this.#plain.engine.failures).and.to.equal(0);
    const json = (engine: TestEngine, outcome: typeof plain) => engine.engine.alertJson(outcome.alert, { id: '1.0' });
    expect(json(this.#explaining, explained), message).to.equal(json(this.#plain, plain));
    expect(explained.isAlert).to.equal(plain.isAlert);
    expect(explained.responds).to.equal(plain.responds);
    expect(explained.disposition).to.equal(plain.disposition);
    const explanation = explanationOf(explainer, explained, this.#ruleset);
    this.#checkItself(explanation, plain.rule?.rule.id, explainer);
    return explanation;
  }

  compareStates(): void {
    expect(this.#explaining.engine.state.snapshot()).to.deep.equal(this.#plain.engine.state.snapshot());
  }

  /** What must be true of any explanation. */
  #checkItself({ rules, result }: Explanation, rule: number | undefined, { walk }: Explainer): void {
    expect(result.rule).to.equal(rule);
    const final = rules.filter((each) => each.result === 'final');
    expect(final.map(({ id }) => id)).to.deep.equal(walk?.matched === undefined ? [] : [walk.matched.rule.id]);
    if (final[0] !== undefined) expect(result.ancestors).to.have.length(final[0].depth);
    for (const each of rules) {
      expect(each.failed === undefined, String(each.id)).to.equal(each.result !== 'failed');
      for (const { search } of [...(each.held ?? []), ...(each.failed === undefined ? [] : [each.failed])]) {
        if (search === undefined) continue;
        expect(search.counted === search.needed, `${String(each.id)} ${JSON.stringify(search)}`).to.equal(
          each.result !== 'failed',
        );
        expect(search.stop === undefined).to.equal(each.result !== 'failed');
      }
    }
  }
}

describe('explaining', () => {
  it('does to an event what the engine does without, on made-up rulesets', () => {
    const word = fc.constantFrom('a', 'b', 'ab', 'x');
    const condition = fc.oneof(
      fc.constantFrom('<decoded_as>app</decoded_as>', '<decoded_as>json</decoded_as>', '<check_diff/>', '<if_fts/>'),
      fc
        .tuple(fc.constantFrom('id', 'action', 'status', 'url', 'match', 'user'), word, fc.boolean())
        .map(([name, text, negate]) => `<${name} negate="${negate ? 'yes' : 'no'}">${text}</${name}>`),
      fc
        .tuple(fc.constantFrom('app.mode', 'App.Level', 'id'), word)
        .filter(([name]) => name !== 'id')
        .map(([name, text]) => `<field name="${name}">^${text}</field>`),
      fc.constantFrom('<srcip>10.0.0.0/8</srcip>', '<srcip negate="yes">10.0.0.1</srcip>', '<time>6 am - 8 pm</time>'),
    );
    const search = fc.record({
      frequency: fc.integer({ min: 2, max: 4 }),
      timeframe: fc.integer({ min: 1, max: 6 }),
      kind: fc.constantFrom('sid', 'group', 'regex'),
      also: fc.subarray([
        '<same_srcip/>',
        '<different_url/>',
        '<same_field>app.mode</same_field>',
        '<different_field>App.Level</different_field>',
        '<global_frequency/>',
      ]),
    });
    const rule = fc.record({
      level: fc.integer({ min: 0, max: 9 }),
      noalert: fc.boolean(),
      ignore: fc.constantFrom('', ' ignore="2"'),
      conditions: fc.array(condition, { maxLength: 2 }),
      parent: fc.nat(6),
      search: fc.option(search, { nil: undefined }),
    });
    const text = fc.option(word, { nil: undefined });
    const event = fc.record({
      id: text,
      action: text,
      url: text,
      srcip: fc.constantFrom('10.0.0.1', '10.0.0.2', '192.0.2.9', undefined),
      'app.mode': text,
      'App.Level': text,
    });
    let composites = 0;
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 3, maxLength: 25 }),
        fc.array(event, { minLength: 1, maxLength: 25 }),
        fc.constantFrom<'live' | 'test'>('live', 'test'),
        (rules, events, mode) => {
          const xml = rules
            .map(({ level, noalert, ignore, conditions, parent, search: wanted }, i) => {
              const above = parent < i ? `<if_sid>${String(100 + parent)}</if_sid>` : '';
              let attributes = `level="${String(level)}" noalert="${noalert ? '1' : '0'}"${ignore}`;
              let counting = '';
              if (wanted !== undefined && parent < i) {
                attributes += ` frequency="${String(wanted.frequency)}" timeframe="${String(wanted.timeframe)}"`;
                const what = { sid: String(100 + parent), group: 'local', regex: 'a' }[wanted.kind];
                counting = `<if_matched_${wanted.kind}>${what}</if_matched_${wanted.kind}>${wanted.also.join('')}`;
              }
              return `<rule id="${String(100 + i)}" ${attributes}>${above}${counting}${conditions.join('')}<description>d</description></rule>`;
            })
            .join('');
          const both = new Both(loadTestRuleset(group(xml)), { mode });
          events.forEach((fields, i) => {
            const pairs = Object.entries(fields).flatMap(([name, value]) =>
              value === undefined ? [] : [`;${name}=${value};`],
            );
            const explanation = both.send(`Mar  4 10:15:30 h app: ${pairs.join(' ')}`, 1_741_083_330 + i);
            both.send(JSON.stringify({ ...fields, app: { mode: fields['app.mode'] } }), 1_741_083_330 + i);
            composites += explanation.rules.filter(({ held }) => held?.some(({ search: s }) => s)).length;
          });
          both.compareStates();
        },
      ),
      { numRuns: 150 },
    );
    expect(composites, 'composite rules fired').to.be.greaterThan(0);
  });

  it('does so with any bytes', () => {
    const both = new Both(
      loadTestRuleset(group('<rule id="100" level="3"><match>a</match><description>d</description></rule>')),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), fc.nat(4), (bytes, form) => {
        const text = Buffer.from(bytes).toString('latin1');
        const header = [
          '',
          'Mar  4 10:15:30 h app: ',
          '{"',
          '[Thu Mar 07 09:15:02 2024] ',
          '2024-03-07T09:15:02+01:00 h ',
        ];
        both.send((header[form] ?? '') + text, 1_741_083_330);
      }),
      { numRuns: 500 },
    );
    both.compareStates();
  });

  for (const [corpus, every] of [
    ['typical-50k.log.gz', 200],
    ['mixed-20k.log.gz', 60],
  ] as const) {
    it(`does so on a ruleset of the field and each ${String(every)}th line of ${corpus}`, function () {
      this.timeout(60_000);
      const stock = sharedData('ruleset');
      const path = sharedData('corpus', corpus);
      if (stock === undefined || path === undefined) {
        console.log('      (skipped: no shared test data)');
        this.skip();
      }
      const both = new Both(rulesetOf(stock));
      const lines = gunzipSync(readFileSync(path)).toString('latin1').split('\n');
      for (let i = 0; i < lines.length; i += every) {
        const line = lines[i];
        if (line !== undefined && line !== '') both.send(line, 1_774_000_000 + Math.floor(i / 500), 'stdin');
      }
      both.compareStates();
    });
  }

  it('does so in recorded sessions, where composite rules fire', function () {
    this.timeout(60_000);
    const stock = sharedData('ruleset');
    const path = sharedData('oracle-sample-sessions.ndjson.gz');
    if (stock === undefined || path === undefined) {
      console.log('      (skipped: no shared test data)');
      this.skip();
    }
    type Session = { readonly events: readonly { readonly location?: string; readonly log?: string }[] };
    const records = gunzipSync(readFileSync(path)).toString('utf8').trimEnd().split('\n');
    let fired = 0;
    records.forEach((record, i) => {
      if (i % 10 !== 0) return;
      const both = new Both(rulesetOf(stock), { mode: 'test' });
      for (const { location = 'stdin', log } of (JSON.parse(record) as Session).events) {
        if (log === undefined) continue;
        const message = Buffer.from(log, 'utf8').toString('latin1');
        const { rules } = both.send(message, 1_774_000_000, location);
        fired += rules.filter(({ result, held }) => result === 'final' && held?.some(({ search }) => search)).length;
      }
      both.compareStates();
    });
    expect(fired).to.be.greaterThan(0);
  });
});
