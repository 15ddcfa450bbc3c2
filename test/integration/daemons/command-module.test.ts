import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { modulesdContract } from '../../../lib/bus/contracts/modulesd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { RunningDaemon } from '../../support/daemon/running-daemon.js';
import { eventually } from '../../support/eventually.js';
import { KeepingSink } from '../../support/remoted/remoted-home.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const AGENT_CONF = 'etc/shared/agent.conf';

describe('commands of svc-modulesd', function () {
  this.timeout(60_000);
  let home: TemporaryHome;
  let sink: KeepingSink;
  let modulesd: RequestClient<typeof modulesdContract>;
  let daemon: RunningDaemon | undefined;

  async function make(role: 'server' | 'agent'): Promise<void> {
    home = new TemporaryHome({ version: 1, role });
    copyFileSync(new URL('etc/internal_options.conf', productRoot()), home.path('etc', 'internal_options.conf'));
    mkdirSync(home.path('etc', 'shared'), { recursive: true });
    if (role === 'server') mkdirSync(home.path('queue', 'tasks'), { recursive: true });
    sink = new KeepingSink(home);
    await sink.start();
    modulesd = new RequestClient({ contract: modulesdContract, path: home.socket('svc-modulesd') });
  }
  afterEach(async () => {
    await daemon?.stop('SIGKILL');
    daemon = undefined;
    modulesd.close();
    await sink.stop();
    home.remove();
  });

  const wodle = (text: string): string => `<wodle name="command">${text}</wodle>`;
  function configure(...wodles: string[]): void {
    writeFileSync(
      home.path('etc', 'manager.conf'),
      `<manager_config>\n${wodles.map(wodle).join('\n')}\n</manager_config>`,
    );
  }
  async function start(...wodles: string[]): Promise<void> {
    configure(...wodles);
    daemon = await RunningDaemon.start('svc-modulesd', home);
  }
  function program(name: string, text: string): string {
    const path = home.path('bin', name);
    writeFileSync(path, text);
    chmodSync(path, 0o755);
    return path;
  }
  const log = (): string => readFileSync(home.path('logs', 'manager.log'), 'utf8');
  const logged = (text: string) => eventually(text, () => log().includes(text));
  const texts = (location: string): string[] =>
    sink.events.filter((event) => event.location === location).map(({ message }) => message.toString('latin1'));
  const has = (location: string, ...lines: string[]) =>
    eventually(`${location} has ${lines.join()}`, () => lines.every((line) => texts(location).includes(line)));

  it('send each line of their output, of both kinds, again and again', async () => {
    await make('server');
    const path = program('say', `#!/bin/sh\necho "$# $1 $2"\necho\necho "\\$HOME;x" >&2\nprintf 'no end'\n`);
    await start(`<tag>say</tag><command>${path} 'a b' $(id)</command><interval>1s</interval>`);
    await has('command_say', '2 a b $(id)', '$HOME;x', 'no end');
    await eventually('it runs again', () => texts('command_say').filter((text) => text === 'no end').length >= 2);
    expect(texts('command_say')).to.not.include('');
    expect(sink.events.every(({ queue }) => queue === '1')).to.equal(true);
    await logged("svc-modulesd:command: INFO: Starting command 'say'.");
    const { commands } = (await modulesd.call('stats', {})) as {
      commands: Record<string, { runs: number; failed: number }>;
    };
    expect(commands['command say']?.runs).to.be.at.least(2);
    expect(commands['command say']?.failed).to.equal(0);
  });

  it('say how they ended, and are ended with all that they started when they take too long', async () => {
    await make('server');
    const fails = program('fails', '#!/bin/sh\nexit 7\n');
    const pid = home.path('tmp', 'pid');
    const hangs = program('hangs', `#!/bin/sh\ntrap '' TERM\nsleep 1000 &\necho $! > '${pid}'\nwait\nsleep 1000\n`);
    writeFileSync(home.path('etc', 'local_internal_options.conf'), 'wazuh_modules.kill_timeout=0\n');
    await start(
      `<tag>fails</tag><command>${fails}</command><interval>1d</interval>`,
      `<tag>hangs</tag><command>${hangs}</command><interval>1d</interval><timeout>1</timeout>`,
      '<tag>none</tag><command>no-such-program -x</command><interval>1d</interval>',
      '<tag>off</tag><disabled>yes</disabled><command>/bin/true</command><interval>1d</interval>',
    );
    await logged("WARNING: Command 'fails' returned exit code 7.");
    await logged("ERROR: Command 'none' failed. there is no program 'no-such-program'");
    await logged(
      "ERROR: hangs: Timeout overtaken. You can modify your command timeout at 'etc/manager.conf'. Exiting...",
    );
    await logged('INFO: Module command:off is disabled. Exiting.');
    await eventually('what it started has ended', () => !existsSync(`/proc/${readFileSync(pid, 'utf8').trim()}`));
  });

  it('run only the program that was meant', async () => {
    await make('server');
    const path = program('sum', '#!/bin/sh\necho right\n');
    const sum = (algorithm: string) => createHash(algorithm).update(readFileSync(path)).digest('hex');
    const zeros = '0'.repeat(64);
    await start(
      `<tag>good</tag><command>${path}</command><interval>1d</interval><verify_md5>${sum('md5')}</verify_md5><verify_sha1>${sum('sha1')}</verify_sha1><verify_sha256>${sum('sha256')}</verify_sha256>`,
      `<tag>bad</tag><command>${path}</command><interval>1s</interval><verify_sha256>${zeros}</verify_sha256>`,
      `<tag>skips</tag><command>${path}</command><interval>1d</interval><verify_sha256>${zeros}</verify_sha256><skip_verification>yes</skip_verification>`,
    );
    await has('command_good', 'right');
    await has('command_skips', 'right');
    await logged(`ERROR: SHA256 checksum verification failed for command '${path}'.`);
    await logged(`WARNING: SHA256 checksum verification failed for command '${path}'. Skipping...`);
    expect(texts('command_bad')).to.deep.equal([]);
  });

  it('do not run again for a restart, follow a reload, and keep quiet when they are told to', async () => {
    await make('server');
    const path = program('count', `#!/bin/sh\necho ran >> tmp/ran\necho out\n`);
    const ran = (): number =>
      existsSync(home.path('tmp', 'ran')) ? readFileSync(home.path('tmp', 'ran'), 'utf8').length / 4 : 0;
    const count = (more: string) =>
      `<tag>count</tag><command>${path}</command><interval>1d</interval><ignore_output>yes</ignore_output>${more}`;
    await start(count(''));
    await eventually('it ran', () => ran() === 1);
    await daemon?.stop();
    await start(
      count('<run_on_start>no</run_on_start>'),
      `<tag>after</tag><command>${path}</command><interval>1d</interval>`,
    );
    await has('command_after', 'out');
    expect([ran(), texts('command_count')]).to.deep.equal([2, []]);
    configure(`<tag>now</tag><command>${path}</command><interval>1d</interval>`);
    await modulesd.call('reload', {});
    await has('command_now', 'out');
    expect(ran()).to.equal(3);
    const { wmodules } = (await modulesd.call('config', { section: 'wmodules' })) as unknown as {
      wmodules: Record<string, unknown>[];
    };
    expect(wmodules[0]).to.deep.equal({
      command: {
        ...{ interval: 86_400, disabled: 'no', run_on_start: 'yes', ignore_output: 'no', skip_verification: 'no' },
        ...{ tag: 'now', command: path },
      },
    });
  });

  it('of an agent has no command of the manager run without the consent of its host', async () => {
    await make('agent');
    const path = program('pushed', '#!/bin/sh\necho pushed\n');
    const own = program('own', '#!/bin/sh\necho own\n');
    writeFileSync(
      home.path(AGENT_CONF),
      `<agent_config>${wodle(`<tag>pushed</tag><command>${path}</command><interval>1d</interval>`)}</agent_config>`,
    );
    await start(`<tag>own</tag><command>${own}</command><interval>1d</interval>`);
    await has('command_own', 'own');
    await logged("Remote commands are disabled. Ignoring 'pushed'.");
    expect(texts('command_pushed')).to.deep.equal([]);
    await daemon?.stop();
    writeFileSync(home.path('etc', 'local_internal_options.conf'), 'wazuh_command.remote_commands=1\n');
    await start(`<tag>own</tag><command>${own}</command><interval>1d</interval>`);
    await has('command_pushed', 'pushed');
    const refusal = await modulesd.call('tasks.list', {}).catch((error: unknown) => error);
    expect(refusal).to.include({ code: 'not_supported' });
  });
});
