import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { AgentSet } from '../../../../daemons/db/agent-set.js';
import { ensureManagerAgent } from '../../../../daemons/db/manager-agent.js';
import { MembershipLog } from '../../../../daemons/db/membership-log.js';
import { Registry } from '../../../../daemons/db/registry.js';
import { type MembershipMark, readMemberships } from '../../../../daemons/remoted/push/read-memberships.js';
import type { CallParams } from '../../../../lib/bus/contract.js';
import type { dbContract } from '../../../../lib/bus/contracts/db.js';
import { LmdbStore } from '../../../../lib/store/lmdb-store.js';
import { encodeValue } from '../../../../lib/store/store-table.js';
import { callRegistry, type RegistryMethod } from '../../../support/db/registry-calls.js';

const NOW = 1_795_000_000;
const GROUPS = ['default', 'web', 'db'];
const SUMS = ['a', 'b'].map((digit) => digit.repeat(32));

type Item = { id: string; group?: string[]; mergedSum?: string; status: string; group_config_status: string };

const ids = fc.integer({ min: 1, max: 9 }).map((id) => `00${id}`);
const lists = fc.subarray(GROUPS, { minLength: 1 }).chain((names) => fc.shuffledSubarray(names, { minLength: 1 }));
const sums = fc.constantFrom(...SUMS);
const changes = fc.oneof(
  fc.record({ kind: fc.constant('register' as const), id: ids, groups: fc.oneof(lists, fc.constant<string[]>([])) }),
  fc.record({ kind: fc.constant('keepalive' as const), id: ids, sum: fc.option(sums), short: fc.boolean() }),
  fc.record({
    kind: fc.constant('membership' as const),
    id: ids,
    groups: lists,
    mode: fc.constantFrom('append', 'override', 'empty_only', 'remove'),
  }),
  fc.record({ kind: fc.constant('remove' as const), id: ids }),
  fc.record({ kind: fc.constant('disconnect' as const), id: ids }),
  fc.record({ kind: fc.constant('ungroup' as const), name: fc.constantFrom('web', 'db') }),
  fc.record({ kind: fc.constant('sums' as const), sums: fc.array(fc.record({ groups: lists, md5: sums })) }),
  fc.constant({ kind: 'reopen' as const }),
);
type Change = typeof changes extends fc.Arbitrary<infer T> ? T : never;
/** Changes, and others that come between the pages of the reading that follows. */
const rounds = fc.array(fc.tuple(fc.array(changes, { maxLength: 8 }), fc.array(changes, { maxLength: 3 })), {
  maxLength: 6,
});

