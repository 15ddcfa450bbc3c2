import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { liveProcess, reloadDaemon } from '../../../../../bin/control/supervisor/live-process.js';
import { RunFiles } from '../../../../../lib/daemon/run-files.js';
import { writeFileAtomically } from '../../../../../lib/files/write-file-atomically.js';
import { identityOf } from '../../../../../lib/process/process-identity.js';
import { TemporaryHome } from '../../../../support/temporary-home.js';

describe('live process', () => {
  let home: TemporaryHome;
  let files: RunFiles;
  let child: ChildProcess;

  beforeEach(() => {
    home = new TemporaryHome();
    files = new RunFiles(home, 'svc-monitord');
  });
  afterEach(async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
    home.remove();
  });

  /** A process that waits, with these arguments. */
  async function waiting(...args: string[]): Promise<number> {
    child = spawn(process.execPath, ['-e', 'process.stdin.resume(); console.log("up")', '--', ...args], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    if (child.stdout !== null) await once(child.stdout, 'data');
    return child.pid ?? 0;
  }
  const record = (pid: number, startTime: string) => {
    const text = JSON.stringify({
      daemon: 'svc-monitord',
      pid,
      startTime,
      startedAt: Date.now(),
      version: '1',
      addresses: {},
    });
    writeFileAtomically(files.record(), text, { mode: 0o640 });
  };

  it('is the process that the record names, when it is the daemon', async () => {
    const pid = await waiting('/usr/lib/bin/svc-monitord', '--home', home.root);
    record(pid, identityOf(pid)?.startTime ?? '');
    expect(liveProcess(files)).to.have.property('pid', pid);
  });

  it('is never another program, whatever var/run says', async () => {
    const pid = await waiting('--not', 'svc-monitord-like');
    for (const startTime of [identityOf(pid)?.startTime ?? '', 'unknown']) {
      record(pid, startTime);
      writeFileAtomically(files.lock(), JSON.stringify({ pid, startTime }), { mode: 0o640 });
      expect(liveProcess(files)).to.equal(undefined);
      expect(await reloadDaemon(home, 'svc-monitord')).to.deep.equal({ kind: 'not-running' });
    }
    expect(child.exitCode ?? child.signalCode).to.equal(null);
  });
});
