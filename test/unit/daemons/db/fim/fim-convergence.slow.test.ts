import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { toByteString } from '../../../../../lib/engine/byte-string.js';
import { bytesOf } from '../../../../../lib/fim/byte-order.js';
import { FimKit } from '../../../../support/syscheckd/fim-kit.js';
import { type SyncEntry, SyncingAgent } from '../../../../support/syscheckd/syncing-agent.js';

const ROUNDS = 3;

/** Few different names as byte strings: some of them no UTF-8, in some bytes and UTF-16 are ordered differently. */
const path = fc
  .array(fc.constantFrom('a', 'B', '/', "'", '"', '%', 'é', '\uffee', '\u{1f600}', ' ', '\\', '\u00ff'), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => `/${parts.map((part) => (part === '\u00ff' ? part : toByteString(part))).join('')}`);
const content = fc.integer({ min: 0, max: 2 });
const table = fc.uniqueArray(fc.tuple(path, content), { selector: ([name]) => name, maxLength: 40 });

function entries(rows: readonly (readonly [string, number])[]): SyncEntry[] {
  return rows.map(([name, version]) => ({
    path: name,
    checksum: createHash('sha1')
      .update(`${name}${String(version)}`)
      .digest('hex'),
  }));
}

describe('Synchronisation of any two tables', () => {
  let kit: FimKit;
  beforeEach(async () => {
    kit = await FimKit.open();
  });
  afterEach(() => kit.close());

  /** Rounds until one is not answered. @returns messages of the agent in it */
  async function round(agent: SyncingAgent, id: number): Promise<number> {
    const messages = [await agent.start(id)];
    let sent = 0;
    for (let next = messages.shift(); next !== undefined; next = messages.shift()) {
      sent += 1;
      const order = await kit.sync('001', bytesOf(next));
      if (order !== undefined) messages.push(...(await agent.answer(order)));
    }
    return sent;
  }

  const stored = (): SyncEntry[] => [...kit.rows('001')].map(([name, { checksum }]) => ({ path: name, checksum }));

  it('makes the manager have what the agent has', async () => {
    let id = 1;
    const property = fc.asyncProperty(table, table, async (before, after) => {
      await round(new SyncingAgent(entries(before)), id++);
      const agent = new SyncingAgent(entries(after));
      let rounds = 0;
      while ((await round(agent, id++)) > 1) {
        rounds += 1;
        expect(rounds).to.be.lessThan(ROUNDS);
      }
      const expected = entries(after).sort((one, other) => Buffer.compare(bytesOf(one.path), bytesOf(other.path)));
      expect(stored()).to.deep.equal(expected);
      const { managerChecksum, agentChecksum, lastAttempt, lastCompletion } =
        kit.database.syncInfo('001', 'fim_file') ?? {};
      expect(managerChecksum).to.equal(agentChecksum);
      expect(lastCompletion).to.equal(lastAttempt);
    });
    await fc.assert(property, { numRuns: 60 });
    expect(kit.database.counters.refused.malformed).to.equal(0);
  });

  it('finds one entry among thousands with few messages', async () => {
    const rows = Array.from({ length: 5000 }, (_none, index): [string, number] => [
      `/usr/lib/file-${String(index).padStart(5, '0')}`,
      0,
    ]);
    expect(await round(new SyncingAgent(entries(rows)), 1)).to.equal(1 + rows.length);
    const changed = rows.map(([name, version], index): [string, number] => [name, index === 3210 ? 1 : version]);
    const agent = new SyncingAgent(entries(changed));
    expect(await round(agent, 2)).to.be.lessThan(2 * Math.ceil(Math.log2(rows.length)) + 3);
    expect(await round(agent, 3)).to.equal(1);
    expect(kit.changes('001')['/usr/lib/file-03210']).to.equal(2);
    expect(kit.changes('001')['/usr/lib/file-03211']).to.equal(1);
  }).timeout(60_000);
});
