import { hash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { buildMergedFile } from '../../../lib/agentlink/merged-file.js';
import { agentdContract } from '../../../lib/bus/contracts/agentd.js';
import { EventProducer } from '../../../lib/bus/event-producer.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { FakeManager } from '../../support/agentlink/fake-manager.js';
import { keyLine } from '../../support/agentlink/minimal-agent.js';
import { sampleEvent } from '../../support/bus/bus-events.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { identity } from '../../support/remoted/remoted-home.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const md5 = (content: Buffer | string): string => hash('md5', content, 'hex');

function merged(files: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(files).map(([name, content]) => ({ name, content: Buffer.from(content) }));
  return buildMergedFile('default', entries);
}

describe('svc-agentd and the files of its group', function () {
  this.timeout(60_000);
  const root = fileURLToPath(productRoot());
  let home: TemporaryHome;
  let manager: FakeManager;
  let agentd: RunningDaemon;
  let requests: RequestClient<typeof agentdContract>;

  beforeEach(async () => {
    home = new TemporaryHome({ version: 1, role: 'agent' });
    mkdirSync(home.path('queue', 'rids'));
    copyFileSync(`${root}/etc/internal_options.conf`, home.path('etc', 'internal_options.conf'));
    writeFileSync(home.path('etc', 'client.keys'), keyLine(identity(1)));
    manager = new FakeManager(identity(1));
    await manager.start();
    requests = new RequestClient({ contract: agentdContract, path: home.socket('svc-agentd') });
  });
  afterEach(async () => {
    requests.close();
    await agentd.stop('SIGKILL');
    manager.stop();
    home.remove();
  });

  /** Keepalives come an hour apart: what is seen before is sent for a reason. */
  function configure(buffer: string, client: string): void {
    writeFileSync(
      home.path('etc', 'manager.conf'),
      `<manager_config>
         <client>
           <server><address>127.0.0.1</address><port>${manager.port}</port><retry_interval>1</retry_interval></server>
           <notify_time>3600</notify_time><time-reconnect>7200</time-reconnect><auto_restart>no</auto_restart>
           ${client}
         </client>
         <client_buffer>${buffer}</client_buffer>
         <labels><label key="site">local</label></labels>
       </manager_config>\n`,
    );
  }

  async function start(buffer = '<queue_size>100</queue_size>', client = ''): Promise<void> {
    configure(buffer, `<enrollment><enabled>no</enabled></enrollment>${client}`);
    const before = manager.keepalives.length;
    agentd = await RunningDaemon.start('svc-agentd', home);
    await eventually('a keepalive', () => manager.keepalives.length > before);
  }

  const shared = (...names: string[]): string => home.path('etc', 'shared', ...names);
  const said = (text: string): Promise<boolean> => eventually(text, () => agentd.output.includes(text));
  const config = (section: string): Promise<Record<string, unknown>> => requests.call('config', { section });
  const connections = async (): Promise<unknown> =>
    ((await requests.call('stats', {})) as { connection: { connections: number } }).connection.connections;
  const told = (sum: string | undefined): Promise<boolean> =>
    eventually(`a keepalive with ${sum ?? 'no sum'}`, () => manager.keepalive?.mergedSum === sum);

  it('unpacks a push in pieces, uses it without losing its connection, and tells the manager at once', async () => {
    await start();
    expect(manager.keepalive).to.include({ mergedSum: 'x', configSum: undefined });
    const configuration = `<agent_config><labels><label key="site">shared</label></labels>
      <client_buffer><queue_size>500</queue_size><events_per_second>400</events_per_second></client_buffer></agent_config>`;
    const content = merged({ 'agent.conf': configuration, 'lists/deep.txt': '!x\n#!-y'.repeat(1000) });
    manager.push(content);
    await told(md5(content));
    expect(manager.keepalive?.configSum).to.equal(md5(configuration));
    expect([...(manager.keepalive?.labels ?? [])]).to.deep.equal([['"site"', 'shared']]);
    expect(readFileSync(shared('lists', 'deep.txt'), 'utf8')).to.equal('!x\n#!-y'.repeat(1000));
    await said('Agent is reloading due to shared configuration changes.');
    await said('Buffer agent.conf updated, enable: 1 size: 500 ');
    await said('Client buffer resized from 100 to 500 elements.');
    // There is no supervisor here.
    await said('Could not auto-reload agent. Is Active Response enabled?');
    expect(await config('buffer')).to.deep.equal({
      buffer: { disabled: 'no', queue_size: 500, events_per_second: 400 },
    });
    expect(await config('client')).to.have.nested.property('client.remote_conf', 'yes');
    expect(await connections()).to.equal(1);
    expect(manager.connections).to.equal(1);

    // As scripts for the reference do.
    agentd.process.kill('SIGUSR1');
    await said('SIGNAL [(10)-(User defined signal 1)] Received. Reload agentd.');
    expect(agentd.output).to.not.contain('Debugger listening');

    // After a restart it says the same.
    expect(await agentd.stop()).to.equal(0);
    await start();
    expect(manager.keepalive).to.deep.include({ mergedSum: md5(content), configSum: md5(configuration) });
    expect(await config('buffer')).to.have.nested.property('buffer.queue_size', 500);
    const empty = merged({});
    manager.push(empty);
    await told(md5(empty));
    expect(readdirSync(shared())).to.deep.equal(['merged.mg']);
    expect([...(manager.keepalive?.labels ?? [])]).to.deep.equal([['"site"', 'local']]);
  });

  it('takes nothing of a push with a wrong sum, a wrong name or names that lead elsewhere', async () => {
    await start();
    const good = merged({ 'a.txt': '1' });
    manager.push(good);
    await told(md5(good));
    manager.push(merged({ 'b.txt': '2' }), md5('something else'));
    manager.push(merged({ 'b.txt': '2' }), undefined, '../merged.mg');
    await said("Invalid file '../merged.mg', vulnerable to directory traversal attack. Ignoring.");
    manager.push(merged({ 'b.txt': '2', '../../evil': '3' }));
    await eventually('the event', () => manager.events.includes('1:wazuh-agent:wazuh: Could not unmerge shared file.'));
    await said('Could not unmerge shared file');
    expect(readdirSync(shared()).sort()).to.deep.equal(['a.txt', 'merged.mg']);
    expect(existsSync(home.path('etc', 'evil')) || existsSync(home.path('evil'))).to.equal(false);
    expect(((await requests.call('stats', {})) as { shared: unknown }).shared).to.deep.equal({
      installed: 1,
      failed: 2,
      replaced: 0,
    });
    expect(manager.keepalive?.mergedSum).to.equal(md5(good));
  });

  it('runs on with what it has when agent.conf is broken, and starts with the last good one then', async () => {
    await start();
    const labels = '<labels><label key="site">shared</label></labels>';
    const good = merged({ 'agent.conf': `<agent_config>${labels}</agent_config>` });
    manager.push(good);
    await told(md5(good));
    const broken = merged({
      'agent.conf': `<agent_config>\n${labels.replace('shared', 'bad')}\n<client_buffer>\n<queue_size>many</queue_size>\n</client_buffer></agent_config>`,
      'list.txt': '',
    });
    manager.push(broken);
    const event = "1:wazuh-agent:wazuh: Invalid remote configuration: 'client_buffer'. ";
    await eventually('the event', () => manager.events.includes(event));
    await said('the shared configuration is not used, what runs stays');
    expect(agentd.output).to.match(/queue_size.*etc\/shared\/agent\.conf, line 4/);
    expect(existsSync(shared('list.txt')), 'the files stay').to.equal(true);
    expect(await config('labels')).to.deep.equal({ labels: [{ value: 'shared', key: 'site', hidden: 'no' }] });
    await requests.call('reload', {});
    expect(await config('labels')).to.have.nested.property('labels[0].value', 'shared');

    await agentd.stop('SIGKILL');
    // What a kill in the middle of writing leaves is removed once there is something to write.
    writeFileSync(home.path('var', 'last-good', 'agent.conf.1.abc.tmp'), 'half');
    await start();
    expect(manager.keepalive?.mergedSum).to.equal(md5(broken));
    await said('the shared configuration is not used, the last good one stays');
    expect(await config('labels')).to.have.nested.property('labels[0].value', 'shared');

    // Without it the host's own is all there is.
    await agentd.stop('SIGKILL');
    writeFileSync(home.path('var', 'last-good', 'agent.conf'), '<agent_config><nonsense/></agent_config>');
    await start();
    await said('the shared configuration is not used, only that of this host is');
    expect(await config('labels')).to.have.nested.property('labels[0].value', 'local');
    manager.push(good);
    await told(md5(good));
    expect(await config('labels')).to.have.nested.property('labels[0].value', 'shared');
    expect(readdirSync(home.path('var', 'last-good'))).to.deep.equal(['agent.conf']);
    const none = merged({});
    manager.push(none);
    await told(md5(none));
    expect(readdirSync(home.path('var', 'last-good'))).to.deep.equal([]);
    expect(await config('labels')).to.have.nested.property('labels[0].value', 'local');
  });

  it('reads agent.conf again when its key tells it a name', async () => {
    rmSync(home.path('etc', 'client.keys'));
    mkdirSync(shared());
    const { name } = identity(1);
    const label = (value: string): string => `<labels><label key="site">${value}</label></labels>`;
    writeFileSync(
      shared('agent.conf'),
      `<agent_config>${label('all')}</agent_config><agent_config name="^${name}$">${label('named')}</agent_config>`,
    );
    configure('', '<enrollment><port>1</port></enrollment>');
    agentd = await RunningDaemon.start('svc-agentd', home);
    await said('Requesting a key from server');
    expect(await config('labels')).to.have.nested.property('labels[0].value', 'all');
    writeFileSync(home.path('etc', 'client.keys'), keyLine(identity(1)));
    await said('This agent has another name now: the shared configuration is read again.');
    await eventually('its own label', async () => JSON.stringify(await config('labels')).includes('"named"'));
  });

  it('ignores agent.conf where its options say so', async () => {
    writeFileSync(home.path('etc', 'local_internal_options.conf'), 'agent.remote_conf=0\n');
    await start();
    const content = merged({ 'agent.conf': '<no xml' });
    manager.push(content);
    await told(md5(content));
    expect(await config('client')).to.have.nested.property('client.remote_conf', 'no');
    expect(agentd.output).to.not.contain('Invalid').and.not.contain('reloading');
  });

  it('shrinks, disables and enables a buffer that is full, and loses nothing that it took but what has no room', async () => {
    await start('<queue_size>200</queue_size><events_per_second>50</events_per_second>');
    const producer = new EventProducer({
      path: home.eventsSocket(),
      daemon: 'svc-logcollector',
      logger: new RecordingLogger(),
    });
    producer.start();
    try {
      const lines = (): string[] => manager.events.flatMap((text) => /line \d+$/.exec(text)?.[0] ?? []);
      const send = (from: number, to: number) =>
        producer.sendAll(Array.from({ length: to - from }, (_, index) => sampleEvent(`line ${from + index}`)));
      const dropped = async (): Promise<number> =>
        ((await requests.call('stats', {})) as { events: { dropped: { buffer_full: number } } }).events.dropped
          .buffer_full;
      await send(0, 1000);
      const shrink = merged({
        'agent.conf':
          '<agent_config><client_buffer><queue_size>50</queue_size><events_per_second>50</events_per_second></client_buffer></agent_config>',
      });
      manager.push(shrink);
      await told(md5(shrink));
      expect(agentd.output).to.match(/Shrinking client buffer from 200 to 50 \(messages: \d+\)\./);
      await said('Client buffer resized from 200 to 50 elements.');
      const lost = await dropped();
      expect(lost).to.be.greaterThan(0);
      const off = merged({
        'agent.conf': '<agent_config><client_buffer><disabled>yes</disabled></client_buffer></agent_config>',
      });
      manager.push(off);
      await said('Client buffer freed successfully.');
      await said('Dispatch buffer thread received stop signal. Exiting.');
      // What the agent has sent is still on its way here.
      await eventually('all that had room', () => lines().length >= 1000 - lost);
      expect(lines().length, 'all that had room').to.equal(1000 - lost);
      const numbers = lines().map((line) => Number(line.slice('line '.length)));
      expect(numbers, 'in their order').to.deep.equal([...numbers].sort((one, other) => one - other));
      await send(1000, 1200);
      await eventually('all of them', () => lines().length === 1200 - lost);
      const on = merged({ 'agent.conf': '<agent_config/>' });
      manager.push(on);
      await eventually('enabled again', async () => JSON.stringify(await config('buffer')).includes('"disabled":"no"'));
      expect(await config('buffer')).to.have.nested.property('buffer.queue_size', 200);
      await send(1200, 1210);
      await eventually('the last one', () => lines().at(-1) === 'line 1209');
      expect(await dropped()).to.equal(lost);
      expect(manager.connections).to.equal(1);
    } finally {
      await producer.close(0);
    }
  });

  it('connects anew when the shared configuration asks for it, counted from the beginning of the connection', async () => {
    await start();
    const content = merged({
      'agent.conf':
        '<agent_config><client><force_reconnect_interval>1</force_reconnect_interval></client></agent_config>',
    });
    manager.push(content);
    await eventually('the second connection', () => manager.connections >= 2);
  });

  it('finishes what a kill has interrupted, before it tells a sum', async () => {
    await start();
    const old = merged({ 'old.txt': '' });
    manager.push(old);
    await told(md5(old));
    for (let round = 0; round < 3; round += 1) {
      const next = merged(
        Object.fromEntries([
          ...Array.from({ length: 300 }, (_, index) => [`list-${round}-${index}.txt`, String(index)]),
          ['agent.conf', `<agent_config><labels><label key="site">${round}</label></labels></agent_config>`],
        ]),
      );
      manager.push(next);
      // Once while it is unpacked, wherever that is; and never before something of it is there.
      await eventually('some of it', () =>
        readdirSync(shared()).some((name) => name.startsWith('.unpack-') || name.includes(`-${round}-`)),
      );
      await agentd.stop('SIGKILL');
      await start();
      const sum = manager.keepalive?.mergedSum;
      const files = readdirSync(shared());
      expect(files.filter((name) => name.startsWith('.') || name.endsWith('.new'))).to.deep.equal([]);
      expect(sum).to.equal(md5(readFileSync(shared('merged.mg'))));
      const whole = files.filter((name) => name.startsWith(`list-${round}-`)).length;
      expect(whole, 'all or none').to.equal(sum === md5(next) ? 300 : 0);
      manager.push(next);
      await told(md5(next));
      expect(readdirSync(shared()).length).to.equal(302);
    }
  });
});
