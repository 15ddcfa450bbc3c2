import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { Registry } from '../../../../daemons/db/registry.js';
import { BusError } from '../../../../lib/bus/bus-error.js';
import { callRegistry } from '../../../support/db/registry-calls.js';

const NOW = 1_795_000_000;
const GROUPS = ['web', 'db', 'mail'];
const AGENTS = ['001', '002', '003'];
/** What callers are prepared for: another was faster. */
const EXPECTED = new Set(['group_exists', 'unknown_group', 'agent_exists', 'unknown_agent']);

const names = fc.subarray(GROUPS);
const calls = fc.oneof(
  fc.record({ method: fc.constant('groups.create' as const), params: fc.record({ name: fc.constantFrom(...GROUPS) }) }),
  fc.record({ method: fc.constant('groups.remove' as const), params: fc.record({ names }) }),
  fc.record({
    method: fc.constant('agents.membership' as const),
    params: fc.record({
      mode: fc.constantFrom('append', 'override', 'remove'),
      agents: fc.array(fc.record({ id: fc.constantFrom(...AGENTS), groups: fc.subarray(GROUPS, { minLength: 1 }) }), {
        maxLength: 3,
      }),
    }),
  }),
  fc.record({ method: fc.constant('agents.remove' as const), params: fc.record({ ids: fc.subarray(AGENTS) }) }),
  fc.record({
    method: fc.constant('agents.register' as const),
    params: fc.record({
      id: fc.constantFrom(...AGENTS),
      name: fc.constant('box'),
      dateAdd: fc.constant(NOW),
      groups: fc.subarray(GROUPS, { minLength: 1 }),
    }),
  }),
);

type Item = { id: string; group?: string[] };

describe('groups changed by several at once', () => {
  let directory: string;
  let registry: Registry;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'svc-db-'));
    registry = await Registry.open(directory, () => {});
    await registry.ensureDefaultGroup(NOW);
  });
  afterEach(async () => {
    await registry.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const now = () => NOW * 1000;
  const state = async () => ({
    agents: (await callRegistry(registry, now, 'agents.list', {})).items as Item[],
    groups: (await callRegistry(registry, now, 'groups.list', {})).groups,
  });

  it('are the same in memory and on the disk, with no agent in a group that is gone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(calls, { maxLength: 30 }), async (together) => {
        const outcomes = await Promise.allSettled(
          together.map(({ method, params }) => callRegistry(registry, now, method, params)),
        );
        for (const outcome of outcomes) {
          if (outcome.status === 'fulfilled') continue;
          const reason: unknown = outcome.reason;
          expect(reason).to.be.instanceOf(BusError);
          expect(EXPECTED).to.include((reason as BusError).code);
        }
        const found = await state();
        const counts = new Map(found.groups.map(({ name }) => [name, 0]));
        expect([...counts.keys()]).to.include('default');
        for (const { group = [] } of found.agents) {
          expect(group).to.not.have.lengthOf(0);
          for (const name of group) {
            expect(counts.has(name), name).to.equal(true);
            counts.set(name, (counts.get(name) ?? 0) + 1);
          }
        }
        expect(found.groups).to.deep.equal([...counts].map(([name, count]) => ({ name, count })));
        await registry.close();
        registry = await Registry.open(directory, () => {});
        expect(await state()).to.deep.equal(found);
      }),
      { numRuns: 60 },
    );
  }).timeout(60_000);
});
