import { expect } from 'chai';
import fc from 'fast-check';
import { Explainer } from '../../../../lib/engine/explain/explainer.js';
import type { EngineRuleset } from '../../../../lib/engine/load/engine-ruleset.js';
import { RulesetError } from '../../../../lib/engine/load/ruleset-error.js';
import type { EventOutcome } from '../../../../lib/engine/outcome.js';
import { decodedOf } from '../../../support/engine/decoding.js';
import { loadTestRuleset, TestEngine } from '../../../support/engine/engine-kit.js';
import { madeUpDecoders, madeUpLine, madeUpRules } from '../../../support/engine/made-up-rulesets.js';

/** Rulesets that are made up; each gets some lines. */
const RUNS = Number(process.env['SVC_ENGINE_RUNS'] ?? 150);

/** What the made-up decoders take fields of; without it few lines would have some. */
const fieldTexts = fc
  .array(fc.constantFrom('id="a b" ', 'id=12 ', 'a="x" ', 'a=ab ', 'x=1 ', 'x:1 ', 'id:ab ', 'x="12" ', '12 ab '), {
    maxLength: 4,
  })
  .map((parts) => parts.join(''));
const line = fc
  .tuple(fc.constantFrom('', 'Mar  4 10:15:30 h app: ', 'Mar  4 10:15:30 h x: '), fieldTexts, madeUpLine)
  .map((parts) => parts.join(''));

function load(decoders: string, rules: string): EngineRuleset | undefined {
  try {
    return loadTestRuleset(rules, { decoders });
  } catch (error) {
    if (error instanceof RulesetError) return undefined;
    throw error;
  }
}

/** All that can be seen of an event. */
function seen({ engine }: TestEngine, outcome: EventOutcome): object {
  return {
    decoded: decodedOf(outcome.event),
    rule: outcome.rule?.rule.id,
    isAlert: outcome.isAlert,
    json: engine.alertJson(outcome.alert, { id: '1.0' }),
  };
}

describe('the whole of the engine', () => {
  it('gives what the interpreters of the specification give, for made-up decoders, rules and lines', function () {
    this.timeout(0);
    let lines = 0;
    let decoded = 0;
    let matched = 0;
    fc.assert(
      fc.property(
        madeUpDecoders,
        madeUpRules,
        fc.array(line, { minLength: 20, maxLength: 60 }),
        (decoders, rules, messages) => {
          const ruleset = load(decoders, rules);
          if (ruleset === undefined) return;
          const fast = new TestEngine(ruleset);
          const plain = new TestEngine(ruleset);
          messages.forEach((message, i) => {
            const incoming = { queue: '1', location: '/x', message, receivedAt: 1_741_083_330_000 + i * 500 };
            const outcome = fast.engine.process(incoming);
            const shown = seen(fast, outcome);
            expect(shown, message).to.deep.equal(
              seen(plain, plain.engine.process(incoming, undefined, new Explainer())),
            );
            lines += 1;
            if (outcome.event.fieldNames.length > 0 || outcome.event.id !== undefined) decoded += 1;
            if (outcome.rule !== undefined) matched += 1;
          });
          expect(fast.engine.failures).to.equal(0);
          expect(fast.engine.state.snapshot()).to.deep.equal(plain.engine.state.snapshot());
        },
      ),
      { numRuns: RUNS },
    );
    if (process.env['SVC_ENGINE_RUNS'] !== undefined) {
      console.log(`      (${String(lines)} lines, ${String(decoded)} with fields, ${String(matched)} with a rule)`);
    }
    expect(lines).to.be.greaterThan(10 * RUNS);
    expect(decoded).to.be.greaterThan(RUNS);
    expect(matched).to.be.greaterThan(RUNS);
  });
});
