import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { initHome } from '../../../bin/control/home/init-home.js';
import { agentdContract } from '../../../lib/bus/contracts/agentd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { ApiClient } from '../../support/api/api-client.js';
import { killSupervised } from '../../support/daemon/kill-supervised.js';
import { TestProgram } from '../../support/daemon/run-program.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const MANAGER_DAEMONS: readonly DaemonName[] = ['svc-db', 'svc-analysisd', 'svc-authd', 'svc-remoted', 'svc-apid'];
const WAIT_MS = 30_000;
const NEVER_MERGED = 'never to be seen by an agent';
const LINE = 'Dec 10 01:02:02 host sshd[1234]: Failed password for invalid user admin from 192.0.2.7 port 41234 ssh2';

type Data = { readonly affected_items: readonly Record<string, unknown>[] };

describe('central configuration, from a file of a group to an agent that works by it', function () {
  this.timeout(180_000);
  const manager = new TemporaryHome();
  const agent = new TemporaryHome({ version: 1, role: 'agent' });
  const daemons = new Map<DaemonName, RunningDaemon>();
  const api = new ApiClient(manager);
  const agentd = new RequestClient({ contract: agentdContract, path: agent.socket('svc-agentd') });
  let supervisor: TestProgram | undefined;

  before(async () => {
    await initHome(manager, { role: 'server' });
    await initHome(agent, { role: 'agent' });
    writeFileSync(
      manager.path('etc', 'manager.conf'),
      `<manager_config>
         <remote><connection>secure</connection><port>0</port><protocol>tcp</protocol><local_ip>127.0.0.1</local_ip></remote>
         <auth><port>0</port><disabled>no</disabled></auth>
       </manager_config>\n`,
    );
    writeFileSync(
      manager.path('api', 'configuration', 'api.yaml'),
      'host: [127.0.0.1]\nport: 0\naccess:\n  max_request_per_minute: 0\n',
    );
    for (const name of MANAGER_DAEMONS) daemons.set(name, await RunningDaemon.start(name, manager));
    const port = (daemon: DaemonName, listener: string): number => daemons.get(daemon)?.port(listener) ?? 0;
    mkdirSync(agent.path('logs', 'app'));
    for (const name of ['local.log', 'shared.log']) writeFileSync(agent.path('logs', 'app', name), '');
    writeFileSync(
      agent.path('etc', 'manager.conf'),
      `<manager_config>
         <client>
           <server><address>127.0.0.1</address><port>${port('svc-remoted', 'agents_tcp')}</port><retry_interval>1</retry_interval></server>
           <notify_time>1</notify_time>
           <auto_restart>no</auto_restart>
           <enrollment><port>${port('svc-authd', 'enrollment')}</port><agent_name>web01</agent_name><delay_after_enrollment>0</delay_after_enrollment></enrollment>
         </client>
         <client_buffer><disabled>yes</disabled></client_buffer>
         <labels><label key="site">north</label><label key="rack">7</label></labels>
         <localfile><log_format>syslog</log_format><location>logs/app/local.log</location></localfile>
       </manager_config>\n`,
    );
    supervisor = new TestProgram(join(fileURLToPath(productRoot()), 'bin', 'svc-control'), [
      'run',
      '--home',
      agent.root,
    ]);
    await eventually('the agent is in step', async () => (await status()) === 'synced', WAIT_MS);
  });
  after(async () => {
    agentd.close();
    if (supervisor !== undefined) await killSupervised(agent, supervisor);
    await Promise.all([...daemons.values()].map((daemon) => daemon.stop('SIGKILL')));
    manager.remove();
    agent.remove();
  });

  /** The items an API call answers, which must succeed. */
  async function items(method: string, path: string): Promise<readonly Record<string, unknown>[]> {
    const answer = await eventually(`${method} ${path}`, () => api.call(method, path), WAIT_MS);
    expect(answer.status, answer.text).to.equal(200);
    return (JSON.parse(answer.text) as { data?: Data }).data?.affected_items ?? [];
  }
  async function status(): Promise<unknown> {
    const answer = await api.call('GET', '/agents?agents_list=001&select=group_config_status');
    if (answer?.status !== 200) return undefined;
    return (JSON.parse(answer.text) as { data: Data }).data.affected_items[0]?.['group_config_status'];
  }
  const connections = async (): Promise<number> =>
    ((await agentd.call('stats', {})) as { connection: { connections: number } }).connection.connections;
  const shared = (name: string): string | undefined => {
    const path = agent.path('etc', 'shared', name);
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  };
  const log = (home: TemporaryHome): string => readFileSync(home.path('logs', 'manager.log'), 'utf8');
  const run = async (program: string, ...args: string[]): Promise<{ code: number | null; stdout: string }> => {
    const started = new TestProgram(join(fileURLToPath(productRoot()), 'bin', program), args, {
      env: { SVC_HOME: manager.root },
    });
    const { code, stdout } = await started.ended;
    return { code, stdout };
  };
  const alerted = (text: string): boolean => {
    const path = manager.path('logs', 'alerts', 'alerts.json');
    return existsSync(path) && readFileSync(path, 'utf8').includes(text);
  };

  it('gives an agent of two groups the files of both, the last group first in rank', async () => {
    writeFileSync(manager.path('etc', 'shared', 'default', 'motd.txt'), 'of default\n');
    writeFileSync(manager.path('etc', 'shared', 'default', 'only-default.txt'), 'kept\n');
    const json = { 'content-type': 'application/json' };
    const created = await api.call('POST', '/groups', json, JSON.stringify({ group_id: 'web' }));
    expect([created?.status, created?.text]).to.deep.equal([200, `{"message": "Group 'web' created.", "error": 0}`]);
    writeFileSync(manager.path('etc', 'shared', 'web', 'motd.txt'), 'of web\n');
    await items('PUT', '/agents/001/group/web');
    expect(await items('GET', '/agents?agents_list=001&select=group')).to.deep.equal([
      { id: '001', group: ['default', 'web'] },
    ]);
    const both = /^<!-- Source file: default\/agent\.conf -->\n[^]*<!-- Source file: web\/agent\.conf -->\n/;
    // The files were written one after the other: the agent may have got some before the others.
    await eventually(
      'the files of both',
      () =>
        shared('motd.txt') === 'of web\n' &&
        shared('only-default.txt') === 'kept\n' &&
        both.test(shared('agent.conf') ?? ''),
      WAIT_MS,
    );
    // It takes its place after the files in it.
    const merged = await eventually('the merged file of both', () => {
      const text = shared('merged.mg');
      return text?.startsWith('#5288d400\n') === true ? text : undefined;
    });
    expect(merged).to.match(/^#5288d400\n!\d+ ar\.conf\n/);
    await eventually('the status', async () => (await status()) === 'synced', WAIT_MS);
  });

  it('hands on a file that was checked and renamed, and the agent works by it at once, connected as before', async () => {
    const before = await connections();
    const folder = manager.path('etc', 'shared', 'web');
    writeFileSync(
      join(folder, 'agent.conf.tmp'),
      `<!-- ${NEVER_MERGED} -->
<agent_config os="Linux">
  <client_buffer><disabled>no</disabled><queue_size>777</queue_size></client_buffer>
  <labels><label key="site">south</label></labels>
  <localfile><log_format>syslog</log_format><location>${agent.path('logs', 'app', 'shared.log')}</location></localfile>
</agent_config>
<agent_config name="another"><labels><label key="rack">none</label></labels></agent_config>\n`,
    );
    const checked = await run('verify-agent-conf', '-f', join(folder, 'agent.conf.tmp'));
    expect([checked.code, checked.stdout]).to.deep.equal([0, 'verify-agent-conf: OK\n\n']);
    renameSync(join(folder, 'agent.conf.tmp'), join(folder, 'agent.conf'));
    await eventually('the file', () => shared('agent.conf')?.includes('queue_size>777') === true, WAIT_MS);
    await eventually('the status', async () => (await status()) === 'synced', WAIT_MS);
    expect(existsSync(agent.path('etc', 'shared', 'agent.conf.tmp'))).to.equal(false);

    // What was switched off at home is on now, single values are the later ones, and lists have both.
    const configuration = async (path: string): Promise<Record<string, unknown>> => {
      const answer = await eventually('the answer', () => api.call('GET', `/agents/001/config/${path}`), WAIT_MS);
      return (JSON.parse(answer.text) as { data: Record<string, unknown> }).data;
    };
    await eventually('the buffer', async () => {
      const { buffer } = await configuration('agent/buffer');
      return (buffer as { disabled: string; queue_size: number }).queue_size === 777;
    });
    expect(await configuration('agent/buffer')).to.have.nested.property('buffer.disabled', 'no');
    const { labels } = await configuration('agent/labels');
    expect(labels).to.deep.include.members([
      { key: 'rack', value: '7', hidden: 'no' },
      { key: 'site', value: 'south', hidden: 'no' },
    ]);
    const files = async (): Promise<string> => JSON.stringify(await configuration('logcollector/localfile'));
    await eventually('the second file', async () => (await files()).includes('shared.log'), WAIT_MS);
    expect(await files()).to.include('local.log');
    appendFileSync(agent.path('logs', 'app', 'shared.log'), `${LINE}\n`);
    await eventually('an alert of a line of the shared file', () => alerted(LINE), WAIT_MS);
    expect(log(agent)).to.include('Agent is reloading due to shared configuration changes.');
    expect(await connections()).to.equal(before);
  });

  it('keeps the last good agent.conf when a broken one is laid down, and says where it is broken', async () => {
    const path = manager.path('etc', 'shared', 'web', 'agent.conf');
    const good = readFileSync(path, 'utf8');
    const had = shared('merged.mg');
    writeFileSync(path, '<agent_config>\n  <labels>\n  <client><server/></client>\n</agent_config>\n');
    const said = await eventually('the log', () => {
      const lines = log(manager).split('\n');
      return lines.find((line) => line.includes('ERROR') && line.includes('etc/shared/web/agent.conf'));
    });
    expect(said).to.match(/line \d/);
    // A file beside it still goes out, with the good configuration.
    writeFileSync(manager.path('etc', 'shared', 'web', 'motd.txt'), 'changed\n');
    await eventually('the other file', () => shared('motd.txt') === 'changed\n', WAIT_MS);
    await eventually('its merged file', () => shared('merged.mg') !== had, WAIT_MS);
    expect(shared('agent.conf')).to.include('queue_size>777').and.not.include('<server/>');
    writeFileSync(path, good.replace('777', '778'));
    await eventually('the mended file', () => shared('agent.conf')?.includes('queue_size>778') === true, WAIT_MS);
  });

  it('is shown by agent_groups, and brings an agent back when its group is deleted', async () => {
    await eventually('the status', async () => (await status()) === 'synced', WAIT_MS);
    expect((await run('agent_groups', '-S', '-i', '001')).stdout).to.equal("Agent '001' is synchronized. \n");
    expect((await run('agent_groups', '-s', '-i', '001')).stdout).to.equal(
      "The agent 'web01' with ID '001' belongs to groups: default, web.\n",
    );
    expect((await run('agent_groups', '-q', '-r', '-g', 'web')).stdout).to.equal('Group web removed.\n');
    await eventually('the files of default alone', () => shared('motd.txt') === 'of default\n', WAIT_MS);
    await eventually('the merged file of default', () => shared('merged.mg')?.startsWith('#default\n'), WAIT_MS);
    await eventually('the status', async () => (await status()) === 'synced', WAIT_MS);
    await eventually('nothing of both', () => !existsSync(manager.path('var', 'multigroups', '5288d400')), WAIT_MS);
    expect(statSync(manager.path('etc', 'shared', 'default', 'merged.mg')).mode & 0o007).to.equal(0);
    expect(shared('merged.mg')).to.not.include(NEVER_MERGED);
  });
});
