import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { productRoot } from '../../../lib/product/product-root.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { eventually } from '../../support/eventually.js';

const DEMO = fileURLToPath(new URL('.ci/demo.mjs', productRoot()));

function homeOf(stdout: string): string | undefined {
  return /^Making a manager in (\S+)$/m.exec(stdout)?.[1];
}

/** Command lines of the processes that mention `text`. */
function processesOf(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
        return command.includes(text) ? [command] : [];
      } catch {
        return [];
      }
    });
}

describe('npm run demo', function () {
  this.timeout(90_000);

  it('shows the alerts of the three ways in, and leaves nothing behind', async () => {
    const { code, stdout, stderr } = await new TestProgram(DEMO, []).ended;
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    for (const alert of [
      / 5 {2}5710 {3}API-Webhook /,
      / 6 {2}31104 {2}web1:\/var\/log\/demo\.log /,
      /10 {2}5763 {3}demo\.log \(followed\) /,
    ]) {
      expect(stdout).to.match(alert);
    }
    const home = homeOf(stdout) ?? '';
    expect(stdout).to.include(`Stopped; ${home} is removed.`);
    expect(existsSync(home)).to.equal(false);
    expect(processesOf(home)).to.deep.equal([]);
  });

  it('stops what it started when it is interrupted', async () => {
    const demo = new TestProgram(DEMO, []);
    await eventually('the daemons run', () => demo.stdout.includes('Running: '), 40_000);
    demo.signal('SIGINT');
    const { code, stdout, stderr } = await demo.ended;
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: 'demo: stopped by SIGINT\n' });
    const home = homeOf(stdout) ?? '';
    expect(existsSync(home)).to.equal(false);
    expect(processesOf(home)).to.deep.equal([]);
  });
});
