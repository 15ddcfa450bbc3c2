import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { processesOfHome } from '../../chaos/processes-of-home.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { eventually } from '../../support/eventually.js';

const STORY = fileURLToPath(new URL('../../story/main.js', import.meta.url));

/** Nothing of it is there any more. */
function expectRemoved(stdout: string): void {
  const directory = /^Making a manager and an agent in (\S+)$/m.exec(stdout)?.[1] ?? '';
  expect(stdout).to.include(`Stopped; ${directory} is removed.`);
  expect(existsSync(directory)).to.equal(false);
  for (const name of ['manager', 'agent']) expect(processesOfHome(`${directory}/${name}`)).to.deep.equal([]);
}

describe('npm run story', function () {
  this.timeout(240_000);

  it('leads from failed logins to what they set off and to its end, also while daemons are killed', async () => {
    const options = ['--kills', '3', '--addresses', '3', '--timeout', '6', '--seed', '12'];
    const { code, stdout, stderr } = await new TestProgram(STORY, options).ended;
    expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: '' });
    for (const step of [
      / s {2}alert {12}\d+\.\d+ {2}rule 5763, level 10, agent web1: .*203\.0\.113\.9/,
      / s {2}dropped {10}the agent drops 203\.0\.113\.9$/m,
      / s {2}syslog {11}<\d+>.* ossec: \{.*203\.0\.113\.9/,
      / s {2}mail {13}.*Level 10 - .*203\.0\.113\.9/,
      / s {2}index {12}document [0-9a-f]+, one of \d+$/m,
      / s {2}told by the agent rule 651, /,
      / s {2}let in {11}the agent drops nobody$/m,
      / {2}white list {7}192\.0\.2\.7 has its alert, too, and was never dropped$/m,
    ]) {
      expect(stdout).to.match(step);
    }
    const count = (what: string): readonly number[] =>
      (new RegExp(`^  ${what} +(\\d+) +(\\d+) +(\\d+) +(\\d+)`, 'm').exec(stdout) ?? []).slice(1).map(Number);
    expect(count('addresses dropped')).to.deep.equal([3, 3, 0, 0]);
    expect(count('addresses let in')).to.deep.equal([3, 3, 0, 0]);
    expect(count('drops of the white list')).to.deep.equal([0, 0, 0, 0]);
    for (const receiver of ['the index', 'syslog', 'mail']) {
      const [wanted = 0, there, missing] = count(`alerts (?:in|by) ${receiver}`);
      expect(wanted, receiver).to.be.at.least(4);
      expect([there, missing], receiver).to.deep.equal([wanted, 0]);
    }
    expectRemoved(stdout);
  });

  it('tells a tool instead of the firewall where it is told to, and stops what it started when it is interrupted', async () => {
    const story = new TestProgram(STORY, ['--recorded']);
    await eventually('the address is dropped', () => story.stdout.includes('the agent drops 203.0.113.9'), 90_000);
    story.signal('SIGINT');
    const { code, stdout, stderr } = await story.ended;
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: 'story: stopped by SIGINT\n' });
    expect(stdout).to.include('Firewall: a tool in the place of nft');
    expectRemoved(stdout);
  });

  it('says what its numbers may be', async () => {
    const { code, stdout, stderr } = await new TestProgram(STORY, ['--kills', '3x']).ended;
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
    expect(stderr).to.match(/^story: --kills is '3x', not a whole number from 0 to 1000\nusage: npm run story /);
  });
});
