import { expect } from 'chai';
import fc from 'fast-check';
import { checkMessage, summaryMessage } from '../../../../../daemons/modulesd/sca/sca-messages.js';
import type { Evaluation } from '../../../../../lib/sca/evaluate.js';
import type { ScaCheck, ScaPolicy } from '../../../../../lib/sca/policy.js';

/** What a message may have (integrity-and-inventory.md 15, trap 35). */
const MOST_BYTES = 64_000;

const unit = fc.constantFrom('a', 'é', '"', '\\', '\u0001', '\u{1f600}', '\n', ',');
/** Short as a rule, and now and then far too long. */
const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit, maxLength: 30 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.string({ unit, minLength: 1, maxLength: 3 }), fc.nat(20_000))
      .map(([part, count]) => part.repeat(count)),
  },
);
const texts = fc.array(text, { maxLength: 6 });
const optional = fc.option(text, { nil: undefined });

const policies: fc.Arbitrary<ScaPolicy> = fc
  .record({
    id: fc.string({ minLength: 1, maxLength: 255 }),
    file: fc.string({ maxLength: 50 }),
    name: fc.string({ unit, maxLength: 1024 }),
    description: text,
    references: texts,
  })
  .map((policy) => ({ ...policy, requirements: undefined, variables: [], checks: [] }));
const checks: fc.Arbitrary<ScaCheck> = fc.record({
  ...{ id: fc.integer({ min: 1, max: 2_147_483_647 }), title: text, condition: fc.constantFrom('all', 'any', 'none') },
  ...{ language: fc.constant('pcre2' as const), description: optional, rationale: optional, remediation: optional },
  references: texts,
  compliance: fc.array(fc.tuple(fc.constantFrom('cis', '__proto__', 'pci_dss'), texts), { maxLength: 3 }),
  rules: fc
    .array(text, { minLength: 1, maxLength: 20 })
    .map((all) => all.map((each) => ({ text: each, expanded: each, kind: 'file' as const }))),
});
const evaluations: fc.Arbitrary<Evaluation> = fc
  .record({ result: fc.constantFrom('passed', 'failed', 'na'), reason: text, file: texts, command: texts })
  .map(({ result, reason, file, command }) => ({
    ...{ result, reason: result === 'na' ? reason : undefined, rules: [] },
    looked: { file, directory: [], process: [], command },
  }));

describe('messages of the configuration assessment', function () {
  this.timeout(30_000);

  it('of checks fit, are JSON, and keep what identifies them, whatever a policy says', () => {
    fc.assert(
      fc.property(policies, checks, evaluations, (policy, check, evaluation) => {
        const { text: message, cut } = checkMessage(policy, 7, check, evaluation);
        expect(Buffer.byteLength(message)).to.be.at.most(MOST_BYTES);
        const told = JSON.parse(message) as { policy_id: string; id: number; check: Record<string, unknown> };
        expect([told.id, told.policy_id, told.check['id']]).to.deep.equal([7, policy.id, check.id]);
        expect(told.check['result'] ?? told.check['status']).to.equal(
          evaluation.result === 'na' ? 'Not applicable' : evaluation.result,
        );
        if (cut) return;
        expect(told.check).to.include({ title: check.title, condition: check.condition });
        expect(told.check['rules']).to.deep.equal(check.rules.map((rule) => rule.text));
        expect(told.check['description']).to.equal(check.description);
      }),
      { numRuns: 200 },
    );
  });

  it('of scans fit, too', () => {
    fc.assert(
      fc.property(policies, fc.array(fc.constantFrom('passed', 'failed', 'na')), (policy, results) => {
        const scan = { policy, fileHash: 'f', scanId: 1, started: 2, ended: 3, results };
        const { text: message } = summaryMessage(scan, 'force_alert');
        expect(Buffer.byteLength(message)).to.be.at.most(MOST_BYTES);
        const told = JSON.parse(message) as Record<string, unknown>;
        expect(told).to.include({ policy_id: policy.id, total_checks: results.length, force_alert: '1' });
      }),
      { numRuns: 100 },
    );
  });
});
