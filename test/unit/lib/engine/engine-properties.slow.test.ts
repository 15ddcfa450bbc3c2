import { expect } from 'chai';
import fc from 'fast-check';
import { EngineState } from '../../../../lib/engine/engine-state.js';
import type { IncomingEvent } from '../../../../lib/engine/event.js';
import { readLocation } from '../../../../lib/engine/predecode/read-location.js';
import { group, loadTestRuleset, TestEngine } from '../../../support/engine/engine-kit.js';
import { rulesetOf } from '../../../support/engine/shared-ruleset.js';
import { sharedData } from '../../../support/shared-data.js';

const RULES = group(
  '<rule id="100" level="5"><match>denied</match><group>auth,</group><description>Denied $(srcip) $(x) $(</description></rule>' +
    '<rule id="101" level="10" frequency="3" timeframe="60" ignore="5"><if_matched_sid>100</if_matched_sid><same_srcip/><different_url/><description>a</description></rule>' +
    '<rule id="102" level="11" frequency="4" timeframe="60"><if_matched_group>auth</if_matched_group><not_same_field>a.b</not_same_field><description>b</description></rule>' +
    '<rule id="103" level="3"><match>{</match><field name="a.b">\\w</field><description>c</description></rule>' +
    '<rule id="104" level="4"><if_sid>103</if_sid><check_diff/><description>d</description></rule>' +
    '<rule id="105" level="6"><if_sid>100</if_sid><regex type="pcre2">(a+)+\\d$</regex><description>e</description></rule>' +
    '<rule id="106" level="6" frequency="2"><if_sid>100</if_sid><if_matched_regex>d\\w+d</if_matched_regex><description>f</description></rule>',
);

/** Messages with all sorts of structure, and noise. */
const message = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 300 }),
  fc.json().map((json) => `{"log": "denied", "a": ${json}}`),
  fc
    .tuple(fc.constantFrom('10.0.0.1', '10.0.0.2', 'x'), fc.constantFrom('/a', '/b'))
    .map(([ip, url]) => `Mar  4 10:15:30 host app: denied ;srcip=${ip}; ;url=${url};`),
  fc.constantFrom(
    'denied',
    `denied ${'a'.repeat(4000)}`,
    '{"a":{"b":"c"}} denied',
    'Mar  4 10:15:30 h fw: drop tcp 1:2 3:4',
  ),
);
const location = fc.oneof(
  fc.constantFrom('/var/log/x', '[001] (a) 10.0.0.1->/x', '[002] (b) any->y', '[003', '(s) u@h->z', '[004]', ''),
  fc.string({ maxLength: 40 }),
);
const incoming: fc.Arbitrary<IncomingEvent> = fc
  .record({
    queue: fc.constantFrom('1', '2', '9', 'x'),
    origin: location.map(readLocation),
    message,
    receivedAt: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_400_000 }),
  })
  .map(({ origin, ...event }) => ({ ...origin, ...event }));

/** Everything that can be seen of an event's outcome. */
function shown(engine: TestEngine, event: IncomingEvent): string {
  const outcome = engine.engine.process(event);
  return [
    outcome.disposition,
    outcome.isAlert,
    engine.engine.alertJson(outcome.alert, { id: '1.0' }),
    engine.engine.alertText(outcome.alert, '1.0'),
    engine.engine.texts.archive(outcome.event),
    engine.engine.texts.firewall(outcome.event),
  ].join('\n');
}

