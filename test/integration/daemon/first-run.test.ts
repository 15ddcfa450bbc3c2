import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { productCatalogue, stopOrder } from '../../../lib/control/daemon-catalogue.js';
import { readDaemonStatus } from '../../../lib/daemon/daemon-status.js';
import { Home } from '../../../lib/home/home.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { eventually } from '../../support/eventually.js';
import { removeTree } from '../../support/remove-tree.js';

const built = stopOrder('server').filter((name) => productCatalogue().program(name) !== undefined);

describe('the first run (npm start)', () => {
  it('makes a home, runs everything and prints commands that work as they stand', async function () {
    if (!built.includes('svc-apid') || spawnSync('curl', ['--version']).status !== 0) this.skip();
    this.timeout(60_000);
    const parent = mkdtempSync(join(tmpdir(), 'svc-first-'));
    const home = new Home(join(parent, 'home'));
    mkdirSync(home.path('api', 'configuration'), { recursive: true });
    writeFileSync(home.path('api', 'configuration', 'api.yaml'), "host: ['127.0.0.1', '::1']\nport: 0\n");
    // The shipped configuration but for its ports: others may use them on this machine.
    const shipped = readFileSync(new URL('etc/manager.conf', productRoot()), 'utf8');
    mkdirSync(home.path('etc'));
    writeFileSync(home.path('etc', 'manager.conf'), shipped.replace(/<port>151[45]<\/port>/g, '<port>0</port>'));
    const control = fileURLToPath(new URL('bin/svc-control', productRoot()));
    const program = new TestProgram(control, ['run', '--init', '--welcome', '--home', home.root]);
    try {
      await eventually('the welcome', () => program.stdout.includes('Stop: Ctrl+C'), 40_000);
      expect(program.stdout.split('\n').slice(0, 2)).to.deep.equal([
        `Making a home in ${home.root}: configuration, ruleset, keys and certificates.`,
        'Starting the daemons: each says when it runs.',
      ]);
      const status = await readDaemonStatus(home);
      for (const name of built) {
        if (name !== 'svc-clusterd') expect(status.get(name)?.state, name).to.equal('running');
      }
      const commands = program.stdout.split('\n').filter((line) => /^ +(TOKEN=|curl )/.test(line));
      expect(commands).to.have.length(4);
      const run = (...lines: (string | undefined)[]) =>
        execFileSync('bash', ['-c', lines.join('\n')], { encoding: 'utf8' });
      const [login, showStatus, logtest, event] = commands;
      expect(run(login, showStatus)).to.match(/"svc-apid": "running"/);
      if (!built.includes('svc-analysisd')) return;
      expect(run(login, logtest)).to.match(/"alert": true/);
      const answer = run(login, event);
      expect(answer.split('\n')[0]).to.include('"error": 0');
      const alert = JSON.parse(answer.trimEnd().split('\n').at(-1) ?? '') as { full_log: string };
      expect(alert.full_log).to.include('Failed password for invalid user admin from 192.0.2.7');
      const log = readFileSync(home.path('logs', 'manager.log'), 'utf8').split('\n');
      const complaints = log.filter((line) => /: (WARNING|ERROR|CRITICAL): /.test(line));
      // Nothing but that no password of enrolment is set.
      expect(complaints.filter((line) => !line.includes('svc-authd: WARNING: Whoever reaches port '))).to.deep.equal(
        [],
      );
    } finally {
      program.signal('SIGINT');
      const { code } = await program.ended;
      removeTree(parent);
      expect(code).to.equal(0);
    }
  });
});
