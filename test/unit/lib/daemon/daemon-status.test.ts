import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { readDaemonStatus, shownState } from '../../../../lib/daemon/daemon-status.js';
import { heartbeatAge, HeartbeatWriter, monotonicMs } from '../../../../lib/daemon/heartbeat.js';
import { restartMarker, RunFiles } from '../../../../lib/daemon/run-files.js';
import { writeRunRecord } from '../../../../lib/daemon/run-record.js';
import { ownIdentity } from '../../../../lib/process/process-identity.js';
import { MANAGER_DAEMONS } from '../../../../lib/product/daemon-names.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

describe('readDaemonStatus', () => {
  let home: TemporaryHome;
  let files: RunFiles;

  beforeEach(() => {
    home = new TemporaryHome();
    files = new RunFiles(home, 'svc-db');
  });
  afterEach(() => home.remove());

  const stateOf = async () => (await readDaemonStatus(home)).get('svc-db')!.state;

  function beat(ageMs: number, pid = process.pid): void {
    const time = String(monotonicMs() - ageMs).padStart(20);
    writeFileSync(files.heartbeat(), `${String(pid).padStart(10)} ${time}\n`);
  }

  function record(identity = ownIdentity()): void {
    writeRunRecord(files.record(), {
      daemon: 'svc-db',
      ...identity,
      startedAt: 1000,
      version: '1.2.3',
      addresses: { api: { protocol: 'https', address: '127.0.0.1', port: 1234 } },
    });
  }

  it('shows all daemons of a manager, stopped where there is nothing', async () => {
    const status = await readDaemonStatus(home);
    expect([...status.keys()]).to.deep.equal([...MANAGER_DAEMONS]);
    expect([...status.values()].every(({ state }) => state === 'stopped')).to.equal(true);
  });

  it('is running with a living process and a fresh heartbeat', async () => {
    record();
    beat(0);
    const status = (await readDaemonStatus(home)).get('svc-db')!;
    expect(status).to.include({ state: 'running', pid: process.pid, startedAt: 1000, version: '1.2.3' });
    expect(status.addresses?.['api']?.port).to.equal(1234);
  });

  it('is unresponsive, shown as stopped, without a heartbeat of the last 5 s', async () => {
    record();
    expect(await stateOf()).to.equal('unresponsive');
    beat(4500);
    expect(await stateOf()).to.equal('running');
    beat(5500);
    expect(await stateOf()).to.equal('unresponsive');
    beat(0, process.pid + 1);
    expect(await stateOf()).to.equal('unresponsive');
    expect(shownState({ state: 'unresponsive' })).to.equal('stopped');
  });

  it('is stopped when the pid belongs to another process by now', async () => {
    record({ pid: process.pid, startTime: 'boot:1' });
    beat(0);
    expect(await stateOf()).to.equal('stopped');
  });

  it('knows the markers of a start, a restart and a failure', async () => {
    writeFileSync(files.startMarker(), '');
    expect(await stateOf()).to.equal('starting');
    writeFileSync(restartMarker(home), '');
    expect(await stateOf()).to.equal('restarting');
    writeFileSync(files.failedMarker(), '');
    expect(await stateOf()).to.equal('failed');
    record();
    beat(0);
    expect(await stateOf(), 'what runs is running').to.equal('running');
  });

  it('takes damaged files for none', async () => {
    for (const text of ['', '{', '[]', '{"pid":"1"}', '{"pid":-5,"startTime":"x"}', '\0\0\0']) {
      writeFileSync(files.record(), text);
      writeFileSync(files.heartbeat(), text);
      writeFileSync(files.lock(), text);
      expect(await stateOf(), text).to.equal('stopped');
    }
  });

  it('reads what a heartbeat writer writes', () => {
    const writer = new HeartbeatWriter(files.heartbeat());
    writer.beat();
    writer.beat();
    writer.close();
    expect(heartbeatAge(files.heartbeat(), process.pid)).to.be.within(0, 1000);
    expect(heartbeatAge(files.heartbeat(), 1)).to.equal(undefined);
    beat(-60_000);
    expect(heartbeatAge(files.heartbeat(), process.pid), 'from before the last boot').to.equal(undefined);
  });
});
