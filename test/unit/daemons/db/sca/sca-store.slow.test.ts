import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { AppliedCounters, applyOperations } from '../../../../../daemons/db/rows/apply-operations.js';
import { BatchWriter } from '../../../../../daemons/db/rows/batch-writer.js';
import { DumpOrders } from '../../../../../daemons/db/sca/dump-orders.js';
import { applyEvent } from '../../../../../daemons/db/sca/sca-apply.js';
import { ScaBatch, type ScaMemory } from '../../../../../daemons/db/sca/sca-batch.js';
import { NEW_SCA_STATE, openScaStore, type ScaTables, scaTables } from '../../../../../daemons/db/sca/sca-store.js';
import { StoreError } from '../../../../../lib/store/store-error.js';
import { policiesMessage, PolicyScan, type Results, ScaKit } from '../../../../support/db/sca-kit.js';
import { removeTree } from '../../../../support/remove-tree.js';

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

  it('is whole when the disk does not take some of the transactions, which are made anew', async () => {
    const scans = ['a', 'b'].flatMap((policy) =>
      [1, 2, 3].map(
        (number) => new PolicyScan(policy, number, { 1: number === 2 ? 'failed' : 'passed', [number + 1]: 'passed' }),
      ),
    );
    const messages = scans.flatMap((scan) => [scan.summary(), ...scan.dump(), policiesMessage('a', scan.policyId)]);
    const operations = messages.flatMap((text, index) => kit.operations(index % 3 === 0 ? '002' : '001', [text]));
    await kit.apply(operations);

    const directory = mkdtempSync(join(tmpdir(), 'svc-sca-'));
    const store = await openScaStore(directory);
    try {
      const tables = scaTables(store);
      const memory: ScaMemory = { state: NEW_SCA_STATE };
      let commits = 0;
      const writer = new BatchWriter({
        store: {
          // Every third one: of two on their way, each fails at times, and both succeed at times.
          commit: (changes) =>
            commits++ % 3 === 0 ? Promise.reject(new StoreError('full', 'full')) : store.commit(changes),
        },
        begin: (before: ScaBatch | undefined) => new ScaBatch(tables, memory, before),
        setProblem: () => {},
        what: 'x',
      });
      const orders = new DumpOrders();
      const write = (from: number, after?: number): Promise<number> =>
        writer.write((batch) =>
          applyOperations(
            batch,
            { journal: 'one', operations: operations.slice(from, from + 3), upTo: from + 3, after },
            (operation) => applyEvent(batch, operation, orders, { onGivenUp: () => {} }) === undefined,
            new AppliedCounters(),
          ),
        );
      for (let from = 0; from < operations.length;) {
        // Two on their way at once, as svc-analysisd has them; from where it is stored on after a failure.
        const first = write(from);
        // The second is made on top of the first, which is on its way to the disk by then.
        await Promise.race([first.catch(() => 0), nextTurn()]);
        const calls = await Promise.allSettled([first, write(from + 3, from + 3)]);
        const stored = calls.filter((call) => call.status === 'fulfilled').map(({ value }) => value);
        from = Math.max(from, ...stored);
      }
      expect(commits).to.be.greaterThan(6);
      const contents = ({ policies, checks, definitions, digests }: ScaTables) =>
        [policies, checks, definitions, digests].map((table) =>
          [...table.entries({ from: Buffer.alloc(4), to: Buffer.alloc(64, 0xff) })].map(
            ({ key, value }) => `${key.toString('hex')} ${value.toString('hex')}`,
          ),
        );
      // Nothing of what was dropped is emptied there: the other store empties as it goes.
      await kit.database.emptied();
      for (const [slot] of tables.garbage.entries()) {
        while (!(await writer.write((batch) => batch.emptySlot(slot, 2)).catch(() => false)));
      }
      expect(memory.state).to.deep.equal(kit.database.tables.state.get('state'));
      expect(contents(tables)).to.deep.equal(contents(kit.database.tables));
    } finally {
      await store.close();
      removeTree(directory);
    }
  });
});
