import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { CollectorStats } from '../../../../daemons/logcollector/collector-stats.js';
import { CommandRunner, type CommandRunnerParts } from '../../../../daemons/logcollector/command-runner.js';
import { LineFilter } from '../../../../daemons/logcollector/line-filter.js';
import { Outlet } from '../../../../daemons/logcollector/outlet.js';
import { SocketTarget } from '../../../../daemons/logcollector/socket-target.js';
import { parseManagerConfig } from '../../../../lib/config/load-manager-config.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

describe('CommandRunner', () => {
  const logger = new RecordingLogger();
  let sent: string[] = [];
  let runner: CommandRunner | undefined;

  afterEach(async () => {
    await runner?.stop();
    sent = [];
  });

  const take: CommandRunnerParts['send'] = (message) => {
    sent.push(message.toString());
    return Promise.resolve();
  };

  function start(format: string, command: string, more = '', send = take): void {
    const block = `<localfile><log_format>${format}</log_format><command>${command}</command>${more}</localfile>`;
    const { localfile } = parseManagerConfig(`<manager_config>${block}</manager_config>`, 'f', ['localfile']);
    const [config] = localfile;
    if (config === undefined) throw new Error('no block');
    runner = new CommandRunner({
      config,
      filter: new LineFilter(config.ignore, config.restrict),
      send,
      logger,
      directory: tmpdir(),
    });
    runner.start();
  }

  it('sends each line of a command', async () => {
    start('command', 'printf "a\\n\\nb"', '<alias>two</alias>');
    await eventually('two lines', () => sent.length >= 2);
    expect(sent).to.deep.equal(["ossec: output: 'two': a", "ossec: output: 'two': b"]);
  });

  it('leaves out what ignore and restrict say, of the text with its header', async () => {
    const patterns = '<ignore>b$</ignore><restrict>^ossec: output: .two.: </restrict><restrict>[ab]$</restrict>';
    start('command', 'printf "a\\nb\\nc\\naa"', `<alias>two</alias>${patterns}`);
    await eventually('two lines', () => sent.length >= 2);
    expect(sent).to.deep.equal(["ossec: output: 'two': a", "ossec: output: 'two': aa"]);
    expect(logger.lines).to.include(
      "debug: (1976): Ignoring the log line 'ossec: output: 'two': b' due to ignore config: 'b$'",
    );
  });

  it('leaves out a whole output that does not match', async () => {
    start('full_command', 'echo no', '<ignore>no$</ignore>');
    await eventually('it was left out', () => logger.lines.some((line) => line.includes("config: 'no$'")));
    expect(sent).to.deep.equal([]);
  });

  it('sends the whole output of a full_command', async () => {
    start('full_command', 'printf "a\\r\\n\\n\\nb\\n"');
    await eventually('one message', () => sent.length >= 1);
    expect(sent[0]).to.equal(`ossec: output: 'printf "a\\r\\n\\n\\nb\\n"':\na\nb`);
  });

  it('runs again after its frequency, and not at the same time', async () => {
    start('command', 'echo x', '<frequency>1</frequency>');
    await eventually('two runs', () => sent.length >= 2);
  });

  it('cuts endless output and says so', async () => {
    start('full_command', 'head -c 200000 /dev/zero | tr "\\\\0" y', '<alias>much</alias>');
    await eventually('one message', () => sent.length >= 1);
    expect(sent[0]?.length).to.be.within(65_000, 65_536);
    expect(logger.lines.filter((line) => line.includes("'much' printed more than"))).to.have.length(1);
  });

  it('stops although nobody takes what it sends', async () => {
    let waiting = 0;
    start('command', 'echo x', '', (_message, signal) => {
      waiting += 1;
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          resolve();
        });
      });
    });
    await eventually('it waits', () => waiting === 1);
    await runner?.stop();
  });

  it('ends a command that runs when it is stopped', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-command-'));
    try {
      const file = join(directory, 'pid');
      start('command', `echo $$ > ${file}.new && mv ${file}.new ${file}; exec sleep 1000`);
      await eventually('it runs', () => existsSync(file));
      const pid = Number(readFileSync(file, 'utf8'));
      expect(process.kill(pid, 0)).to.equal(true);
      await runner?.stop();
      expect(() => process.kill(pid, 0)).to.throw('ESRCH');
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

describe('SocketTarget', () => {
  let directory: string;
  let path: string;
  let target: SocketTarget | undefined;
  let server: Server | undefined;
  const peers: Socket[] = [];
  const logger = new RecordingLogger();

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-target-'));
    path = join(directory, 'socket');
  });
  afterEach(() => {
    target?.stop();
    peers.splice(0).forEach((peer) => peer.destroy());
    server?.close();
    rmSync(directory, { recursive: true });
  });
  const make = (queueSize: number): SocketTarget => {
    target = new SocketTarget({ name: 'out', path, prefix: 'app: ', queueSize, failTimeMs: 60_000, logger });
    return target;
  };

  it('gets prefix and message, one a line', async () => {
    let received = '';
    server = createServer((peer) => {
      peers.push(peer);
      peer.on('data', (data) => (received += data.toString()));
    });
    await new Promise<void>((resolve) => server?.listen(path, resolve));
    const out = make(100);
    expect([out.trySend(Buffer.from('a')), out.trySend(Buffer.from('b'))]).to.deep.equal([true, true]);
    await eventually('both', () => received === 'app: a\napp: b\n');
  });

  it('drops what does not fit, and leaves a socket alone that is not there', async () => {
    const out = make(2);
    const taken = ['a', 'b', 'c', 'd'].map((text) => out.trySend(Buffer.from(text)));
    expect(taken).to.deep.equal([true, true, false, false]);
    expect(logger.lines.filter((line) => line.includes("Target 'out' message queue is full (2)"))).to.have.length(1);
    await eventually('an error', () => logger.lines.some((line) => line.includes('(1218)')));
    expect(out.trySend(Buffer.from('e'))).to.equal(false);
  });
});

