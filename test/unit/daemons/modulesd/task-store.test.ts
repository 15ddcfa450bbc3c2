import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { TaskRecord } from '../../../../daemons/modulesd/tasks/task-record.js';
import { TaskStore, TooManyTasksError } from '../../../../daemons/modulesd/tasks/task-store.js';

const RECORD: TaskRecord = {
  agent: '001',
  node: 'node01',
  module: 'upgrade_module',
  command: 'upgrade',
  status: 'Pending',
  created: 100,
  updated: 100,
  error: '',
  work: { path: 'x.wpk', installer: 'upgrade.sh', version: 'v4.14.7', phase: 'sending', attempts: 0 },
};

describe('the store of tasks', () => {
  let directory: string;
  let store: TaskStore;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'svc-tasks-'));
    store = await TaskStore.open(directory, 4);
  });
  afterEach(async () => {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const add = (...agents: string[]) => store.add(agents.map((agent) => ({ ...RECORD, agent })));
  const ids = (filter = {}, after = 0, limit = 10) => store.list(filter, after, limit).tasks.map(({ id }) => id);
  async function again(): Promise<void> {
    await store.close();
    store = await TaskStore.open(directory, 4);
  }

  it('keeps tasks and their states over a restart, and never gives an id twice', async () => {
    await add('001', '002');
    await store.change(2, { status: 'Failed', updated: 150, error: 'why' });
    await again();
    expect(store.get(1)).to.deep.equal({ ...RECORD, id: 1 });
    expect(store.get(2)).to.deep.include({ status: 'Failed', updated: 150, error: 'why' });
    expect(store.unfinished.map(({ id }) => id)).to.deep.equal([1]);
    await store.change(1, { status: 'Done' });
    expect(await store.forgetOlder(101)).to.equal(2);
    await again();
    expect([store.size, store.lastOf('001')]).to.deep.equal([0, undefined]);
    expect((await add('001'))[0]?.id).to.equal(3);
    expect(store.lastOf('001')?.id).to.equal(3);
  });

  it('lists by filters without case, page by page', async () => {
    await add('001', '002', '001');
    await store.change(2, { status: 'In progress' });
    expect(ids()).to.deep.equal([1, 2, 3]);
    expect(ids({ status: 'in PROGRESS', command: 'upgrade', node: 'NODE01' })).to.deep.equal([2]);
    expect(ids({ agents: ['001'] })).to.deep.equal([1, 3]);
    expect(ids({ tasks: [3, 9], module: 'upgrade_module' })).to.deep.equal([3]);
    expect(ids({ module: 'other' })).to.deep.equal([]);
    expect(store.list({}, 0, 2).more).to.equal(true);
    expect(store.list({}, 1, 2)).to.deep.include({ more: false });
    expect(ids({}, 1, 1)).to.deep.equal([2]);
  });

  it('forgets the oldest finished ones where there is no room, and what is unfinished never', async () => {
    await add('001', '002', '003');
    await store.change(2, { status: 'Timeout' });
    await add('004', '005');
    expect(ids()).to.deep.equal([1, 3, 4, 5]);
    const refused = await add('006').catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(TooManyTasksError);
    expect(await store.forgetOlder(1000)).to.equal(0);
    expect(ids()).to.deep.equal([1, 3, 4, 5]);
  });
});
