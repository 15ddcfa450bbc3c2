import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { findServiceAccount } from '../../../bin/control/home/service-account.js';
import { confined } from '../../../bin/control/supervisor/confinement.js';
import { productCatalogue } from '../../../lib/control/daemon-catalogue.js';
import { readDaemonStatus } from '../../../lib/daemon/daemon-status.js';
import { Home } from '../../../lib/home/home.js';
import { readHomeRecord } from '../../../lib/home/home-record.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { removeTree } from '../../support/remove-tree.js';
import { knowFewRules, watchLittle } from '../../support/watch-little.js';

const CONTROL = fileURLToPath(new URL('bin/svc-control', productRoot()));
/** Bits of the mask in /proc, by linux/capability.h. */
const BITS = {
  ...{ dac_read_search: 2, setgid: 6, setuid: 7, net_bind_service: 10, net_admin: 12, net_raw: 13 },
  ...{ sys_ptrace: 19, sys_nice: 23, audit_control: 30 },
} as const;

/** Those of the names that this host has to give. */
function mask(...names: (keyof typeof BITS)[]): string {
  const bounds = /^CapBnd:\s+(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  const value = BigInt(`0x${bounds}`) & names.reduce((sum, name) => sum | (1n << BigInt(BITS[name])), 0n);
  return value.toString(16).padStart(16, '0');
}

describe('capabilities of daemons', function () {
  this.timeout(120_000);
  let parent: string;
  let home: Home;

  beforeEach(async function () {
    if (process.geteuid?.() !== 0) {
      process.stdout.write('    skipped: only root has capabilities to give up\n');
      this.skip();
    }
    parent = mkdtempSync(join(tmpdir(), 'svc-confined-'));
    chmodSync(parent, 0o755);
    home = new Home(join(parent, 'home'));
    await initHome(home, { role: 'server', account: findServiceAccount('nobody') });
    watchLittle(home);
    knowFewRules(home);
  });
  afterEach(() => removeTree(parent));

  it('are those they need, and none for the service user', async () => {
    const sections =
      '<auth><port>0</port><local_ip>127.0.0.1</local_ip></auth><remote><connection>secure</connection><port>0</port></remote>';
    writeFileSync(home.path('etc/manager.conf'), `<manager_config>${sections}</manager_config>`);
    writeFileSync(home.path('api/configuration/api.yaml'), 'host: 127.0.0.1\nport: 0\n');
    const control = (...args: string[]) => new TestProgram(CONTROL, [...args, '--home', home.root]).ended;
    try {
      const start = await control('start');
      expect(start.stderr).to.equal('');
      const status = await readDaemonStatus(home);
      const capabilities = (name: DaemonName) => {
        const text = readFileSync(`/proc/${status.get(name)?.pid ?? 0}/status`, 'utf8');
        const of = (key: string) => new RegExp(`^${key}:\\s+(\\S+)`, 'm').exec(text)?.[1];
        return { uid: of('Uid'), inherited: of('CapInh'), effective: of('CapEff'), bounding: of('CapBnd') };
      };
      const none = mask();
      const remoted = mask('net_bind_service');
      expect(capabilities('svc-remoted')).to.deep.equal({
        uid: '65534',
        inherited: remoted,
        effective: remoted,
        bounding: remoted,
      });
      for (const name of ['svc-analysisd', 'svc-authd', 'svc-monitord', 'svc-db', 'svc-apid'] as const) {
        expect(capabilities(name), name).to.deep.equal({
          uid: '65534',
          inherited: none,
          effective: none,
          bounding: mask('setgid', 'setuid'),
        });
      }
      const logcollector = mask('dac_read_search', 'sys_ptrace', 'setuid', 'setgid');
      const root = { uid: '0', inherited: none };
      expect(capabilities('svc-logcollector')).to.deep.equal({
        ...root,
        effective: logcollector,
        bounding: logcollector,
      });
      const modulesd = mask('dac_read_search', 'sys_ptrace', 'net_admin', 'net_raw', 'audit_control', 'setgid');
      expect(capabilities('svc-modulesd')).to.deep.equal({ ...root, effective: modulesd, bounding: modulesd });
      const syscheckd = mask('dac_read_search', 'sys_ptrace', 'sys_nice', 'net_bind_service', 'setgid');
      expect(capabilities('svc-syscheckd')).to.deep.equal({ ...root, effective: syscheckd, bounding: syscheckd });
      const all = /^CapBnd:\s+(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
      expect(capabilities('svc-execd')).to.deep.include({ uid: '0', bounding: all });
      const log = readFileSync(home.path('logs/manager.log'), 'utf8');
      expect(log).to.not.match(/ERROR|CRITICAL|capabilities/);
    } finally {
      await control('stop');
    }
  });

  it('stay all of them, which is said once, where setpriv is missing', () => {
    const logger = new RecordingLogger();
    const catalogue = confined(productCatalogue(), readHomeRecord(home), logger, '/nowhere/setpriv');
    for (const name of ['svc-syscheckd', 'svc-apid', 'svc-db'] as const) {
      expect(catalogue.program(name)).to.deep.equal(productCatalogue().program(name));
    }
    expect(logger.lines).to.deep.equal([
      'info: Daemons start with all capabilities of root: /nowhere/setpriv (util-linux) is not there.',
    ]);
  });

  it('are not looked at in a home without a service user', () => {
    const catalogue = productCatalogue();
    expect(confined(catalogue, { version: 1, role: 'server' }, new RecordingLogger())).to.equal(catalogue);
  });
});
