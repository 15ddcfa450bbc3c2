import { appendFileSync } from 'node:fs';
import { expect } from 'chai';
import { startupMessage } from '../../../lib/agentlink/control-text.js';
import { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { keyLine, MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { authdHome } from '../../support/authd/authd-server.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { KeepingSink } from '../../support/remoted/remoted-home.js';

const REMOTE = '<remote><connection>secure</connection><port>0</port><local_ip>127.0.0.1</local_ip></remote>';
const CLUSTER = `<cluster><name>c</name><node_name>n1</node_name><key>${'k'.repeat(32)}</key><nodes><node>nats://127.0.0.1:1</node></nodes><disabled>no</disabled></cluster>`;

describe('svc-remoted in a cluster', function () {
  this.timeout(60_000);
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function start(cluster: string) {
    const home = await authdHome('', `${REMOTE}${cluster}`);
    ends.push(() => home.remove());
    const sink = new KeepingSink(home);
    await sink.start();
    ends.push(() => sink.stop());
    const remoted = await RunningDaemon.start('svc-remoted', home);
    ends.push(() => remoted.stop('SIGKILL'));
    return { home, remoted };
  }
  async function connect(remoted: RunningDaemon, id: string) {
    const identity = { id, name: `host${id}`, key: 'a'.repeat(64) };
    const agent = new MinimalAgent(identity);
    ends.push(() => {
      agent.close();
    });
    await agent.connect(remoted.port('agents_tcp'));
    agent.send(startupMessage('v4.14.7'));
    return { agent, identity };
  }

  it('lets an agent in on its first connection whose key comes a moment later, and refuses one whose key never comes', async () => {
    const { home, remoted } = await start(CLUSTER);
    const { agent, identity } = await connect(remoted, '007');
    const { agent: stranger } = await connect(remoted, '008');
    const client = new RequestClient({ contract: remotedContract, path: home.socket('svc-remoted') });
    ends.push(() => {
      client.close();
    });
    await eventually('both wait', async () => {
      const { late_keys: late } = (await client.call('stats', {})) as { late_keys?: { waited: number } };
      return late?.waited === 2;
    });
    appendFileSync(home.path('etc/client.keys'), keyLine(identity));
    await eventually('it is let in', () => agent.acks > 0);
    expect(agent.closed).to.equal(false);
    await eventually('the stranger is not', () => stranger.closed);
    expect(stranger.acks).to.equal(0);
  });

  it('refuses at once where there is no cluster', async () => {
    const { home, remoted } = await start('');
    const { agent } = await connect(remoted, '007');
    await eventually('it is refused', () => agent.closed);
    const client = new RequestClient({ contract: remotedContract, path: home.socket('svc-remoted') });
    ends.push(() => {
      client.close();
    });
    expect(await client.call('stats', {})).to.not.have.property('late_keys');
  });
});
