import { expect } from 'chai';
import fc from 'fast-check';
import { policiesMessage, PolicyScan, type Results, ScaKit } from '../../../../support/db/sca-kit.js';

describe('The store of policies', () => {
  let kit: ScaKit;
  beforeEach(async () => {
    kit = await ScaKit.open();
  });
  afterEach(() => kit.close());

  it('bounds what an agent can have stored', async () => {
    const scans = Array.from({ length: 70 }, (_none, index) => new PolicyScan(`p${index}`, 1, { 1: 'passed' }));
    await kit.take('001', ...scans.map((scan) => scan.summary()));
    expect((await kit.policies()).total).to.equal(64);
    const many: Results = Object.fromEntries(Array.from({ length: 4100 }, (_none, index) => [index, 'passed']));
    const scan = new PolicyScan('p0', 1, many);
    await kit.take('001', ...scan.checks().slice(0, 2048));
    await kit.take('001', ...scan.checks().slice(2048));
    expect((await kit.checks({ policy: 'p0' })).total).to.equal(4096);
    const long = new PolicyScan('p1', 1, {});
    const texts = Array.from({ length: 140 }, (_none, id) =>
      long.check(id, { result: 'passed', description: String(id).padEnd(60_000, 'x') }),
    );
    await kit.take('001', ...texts);
    expect((await kit.checks({ policy: 'p1' })).total).to.equal(139);
    expect(kit.database.counters.refused).to.deep.include({ too_many_policies: 6, too_many_checks: 4 + 1 });
  });

  it('comes to the same with calls of any size, told twice or not', async () => {
    const agent = fc.constantFrom('001', '002');
    const results = fc.dictionary(
      fc.constantFrom('1', '2', '3'),
      fc.constantFrom('passed' as const, 'failed' as const, 'not applicable' as const),
      { minKeys: 1 },
    );
    const scan = fc
      .record({
        id: fc.constantFrom('a', 'b'),
        number: fc.integer({ min: 1, max: 3 }),
        results,
        file: fc.constantFrom('x', 'y'),
      })
      .map(({ id, number, results: told, file }) => new PolicyScan(id, number, told, file));
    const messages = fc.oneof(
      scan.map((one) => [one.summary()]),
      scan.map((one) => one.checks()),
      scan.map((one) => [one.dumpEnd()]),
      scan.map((one) => [one.summary({ first_scan: 1 }), ...one.dump()]),
      fc.subarray(['a', 'b']).map((left) => [policiesMessage(...left)]),
    );
    const steps = fc.array(fc.tuple(agent, messages, fc.boolean()), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(steps, async (told) => {
        const [one, other] = [await ScaKit.open(), await ScaKit.open()];
        try {
          await one.apply(told.flatMap(([who, texts]) => one.operations(who, texts)));
          for (const [who, texts, again] of told) {
            const operations = other.operations(who, texts);
            await Promise.all(again ? [other.apply(operations), other.apply(operations)] : [other.apply(operations)]);
          }
          for (const who of ['001', '002']) {
            const { items } = await other.policies({ agent: who });
            expect(items).to.deep.equal((await one.policies({ agent: who })).items);
            for (const policy of ['a', 'b']) {
              expect(await other.checks({ agent: who, policy })).to.deep.equal(
                await one.checks({ agent: who, policy }),
              );
            }
          }
          expect(await one.wrongUses()).to.be.empty;
          expect(await other.wrongUses()).to.be.empty;
          const { policies, checks } = await other.sizes();
          expect(other.database.stats()).to.deep.include({ policies, checks });
        } finally {
          await one.close();
          await other.close();
        }
      }),
      { numRuns: 25 },
    );
  });
});
