import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { DaemonLogger, type DebugLevel, LogOutput } from '../../../../lib/daemon/daemon-logger.js';
import { NotRegularFileError } from '../../../../lib/files/regular-file.js';
import { LogFile } from '../../../../lib/log/log-file.js';
import { formatLogTime, sanitiseLogMessage } from '../../../../lib/log/log-line.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

describe('DaemonLogger', () => {
  let home: TemporaryHome;
  const clock = () => new Date(2025, 5, 1, 8, 0, 5);

  beforeEach(() => (home = new TemporaryHome()));
  afterEach(() => home.remove());

  function logger(debug: DebugLevel = 0, targets = { plain: true, json: true, stderr: false }): DaemonLogger {
    return new DaemonLogger(new LogOutput(home, targets, debug, undefined, clock), 'svc-execd');
  }

  const plain = () => readFileSync(home.path('logs', 'manager.log'), 'utf8');
  const json = () => readFileSync(home.path('logs', 'manager.json'), 'utf8');

  it('writes the plain and the JSON form of each level', () => {
    const log = logger();
    log.debug('not shown');
    log.info('Started (pid: 4242).');
    log.warn('w');
    log.error('e');
    log.critical('c');
    expect(plain()).to.equal(
      '2025/06/01 08:00:05 svc-execd: INFO: Started (pid: 4242).\n' +
        '2025/06/01 08:00:05 svc-execd: WARNING: w\n' +
        '2025/06/01 08:00:05 svc-execd: ERROR: e\n' +
        '2025/06/01 08:00:05 svc-execd: CRITICAL: c\n',
    );
    expect(json().split('\n')[0]).to.equal(
      '{"timestamp":"2025/06/01 08:00:05","tag":"svc-execd","level":"info","description":"Started (pid: 4242)."}',
    );
    const levels = json()
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { level: string }).level);
    expect(levels).to.deep.equal(['info', 'warning', 'error', 'critical']);
  });

  it('names process and place in debug mode', () => {
    logger(1).debug('deep');
    expect(plain()).to.match(
      new RegExp(
        String.raw`^2025/06/01 08:00:05 svc-execd\[${process.pid}\] daemon-logger\.test\.[jt]s:\d+ at \S+\(\): DEBUG: deep\n$`,
      ),
    );
    expect(Object.keys(JSON.parse(json()) as object)).to.deep.equal([
      'timestamp',
      'tag',
      'pid',
      'file',
      'line',
      'routine',
      'level',
      'description',
    ]);
  });

  it('names the place that reports a repeating problem, and counts what is left out', () => {
    let now = 0;
    const limited = logger(1).limited(() => now);
    limited.warn('again');
    limited.warn('again');
    now = 60_000;
    limited.error('again');
    const place = String.raw`svc-execd\[${process.pid}\] daemon-logger\.test\.[jt]s:\d+ at \S+\(\)`;
    const time = '2025/06/01 08:00:05';
    expect(plain()).to.match(
      new RegExp(
        String.raw`^${time} ${place}: WARNING: again\n${time} ${place}: ERROR: again \(1 more since the last line\)\n$`,
      ),
    );
  });

  it('keeps fields to the JSON form, below the members of the format, and hides secrets', () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    logger().error('failed', {
      level: 'fake',
      tag: 'fake',
      password: 'hunter2',
      user: { name: 'x', token: 'secret-token' },
      err: new Error('why'),
      circular,
    });
    expect(plain()).to.equal('2025/06/01 08:00:05 svc-execd: ERROR: failed\n');
    const line = JSON.parse(json()) as Record<string, unknown>;
    expect(line).to.include({ tag: 'svc-execd', level: 'error', description: 'failed' });
    expect((line['err'] as { message: string }).message).to.equal('why');
    expect(json()).to.not.include('hunter2').and.not.include('secret-token');
  });

  it('tags the lines of a module', () => {
    logger().tagged('svc-modulesd:syscollector').info('scan');
    expect(plain()).to.equal('2025/06/01 08:00:05 svc-modulesd:syscollector: INFO: scan\n');
  });

  it('writes only the forms asked for', () => {
    logger(0, { plain: false, json: true, stderr: false }).info('x');
    expect(existsSync(home.path('logs', 'manager.log'))).to.equal(false);
    expect(json()).to.include('"x"');
  });

  it('cannot be made to forge a line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (message) => {
        rmSync(home.path('logs', 'manager.log'), { force: true });
        rmSync(home.path('logs', 'manager.json'), { force: true });
        logger().info(message);
        expect(plain().split('\n')).to.have.length(2);
        expect(json().split('\n')).to.have.length(2);
        expect(JSON.parse(json())).to.include({ level: 'info' });
      }),
      { numRuns: 60 },
    );
    expect(sanitiseLogMessage('a\r\nb\tc\x1b[31m')).to.equal('a\\r\\nb\tc\\x1b[31m');
    expect(sanitiseLogMessage('x'.repeat(20_000))).to.have.length(16_384 + '... (3616 characters cut)'.length);
  });
});

