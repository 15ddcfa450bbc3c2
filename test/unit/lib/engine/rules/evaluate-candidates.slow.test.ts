import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import type { EngineRuleset } from '../../../../../lib/engine/load/engine-ruleset.js';
import { readLocation } from '../../../../../lib/engine/predecode/read-location.js';
import { group, loadTestRuleset, TestEngine } from '../../../../support/engine/engine-kit.js';
import { rulesetOf } from '../../../../support/engine/shared-ruleset.js';
import { sharedData } from '../../../../support/shared-data.js';

/** The two ways of evaluation: a trace makes the engine try every rule, as the specification words it. */
class Both {
  readonly #fast: TestEngine;
  readonly #plain: TestEngine;

  constructor(ruleset: EngineRuleset) {
    this.#fast = new TestEngine(ruleset);
    this.#plain = new TestEngine(ruleset);
  }

  /** Sends a message through both and compares all that can be seen. @returns the final rule */
  send(message: string, now: number): number | undefined {
    const [fast, plain] = [this.#fast, this.#plain].map((engine, i) => {
      engine.now = now;
      const origin = readLocation('[004] (web) 10.0.0.24->/x');
      const outcome = engine.engine.process(
        { ...origin, queue: '1', message, receivedAt: now * 1000 },
        i === 0 ? undefined : [],
      );
      return { json: engine.engine.alertJson(outcome.alert, { id: '1.0' }), isAlert: outcome.isAlert, outcome };
    });
    expect({ json: fast!.json, isAlert: fast!.isAlert }, message).to.deep.equal({
      json: plain!.json,
      isAlert: plain!.isAlert,
    });
    return fast!.outcome.rule?.rule.id;
  }

  /** Whether both end in the same state. */
  compareStates(): void {
    expect(this.#fast.engine.state.snapshot()).to.deep.equal(this.#plain.engine.state.snapshot());
  }
}

const word = fc.constantFrom('a', 'b', 'ab', 'x');
const condition = fc.oneof(
  fc.constantFrom('<decoded_as>app</decoded_as>', '<decoded_as>json</decoded_as>'),
  fc
    .tuple(
      fc.constantFrom('id', 'action', 'status', 'extra_data', 'url', 'match', 'program_name'),
      word,
      fc.constantFrom('osmatch', 'osregex', 'pcre2'),
      fc.boolean(),
    )
    .map(
      ([element, text, type, negate]) =>
        `<${element} type="${type}" negate="${negate ? 'yes' : 'no'}">${text}</${element}>`,
    ),
  fc
    .tuple(fc.constantFrom('app.mode', 'APP.MODE', 'App.Level'), word, fc.boolean())
    .map(([name, text, negate]) => `<field name="${name}" negate="${negate ? 'yes' : 'no'}">^${text}</field>`),
  fc.constant('<check_diff/>'),
);
const rule = fc.record({
  level: fc.integer({ min: 0, max: 5 }),
  noalert: fc.boolean(),
  conditions: fc.array(condition, { maxLength: 3 }),
  parent: fc.nat(40),
  composite: fc.boolean(),
});
const text = fc.option(word, { nil: undefined });
const event = fc.record({
  id: text,
  action: text,
  status: text,
  extra_data: text,
  url: text,
  'app.mode': text,
  'App.Level': text,
});

type MadeUpRule = {
  readonly level: number;
  readonly noalert: boolean;
  readonly conditions: readonly string[];
  readonly parent: number;
  readonly composite: boolean;
};

function xmlOf(rules: readonly MadeUpRule[]): string {
  return group(
    rules
      .map((each, i) => {
        const parent = each.parent < i ? `<if_sid>${String(100 + each.parent)}</if_sid>` : '';
        const search =
          each.composite && each.parent < i ? `<if_matched_sid>${String(100 + each.parent)}</if_matched_sid>` : '';
        // a composite with a parent and a check_diff is no composite
        return `<rule id="${String(100 + i)}" level="${String(each.level)}" noalert="${each.noalert ? '1' : '0'}">${parent}${search}${each.conditions.join('')}<description>d</description></rule>`;
      })
      .join(''),
  );
}