describe('memberships of agents', () => {
  let directory: string;
  let registry: Registry;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'svc-db-'));
    await open(new AgentSet());
  });
  afterEach(async () => {
    await registry.close();
    rmSync(directory, { recursive: true, force: true });
  });

  async function open(agents: AgentSet): Promise<void> {
    registry = await Registry.open(directory, () => {}, agents);
    await registry.ensureDefaultGroup(NOW);
    await ensureManagerAgent(registry, 'manager1', 'node01', NOW);
  }
  const call = <M extends RegistryMethod>(method: M, params: CallParams<typeof dbContract, M>) =>
    callRegistry(registry, () => NOW * 1000, method, params);
  const table = async () => (await call('agents.list', {})).items as Item[];
  const statusOf = async (id: string) => (await table()).find((item) => item.id === id)?.group_config_status;

  /** What is told to svc-db, and the little of it that decides on the status. */
  class Course {
    readonly reported = new Map<string, string | undefined>();
    merged = new Map<string, string>();
    readonly mirror = new Map<string, readonly string[]>();
    mark: MembershipMark | undefined;

    async apply(change: Change): Promise<void> {
      if (change.kind === 'register') {
        if (registry.agents.get(Number(change.id)) !== undefined) return;
        await this.#groups(change.groups);
        await call('agents.register', { id: change.id, name: change.id, dateAdd: NOW, groups: change.groups });
      } else if (change.kind === 'keepalive') {
        const changed = change.short ? {} : { changes: { mergedSum: change.sum } };
        const { unknown } = await call('agents.keepalives', { agents: [{ id: change.id, at: NOW, ...changed }] });
        if (unknown.length > 0) return;
        const sum = change.short ? this.reported.get(change.id) : (change.sum ?? undefined);
        this.reported.set(change.id, sum);
      } else if (change.kind === 'membership') {
        await this.#groups(change.groups);
        await call('agents.membership', { mode: change.mode, agents: [{ id: change.id, groups: change.groups }] });
      } else if (change.kind === 'remove') {
        await call('agents.remove', { ids: [change.id] });
        this.reported.delete(change.id);
      } else if (change.kind === 'disconnect') {
        if (this.reported.has(change.id)) {
          await call('agents.status', { agents: [{ id: change.id, status: 'disconnected' }] });
        }
      } else if (change.kind === 'ungroup') {
        await call('groups.remove', { names: [change.name] });
      } else if (change.kind === 'sums') {
        const next = new Map(change.sums.map(({ groups, md5 }) => [groups.join(','), md5]));
        const keys = new Set([...next.keys(), ...this.merged.keys()]);
        const changed = [...keys].filter((key) => next.get(key) !== this.merged.get(key)).length;
        expect(await call('groups.sums', { sums: change.sums })).to.deep.equal({ changed });
        this.merged = next;
      } else {
        await registry.close();
        await open(new AgentSet(new MembershipLog(5)));
      }
    }

    /** Reads in pages of two agents, with changes between them. */
    async read(between: readonly Change[]): Promise<void> {
      const pending = [...between];
      const { mark, full, agents } = await readMemberships(async (params) => {
        if (params.after !== undefined) {
          const next = pending.shift();
          if (next !== undefined) await this.apply(next);
        }
        return call('agents.memberships', { ...params, limit: 2 });
      }, this.mark);
      this.mark = mark;
      if (full) this.mirror.clear();
      for (const { id, groups } of agents) {
        if (groups.length === 0) this.mirror.delete(id);
        else this.mirror.set(id, groups);
      }
    }

    async #groups(names: readonly string[]): Promise<void> {
      for (const name of names) if (!registry.groups.has(name)) await call('groups.create', { name });
    }

    statusOf({ id, group = [] }: Item): string {
      if (!this.reported.has(id)) return 'not synced';
      const sum = this.merged.get(group.join(','));
      if (sum !== undefined) return sum === this.reported.get(id) ? 'synced' : 'not synced';
      const isAwaited = group.length > 1 && group.every((name) => this.merged.has(name));
      return isAwaited ? 'not synced' : 'synced';
    }
  }

  it('give the status of a plain model, and deltas the table, after any course of changes', async () => {
    await fc.assert(
      fc.asyncProperty(rounds, async (course) => {
        await registry.close();
        rmSync(directory, { recursive: true, force: true });
        await open(new AgentSet(new MembershipLog(5)));
        const model = new Course();
        for (const [steps, between] of course) {
          for (const step of steps) await model.apply(step);
          await model.read(between);
          await model.read([]);
          const items = (await table()).filter(({ id }) => id !== '000');
          const withGroups = items.flatMap(({ id, group }) => (group === undefined ? [] : [[id, group] as const]));
          expect(new Map([...model.mirror].sort())).to.deep.equal(new Map(withGroups));
          for (const item of items) expect(item.group_config_status, item.id).to.equal(model.statusOf(item));
          const synced = items.filter((item) => model.statusOf(item) === 'synced').map(({ id }) => id);
          expect((await call('agents.summary', {})).configuration.synced).to.equal(synced.length);
          const filtered = await call('agents.ids', { group_config_status: 'synced', q: 'id!=000' });
          expect(filtered.ids).to.deep.equal(synced);
          const sorted = (await call('agents.list', { sort: 'group_config_status' })).items as Item[];
          const words = sorted.map((item) => item.group_config_status);
          expect(words).to.deep.equal([...words].sort());
        }
      }),
      { numRuns: 40 },
    );
  }).timeout(120_000);

  it('are answered whole when the mark is of another process, too old or made up', async () => {
    await openWith(3);
    const all = await call('agents.memberships', {});
    expect(all).to.deep.include({ full: true, more: false });
    expect(all.agents).to.deep.equal([
      { id: '001', groups: ['default'] },
      { id: '002', groups: ['default'] },
      { id: '003', groups: ['default'] },
    ]);
    const { epoch, version } = all;
    await call('agents.remove', { ids: ['002'] });
    expect(await call('agents.memberships', { since: { epoch, version } })).to.deep.equal({
      epoch,
      version: version + 1,
      full: false,
      more: false,
      agents: [{ id: '002', groups: [] }],
    });
    const isFull = async (since: MembershipMark) => (await call('agents.memberships', { since })).full;
    expect(await isFull({ epoch: 'other', version })).to.equal(true);
    expect(await isFull({ epoch, version: version + 2 })).to.equal(true);
    for (let index = 0; index < 9; index += 1) {
      await call('agents.register', { id: '002', name: 'again', dateAdd: NOW });
      await call('agents.remove', { ids: ['002'] });
    }
    expect(await isFull({ epoch, version })).to.equal(true);
    await registry.close();
    await open(new AgentSet());
    expect(await isFull({ epoch, version })).to.equal(true);
  });

  /** A registry with this many agents that remembers five changes. */
  async function openWith(count: number): Promise<void> {
    await registry.close();
    await open(new AgentSet(new MembershipLog(5)));
    for (let id = 1; id <= count; id += 1) await call('agents.register', { id: `00${id}`, name: 'x', dateAdd: NOW });
  }

  it('decide on the status at once, of connected and disconnected agents, and over a restart', async () => {
    await openWith(3);
    const sum = SUMS[0]!;
    await call('agents.keepalives', {
      agents: [
        { id: '001', at: NOW, changes: { mergedSum: sum } },
        { id: '002', at: NOW, changes: { mergedSum: 'x' } },
      ],
    });
    await call('agents.status', { agents: [{ id: '002', status: 'disconnected' }] });
    expect(await Promise.all(['000', '001', '002', '003'].map(statusOf))).to.deep.equal([
      'synced',
      'synced',
      'synced',
      'not synced',
    ]);
    expect(await call('groups.sums', { sums: [{ groups: ['default'], md5: sum }] })).to.deep.equal({ changed: 1 });
    const decided = ['synced', 'synced', 'not synced', 'not synced'];
    expect(await Promise.all(['000', '001', '002', '003'].map(statusOf))).to.deep.equal(decided);
    await registry.close();
    await open(new AgentSet());
    expect(await Promise.all(['000', '001', '002', '003'].map(statusOf))).to.deep.equal(decided);
    expect(await call('groups.sums', { sums: [{ groups: ['default'], md5: sum }] })).to.deep.equal({ changed: 0 });
  });

  it('are as before when the disk does not take new sums', async () => {
    await openWith(1);
    await call('agents.keepalives', { agents: [{ id: '001', at: NOW, changes: { mergedSum: SUMS[0] } }] });
    await call('groups.sums', { sums: [{ groups: ['default'], md5: SUMS[0]! }] });
    await registry.close();
    const refused: unknown = await call('groups.sums', { sums: [{ groups: ['default'], md5: SUMS[1]! }] }).catch(
      (error: unknown) => error,
    );
    expect(refused).to.have.property('code', 'disk_failed');
    expect(await statusOf('001')).to.equal('synced');
  });

  it('load agents that were stored with a status', async () => {
    await registry.close();
    const store = await LmdbStore.open({ directory, tables: ['agents', 'keepalives', 'labels', 'groups'] });
    const record = { name: 'old', registerIP: 'any', nodeName: 'unknown', dateAdd: NOW, groups: ['default'] };
    const state = { status: 'active', statusCode: 0, disconnectionTime: 0, groupConfigStatus: 'not synced' };
    await store.commit([{ table: 'agents', key: 7, value: encodeValue({ ...record, ...state }) }]);
    await store.close();
    await open(new AgentSet());
    expect(await statusOf('007')).to.equal('synced');
  });
});
