import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { FimBatch } from '../../../../../daemons/db/fim/fim-batch.js';
import { componentKey } from '../../../../../daemons/db/fim/fim-component.js';
import { type FimTables, fimTables, openFimStore } from '../../../../../daemons/db/fim/fim-store.js';
import { BatchWriter } from '../../../../../daemons/db/rows/batch-writer.js';
import { type ComponentMemory, readMemory } from '../../../../../daemons/db/rows/component-store.js';
import type { Change } from '../../../../../lib/store/commit-queue.js';
import type { LmdbStore } from '../../../../../lib/store/lmdb-store.js';
import { StoreError } from '../../../../../lib/store/store-error.js';
import { eventually } from '../../../../support/eventually.js';

const FILES = componentKey('001', 'fim_file');
const PATH = Buffer.from('/etc/demo');

describe('Transactions of files one on top of the other', () => {
  let directory: string;
  let store: LmdbStore;
  let tables: FimTables;
  let memory: ComponentMemory;
  /** Commits that wait to be let through, or refused. */
  let commits: { readonly pass: () => void; readonly refuse: (error: Error) => void }[];
  let problems: (string | undefined)[];
  let writer: BatchWriter<FimBatch>;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'svc-writer-'));
    store = await openFimStore(join(directory, 'fim'));
    tables = fimTables(store);
    memory = readMemory(tables);
    commits = [];
    problems = [];
    const gate = {
      commit: (changes: readonly Change[]) =>
        new Promise<void>((resolve, reject) => {
          commits.push({ pass: () => void store.commit(changes).then(resolve, reject), refuse: reject });
        }),
    };
    writer = new BatchWriter({
      store: gate,
      begin: (before) => new FimBatch(tables, memory, before),
      setProblem: (problem) => problems.push(problem),
      what: 'Files of agents',
    });
  });
  afterEach(async () => {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Counts the file up. @returns how often it was counted, by what the task saw */
  const count = (batch: FimBatch): number => {
    let seen = 0;
    batch.putRow(FILES, PATH, { checksum: `c${String(seen)}`, date: 1, type: 'file' }, (before) => {
      seen = (before?.changes ?? 0) + 1;
      return { changes: seen, ahead: false };
    });
    return seen;
  };
  const outcome = (task: Promise<number>) => task.catch((error: unknown) => (error as { code: string }).code);
  const commitAt = async (index: number) => {
    await eventually(`commit ${String(index)} waits`, () => commits.length > index);
    const commit = commits[index];
    if (commit === undefined) throw new Error('there is none');
    return commit;
  };

  it('makes the next transaction on top of the one that is on its way, and answers when each is on disk', async () => {
    const first = writer.write(count);
    const one = await commitAt(0);
    const order: number[] = [];
    void first.then((value) => order.push(value));
    const others = [writer.write(count), writer.write(count)];
    others.forEach((task) => void task.then((value) => order.push(value)));
    expect(commits.length).to.equal(1);
    one.pass();
    (await commitAt(1)).pass();
    await Promise.all(others);
    expect(order).to.deep.equal([1, 2, 3]);
    expect(commits.length).to.equal(2);
    const record = memory.components.get(17);
    expect(record?.rows).to.equal(1);
    const again = writer.write(count);
    (await commitAt(2)).pass();
    expect(await again).to.equal(4);
    await writer.drained();
  });

  it('lets a transaction fail with the one below it, and goes on from what is on disk', async () => {
    const first = writer.write(count);
    (await commitAt(0)).pass();
    await first;
    const failing = [outcome(writer.write(count))];
    const commit = await commitAt(1);
    failing.push(outcome(writer.write(count)), outcome(writer.write(count)));
    // They are run while the commit is on its way.
    await new Promise((resolve) => setImmediate(resolve));
    commit.refuse(new StoreError('full', 'no space'));
    expect(await Promise.all(failing)).to.deep.equal(['disk_full', 'disk_full', 'disk_full']);
    expect(problems.length).to.equal(1);
    const last = writer.write(count);
    (await commitAt(2)).pass();
    expect(await last).to.equal(2);
    expect(problems.at(-1)).to.equal(undefined);
    expect(writer.counters).to.deep.include({ commits: 2, failedCommits: 1 });
  });

  it('tells what is changed of a component before it is on disk', async () => {
    const versions: number[] = [];
    const look = (batch: FimBatch) => {
      versions.push(batch.version(FILES));
      count(batch);
      versions.push(batch.version(FILES));
      batch.dropComponent(FILES);
      versions.push(batch.version(FILES));
      return 0;
    };
    const tasks = [writer.write(look)];
    const one = await commitAt(0);
    tasks.push(writer.write(look));
    await new Promise((resolve) => setImmediate(resolve));
    one.pass();
    (await commitAt(1)).pass();
    await Promise.all(tasks);
    expect(versions).to.deep.equal([0, 1, 2, 2, 3, 4]);
    expect(memory.versions.get(17)).to.equal(4);
  });
});
