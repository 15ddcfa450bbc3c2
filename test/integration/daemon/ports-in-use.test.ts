import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { portHolder } from '../../../lib/process/port-in-use.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { TemporaryHome } from '../../support/temporary-home.js';
import { knowFewRules } from '../../support/watch-little.js';

const CONTROL = join(fileURLToPath(productRoot()), 'bin', 'svc-control');

describe('ports that somebody else has', function () {
  this.timeout(90_000);
  const closers: (() => void)[] = [];
  let home: TemporaryHome;

  async function takeTcp(port = 0): Promise<number> {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  async function takeUdp(port: number): Promise<void> {
    const socket = createSocket('udp4').bind(port, '127.0.0.1');
    await once(socket, 'listening');
    closers.push(() => socket.close());
  }

  beforeEach(async () => {
    home = new TemporaryHome();
    await initHome(home, { role: 'server' });
    knowFewRules(home);
  });
  afterEach(() => {
    for (const close of closers.splice(0)) close();
    home.remove();
  });

  it('are all named by a start, with setting and process', async () => {
    const [agents, enrolment, api] = [await takeTcp(), await takeTcp(), await takeTcp()];
    await takeUdp(agents);
    writeFileSync(
      home.path('etc', 'manager.conf'),
      `<manager_config>
         <remote><connection>secure</connection><port>${agents}</port><protocol>tcp,udp</protocol><local_ip>127.0.0.1</local_ip></remote>
         <auth><port>${enrolment}</port></auth>
       </manager_config>\n`,
    );
    writeFileSync(home.path('api', 'configuration', 'api.yaml'), `host: ['127.0.0.1']\nport: ${api}\n`);
    const holder = `is in use by .* \\(pid ${process.pid}\\)`;
    const expected = [
      `port ${agents}/TCP \\(<remote><port> in etc/manager\\.conf\\) ${holder}; port ${agents}/UDP \\(.*\\) ${holder}`,
      `port ${enrolment}/TCP \\(<auth><port> in etc/manager\\.conf\\) ${holder}`,
      `port ${api}, set in api/configuration/api\\.yaml; in use by .* \\(pid ${process.pid}\\)`,
    ];
    for (const command of [['run'], ['start']]) {
      const { code, stdout, stderr } = await new TestProgram(CONTROL, [...command, '--home', home.root]).ended;
      expect(code, stdout).to.equal(1);
      const told = stderr
        .split('\n')
        .filter((line) => /^(svc-control: )?svc-[a-z]+ did not start correctly/.test(line));
      expect(told, stderr).to.have.length(expected.length);
      for (const text of expected) expect(told.join('\n')).to.match(new RegExp(text));
    }
    const log = readFileSync(home.path('logs', 'manager.log'), 'utf8');
    for (const text of expected) expect(log).to.match(new RegExp(text));
    await new TestProgram(CONTROL, ['stop', '--home', home.root]).ended;
  });

  it('are told with the program and its home, and of nobody when they are free', async () => {
    const port = await takeTcp();
    expect(portHolder('tcp', port)).to.match(new RegExp(`^\\S+ \\(pid ${process.pid}\\)$`));
    closers.pop()?.();
    expect(portHolder('tcp', port)).to.equal('another process');
  });
});
