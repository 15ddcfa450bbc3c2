import { expect } from 'chai';
import { startupMessage } from '../../../lib/agentlink/control-text.js';
import { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { authdHome, AuthdServer } from '../../support/authd/authd-server.js';
import { enrol, keyOf } from '../../support/authd/enrollment.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { KeepingSink } from '../../support/remoted/remoted-home.js';
import type { TemporaryHome } from '../../support/temporary-home.js';

const REMOTE = '<remote><connection>secure</connection><port>0</port><local_ip>127.0.0.1</local_ip></remote>';

describe('svc-authd with svc-remoted', function () {
  this.timeout(60_000);
  let home: TemporaryHome;
  let authd: AuthdServer;
  let remoted: RunningDaemon;
  /** Ends what was started, the last first, however far that came. */
  const ends: (() => Promise<unknown>)[] = [];
  const agents: MinimalAgent[] = [];

  beforeEach(async () => {
    home = await authdHome('', REMOTE);
    ends.push(() => Promise.resolve(home.remove()));
    const sink = new KeepingSink(home);
    await sink.start();
    ends.push(() => sink.stop());
    remoted = await RunningDaemon.start('svc-remoted', home);
    ends.push(() => remoted.stop('SIGKILL'));
    authd = await AuthdServer.start(home);
    ends.push(() => authd.end());
  });
  afterEach(async () => {
    for (const agent of agents.splice(0)) agent.close();
    for (const end of ends.splice(0).reverse()) await end();
  });

  /** An agent as it behaves: it connects with its new key until it is let in. */
  async function connected(agent: MinimalAgent): Promise<void> {
    await eventually(`${agent.key.name} is let in`, async () => {
      await agent.connect(remoted.port('agents_tcp'));
      agent.send(startupMessage('v4.14.7'));
      await eventually('an answer', () => agent.closed || agent.acks > 0);
      return agent.acks > 0;
    });
  }

  it('lets a new agent in, and a removed one out', async () => {
    for (const name of ['web01', 'web02', 'web03']) {
      const { id, key } = keyOf(await enrol(authd.port, `OSSEC A:'${name}'\n`));
      const agent = new MinimalAgent({ id, name, key });
      agents.push(agent);
      await connected(agent);
    }
    await authd.client.call('remove', { ids: ['002'] });
    await eventually('the connection of the removed agent is closed', () => agents[1]?.closed === true);
    expect(agents[0]?.closed).to.equal(false);
  });
});
