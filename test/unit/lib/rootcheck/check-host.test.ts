import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { checkInterfaces } from '../../../../lib/rootcheck/check-interfaces.js';
import { checkPids } from '../../../../lib/rootcheck/check-pids.js';
import { checkPorts } from '../../../../lib/rootcheck/check-ports.js';
import { type PortCalls, SystemPorts } from '../../../../lib/rootcheck/port-calls.js';
import { hidesProcesses, type ProcessCalls, SystemProcesses } from '../../../../lib/rootcheck/process-calls.js';
import { RootcheckTree } from '../../../support/syscheckd/rootcheck-kit.js';

describe('rootcheck of the host', () => {
  let tree: RootcheckTree;
  beforeEach(() => {
    tree = new RootcheckTree();
  });
  afterEach(() => {
    tree.remove();
  });

  describe('pids', () => {
    const ALIVE = new Set([1, 200, 300]);
    const HOST: ProcessCalls = {
      obstacle: () => undefined,
      maximum: () => 3000,
      kill: (pid) => ALIVE.has(pid),
      session: (pid) => ALIVE.has(pid),
      leader: (pid) => (ALIVE.has(pid) ? pid : undefined),
      listed: () => new Set(ALIVE),
      ps: () => new Set(ALIVE),
    };
    const pids = async (calls: Partial<ProcessCalls> = {}): Promise<string[]> => {
      await checkPids(tree.context(), { ...HOST, ...calls });
      return tree.findings.splice(0);
    };
    const without = (pid: number) => () => new Set([...ALIVE].filter((each) => each !== pid));
    const SUFFIX = 'Possible kernel-level rootkit.';

    it('finds nothing where all answers agree', async () => {
      expect(await pids()).to.be.empty;
    });

    it('finds what one of the ways does not see', async () => {
      const not200 = (pid: number) => ALIVE.has(pid) && pid !== 200;
      expect(await pids({ kill: not200 })).to.deep.equal([
        `Process '200' hidden from kill (0) or getsid (1). ${SUFFIX}`,
      ]);
      expect(await pids({ session: not200 })).to.deep.equal([
        `Process '200' hidden from kill (1) or getsid (0). ${SUFFIX}`,
      ]);
      expect(await pids({ kill: not200, session: not200 })).to.deep.equal([
        `Process '200' hidden from kill (0), getsid (0) or getpgid. ${SUFFIX}`,
      ]);
      const hidden = ["Process '200' hidden from /proc. Possible kernel level rootkit."];
      expect(await pids({ listed: without(200) }), 'not listed').to.deep.equal(hidden);
      const leader = (pid: number) => (not200(pid) ? pid : undefined);
      expect(await pids({ listed: without(200), leader }), 'not there either').to.deep.equal(hidden);
      expect(await pids({ ps: without(200) })).to.deep.equal([
        "Process '200' hidden from ps. Possible trojaned version installed.",
      ]);
    });

    it('takes threads for no processes', async () => {
      const alive = (pid: number) => ALIVE.has(pid) || pid === 301;
      const leader = (pid: number) => (pid === 301 ? 300 : ALIVE.has(pid) ? pid : undefined);
      expect(await pids({ kill: alive, session: alive, leader })).to.be.empty;
    });

    it('takes processes that come and go for no hidden ones', async () => {
      let asked = 0;
      const kill = (pid: number) => ALIVE.has(pid) || (pid === 2500 && asked++ < 2);
      expect(await pids({ kill })).to.be.empty;
      expect(asked).to.be.greaterThan(2);
      let listings = 0;
      const listed = () => (listings++ === 0 ? without(300)() : new Set(ALIVE));
      expect(await pids({ listed })).to.be.empty;
      let shown = 0;
      const ps = () => (shown++ === 0 ? without(300)() : new Set(ALIVE));
      expect(await pids({ ps })).to.be.empty;
    });

    it('gives up when there are too many', async () => {
      const found = await pids({ kill: () => true });
      expect(found).to.have.length(16);
      expect(found.at(-1)).to.equal(
        'Excessive number of hidden processes. It maybe a false-positive or something really bad is going on.',
      );
    });

    it('is left out where the answers mean nothing', async () => {
      expect(await pids({ obstacle: () => 'not this /proc', kill: () => true })).to.be.empty;
      expect(tree.notes).to.deep.equal(["debug: The check 'pids' is left out: not this /proc"]);
      expect(await pids({ ps: () => undefined })).to.be.empty;
    });

    it('knows a /proc that hides processes of others', () => {
      const line = (options: string) =>
        `22 1 0:5 / / rw - ext4 /dev/a rw\n30 22 0:20 / /proc rw,nosuid - proc proc ${options}\n`;
      expect(['rw', 'rw,hidepid=0', 'rw,hidepid=off'].map((options) => hidesProcesses(line(options)))).to.deep.equal([
        false,
        false,
        false,
      ]);
      expect(
        ['rw,hidepid=1', 'rw,gid=4,hidepid=invisible'].map((options) => hidesProcesses(line(options))),
      ).to.deep.equal([true, true]);
    });

    it('asks the system itself', () => {
      const system = new SystemProcesses();
      const { pid } = process;
      if (system.obstacle() !== undefined) return;
      expect([system.kill(pid), system.session(pid), system.leader(pid)]).to.deep.equal([true, true, pid]);
      expect(system.listed().has(pid)).to.equal(true);
      expect(system.ps()?.has(pid) ?? true).to.equal(true);
      const none = system.maximum() + 1;
      expect([system.kill(none), system.session(none), system.leader(none)]).to.deep.equal([false, false, undefined]);
    });
  });

  describe('ports', () => {
    const USED = new Set([22, 5353]);
    const HOST: PortCalls = {
      bind: (_protocol, port) => Promise.resolve(USED.has(port) ? 'used' : 'free'),
      listed: () => new Set(USED),
      answers: () => Promise.resolve(true),
    };
    const ports = async (calls: Partial<PortCalls> = {}): Promise<string[]> => {
      await checkPorts(tree.context(), { ...HOST, ...calls });
      return tree.findings.splice(0);
    };
    const finding = (port: number, protocol: string) =>
      `Port '${String(port)}'(${protocol}) hidden. Kernel-level rootkit or trojaned version of netstat.`;

    it('finds a port that is used and not listed', async () => {
      expect(await ports()).to.be.empty;
      expect(await ports({ listed: () => new Set([22]) })).to.deep.equal([finding(5353, 'tcp'), finding(5353, 'udp')]);
    });

    it('finds no TCP port that nobody can connect to', async () => {
      const answers = () => Promise.resolve(false);
      expect(await ports({ listed: () => new Set([22]), answers })).to.deep.equal([finding(5353, 'udp')]);
    });

    it('takes sockets that come and go for no hidden ones', async () => {
      let tries = 0;
      const bind: PortCalls['bind'] = (_protocol, port) =>
        Promise.resolve(port === 40_000 && tries++ % 4 !== 3 ? 'used' : 'free');
      expect(await ports({ bind, listed: () => new Set() })).to.be.empty;
      expect(tries).to.be.greaterThan(4);
      expect(await ports({ bind: () => Promise.resolve('unknown') })).to.be.empty;
    });

    it('gives up when there are too many', async () => {
      const found = await ports({ bind: () => Promise.resolve('used'), listed: () => new Set() });
      expect(found).to.have.length(42);
      expect(found[20]).to.equal(
        "Excessive number of 'tcp' ports hidden. It maybe a false-positive or something really bad is going on.",
      );
    });

    it('is left out where no ports are listed', async () => {
      expect(await ports({ listed: () => undefined })).to.be.empty;
      expect(tree.notes).to.have.length(2);
    });

    it('asks the system itself', async () => {
      const system = new SystemPorts();
      const server = createServer().listen(0, '127.0.0.1');
      const socket = createSocket('udp4').bind(0, '127.0.0.1');
      await Promise.all([once(server, 'listening'), once(socket, 'listening')]);
      const { port } = server.address() as AddressInfo;
      expect(await system.bind('tcp', port)).to.equal('used');
      expect(system.listed('tcp')?.has(port)).to.equal(true);
      expect(await system.answers(port)).to.equal(true);
      expect(await system.bind('udp', socket.address().port)).to.equal('used');
      expect(system.listed('udp')?.has(socket.address().port)).to.equal(true);
      await Promise.all([
        new Promise((resolve) => server.close(resolve)),
        new Promise((resolve) => {
          socket.close(() => {
            resolve(undefined);
          });
        }),
      ]);
      expect(await system.answers(port)).to.equal(false);
    });
  });

  describe('interfaces', () => {
    const interfaces = async (): Promise<string[]> => {
      await checkInterfaces(tree.context(), tree.path('net'));
      return tree.findings.splice(0);
    };

    it('finds those that take every packet', async () => {
      tree.write('net/eth0/flags', '0x1003\n');
      tree.write('net/eth1/flags', '0x1103\n');
      tree.write('net/bonding_masters', 'bond0\n');
      expect(await interfaces()).to.deep.equal(["Interface 'eth1' in promiscuous mode."]);
    });

    it('leaves out those that do so for others', async () => {
      for (const name of ['veth0', 'eth0', 'eth1']) tree.write(`net/${name}/flags`, '0x1103\n');
      tree.write('net/veth0/brport/state', '3');
      symlinkSync('../bond0', tree.path('net/eth0/master'));
      symlinkSync('../bond0', tree.path('net/eth1/upper_macvlan0'));
      expect(await interfaces()).to.be.empty;
    });

    it('is left out where there are none', async () => {
      expect(await interfaces()).to.be.empty;
      expect(tree.notes.join()).to.include("The check 'if' is left out");
    });
  });
});
