import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { logcollectorContract } from '../../../lib/bus/contracts/logcollector.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { BusChild } from '../../support/bus/spawn-bus-child.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { TemporaryHome } from '../../support/temporary-home.js';

describe('svc-logcollector on an agent', function () {
  this.timeout(60_000);
  let home: TemporaryHome;
  let sink: BusChild | undefined;
  let daemon: RunningDaemon | undefined;
  let client: RequestClient<typeof logcollectorContract>;

  beforeEach(() => {
    home = new TemporaryHome({ version: 1, role: 'agent' });
    mkdirSync(home.path('etc', 'shared'));
    copyFileSync(
      fileURLToPath(new URL('etc/internal_options.conf', productRoot())),
      home.path('etc', 'internal_options.conf'),
    );
    options('');
    writeFileSync(
      home.path('etc', 'manager.conf'),
      `<ossec_config>\n${syslog('logs/local.log')}\n<client><config-profile>web</config-profile></client>\n</ossec_config>\n`,
    );
    client = new RequestClient({ contract: logcollectorContract, path: home.socket('svc-logcollector') });
  });

  afterEach(async () => {
    client.close();
    await daemon?.stop('SIGKILL');
    daemon = undefined;
    await sink?.signal('SIGKILL');
    sink = undefined;
    home.remove();
  });

  const syslog = (location: string): string =>
    `<localfile><log_format>syslog</log_format><location>${location}</location></localfile>`;

  function options(more: string): void {
    writeFileSync(home.path('etc', 'local_internal_options.conf'), `logcollector.loop_timeout=1\n${more}`);
  }

  function shared(text: string): void {
    writeFileSync(home.path('etc', 'shared', 'agent.conf'), text);
  }

  async function start(): Promise<RunningDaemon> {
    daemon = await RunningDaemon.start('svc-logcollector', home);
    return daemon;
  }

  /** What it collects, as it is asked for by `getconfig localfile`. */
  async function collected(): Promise<string[]> {
    const { localfile } = (await client.call('config', { section: 'localfile' })) as {
      localfile: { file?: string; command?: string }[];
    };
    return localfile.map(({ file, command }) => file ?? command ?? '');
  }

  function texts(): string[] {
    if (!existsSync(home.path('journal'))) return [];
    const text = readFileSync(home.path('journal'), 'utf8');
    return text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .filter((line) => line !== '')
      .flatMap((line) => (JSON.parse(line) as { texts: string[] }).texts);
  }

  it('follows what the manager adds after a reload, until it is taken out again', async () => {
    sink = await BusChild.start('sink', home.eventsSocket(), home.path('journal'));
    await start();
    expect(await collected()).to.deep.equal(['logs/local.log']);
    shared(
      `<agent_config profile="web">${syslog('logs/shared.log')}</agent_config>\n` +
        `<agent_config profile="db">${syslog('logs/db.log')}</agent_config>\n`,
    );
    await client.call('reload', {});
    expect(await collected()).to.deep.equal(['logs/local.log', 'logs/shared.log']);
    writeFileSync(home.path('logs', 'local.log'), 'own line\n');
    writeFileSync(home.path('logs', 'shared.log'), 'shared line\n');
    await eventually('both lines', () => texts().length === 2);
    expect(texts()).to.have.members(['own line', 'shared line']);

    shared('<agent_config><!-- nothing any more --></agent_config>\n');
    await client.call('reload', {});
    expect(await collected()).to.deep.equal(['logs/local.log']);
    appendFileSync(home.path('logs', 'shared.log'), 'nobody reads this\n');
    appendFileSync(home.path('logs', 'local.log'), 'still read\n');
    await eventually('the line', () => texts().includes('still read'));
    expect(texts()).not.to.include('nobody reads this');

    rmSync(home.path('etc', 'shared', 'agent.conf'));
    await client.call('reload', {});
    expect(await collected()).to.deep.equal(['logs/local.log']);
  });

  it('keeps what it has when the manager pushes a broken file, and says which line is wrong', async () => {
    shared(`<agent_config>${syslog('logs/shared.log')}</agent_config>\n`);
    await start();
    shared('<agent_config>\n<rootcheck>\n<frequency>often</frequency></rootcheck></agent_config>\n');
    let refused = '';
    await client.call('reload', {}).catch((error: unknown) => (refused = String(error)));
    expect(refused).to.include("(1235): Invalid value for element 'frequency': often. (etc/shared/agent.conf, line 3)");
    expect(await collected()).to.deep.equal(['logs/local.log', 'logs/shared.log']);
    shared(`<agent_config>${syslog('logs/mended.log')}</agent_config>\n`);
    await client.call('reload', {});
    expect(await collected()).to.deep.equal(['logs/local.log', 'logs/mended.log']);
  });

  it('starts with the last good file beside a broken one, until that is mended', async () => {
    mkdirSync(home.path('var', 'last-good'), { recursive: true });
    writeFileSync(
      home.path('var', 'last-good', 'agent.conf'),
      `<agent_config>${syslog('logs/good.log')}</agent_config>`,
    );
    shared('<agent_config>\n<localfile>');
    const started = await start();
    expect(await collected()).to.deep.equal(['logs/local.log', 'logs/good.log']);
    const problem = 'the shared configuration is not used, the last good one stays: (1226): Error reading XML file';
    await eventually('it says so', () => started.output.includes(problem));
    await client.call('reload', {});
    expect(await collected()).to.deep.equal(['logs/local.log', 'logs/good.log']);
    shared(`<agent_config>${syslog('logs/mended.log')}</agent_config>\n`);
    await client.call('reload', {});
    expect(await collected()).to.deep.equal(['logs/local.log', 'logs/mended.log']);
  });

  it('starts with its own configuration beside a broken file, and takes the mended one', async () => {
    shared('<agent_config>\n<localfile>');
    const started = await start();
    expect(await collected()).to.deep.equal(['logs/local.log']);
    const problem = 'the shared configuration is not used, only that of this host is: (1226): Error reading XML file';
    await eventually('it says so', () => started.output.includes(problem));
    shared(`<agent_config>${syslog('logs/mended.log')}</agent_config>\n`);
    await client.call('reload', {});
    expect(await collected()).to.deep.equal(['logs/local.log', 'logs/mended.log']);
  });

  it('runs commands of the manager only where its options allow it', async () => {
    const command =
      '<localfile><log_format>full_command</log_format><command>echo shared</command><frequency>1</frequency></localfile>';
    shared(`<agent_config>${command}${syslog('logs/shared.log')}</agent_config>\n`);
    sink = await BusChild.start('sink', home.eventsSocket(), home.path('journal'));
    await start();
    expect(await collected()).to.deep.equal(['logs/local.log', 'logs/shared.log']);
    const line = 'ERROR: Remote commands are not accepted from the manager. Ignoring it on the agent.conf\n';
    await eventually('it says so', () => daemon?.output.includes(line) === true);
    expect(await daemon?.stop()).to.equal(0);
    expect(texts()).to.deep.equal([]);
    options('logcollector.remote_commands=1\n');
    await start();
    expect(await collected()).to.deep.equal(['logs/local.log', 'echo shared', 'logs/shared.log']);
    await eventually('its output', () => texts().some((text) => text.startsWith("ossec: output: 'echo shared'")));
  });

  it('writes to sockets of the host for a manager only where its options allow it', async () => {
    const path = home.path('queue', 'own.sock');
    mkdirSync(home.path('queue'), { recursive: true });
    const received: Buffer[] = [];
    const server = createServer((peer) => {
      peer.on('data', (chunk: Buffer) => received.push(chunk)).on('error', () => {});
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    try {
      shared(
        `<agent_config>\n<socket><name>own</name><location>${path}</location><mode>tcp</mode></socket>\n` +
          '<localfile><log_format>syslog</log_format><location>logs/shared.log</location>' +
          '<target>agent,own</target><out_format target="own">chosen by the manager</out_format></localfile>' +
          '</agent_config>\n',
      );
      sink = await BusChild.start('sink', home.eventsSocket(), home.path('journal'));
      const started = await start();
      const line =
        "WARNING: Socket 'own' is not taken from the manager: 'logcollector.remote_sockets' of this host is not 1";
      await eventually('it says so', () => started.output.includes(line));
      expect(started.output).to.include('(etc/shared/agent.conf, line 2)');
      writeFileSync(home.path('logs', 'shared.log'), 'first line\n');
      await eventually('the manager gets it', () => texts().includes('first line'));
      expect(await started.stop()).to.equal(0);
      expect(received).to.deep.equal([]);
      options('logcollector.remote_sockets=1\n');
      await start();
      appendFileSync(home.path('logs', 'shared.log'), 'second line\n');
      await eventually('the socket gets it', () => received.length > 0);
      expect(Buffer.concat(received).toString()).to.equal('chosen by the manager\n');
    } finally {
      server.close();
    }
  });
});