/** An event as two decoders take it. */
function messagesOf(fields: Readonly<Record<string, string | undefined>>): string[] {
  const pairs = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [`;${name}=${value};`]));
  return [
    `Mar  4 10:15:30 h app: ${pairs.join(' ')}`,
    JSON.stringify({ ...fields, app: { mode: fields['app.mode'] } }),
  ];
}

describe('looking candidates up', () => {
  it('gives what trying every rule gives, on made-up rulesets', () => {
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 3, maxLength: 40 }),
        fc.array(event, { minLength: 1, maxLength: 25 }),
        (rules, events) => {
          const both = new Both(loadTestRuleset(xmlOf(rules)));
          events.forEach((fields, i) => messagesOf(fields).forEach((message) => both.send(message, 1_741_083_330 + i)));
          both.compareStates();
        },
      ),
      { numRuns: 150 },
    );
  });

  it('takes the same steps whatever the rules have met before', () => {
    let steps = 0;
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 8, maxLength: 40 }),
        fc.array(event, { minLength: 1, maxLength: 12 }),
        (rules, events) => {
          const xml = xmlOf(rules);
          const fresh = new TestEngine(loadTestRuleset(xml));
          const worn = loadTestRuleset(xml);
          const messages = events.flatMap(messagesOf);
          const before = new TestEngine(worn);
          for (let round = 0; round < 3; round += 1) for (const message of messages) before.send(message);
          const after = new TestEngine(worn);
          for (const message of messages) {
            for (const engine of [fresh, after]) engine.send(message);
            expect(after.engine.steps, message).to.equal(fresh.engine.steps);
            steps += after.engine.steps;
          }
        },
      ),
      { numRuns: 150 },
    );
    expect(steps).to.be.greaterThan(1000);
  });

  it('takes no steps for a rule that asks for what the event has not got', () => {
    const asking = Array.from(
      { length: 3 },
      (_, i) =>
        `<rule id="${String(200 + i)}" level="3"><match>ab</match><field name="app.mode">x</field><description>d</description></rule>`,
    );
    const engine = new TestEngine(loadTestRuleset(group(asking.join(''))));
    const stepsOf = (message: string): number => {
      engine.send(message);
      return engine.engine.steps;
    };
    for (let i = 0; i < 10; i += 1) {
      const without = stepsOf('Mar  4 10:15:30 h app: ab');
      expect(stepsOf('Mar  4 10:15:30 h app: ab ;app.mode=a;') - without).to.be.at.least(3);
      expect(stepsOf('Mar  4 10:15:30 h app: a ')).to.equal(without);
    }
  });

  it('remembers no more than its bound when values never come again', () => {
    const children = Array.from(
      { length: 60 },
      (_, i) =>
        `<rule id="${String(200 + i)}" level="3"><if_sid>100</if_sid><id>^${String(i)}$</id><field name="app.mode">^${String(i)}</field><description>d</description></rule>`,
    );
    const ruleset = loadTestRuleset(
      group(`<rule id="100" level="1"><description>p</description></rule>${children.join('')}`),
    );
    const both = new Both(ruleset);
    for (let i = 0; i < 4000; i += 1) {
      const id = String(i % 70);
      const rule = both.send(`Mar  4 10:15:30 h app: ;id=${id}; ;app.mode=${id}${String(i)};`, 1_741_083_330);
      expect(rule).to.equal(i % 70 < 60 ? 200 + (i % 70) : 100);
    }
    for (let i = 0; i < 3000; i += 1) {
      both.send(`Mar  4 10:15:30 h app: ;id=${'x'.repeat(i % 300)}${String(i)};`, 1_741_083_330);
    }
    both.compareStates();
  });

  for (const corpus of ['typical-50k.log.gz', 'mixed-20k.log.gz']) {
    it(`gives what trying every rule gives, on a ruleset of the field and ${corpus}`, function () {
      const stock = sharedData('ruleset');
      const path = sharedData('corpus', corpus);
      if (stock === undefined || path === undefined) {
        console.log('      (skipped: no shared test data)');
        this.skip();
      }
      this.timeout(60_000);
      const both = new Both(rulesetOf(stock));
      const lines = gunzipSync(readFileSync(path)).toString('latin1').split('\n').slice(0, 5000);
      lines.forEach((line, i) => both.send(line, 1_741_083_330 + Math.floor(i / 10)));
      both.compareStates();
    });
  }
});
