import { expect } from 'chai';
import type { AgentStore } from '../../../../../daemons/db/forgetting.js';
import { RowHandover } from '../../../../../daemons/db/handover/row-handover.js';
import { BusError } from '../../../../../lib/bus/bus-error.js';
import { handoverMethods } from '../../../../../lib/bus/contracts/db-handover.js';
import { decodeMessage, encodeMessage } from '../../../../../lib/bus/message-codec.js';
import { PolicyScan, ScaKit } from '../../../../support/db/sca-kit.js';
import { InventoryKit } from '../../../../support/inventory/inventory-kit.js';
import { delta, packageRow } from '../../../../support/inventory/inventory-messages.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';
import { fileAttributes, fimEvent, FimKit } from '../../../../support/syscheckd/fim-kit.js';

/** The stores of a node. */
class Node {
  readonly own = new Set<string>(['001']);
  readonly handover: RowHandover;
  /** Who is asked. */
  from: Node | undefined;
  /** Of whatever agent. */
  agentName = 'web1';

  private constructor(
    readonly files: FimKit,
    readonly inventory: InventoryKit,
    readonly policies: ScaKit,
  ) {
    this.handover = new RowHandover({
      stores: {
        files: files.database.handover,
        inventory: inventory.database.handover,
        policies: policies.database.handover,
      },
      all: this.stores,
      isOwn: (agent) => this.own.has(agent),
      nameOf: () => this.agentName,
      ask: async (_node, params) => {
        if (this.from === undefined) throw new BusError('node_away', 'it is not heard');
        return Promise.resolve(this.from.answer(params));
      },
      log: new RecordingLogger().limited(),
    });
  }

  static async open(): Promise<Node> {
    return new Node(await FimKit.open(), await InventoryKit.open(), await ScaKit.open());
  }

  get stores(): readonly AgentStore[] {
    return [this.files.database, this.inventory.database, this.policies.database];
  }

  answer(params: unknown): unknown {
    const { params: asked, result } = handoverMethods['agents.rows'];
    const page = this.handover.page(asked.parse(decodeMessage(encodeMessage(params))));
    return decodeMessage(encodeMessage(result.parse(page)));
  }

  async close(): Promise<void> {
    await this.handover.stop();
    await Promise.all([this.files.close(), this.inventory.close(), this.policies.close()]);
  }

  async fetch(): Promise<void> {
    this.handover.fetch('001', 'a');
    await this.handover.idle();
  }

  get paths(): string[] {
    return [...this.files.rows('001').keys()];
  }

  async packages(): Promise<unknown[]> {
    return (await this.inventory.list('packages', ['001'], { limit: 10_000 })).items.map(({ name }) => name);
  }
}

describe('rows of agents that move between nodes', function () {
  this.timeout(30_000);
  let [a, b] = [] as unknown as [Node, Node];
  const scan = new PolicyScan('demo', 7, { 1: 'passed', 2: 'failed', 3: 'not applicable' });
  const file = (path: string, content = 'one\n') =>
    fimEvent('added', path, fileAttributes({ content, mtime: 1_700_000_000, inode: 1 }));

  beforeEach(async () => {
    [a, b] = [await Node.open(), await Node.open()];
    b.from = a;
    await a.files.events(
      '001',
      Array.from({ length: 2500 }, (_none, index) => file(`/etc/file${String(index)}`)),
    );
    await a.inventory.events(
      '001',
      ...Array.from({ length: 1500 }, (_none, index) =>
        delta('packages', 'INSERTED', packageRow(`package${String(index).padStart(4, '0')}`)),
      ),
    );
    await a.policies.take('001', ...scan.checks(), scan.summary());
  });
  afterEach(async () => {
    await a.close();
    await b.close();
  });

  it('come whole, as if the agent had told them', async () => {
    await b.fetch();
    expect(b.handover.counters).to.include({ agents: 1, failed: 0, rows: 2500 + 1500 + 3 });
    expect(b.files.rows('001').size).to.equal(2500);
    const [one, other] = [a, b].map((node) => node.files.rows('001').get('/etc/file7'));
    expect({ ...other, number: 0 }).to.deep.equal({ ...one, number: 0 });
    expect(await b.packages()).to.deep.equal(await a.packages());
    expect((await b.policies.policies()).items).to.deep.equal((await a.policies.policies()).items);
    expect((await b.policies.checks()).items).to.deep.equal((await a.policies.checks()).items);
    expect(await b.policies.sizes()).to.deep.equal(await a.policies.sizes());
    // The next scan with the same results asks for nothing.
    const next = new PolicyScan('demo', 8, scan.results);
    expect(await b.policies.take('001', next.summary())).to.deep.equal([]);
  });

  it('do not take the place of what the agent has told since', async () => {
    await b.files.events('001', [file('/etc/file7', 'two\n'), file('/etc/new')]);
    const changed = new PolicyScan('demo', 8, { 1: 'failed' });
    await b.policies.take('001', ...changed.checks());
    await b.fetch();
    expect(b.files.rows('001').size).to.equal(2501);
    expect(b.files.rows('001').get('/etc/file7')?.size).to.equal(4);
    expect(b.files.rows('001').get('/etc/file7')?.md5).to.not.equal(a.files.rows('001').get('/etc/file7')?.md5);
    expect((await b.policies.results('001', 'demo'))['1']).to.equal('failed');
  });

  it('go when the agent comes back, before they could be shown', async () => {
    await a.handover.forget(['001', '002']);
    expect([a.paths, await a.packages()]).to.deep.equal([[], []]);
    expect((await a.policies.policies()).items).to.deep.equal([]);
  });

  it('are left to the agent where they cannot be had, are spoilt, or it is elsewhere again', async () => {
    b.from = undefined;
    await b.fetch();
    expect(b.handover.counters).to.include({ agents: 0, failed: 1 });
    b.from = a;
    b.own.clear();
    await b.fetch();
    expect(b.handover.counters).to.include({ agents: 0, failed: 2, rows: 0 });
    b.own.add('001');
    const answer = a.answer.bind(a);
    a.answer = (params) => {
      const page = answer(params) as { rows: { value: Uint8Array }[] };
      for (const row of page.rows) row.value = row.value.subarray(0, 5);
      return page;
    };
    await b.fetch();
    expect(b.handover.counters).to.include({ agents: 0, failed: 3, rows: 0 });
    expect(b.paths).to.deep.equal([]);
  });
});
