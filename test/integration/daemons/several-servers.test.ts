import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { agentdContract } from '../../../lib/bus/contracts/agentd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { keyLine, MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { AuthdServer, furnishAuthd } from '../../support/authd/authd-server.js';
import { keyLines } from '../../support/authd/enrollment.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { identity, KeepingSink } from '../../support/remoted/remoted-home.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const WAIT_MS = 40_000;

/** A manager: svc-remoted with its keys, and svc-authd where the test wants one. */
class Manager {
  readonly home = new TemporaryHome();
  readonly sink = new KeepingSink(this.home);
  remoted: RunningDaemon | undefined;
  authd: AuthdServer | undefined;
  #port = 0;

  async begin(options = ''): Promise<void> {
    await furnishAuthd(this.home);
    writeFileSync(this.home.path('etc/local_internal_options.conf'), options);
    await this.sink.start();
    await this.start();
  }

  get port(): number {
    return this.#port;
  }

  /** Starts svc-remoted, after the first time where it was. */
  async start(): Promise<void> {
    writeFileSync(
      this.home.path('etc/manager.conf'),
      `<manager_config>
         <remote><connection>secure</connection><port>${String(this.#port)}</port><local_ip>127.0.0.1</local_ip></remote>
         <auth><port>0</port><disabled>no</disabled></auth>
       </manager_config>\n`,
    );
    this.remoted = await RunningDaemon.start('svc-remoted', this.home);
    this.#port = this.remoted.port('agents_tcp');
  }

  setKeys(lines: readonly string[]): void {
    writeFileSync(this.home.path('etc/client.keys'), lines.map((line) => `${line}\n`).join(''));
  }

  async end(): Promise<void> {
    await this.authd?.end();
    await this.remoted?.stop('SIGKILL');
    await this.sink.stop();
    this.home.remove();
  }
}

describe('an agent with several servers', function () {
  this.timeout(120_000);
  let first: Manager;
  let second: Manager;
  const ends: (() => Promise<unknown>)[] = [];

  beforeEach(() => {
    [first, second] = [new Manager(), new Manager()];
    ends.push(
      () => first.end(),
      () => second.end(),
    );
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  it('enrols once and goes from one to the other with the same key, events and all', async () => {
    await first.begin();
    await second.begin();
    first.authd = await AuthdServer.start(first.home);
    const home = new TemporaryHome({ version: 1, role: 'agent' });
    ends.push(() => Promise.resolve(home.remove()));
    await initHome(home, { role: 'agent' });
    const server = ({ port }: Manager) =>
      `<server><address>127.0.0.1</address><port>${String(port)}</port><max_retries>1</max_retries><retry_interval>1</retry_interval></server>`;
    writeFileSync(
      home.path('etc/manager.conf'),
      `<manager_config><client>${server(first)}${server(second)}<notify_time>1</notify_time>
         <enrollment><port>${String(first.authd.port)}</port><agent_name>web01</agent_name><delay_after_enrollment>0</delay_after_enrollment></enrollment>
       </client></manager_config>\n`,
    );
    const agentd = await RunningDaemon.start('svc-agentd', home);
    ends.push(() => agentd.stop('SIGKILL'));
    const client = new RequestClient({ contract: agentdContract, path: home.socket('svc-agentd') });
    ends.push(() => Promise.resolve(client.close()));
    const said = (text: string) => agentd.output.split(text).length - 1;
    const connections = ({ port }: Manager) =>
      said(`(4102): Connected to the server ([127.0.0.1]:${String(port)}/tcp).`);
    const connected = (manager: Manager, times: number) =>
      eventually(
        'the connection',
        async () => connections(manager) === times && (await client.call('getstate', {})).status === 'connected',
        WAIT_MS,
      );

    await connected(first, 1);
    const own = () => readFileSync(home.path('etc/client.keys'), 'utf8');
    const key = own();
    expect(keyLines(first.home)).to.deep.equal([key.trimEnd()]);
    // The managers have the same keys, as the nodes of a cluster do.
    second.setKeys(keyLines(first.home));
    expect(await first.remoted?.stop()).to.equal(0);
    await connected(second, 1);
    // It has asked the first for a key once more, as agents of 4.x do, and was told that it has the right one.
    expect(said('Duplicate agent name: web01. Unable to add agent (from manager)')).to.be.greaterThan(0);
    expect(said('Trying next server ip in the line')).to.be.greaterThan(0);
    expect([own(), keyLines(first.home).join('\n')]).to.deep.equal([key, key.trimEnd()]);

    await second.remoted?.stop('SIGKILL');
    await first.start();
    await connected(first, 2);
    expect([own(), keyLines(first.home).join('\n')]).to.deep.equal([key, key.trimEnd()]);
    expect(said('Valid key received')).to.equal(1);
  });

  it('may come to each of them with its counters wherever they are, also when those are verified', async () => {
    const web = identity(1);
    const verify = 'remoted.verify_msg_id=1\n';
    for (const manager of [first, second]) {
      await manager.begin(verify);
      manager.setKeys([keyLine(web).trimEnd()]);
    }
    const agent = new MinimalAgent(web);
    ends.push(() => Promise.resolve(agent.close()));
    const visit = async (manager: Manager, text: string): Promise<void> => {
      await agent.startWhenKnown(manager.port);
      agent.keepalive();
      agent.event('/var/log/x', text);
      await eventually(`${text} has come`, () => manager.sink.texts('001').includes(text));
    };
    await visit(first, 'one');
    expect(await first.remoted?.stop()).to.equal(0);
    await agent.until('the end', () => agent.closed);
    await visit(second, 'two');
    await second.remoted?.stop('SIGKILL');
    await agent.until('the end', () => agent.closed);
    await first.start();
    await visit(first, 'three');
    expect(first.sink.texts('001')).to.deep.equal(['one', 'three']);
    expect(second.sink.texts('001')).to.deep.equal(['two']);
  });
});
