import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { CollectorStats } from '../../../../daemons/logcollector/collector-stats.js';
import { LineFilter } from '../../../../daemons/logcollector/line-filter.js';
import { MAX_LINE_BYTES } from '../../../../daemons/logcollector/line-splitter.js';
import { openPipe } from '../../../../daemons/logcollector/open-log.js';
import { Outlet } from '../../../../daemons/logcollector/outlet.js';
import { PipeReader } from '../../../../daemons/logcollector/pipe-reader.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

describe('PipeReader', () => {
  let directory: string;
  let path: string;
  let logger: RecordingLogger;
  let reader: PipeReader | undefined;
  let texts: string[];
  /** Events that the sink takes. */
  let room: number;
  let makeRoom: () => void;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-pipe-'));
    path = join(directory, 'log');
    logger = new RecordingLogger();
    texts = [];
    room = Number.MAX_SAFE_INTEGER;
    makeRoom = () => {};
  });
  afterEach(async () => {
    await reader?.stop();
    rmSync(directory, { recursive: true });
  });

  const makePipe = (): unknown => execFileSync('mkfifo', [path]);

  function start(filter = new LineFilter([], [])): PipeReader {
    reader = new PipeReader({
      path,
      openPipe: (name) => openPipe(join(directory, 'home'), name),
      filter,
      outlet: new Outlet({
        ...{ location: path, queue: '1', sockets: [], now: Date.now },
        stats: new CollectorStats(() => new Date()),
        format: (message) => message,
        send: ({ message }) => {
          if (room === 0) return false;
          room -= 1;
          texts.push(message.toString());
          return true;
        },
      }),
      ready: () => new Promise((resolve) => (makeRoom = resolve)),
      logger,
      sampleBytes: 8,
    });
    reader.check();
    return reader;
  }

  /** Writes as a program does that opens the pipe for it; the reader has it open. */
  function write(text: string): void {
    const descriptor = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(descriptor, text);
    closeSync(descriptor);
  }

  it('reads what several programs write one after the other', async () => {
    makePipe();
    start();
    write('one\n\ntwo\r\n');
    await eventually('two lines', () => texts.length === 2);
    for (let number = 0; number < 50; number += 1) {
      write(`more ${number}\n`);
    }
    await eventually('all lines', () => texts.length === 52);
    expect(texts).to.deep.equal(['one', 'two', ...Array.from({ length: 50 }, (_, number) => `more ${number}`)]);
  });

  it('takes a line without an end when its writer is gone, and leaves out what is no line', async () => {
    makePipe();
    start(new LineFilter([{ type: 'pcre2', pattern: '^not' }], []));
    write(`not this\nzero \0 byte\n${'x'.repeat(40_000)}`);
    await eventually('the long one', () => texts.length === 1);
    expect(texts[0]).to.equal('x'.repeat(40_000));
    const long = openSync(path, constants.O_WRONLY);
    const handle = await open(path, constants.O_WRONLY);
    closeSync(long);
    await handle.writeFile(`${'y'.repeat(MAX_LINE_BYTES + 100)}\nlast\n`);
    await handle.close();
    await eventually('the last', () => texts.includes('last'));
    expect(texts[1]?.length).to.equal(MAX_LINE_BYTES);
    expect(logger.lines).to.include(
      `warn: Large message size from file '${path}' (length = ${MAX_LINE_BYTES + 100}): 'yyyyyyyy'...`,
    );
    expect(logger.lines).to.include(`debug: Line of '${path}' with zero bytes is ignored`);
  });

  it('lets those who write wait while the sink has no room', async () => {
    makePipe();
    room = 1;
    start();
    const line = `${'z'.repeat(999)}\n`;
    const handle = await open(path, constants.O_WRONLY);
    let written = false;
    const writing = handle.writeFile(line.repeat(1000)).then(() => (written = true));
    await eventually('it waits', () => texts.length === 1);
    expect(written).to.equal(false);
    room = Number.MAX_SAFE_INTEGER;
    makeRoom();
    await writing;
    await handle.close();
    await eventually('all', () => texts.length === 1000);
  });

  it('says how many lines it had read when it is stopped without room', async () => {
    makePipe();
    room = 1;
    const started = start();
    write('a\nb\nc\n');
    await eventually('the first', () => texts.length === 1);
    await started.stop();
    expect(logger.lines.at(-1)).to.equal(`warn: 2 lines of '${path}' were read and not handed on: they are lost.`);
  });

  it('finds a pipe that comes later, one in place of another, and none', async () => {
    const started = start();
    started.check();
    const says = (text: string): number => logger.lines.filter((line) => line.includes(text)).length;
    expect(says('(1904)')).to.equal(1);
    makePipe();
    started.check();
    write('first\n');
    const old = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    await eventually('the line', () => texts.length === 1);
    renameSync(path, `${path}.old`);
    makePipe();
    started.check();
    write('second\n');
    writeSync(old, 'still read\n');
    closeSync(old);
    await eventually('both', () => texts.length === 3);
    expect(texts).to.have.members(['first', 'second', 'still read']);
    expect(says('(1950)')).to.equal(2);
    rmSync(path);
    writeFileSync(path, 'a file\n');
    started.check();
    expect(says('is no named pipe')).to.equal(1);
  });
});