describe('the engine', () => {
  const ruleset = loadTestRuleset(RULES);

  it('never fails, always writes JSON, and gives the same for the same', () => {
    fc.assert(
      fc.property(fc.array(incoming, { maxLength: 30 }), fc.nat(30), (events, cut) => {
        const one = new TestEngine(ruleset);
        const two = new TestEngine(ruleset);
        let three = new TestEngine(ruleset);
        events.forEach((event, i) => {
          if (i === cut) {
            // the third engine is replaced in between by one that goes on from its checkpoint
            const state = new EngineState(ruleset.rules);
            state.restore(structuredClone(three.engine.state.snapshot()));
            three = new TestEngine(ruleset, { state });
          }
          const text = shown(one, event);
          expect(shown(two, event)).to.equal(text);
          expect(shown(three, event)).to.equal(text);
          expect(
            () => JSON.parse(Buffer.from(text.split('\n')[2] ?? '', 'latin1').toString('utf8')) as unknown,
          ).to.not.throw();
        });
        expect(one.engine.failures + two.engine.failures + three.engine.failures).to.equal(0);
      }),
      { numRuns: 200 },
    );
  });

  it('survives noise on a large ruleset', function () {
    const stock = sharedData('ruleset');
    if (stock === undefined) {
      console.log('      (skipped: no shared test data)');
      this.skip();
    }
    this.timeout(60_000);
    const engine = new TestEngine(rulesetOf(stock));
    fc.assert(
      fc.property(incoming, (event) => {
        shown(engine, event);
        return engine.engine.failures === 0;
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps its memory flat while many agents and addresses come and go', function () {
    this.timeout(60_000);
    const engine = new TestEngine(ruleset, { stateOptions: { maxRememberedBytes: 1_000_000 } });
    const { correlation } = engine.engine.state;
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
      return seed % below;
    };
    let most = 0;
    for (let i = 0; i < 40_000; i += 1) {
      if (i % 100 === 0) engine.now += 1;
      const fields = { srcip: `10.${String(random(200))}.${String(random(200))}.1`, url: `/${String(random(50))}` };
      engine.app(fields, 'denied', `[${String(random(5000))}] (agent) any->/x`);
      most = Math.max(most, correlation.bytes);
    }
    expect(most).to.be.at.most(1_000_000);
    engine.now += 3600;
    // Some with each event, a thousand places in lists at least, so that no event is held up.
    const before = correlation.size;
    let after = 0;
    do {
      engine.app({ srcip: '10.0.0.1' }, 'denied');
      after += 1;
    } while (correlation.size > after && after < 3);
    expect(before).to.be.greaterThan(500);
    expect(correlation.size, 'all but the new ones are forgotten').to.be.at.most(after);
    expect(engine.engine.failures).to.equal(0);
  });

  it('gives a pattern that explodes up, counts its rule, and leaves the others their chance', () => {
    const engine = new TestEngine(ruleset);
    const outcome = engine.send(`denied ${'a'.repeat(60_000)}`);
    expect(outcome.rule?.rule.id).to.equal(100);
    expect([...engine.engine.state.exhausted]).to.deep.equal([['rule 105', 1]]);
    expect(engine.send('denied aaaaaa7').rule?.rule.id).to.equal(105);
  });

  it('takes a new ruleset between two events without losing or doubling one', () => {
    const next = loadTestRuleset(RULES.replace('Denied', 'Refused'));
    let engine = new TestEngine(ruleset);
    let fired = 0;
    let rulesets = 0;
    for (let i = 1; i <= 20_000; i += 1) {
      if (i % 1000 === 0) {
        const other = rulesets++ % 2 === 0 ? next : ruleset;
        engine = new TestEngine(other, { state: engine.engine.state.transferTo(other.rules) });
      }
      const outcome = engine.send('denied', `[${String(i % 7)}] (a) any->/x`);
      expect(outcome.rule).to.not.equal(undefined);
      if (outcome.rule!.rule.id === 106) fired = outcome.alert.firedTimes!;
      if (outcome.alert.description?.startsWith('Denied') === true) expect(engine.engine.ruleset).to.equal(ruleset);
    }
    const counted = [...engine.engine.state.counting.firedRules()].reduce((sum, [, times]) => sum + times, 0);
    expect(counted).to.equal(20_000);
    expect(fired).to.be.greaterThan(0);
  });
});