describe('LogFile', () => {
  let home: TemporaryHome;
  const lost = (count: number, reason: string) => `lost ${count}: ${reason}`;

  beforeEach(() => (home = new TemporaryHome()));
  afterEach(() => home.remove());

  it('is group-writable whatever the umask, and left as it is when it exists', () => {
    const before = process.umask(0o077);
    try {
      const file = new LogFile(home.path('logs', 'x.log'), lost);
      file.append('one');
      file.close();
    } finally {
      process.umask(before);
    }
    expect(statSync(home.path('logs', 'x.log')).mode & 0o777).to.equal(0o660);
  });

  it('goes on in the new file when its name was taken away', () => {
    const path = home.path('logs', 'x.log');
    const file = new LogFile(path, lost);
    file.append('one');
    renameSync(path, `${path}.1`);
    file.append('two');
    rmSync(path);
    file.append('three');
    file.close();
    expect(readFileSync(`${path}.1`, 'utf8')).to.equal('one\n');
    expect(readFileSync(path, 'utf8')).to.equal('three\n');
  });

  it('counts lines that could not be written and tells it when it can write again', () => {
    const path = home.path('logs', 'sub', 'x.log');
    const file = new LogFile(path, lost);
    file.append('one');
    file.append('two');
    expect(file.lost).to.equal(2);
    mkdirSync(home.path('logs', 'sub'));
    file.append('three');
    file.close();
    expect(readFileSync(path, 'utf8')).to.match(/^lost 2: ENOENT.*\nthree\n$/);
    expect(file.lost).to.equal(0);
  });

  it('keeps lines whole when several writers share a file', () => {
    const writers = [1, 2, 3].map(() => new LogFile(home.path('logs', 'x.log'), lost));
    for (let i = 0; i < 100; i += 1) for (const writer of writers) writer.append('y'.repeat(1000));
    for (const writer of writers) writer.close();
    const lines = readFileSync(home.path('logs', 'x.log'), 'utf8').trimEnd().split('\n');
    expect(lines).to.have.length(300);
    expect(new Set(lines).size).to.equal(1);
  });

  it('does not write through a link', () => {
    writeFileSync(home.path('victim'), 'untouched');
    symlinkSync(home.path('victim'), home.path('logs', 'x.log'));
    const file = new LogFile(home.path('logs', 'x.log'), lost);
    expect(() => file.open()).to.throw(NotRegularFileError, / is a link$/);
    file.append('one');
    file.close();
    expect(readFileSync(home.path('victim'), 'utf8')).to.equal('untouched');
    expect(file.lost).to.equal(1);
  });

  it('writes local time with leading zeros', () => {
    expect(formatLogTime(new Date(2025, 0, 2, 3, 4, 5))).to.equal('2025/01/02 03:04:05');
  });
});
