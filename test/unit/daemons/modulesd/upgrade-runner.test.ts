import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Task, TaskRecord } from '../../../../daemons/modulesd/tasks/task-record.js';
import { TaskStore } from '../../../../daemons/modulesd/tasks/task-store.js';
import { AgentUnreachableError } from '../../../../daemons/modulesd/upgrade/send-package.js';
import { MAX_ATTEMPTS } from '../../../../daemons/modulesd/upgrade/upgrade-limits.js';
import {
  type Delivery,
  type DeliveryOutcome,
  UpgradeRunner,
} from '../../../../daemons/modulesd/upgrade/upgrade-runner.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

type Deliver = (task: Task, delivery: Delivery) => Promise<DeliveryOutcome>;

describe('upgrades that are carried out', () => {
  let directory: string;
  let tasks: TaskStore;
  let logger: RecordingLogger;
  let runner: UpgradeRunner;
  let deliver: Deliver;
  let cleared: string[];
  let pauses: number[];
  let now: number;
  let timeout: number;

  const record = (agent: string, given: Partial<TaskRecord> = {}): TaskRecord => ({
    ...{ agent, node: 'n', module: 'upgrade_module', command: 'upgrade', status: 'Pending' },
    ...{ created: now, updated: now, error: '' },
    work: { path: 'x.wpk', installer: 'upgrade.sh', version: 'v4.14.7', phase: 'sending', attempts: 0 },
    ...given,
  });
  const report = (error: number, message = '') =>
    Buffer.from(JSON.stringify({ command: 'upgrade_update_status', parameters: { error, message, status: 'x' } }));
  const becomes = (id: number, status: string) =>
    eventually(`task ${String(id)} is ${status}`, () => tasks.get(id)?.status === status);

  function make(atOnce = 2): void {
    runner = new UpgradeRunner({
      tasks,
      deliver: (task, delivery) => deliver(task, delivery),
      clearResult: (agent) => {
        cleared.push(agent);
        return Promise.resolve();
      },
      logger,
      atOnce,
      timeout: () => timeout,
      now: () => now,
      sleep: (milliseconds) => {
        pauses.push(milliseconds);
        return Promise.resolve();
      },
    });
  }
  async function add(...records: TaskRecord[]): Promise<void> {
    for (const { id } of await tasks.add(records)) runner.add(id);
  }
  /** Until it is broken off. */
  const forever: Deliver = (_task, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    });
  const installs: Deliver = async (_task, { installing }) => {
    await installing();
    return 'told';
  };

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'svc-tasks-'));
    tasks = await TaskStore.open(directory);
    logger = new RecordingLogger();
    deliver = installs;
    cleared = [];
    pauses = [];
    now = 1000;
    timeout = 900;
    make();
  });
  afterEach(async () => {
    await runner.stop();
    await tasks.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('so many at a time', async () => {
    deliver = forever;
    await add(record('001'), record('002'), record('003'));
    await becomes(2, 'In progress');
    expect(runner.counts).to.deep.equal({ sending: 2, waiting: 1 });
    expect(tasks.get(3)?.status).to.equal('Pending');
  });

  it('end with what the agent tells, once', async () => {
    await add(record('001'));
    await eventually('it installs', () => tasks.get(1)?.work.phase === 'installing');
    await runner.report('001', Buffer.from('{"command":"other"}'));
    await runner.report('001', Buffer.from('no JSON'));
    expect([tasks.get(1)?.status, cleared]).to.deep.equal(['In progress', []]);
    await runner.report('001', report(0));
    expect(tasks.get(1)).to.deep.include({ status: 'Done', error: '' });
    await runner.report('001', report(2, 'late'));
    await runner.report('002', report(0));
    expect(tasks.get(1)?.status).to.equal('Done');
    expect(cleared).to.deep.equal(['001', '001', '002']);
    expect(logger.lines).to.include("info: Agent '002' told of an upgrade that nobody waits for.");
  });

  it('end when nothing is told in time, and what is told later still counts', async () => {
    await add(record('001'));
    await eventually('it installs', () => runner.counts.sending === 0 && tasks.get(1)?.work.phase === 'installing');
    now = 1900;
    await runner.expire();
    expect(tasks.get(1)?.status).to.equal('In progress');
    now = 1901;
    await eventually('it is given up', async () => {
      await runner.expire();
      return tasks.get(1)?.status === 'Timeout';
    });
    await runner.report('001', report(2, 'no\nspace'));
    expect(tasks.get(1)).to.deep.include({ status: 'Failed', error: 'no space' });
  });

  it('end when the package cannot be sent in time', async () => {
    timeout = 0.02;
    deliver = forever;
    await add(record('001'));
    await becomes(1, 'Timeout');
    expect(tasks.get(1)?.error).to.equal('the package could not be sent in time');
  });

  it('are begun again when the agent is not reached, some times', async () => {
    let attempts = 0;
    deliver = () => {
      attempts += 1;
      return Promise.reject(new AgentUnreachableError('Cannot send request'));
    };
    await add(record('001'));
    await becomes(1, 'Failed');
    expect(attempts).to.equal(MAX_ATTEMPTS);
    expect(pauses).to.deep.equal([10_000, 20_000, 30_000, 40_000]);
    expect(tasks.get(1)?.error).to.equal('Cannot send request');
  });

  it('are begun again after a stop and are not counted as tried', async () => {
    deliver = forever;
    await add(record('001'));
    await becomes(1, 'In progress');
    await runner.stop();
    expect(tasks.get(1)).to.deep.include({ status: 'Pending' });
    expect(tasks.get(1)?.work.attempts).to.equal(0);
    deliver = installs;
    make();
    await runner.start();
    await eventually('it installs', () => tasks.get(1)?.work.phase === 'installing');
  });

  it('are gone on with after an end at any moment, and not for ever', async () => {
    const work = record('001').work;
    await tasks.add([
      record('001', { status: 'In progress', work: { ...work, attempts: 2 } }),
      record('002', { status: 'In progress', work: { ...work, phase: 'installing', attempts: 1 } }),
      record('003', { status: 'In progress', work: { ...work, attempts: MAX_ATTEMPTS } }),
      record('004', { status: 'Done' }),
    ]);
    const sent: string[] = [];
    deliver = (task, delivery) => {
      sent.push(task.agent);
      return installs(task, delivery);
    };
    await runner.start();
    await eventually('it installs', () => tasks.get(1)?.work.phase === 'installing');
    expect(sent).to.deep.equal(['001']);
    expect(tasks.get(1)?.work.attempts).to.equal(3);
    expect(tasks.get(2)?.status).to.equal('In progress');
    expect(tasks.get(3)).to.deep.include({ status: 'Failed', error: 'sending the package was interrupted 5 times' });
  });

  it('of agents that cannot tell are said to be so', async () => {
    deliver = async (task, delivery) => {
      await installs(task, delivery);
      return 'silent';
    };
    await add(record('001'));
    await becomes(1, 'Legacy');
  });
});
