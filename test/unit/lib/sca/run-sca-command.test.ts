import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ScaCommands } from '../../../../lib/sca/run-sca-command.js';
import { eventually } from '../../../support/eventually.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

describe('commands of policies', () => {
  const NEVER = new AbortController().signal;
  let home: TemporaryHome;

  before(() => {
    home = new TemporaryHome();
  });
  after(() => {
    home.remove();
  });
  const commands = (maxMs = 10_000) => new ScaCommands({ directory: home.root, maxMs: () => maxMs, killMs: () => 0 });

  it('are run without a shell, and give their lines of both kinds', async () => {
    const run = commands();
    expect(await run.run("printf '%s\\n' a '' $HOME;id", NEVER)).to.deep.equal(['a', '', '$HOME;id']);
    expect(await run.run("sh -c 'echo out; echo err >&2; exit 3'", NEVER)).to.have.members(['out', 'err']);
    expect(await run.run('true', NEVER)).to.deep.equal([]);
    expect(await run.run('sh -c \'printf "a\\000b\\303\\274"\'', NEVER)).to.deep.equal(['ab\xc3\xbc']);
    expect(run.counts).to.deep.equal({ run: 4, failed: 0, late: 0 });
  });

  it('give their first 256 lines', async () => {
    const lines = await commands().run('seq 1000', NEVER);
    expect([(lines as string[]).length, (lines as string[]).at(-1)]).to.deep.equal([256, '256']);
  });

  it('say why they gave nothing', async () => {
    const run = commands();
    for (const line of ['/no/such/program -x', 'no-such-program', '/etc/passwd', "a 'b"]) {
      const reason = `Invalid path or wrong permissions to run command '${line}'`;
      expect(await run.run(line, NEVER)).to.deep.equal({ reason });
    }
    expect(await run.run("sh -c 'kill -9 $$'", NEVER)).to.deep.equal({
      reason: "Failed to run command 'sh -c 'kill -9 $$''. A signal ended it",
    });
    expect(run.counts).to.deep.equal({ run: 5, failed: 5, late: 0 });
  });

  it('are ended with all that they started when they take too long, or nobody wants them any more', async () => {
    const line = `sh -c 'sleep 1000 & echo $! > ${home.path('tmp', 'pid')}; yes'`;
    const gone = async () => {
      await eventually(
        'what it started has ended',
        () => !existsSync(`/proc/${readFileSync(home.path('tmp', 'pid'), 'utf8').trim()}`),
      );
    };
    const late = commands(300);
    expect(await late.run(line, NEVER)).to.deep.equal({ reason: `Timeout overtaken running command '${line}'` });
    expect(late.counts).to.deep.equal({ run: 1, failed: 0, late: 1 });
    await gone();
    const off = new AbortController();
    const running = commands().run(line, off.signal);
    setTimeout(() => off.abort(new Error('called off')), 100);
    expect(await running.catch((error: unknown) => error)).to.have.property('message', 'called off');
    await gone();
  });
});
