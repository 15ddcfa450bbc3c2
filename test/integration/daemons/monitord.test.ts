import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { BusError } from '../../../lib/bus/bus-error.js';
import { monitordContract } from '../../../lib/bus/contracts/monitord.js';
import { EventSink } from '../../../lib/bus/event-sink.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { MemoryStreamPositions } from '../../../lib/bus/stream-positions.js';
import { MANAGER_DAEMONS } from '../../../lib/product/daemon-names.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { eventually } from '../../support/eventually.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const PROGRAM = fileURLToPath(new URL('bin/svc-monitord', productRoot()));
const shipped = (name: string) => fileURLToPath(new URL(`etc/${name}`, productRoot()));

describe('svc-monitord', () => {
  let home: TemporaryHome;
  let child: ChildProcess | undefined;
  let client: RequestClient<typeof monitordContract>;

  beforeEach(() => {
    home = new TemporaryHome();
    copyFileSync(shipped('manager.conf'), home.path('etc/manager.conf'));
    copyFileSync(shipped('internal_options.conf'), home.path('etc/internal_options.conf'));
    client = new RequestClient({ contract: monitordContract, path: home.socket('svc-monitord') });
  });

  afterEach(async () => {
    client.close();
    if (child?.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    child = undefined;
    home.remove();
  });

  async function start(): Promise<ChildProcess> {
    const started = spawn(process.execPath, [PROGRAM, '--home', home.root], { stdio: 'ignore' });
    child = started;
    await eventually('svc-monitord answers', async () => {
      if (started.exitCode !== null) throw new Error(`svc-monitord ended with ${String(started.exitCode)}`);
      return client.call('ping', {}).then(
        () => true,
        () => false,
      );
    });
    return started;
  }

  const test = () => spawnSync(process.execPath, [PROGRAM, '-t', '--home', home.root], { encoding: 'utf8' });

  it('reports the eleven daemons and itself as running', async () => {
    await start();
    const status = await eventually('svc-monitord is running', async () => {
      const answer = await client.call('status', {});
      return answer['svc-monitord'] === 'running' ? answer : undefined;
    });
    expect(Object.keys(status).sort()).to.deep.equal([...MANAGER_DAEMONS].sort());
    for (const [name, state] of Object.entries(status)) {
      expect(state, name).to.equal(name === 'svc-monitord' ? 'running' : 'stopped');
    }
    const info = await client.call('info', {});
    expect(info).to.include({ path: home.root, version: 'v4.14.7', type: 'server', max_agents: 'unlimited' });
    expect(info.uuid).to.match(/^[0-9a-f-]{36}$/);
    expect((await client.call('info', {})).uuid).to.equal(info.uuid);
  });

  it('answers configuration from the file as it is', async () => {
    await start();
    const all = await client.call('configuration', { secrets: true });
    expect(all).to.have.property('localfile').that.is.an('array');
    expect(all).not.to.have.property('logging');
    expect(
      await client.call('configuration', { section: 'global', field: 'white_list', secrets: false }),
    ).to.deep.equal({
      global: { white_list: ['127.0.0.1', '::1', '^localhost$'] },
    });
    const failure = (params: { section?: string; field?: string }) =>
      client.call('configuration', { ...params, secrets: false }).then(
        () => 'answered',
        (error: unknown) => (error instanceof BusError ? `${error.code}: ${error.message}` : String(error)),
      );
    expect(await failure({ section: 'logging' })).to.equal('invalid_section: Invalid section');
    expect(await failure({ section: 'agentless' })).to.equal(
      'absent_section: Requested section not present in configuration: agentless',
    );
    expect(await failure({ section: 'global', field: 'nothing' })).to.equal('invalid_field: Invalid field in section');
    const { text } = await client.call('raw_configuration', { secrets: true });
    expect(text).to.equal(readFileSync(shipped('manager.conf'), 'utf8'));
    writeFileSync(home.path('etc/manager.conf'), '<manager_config><global>');
    expect(await failure({})).to.match(/^unreadable: Requested component does not exist: \(1226\): /);
    expect((await client.call('raw_configuration', { secrets: false })).text).to.equal('<manager_config><global>');
  });

  it('reads the manager log back, by level and tag, and counts it', async () => {
    await start();
    const started = await eventually('the start is in the log', async () => {
      const { items } = await client.call('logs', { tag: 'svc-monitord', level: 'info' });
      return items.find(({ description }) => /^ Started \(pid: \d+\)\.$/.test(description));
    });
    expect(started.timestamp).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect((await client.call('logs', { tag: 'svc-nothing' })).items).to.deep.equal([]);
    const [summary] = await client.call('logs_summary', {});
    expect(summary?.tag).to.equal('svc-monitord');
    expect(summary?.counts.info).to.be.at.least(1);
  });

  it('shows its active configuration and takes a new one over, or refuses it', async () => {
    await start();
    expect(await client.call('config', { section: 'internal' })).to.deep.equal({
      monitord: {
        day_wait: 10,
        compress: 1,
        sign: 1,
        monitor_agents: 1,
        keep_log_days: 31,
        rotate_log: 1,
        size_rotate: 536870912,
        daily_rotations: 12,
        delete_old_agents: 0,
      },
    });
    expect(await client.call('config', { section: 'global' })).to.deep.equal({
      monitord: { agents_disconnection_time: 900, agents_disconnection_alert_time: 0 },
    });
    writeFileSync(home.path('etc/local_internal_options.conf'), 'monitord.keep_log_days=7\n');
    expect(await client.call('reload', {})).to.deep.equal({ restartNeeded: [] });
    const keepDays = async () => (await client.call('config', { section: 'internal' }))['monitord'];
    expect(await keepDays()).to.include({ keep_log_days: 7 });
    writeFileSync(home.path('etc/local_internal_options.conf'), 'monitord.keep_log_days=x\n');
    const refusal = await client.call('reload', {}).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(BusError);
    expect((refusal as BusError).message).to.contain(
      "(2302): Invalid definition for monitord.keep_log_days: 'x'. (etc/local_internal_options.conf, line 1)",
    );
    expect(await keepDays()).to.include({ keep_log_days: 7 });
  });

  it('tells the analysis that the manager has started, and stops cleanly', async () => {
    const messages: string[] = [];
    const sink = new EventSink({
      path: home.eventsSocket(),
      positions: new MemoryStreamPositions(),
      logger: new RecordingLogger(),
      onBatch: ({ events }) => {
        messages.push(...events.map(({ queue, location, message }) => `${queue}:${location}:${message.toString()}`));
        return Promise.resolve();
      },
    });
    await sink.start();
    try {
      const started = await start();
      await eventually('the event', () => messages.length > 0);
      expect(messages).to.deep.equal(['1:wazuh-monitord:ossec: Manager started.']);
      started.kill('SIGTERM');
      const [code] = (await once(started, 'exit')) as [number | null];
      expect(code).to.equal(0);
    } finally {
      await sink.stop();
    }
  });

  it('checks its configuration with -t, quickly and without side effects', () => {
    const good = test();
    expect(good).to.include({ status: 0, stdout: '', stderr: '' });
    writeFileSync(
      home.path('etc/manager.conf'),
      '<manager_config>\n<global><stats>99</stats></global></manager_config>',
    );
    const bad = test();
    expect(bad.status).to.equal(1);
    expect(bad.stderr).to.contain("ERROR: (1235): Invalid value for element 'stats': 99.");
    expect(bad.stderr).to.contain("CRITICAL: (1202): Configuration error at 'etc/manager.conf'. Line 2.");
    // A section of another daemon is that daemon's business.
    writeFileSync(home.path('etc/manager.conf'), '<manager_config><auth><port>x</port></auth></manager_config>');
    expect(test().status).to.equal(0);
    writeFileSync(home.path('etc/manager.conf'), '<manager_config><nonsense/></manager_config>');
    expect(test().stderr).to.contain("(1230): Invalid element in the configuration: 'nonsense'.");
  });
});
