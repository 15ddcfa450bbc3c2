import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { SupervisedDaemon } from '../../../../../bin/control/supervisor/supervised-daemon.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';
import { TemporaryHome } from '../../../../support/temporary-home.js';

describe('SupervisedDaemon', () => {
  let home: TemporaryHome;
  let logger: RecordingLogger;

  beforeEach(() => {
    home = new TemporaryHome();
    logger = new RecordingLogger();
    mkdirSync(home.path('tmp'), { recursive: true });
    writeFileSync(home.path('tmp', 'starts'), '');
  });
  afterEach(() => home.remove());

  /** Starts a daemon that does this, as a shell does it. @returns how it went, and how often it was started */
  async function started(work: string): Promise<{ readonly outcome: object; readonly starts: number }> {
    const script = `echo >> '${home.path('tmp', 'starts')}'; ${work}`;
    const program = { command: '/bin/sh', args: ['-c', script] };
    const daemon = new SupervisedDaemon('svc-execd', home, program, logger, false);
    const outcome = await daemon.start();
    await daemon.stop();
    return { outcome, starts: readFileSync(home.path('tmp', 'starts'), 'utf8').length };
  }

  it('starts a daemon again, once, that was killed before it was ready', async () => {
    const { outcome, starts } = await started('kill -9 $$');
    expect(outcome).to.deep.equal({ kind: 'failed', reason: 'signal SIGKILL' });
    expect(starts).to.equal(2);
    expect(logger.lines[0]).to.equal(
      'warn: svc-execd was ended before it was ready and is started again: signal SIGKILL',
    );
  });

  it('leaves one that ended by itself for its next try', async () => {
    const { outcome, starts } = await started('echo no >&2; exit 3');
    expect(outcome).to.deep.equal({ kind: 'failed', reason: 'exit code 3: no' });
    expect(starts).to.equal(1);
    expect(logger.lines).to.have.length(1);
  });
});
