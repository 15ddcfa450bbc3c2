import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { startupMessage } from '../../../lib/agentlink/control-text.js';
import { dbContract } from '../../../lib/bus/contracts/db.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { MinimalAgent } from '../../support/agentlink/minimal-agent.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { copyShippedRuleset } from '../../support/engine/engine-files.js';
import { eventually } from '../../support/eventually.js';
import { identity, RemotedHome } from '../../support/remoted/remoted-home.js';

type Alert = { rule: { id: string }; agent: Record<string, unknown>; location: string; full_log: string };
const FAILURE = 'Dec 25 20:45:02 box sshd[1234]: Failed password for invalid user admin from 192.0.2.10';

describe('an agent, from its key to its alerts', function () {
  this.timeout(60_000);
  const home = new RemotedHome({
    sections:
      '<global><agents_disconnection_time>1s</agents_disconnection_time></global><ruleset><decoder_dir>ruleset/decoders</decoder_dir><rule_dir>ruleset/rules</rule_dir></ruleset>',
  });
  const db = new RequestClient({ contract: dbContract, path: home.socket('svc-db') });
  const daemons = new Map<DaemonName, RunningDaemon>();
  const agent = new MinimalAgent(identity(1));

  before(async () => {
    copyShippedRuleset(home);
    home.keys(identity(1));
    await Promise.all((['svc-db', 'svc-analysisd', 'svc-remoted'] as const).map(start));
    await db.call('agents.register', { id: '001', name: 'box001', dateAdd: 1_700_000_000 });
  });
  after(async () => {
    agent.close();
    db.close();
    for (const daemon of daemons.values()) await daemon.stop('SIGKILL');
    home.remove();
  });

  async function start(name: DaemonName): Promise<void> {
    daemons.set(name, await RunningDaemon.start(name, home));
  }

  /** A new connection; the old one may not be seen to be closed at once. */
  const reconnect = () =>
    eventually('the agent is connected', async () => {
      agent.close();
      await agent.connect(port());
      agent.send(startupMessage('v4.14.7'));
      const { acks } = agent;
      await agent.until('an answer', () => agent.closed || agent.acks > acks);
      return !agent.closed;
    });
  const port = () => daemons.get('svc-remoted')?.port('agents_tcp') ?? 0;
  const alertOf = (rule: string, text = '') =>
    eventually(`an alert of rule ${rule}`, () => {
      const path = home.path('logs', 'alerts', 'alerts.json');
      const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
      return lines
        .map((line) => JSON.parse(line) as Alert)
        .find((alert) => alert.rule.id === rule && alert.full_log.includes(text));
    });
  const stateIs = (wanted: Record<string, unknown>) =>
    eventually(`the agent is ${JSON.stringify(wanted)}`, async () => {
      const { items } = await db.call('agents.get', { ids: ['001'] });
      const item = items[0] ?? {};
      return Object.entries(wanted).every(([field, value]) => item[field] === value) && item;
    });

  it('is seen to start, to be active, to send an event, and to stop', async () => {
    await reconnect();
    await stateIs({ status: 'pending', version: 'Wazuh v4.14.7' });
    agent.event('wazuh-agent', "ossec: Agent started: 'box001->any'.");
    agent.keepalive([{ key: 'site', value: 'north' }]);
    // It says that it has no merged file, and its group has one.
    const row = await stateIs({ status: 'active', status_code: 0, group_config_status: 'not synced', mergedSum: 'x' });
    expect(row['os']).to.include({ name: 'Debian GNU/Linux', codename: 'bookworm', arch: 'x86_64' });
    expect(row).to.include({ ip: '127.0.0.1', node_name: 'node01' });
    const { agents } = await db.call('agents.labels', { ids: ['001'] });
    expect(agents[0]?.labels).to.deep.include(['"site"', 'north']);
    agent.event('/var/log/auth.log', `${FAILURE} port 4321 ssh2`);
    expect(await alertOf('501')).to.have.nested.property('agent.id', '001');
    const alert = await alertOf('5710');
    expect(alert).to.deep.include({
      location: '/var/log/auth.log',
      agent: { id: '001', name: 'box001', ip: '127.0.0.1', labels: { site: 'north' } },
    });
    agent.shutdown();
    await stateIs({ status: 'disconnected', status_code: 3 });
    expect(await alertOf('506')).to.deep.include({ location: 'wazuh-remoted' });
  });

  it('stays connected while svc-db is away, and is active in it afterwards', async () => {
    await reconnect();
    await stateIs({ status: 'pending' });
    await daemons.get('svc-db')?.stop('SIGKILL');
    const acks = agent.acks;
    agent.keepalive([{ key: 'site', value: 'south' }]);
    await agent.until('the ACK', () => agent.acks > acks);
    agent.event('/var/log/auth.log', `${FAILURE} port 4322 ssh2`);
    await alertOf('5710', 'port 4322');
    await start('svc-db');
    await stateIs({ status: 'active', status_code: 0 });
    const { agents } = await db.call('agents.labels', { ids: ['001'] });
    expect(agents[0]?.labels).to.deep.include(['"site"', 'south']);
  });

  it('counts as disconnected when svc-remoted starts anew, until it is heard', async () => {
    await daemons.get('svc-remoted')?.stop('SIGKILL');
    await agent.until('the end', () => agent.closed);
    await start('svc-remoted');
    await stateIs({ status: 'disconnected', status_code: 5 });
    await reconnect();
    agent.keepalive();
    await stateIs({ status: 'active', status_code: 0 });
  });

  it('is announced when it is not heard any more', async () => {
    await reconnect();
    agent.keepalive();
    await stateIs({ status: 'active' });
    if (!daemons.has('svc-monitord')) await start('svc-monitord');
    await stateIs({ status: 'disconnected', status_code: 4 });
    expect(await alertOf('504')).to.deep.include({
      location: 'wazuh-monitord',
      full_log: "ossec: Agent disconnected: 'box001-any'.",
      agent: { id: '001', name: 'box001', ip: '127.0.0.1' },
    });
  });
});
