import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { logcollectorContract } from '../../../lib/bus/contracts/logcollector.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { BusChild } from '../../support/bus/spawn-bus-child.js';
import { eventually } from '../../support/eventually.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const root = fileURLToPath(productRoot());

describe('svc-logcollector', function () {
  this.timeout(60_000);
  let home: TemporaryHome;
  let sink: BusChild | undefined;
  let daemon: ChildProcess | undefined;
  let output = '';

  beforeEach(() => {
    home = new TemporaryHome();
    mkdirSync(home.path('logs', 'app'));
    copyFileSync(join(root, 'etc', 'internal_options.conf'), home.path('etc', 'internal_options.conf'));
    writeFileSync(
      home.path('etc', 'local_internal_options.conf'),
      'logcollector.loop_timeout=1\nlogcollector.state_interval=1\n',
    );
    configure('<localfile><log_format>syslog</log_format><location>logs/app/*.log</location></localfile>');
  });
  afterEach(async () => {
    await kill();
    await sink?.signal('SIGKILL');
    sink = undefined;
    home.remove();
  });

  function configure(blocks: string): void {
    writeFileSync(home.path('etc', 'manager.conf'), `<manager_config>\n${blocks}\n</manager_config>\n`);
  }

  async function startSink(): Promise<void> {
    sink = await BusChild.start('sink', home.eventsSocket(), home.path('journal'));
  }

  async function startDaemon(): Promise<void> {
    output = '';
    const child = spawn(process.execPath, [join(root, 'bin', 'svc-logcollector'), '-f', '--home', home.root], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.on('data', (data: Buffer) => (output += data.toString()));
    child.stderr.on('data', (data: Buffer) => (output += data.toString()));
    daemon = child;
    await eventually('svc-logcollector runs', () => {
      if (child.exitCode !== null) throw new Error(`svc-logcollector ended: ${output}`);
      return existsSync(home.path('var', 'run', 'svc-logcollector.json'));
    });
  }

  async function kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<number | null> {
    const child = daemon;
    daemon = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const ended = once(child, 'exit');
    child.kill(signal);
    const [code] = (await ended) as [number | null];
    return code;
  }

  /** Texts in the journal of the sink. */
  function texts(): string[] {
    if (!existsSync(home.path('journal'))) return [];
    const text = readFileSync(home.path('journal'), 'utf8');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    return whole
      .split('\n')
      .filter((line) => line !== '')
      .flatMap((line) => (JSON.parse(line) as { texts: string[] }).texts);
  }

  it('hands on lines, answers on its socket, writes its state, and stops cleanly', async () => {
    writeFileSync(home.path('logs', 'app', 'a.log'), 'old\n');
    await startSink();
    await startDaemon();
    appendFileSync(home.path('logs', 'app', 'a.log'), 'one\ntwo\n');
    await eventually('both lines', () => texts().length === 2);
    expect(texts()).to.deep.equal(['one', 'two']);
    const client = new RequestClient({ contract: logcollectorContract, path: home.socket('svc-logcollector') });
    const state = await client.call('getstate', {});
    expect(state.global.files).to.deep.equal([
      { location: home.path('logs', 'app', 'a.log'), events: 2, bytes: 6, targets: [{ name: 'agent', drops: 0 }] },
    ]);
    const { localfile } = (await client.call('config', { section: 'localfile' })) as { localfile: unknown[] };
    expect(localfile[0]).to.include({ file: 'logs/app/*.log', logformat: 'syslog', 'only-future-events': 'yes' });
    client.close();
    await eventually('the state file', () => existsSync(home.path('var', 'run', 'svc-logcollector.state')));
    expect(await kill('SIGTERM')).to.equal(0);
    const saved = JSON.parse(readFileSync(home.path('queue', 'logcollector', 'file_status.json'), 'utf8')) as {
      files: { path: string; offset: string }[];
    };
    expect(saved.files.map(({ path, offset }) => [path, offset])).to.deep.equal([
      [home.path('logs', 'app', 'a.log'), '12'],
    ]);
  });

  it('keeps running when its state cannot be written, and writes it when it can again', async () => {
    const state = home.path('var', 'run', 'svc-logcollector.state');
    mkdirSync(state, { recursive: true });
    await startSink();
    await startDaemon();
    await eventually('it says so twice', () => output.split('svc-logcollector.state').length > 4);
    expect(daemon?.exitCode).to.equal(null);
    rmdirSync(state);
    await eventually('the state is written', () => existsSync(state));
    expect(await kill('SIGTERM')).to.equal(0);
  });

  it('goes over to a new configuration, and keeps the old one when the new one is wrong', async () => {
    await startSink();
    await startDaemon();
    configure('<localfile><log_format>nothing</log_format><location>x</location></localfile>');
    const client = new RequestClient({ contract: logcollectorContract, path: home.socket('svc-logcollector') });
    let refused = '';
    await client.call('reload', {}).catch((error: unknown) => (refused = String(error)));
    expect(refused).to.include('etc/manager.conf').and.include('line 2');
    configure('<localfile><log_format>syslog</log_format><location>logs/other.log</location></localfile>');
    await client.call('reload', {});
    client.close();
    writeFileSync(home.path('logs', 'other.log'), 'heard\n');
    await eventually('the line', () => texts().includes('heard'));
  });

  it('leaves commands and pipes alone at a reload that does not change them', async () => {
    const pipe = '<localfile><log_format>syslog-pipe</log_format><location>tmp/pipe</location></localfile>';
    const command = (text: string): string =>
      `<localfile><log_format>command</log_format><command>${text}</command><alias>${text}</alias></localfile>`;
    execFileSync('mkfifo', [home.path('tmp', 'pipe')]);
    await startSink();
    configure(`${pipe}${command('echo a')}${command('echo a')}${command('echo b')}`);
    await startDaemon();
    const counted = (text: string): number => texts().filter((each) => each === text).length;
    await eventually('three runs', () => texts().length === 3);
    const client = new RequestClient({ contract: logcollectorContract, path: home.socket('svc-logcollector') });
    // Somebody has the pipe open over the reload.
    const writer = openSync(home.path('tmp', 'pipe'), 'w');
    configure(`${command('echo c')}\n${pipe}${command('echo a')}${command('echo a')}`);
    await client.call('reload', {});
    await eventually('the new one is run', () => counted("ossec: output: 'echo c': c") === 1);
    const { collector } = (await client.call('stats', {})) as { collector: unknown };
    client.close();
    expect(collector).to.include({ commands: 3, pipes: 1 });
    writeSync(writer, 'still read\n');
    closeSync(writer);
    await eventually('the line', () => texts().includes('still read'));
    expect(counted("ossec: output: 'echo a': a")).to.equal(2);
  });

  it('is refused with one line when the configuration is wrong', async () => {
    configure('<localfile><log_format>syslog</log_format><location>x</location><ignore>(</ignore></localfile>');
    const child = spawn(process.execPath, [join(root, 'bin', 'svc-logcollector'), '-t', '--home', home.root], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.on('data', (data: Buffer) => (output += data.toString()));
    child.stderr.on('data', (data: Buffer) => (output += data.toString()));
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).to.equal(1);
    expect(output).to.include("(1235): Invalid value for element 'ignore': (: ").and.include('Line 2.');
  });

  it('goes on where the sink is, with positions that are older, newer or torn', async () => {
    const path = home.path('logs', 'app', 'a.log');
    const state = home.path('queue', 'logcollector', 'file_status.json');
    writeFileSync(path, '');
    await startSink();
    await startDaemon();
    let written = 0;
    const write = (count: number): void => {
      for (const end = written + count; written < end; written += 1) appendFileSync(path, `line ${String(written)}\n`);
    };
    const all = async (what: string): Promise<void> => {
      await eventually(what, () => texts().length >= written);
      expect(texts(), what).to.deep.equal(Array.from({ length: written }, (_, index) => `line ${String(index)}`));
    };
    const saved = (): Promise<unknown> =>
      eventually('the position is written down', () => {
        const size = String(readFileSync(path).length);
        return readFileSync(state, 'utf8').includes(`"offset":"${size}","acknowledged":"${size}"`);
      });
    write(100);
    await all('the first lines');
    await saved();
    copyFileSync(state, `${state}.copy`);
    write(100);
    await all('lines behind the copied position');
    await saved();
    await kill();
    renameSync(`${state}.copy`, state);
    write(10);
    await startDaemon();
    await all('lines after an older position');

    await saved();
    await kill();
    await sink?.signal('SIGKILL');
    // A power cut takes the sink's last batch, which was acknowledged.
    const journal = readFileSync(home.path('journal'), 'utf8').trimEnd().split('\n');
    writeFileSync(
      home.path('journal'),
      journal
        .slice(0, -1)
        .map((line) => `${line}\n`)
        .join(''),
    );
    expect(texts().length).to.be.lessThan(written);
    await startSink();
    await startDaemon();
    await all('lines after a newer position');

    await saved();
    await kill();
    writeFileSync(state, readFileSync(state, 'utf8').slice(0, 50));
    write(10);
    await startDaemon();
    await all('lines after a torn position');
    expect(output).to.include('cannot be used, kept as');
  });

  it('loses and doubles no line when it and the sink are killed at any moment', async () => {
    const path = home.path('logs', 'app', 'a.log');
    writeFileSync(path, '');
    await startSink();
    await startDaemon();
    const lines: string[] = [];
    let stopped = false;
    const writing = (async () => {
      for (let number = 0; !stopped; number += 1) {
        const batch = Array.from({ length: 50 }, (_, index) => `line ${String(number * 50 + index)}`);
        lines.push(...batch);
        appendFileSync(path, batch.map((line) => `${line}\n`).join(''));
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    })();
    // A test that fails leaves it without a file to write to.
    writing.catch(() => {});
    const born = (name: string): bigint => statSync(name, { bigint: true }).birthtimeNs;
    let rotations = 0;
    /** As logrotate: every older file gets the next number, and the new one is made in a later tick of the kernel. */
    const rotate = (): void => {
      for (let number = rotations; number > 0; number -= 1) {
        renameSync(`${path}.${String(number)}`, `${path}.${String(number + 1)}`);
      }
      rotations += 1;
      renameSync(path, `${path}.1`);
      do {
        rmSync(path, { force: true });
        writeFileSync(path, '');
      } while (born(path) <= born(`${path}.1`));
    };
    for (let round = 0; round < 4; round += 1) {
      rotate();
      await new Promise((resolve) => setTimeout(resolve, 150 + 100 * round));
      rotate();
      await kill();
      const before = lines.length;
      await eventually('lines that nobody reads', () => lines.length > before);
      rotate();
      if (round % 2 === 1) {
        await sink?.signal('SIGKILL');
        await startSink();
      }
      await startDaemon();
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    stopped = true;
    await writing;
    await eventually('all lines', () => texts().filter((text) => text.startsWith('line')).length >= lines.length);
    const got = texts().filter((text) => text.startsWith('line'));
    expect(new Set(got).size, 'distinct').to.equal(lines.length);
    expect(got.length, 'all').to.equal(lines.length);
  });
});