describe('Outlet', () => {
  it('sends to the socket that there is now, and counts what none takes', () => {
    const stats = new CollectorStats(() => new Date());
    const got: string[] = [];
    const present: Pick<SocketTarget, 'trySend'>[] = [];
    const outlet = new Outlet({
      location: '/srv/app.log',
      queue: '1',
      send: undefined,
      format: (message) => message,
      sockets: [
        {
          name: 'out',
          target: () => present[0],
          format: (message) => Buffer.concat([Buffer.from('> '), message]),
        },
      ],
      stats,
      now: Date.now,
    });
    expect(outlet.trySend({ message: Buffer.from('a'), end: 1 })).to.equal(true);
    present.push({ trySend: (message) => got.push(message.toString()) > 0 });
    expect(outlet.trySend({ message: Buffer.from('b'), end: 2 })).to.equal(true);
    expect(got).to.deep.equal(['> b']);
    expect(stats.toJson().global.files[0]?.targets).to.deep.equal([{ name: 'out', drops: 1 }]);
  });
});

describe('CollectorStats', () => {
  it('counts since the start and in intervals', () => {
    let now = new Date(2025, 5, 5, 8, 0, 0);
    const stats = new CollectorStats(() => now);
    stats.open('/srv/app.log', ['agent']).count(10);
    now = new Date(2025, 5, 5, 8, 1, 0);
    stats.nextInterval();
    const again = stats.open('/srv/app.log', ['agent', 'out']);
    again.count(5);
    again.countDrop('out');
    now = new Date(2025, 5, 5, 8, 2, 0);
    stats.nextInterval();
    expect(stats.toJson()).to.deep.equal({
      global: {
        start: '2025-06-05 08:00:00',
        end: '2025-06-05 08:02:00',
        files: [
          {
            location: '/srv/app.log',
            events: 2,
            bytes: 15,
            targets: [
              { name: 'agent', drops: 0 },
              { name: 'out', drops: 1 },
            ],
          },
        ],
      },
      interval: {
        start: '2025-06-05 08:01:00',
        end: '2025-06-05 08:02:00',
        files: [
          {
            location: '/srv/app.log',
            events: 1,
            bytes: 5,
            targets: [
              { name: 'agent', drops: 0 },
              { name: 'out', drops: 1 },
            ],
          },
        ],
      },
    });
  });

  it('shows what is read and gives nothing, and leaves out what is not read any more', () => {
    const stats = new CollectorStats(() => new Date());
    const shown = (): string[] => stats.toJson().global.files.map(({ location, events }) => `${location} ${events}`);
    const first = stats.open('/srv/a.log', ['agent']);
    stats.open('/srv/b.log', ['agent']).count(1);
    expect(stats.toJson().interval.files[0]).to.deep.equal({
      ...{ location: '/srv/a.log', events: 0, bytes: 0 },
      targets: [{ name: 'agent', drops: 0 }],
    });
    // A file that was cut is opened anew, and goes on counting.
    first.count(1);
    first.close();
    const second = stats.open('/srv/a.log', ['agent']);
    stats.nextInterval();
    expect(shown()).to.deep.equal(['/srv/a.log 1', '/srv/b.log 1']);
    second.close();
    stats.nextInterval();
    expect(shown()).to.deep.equal(['/srv/b.log 1']);
    expect(stats.toJson().interval.files.map(({ events }) => events)).to.deep.equal([0, 0]);
    stats.nextInterval();
    expect(stats.toJson().interval.files.map(({ location }) => location)).to.deep.equal(['/srv/b.log']);
  });

  it('counts what is beyond the most locations together', () => {
    const stats = new CollectorStats(() => new Date());
    for (let index = 0; index < 100_010; index += 1) stats.open(`/srv/${index}.log`, ['agent']).count(1);
    const { files } = stats.toJson().global;
    expect(files).to.have.length(100_001);
    expect(files.at(-1)).to.include({ location: '(others)', events: 10 });
  });
});
