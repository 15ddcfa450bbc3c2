import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { productRoot } from '../../../lib/product/product-root.js';
import { versionText } from '../../../lib/product/version.js';
import { TestProgram } from '../../support/daemon/run-program.js';

const BIN = fileURLToPath(new URL('bin/', productRoot()));
const PROGRAMS = readdirSync(BIN, { withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.name.includes('.'))
  .map(({ name }) => name);

/** One of each way in which programs read their arguments: for the others a start more shows nothing new. */
const KINDS = ['svc-control', 'svc-db', 'svc-send', 'svc-api', 'svc-logtest', 'manage_agents', 'agent-auth'];

describe('every program', function () {
  this.timeout(60_000);
  const run = (name: string, flag: string) => new TestProgram(BIN + name, [flag]).ended;

  it('shows its version in one form', async () => {
    expect(PROGRAMS).to.include.members(KINDS);
    for (const name of KINDS) {
      const { code, stdout, stderr } = await run(name, '-V');
      expect([code, stdout, stderr], name).to.deep.equal([0, `${versionText(name)}\n`, '']);
    }
  });

  it('names itself when its arguments are wrong', async () => {
    for (const name of KINDS) {
      const { code, stderr } = await run(name, '--no-such-option');
      expect(code, name).to.be.oneOf([1, 2]);
      const problem =
        name === 'agent-auth' ? "required option '-m <manager>' not specified" : "unknown option '--no-such-option'";
      expect(stderr.split('\n')[0]).to.equal(`${name}: ${problem}`);
    }
  });

  it('says in its help what it does, and of each option what it is for', async () => {
    for (const name of PROGRAMS) {
      const { stdout } = await run(name, '--help');
      const sentence = /^Usage: .*\n\n[A-Z][^.]{10,}\.|^\nverify-agent-conf: [A-Z][^.]{10,}\.conf [^.]*\.$/m;
      expect(stdout, name).to.match(sentence);
      const options = [...stdout.matchAll(/^ {2,4}-\S.*(\n {10,}\S.*)?/gm)].map(([option]) => option.trim());
      expect(options, name).to.have.length.greaterThan(1);
      for (const option of options) {
        if (!option.startsWith('- name:')) expect(option, name).to.match(/^-.*\s+[^-<[\s].+/);
      }
      expect(stdout, name).to.not.contain('output the version number');
    }
  });
});
