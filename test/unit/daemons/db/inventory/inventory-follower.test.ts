import { expect } from 'chai';
import fc from 'fast-check';
import { LmdbStore } from '../../../../../lib/store/lmdb-store.js';
import { InventoryKit } from '../../../../support/inventory/inventory-kit.js';
import { delta, packageRow, state } from '../../../../support/inventory/inventory-messages.js';

type Copy = Map<string, Record<string, string | number>>;

describe('Following the store of inventories', () => {
  let kit: InventoryKit;
  beforeEach(async () => {
    kit = await InventoryKit.open();
  });
  afterEach(() => kit.close());

  /** One who keeps a copy as `inventory.follow` says. */
  class Follower {
    copy: Copy = new Map();
    #name = '';
    #number = 0;
    #begun = 0;

    async begin(): Promise<void> {
      this.#begun += 1;
      this.#name = `copy-${String(this.#begun)}`;
      ({ number: this.#number } = await kit.handlers['inventory.follow']({ follower: this.#name }));
      this.copy = new Map();
      for (const agent of kit.known) {
        for (let after: Buffer | undefined; ;) {
          const params = { agent, table: 'packages', limit: 2, ...(after && { after }) };
          const { rows } = await kit.handlers['inventory.rows'](params);
          for (const { key, row } of rows) this.copy.set(`${agent} ${Buffer.from(key).toString()}`, row);
          const last = rows.at(-1);
          if (last === undefined) break;
          after = Buffer.from(last.key);
        }
      }
    }

    /** @returns whether there was something */
    async look(limit = 3): Promise<boolean> {
      const params = { follower: this.#name, after: this.#number, limit };
      const { again, changes } = await kit.handlers['inventory.changes'](params);
      if (again) {
        await this.begin();
        return true;
      }
      for (const { kind, agent, table, key, row, number } of changes) {
        const name = `${agent} ${Buffer.from(key ?? []).toString()}`;
        if (kind === 'row' && row !== undefined) this.copy.set(name, row);
        else if (kind === 'row') this.copy.delete(name);
        else if (kind === 'removed' || table === 'packages') this.#drop(agent);
        this.#number = number;
      }
      return changes.length > 0;
    }

    async catchUp(): Promise<void> {
      while (await this.look());
    }

    #drop(agent: string): void {
      for (const name of this.copy.keys()) if (name.startsWith(`${agent} `)) this.copy.delete(name);
    }
  }

  const stored = async (): Promise<string[]> => {
    const { items } = await kit.list('packages', 'all', { limit: 1000 });
    return items.map(({ agent_id, name, vendor }) => [agent_id, name, vendor].join(' ')).sort();
  };
  const copied = (copy: Copy): string[] =>
    [...copy].map(([id, { name, vendor }]) => [id.slice(0, 3), name, vendor].join(' ')).sort();

  it('copies what there is, then what changes, in order', async () => {
    await kit.events('001', delta('packages', 'INSERTED', packageRow('old')));
    const follower = new Follower();
    await follower.begin();
    expect(copied(follower.copy)).to.deep.equal(await stored());
    await kit.events(
      '001',
      delta('packages', 'INSERTED', packageRow('new')),
      delta('packages', 'DELETED', packageRow('old')),
    );
    await kit.sync('002', state('packages', packageRow('other')));
    await follower.catchUp();
    expect(copied(follower.copy)).to.deep.equal(await stored());
    expect(follower.copy.size).to.equal(2);
  });

  it('is not told of a row that was scanned again and says the same', async () => {
    const follower = new Follower();
    await kit.sync('001', state('packages', packageRow('one')));
    await follower.begin();
    await kit.sync('001', state('packages', packageRow('one'), '2026/11/22 08:00:00'));
    expect(await follower.look()).to.equal(false);
    expect((await kit.list('packages', ['001'])).items[0]).to.deep.include({
      scan: { id: 0, time: '2026/11/22 08:00:00' },
    });
  });

  it('is told of a first row with its values, also when it asks before the store knows that it is on the disk', async () => {
    const follower = 'soon';
    const { number: after } = await kit.handlers['inventory.follow']({ follower });
    const look = () => kit.handlers['inventory.changes']({ follower, after, limit: 10 });
    const { commit } = LmdbStore.prototype;
    let early: Awaited<ReturnType<typeof look>> | undefined;
    LmdbStore.prototype.commit = async function (...changes) {
      await commit.apply(this, changes);
      early = await look();
    };
    try {
      await kit.events('001', delta('packages', 'INSERTED', packageRow('one')));
    } finally {
      LmdbStore.prototype.commit = commit;
    }
    const { changes } = await look();
    expect(changes.map(({ row }) => row?.['name'])).to.deep.equal(['one']);
    // Told late is right; told as gone is not, for nobody would tell it again.
    expect(early?.changes.filter(({ row }) => row === undefined)).to.deep.equal([]);
  });

  it('begins anew when another one followed, and costs nothing when nobody does', async () => {
    const follower = new Follower();
    await follower.begin();
    await kit.handlers['inventory.unfollow']({});
    await kit.events('001', delta('packages', 'INSERTED', packageRow('one')));
    expect(kit.database.stats()).to.deep.include({ follower: { waiting: null } });
    expect(copied(follower.copy)).to.deep.equal([]);
    await follower.catchUp();
    expect(copied(follower.copy)).to.deep.equal(await stored());
  });

  const agent = fc.constantFrom('001', '002');
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  const step = fc.oneof(
    fc.record({
      do: fc.constantFrom('INSERTED', 'MODIFIED', 'DELETED', 'state'),
      agent,
      name,
      vendor: fc.nat({ max: 3 }),
    }),
    fc.record({ do: fc.constantFrom('clear', 'forget', 'unfollow'), agent }),
    fc.record({ do: fc.constantFrom('look', 'reopen') }),
  );
  it('has an equal copy in the end, whatever happens in between', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const follower = new Follower();
        await kit.database.forget([...kit.known]);
        await follower.begin();
        for (const each of steps) {
          if (each.do === 'look') {
            await follower.look();
          } else if (each.do === 'reopen') {
            await kit.reopen();
          } else if (!('agent' in each)) {
            continue;
          } else if (each.do === 'unfollow') {
            await kit.handlers['inventory.unfollow']({});
          } else if (each.do === 'forget') {
            await kit.database.forget([each.agent]);
          } else if (each.do === 'clear') {
            const clear = { component: 'syscollector_packages', data: { id: 1 }, type: 'integrity_clear' };
            await kit.sync(each.agent, JSON.stringify(clear));
          } else if ('name' in each) {
            const row = packageRow(each.name, { vendor: `v${String(each.vendor)}` });
            if (each.do === 'state') await kit.sync(each.agent, state('packages', row));
            else await kit.events(each.agent, delta('packages', each.do, row));
          }
        }
        await follower.catchUp();
        expect(copied(follower.copy)).to.deep.equal(await stored());
      }),
      { numRuns: 60 },
    );
  });
});
