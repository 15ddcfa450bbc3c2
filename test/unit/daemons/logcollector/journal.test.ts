import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { CollectorStats } from '../../../../daemons/logcollector/collector-stats.js';
import {
  formatJournalEntry,
  JournalFilter,
  parseJournalEntry,
} from '../../../../daemons/logcollector/journal-entry.js';
import { JournalReader } from '../../../../daemons/logcollector/journal-reader.js';
import { LineFilter } from '../../../../daemons/logcollector/line-filter.js';
import { Outlet } from '../../../../daemons/logcollector/outlet.js';
import type { SavedJournal } from '../../../../daemons/logcollector/position-store.js';
import { eventually } from '../../../support/eventually.js';
import { LogSink } from '../../../support/logcollector/log-sink.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

const entry = (fields: Record<string, unknown>) => parseJournalEntry(JSON.stringify({ __CURSOR: 'c', ...fields }));

describe('journal entries', () => {
  it('become lines with a syslog header', () => {
    const at = new Date(2024, 2, 7, 9, 15, 2).getTime() * 1000;
    const fields = { __REALTIME_TIMESTAMP: String(at), _HOSTNAME: 'web', MESSAGE: 'text' };
    const line = (more: Record<string, unknown>): string | undefined => {
      const parsed = entry({ ...fields, ...more });
      return parsed === undefined ? undefined : formatJournalEntry(parsed)?.toString();
    };
    expect(line({ SYSLOG_IDENTIFIER: 'sshd', _PID: '812' })).to.equal('Mar  7 09:15:02 web sshd[812]: text');
    expect(line({ SYSLOG_IDENTIFIER: 'kernel', _PID: '0' })).to.equal('Mar  7 09:15:02 web kernel: text');
    expect(line({ _COMM: 'app' })).to.equal('Mar  7 09:15:02 web app: text');
    expect(line({})).to.equal('Mar  7 09:15:02 web unknown: text');
    expect(line({ MESSAGE: [104, 105, 255] })).to.equal('Mar  7 09:15:02 web unknown: hi\ufffd');
    expect(line({ MESSAGE: ['one', 'two'] })).to.equal('Mar  7 09:15:02 web unknown: one');
    expect(line({ MESSAGE: null })).to.equal(undefined);
    expect(line({ MESSAGE: 'x'.repeat(100_000) })).to.have.length(65_279);
  });

  it('are nothing when the line is none', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (line) => parseJournalEntry(line) === undefined));
  });

  it('pass filters: all conditions of one block', () => {
    const ssh = [{ field: '_SYSTEMD_UNIT', pattern: '^ssh', ignoreIfMissing: false }];
    const errors = [
      { field: 'PRIORITY', pattern: '^[0-3]$', ignoreIfMissing: false },
      { field: '_COMM', pattern: '^app$', ignoreIfMissing: true },
    ];
    const passes = (
      blocks: ConstructorParameters<typeof JournalFilter>[0],
      fields: Record<string, string>,
    ): boolean => {
      const parsed = entry(fields);
      return parsed !== undefined && new JournalFilter(blocks).accepts(parsed);
    };
    expect(passes([], {})).to.equal(true);
    expect(passes([ssh, []], {})).to.equal(true);
    expect(passes([ssh, errors], { _SYSTEMD_UNIT: 'ssh.service' })).to.equal(true);
    expect(passes([ssh, errors], { PRIORITY: '3' })).to.equal(true);
    expect(passes([ssh, errors], { PRIORITY: '3', _COMM: 'other' })).to.equal(false);
    expect(passes([ssh, errors], { PRIORITY: '4' })).to.equal(false);
  });
});

/** Entry n has the time BEGIN + n seconds. */
const BEGIN = 1_709_802_902;

describe('JournalReader', () => {
  let directory: string;
  let sink: LogSink;
  let logger: RecordingLogger;
  let reader: JournalReader | undefined;
  let onlyFuture: boolean;
  /** Whether positions can be written. */
  let writable: boolean;
  let saves: (SavedJournal | undefined)[];
  /** Whether `agent` is a target. */
  let forSink: boolean;
  let copied: string[];
  const socket = { trySend: (message: Buffer) => copied.push(message.toString()) > 0 };

  /** A journal in a file, and a program that shows it as journalctl does: from a time, from all, or behind a cursor. */
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-journal-'));
    sink = new LogSink();
    onlyFuture = true;
    writable = true;
    saves = [];
    forSink = true;
    copied = [];
    logger = new RecordingLogger();
    const script = `#!/bin/sh
journal=${join(directory, 'journal')}
from=1
for word; do
  case $word in
    --after-cursor=*) from=$((\${word#--after-cursor=} + 1));;
    --since=@*) since=\${word#--since=@}; from=$((\${since%.*} - ${BEGIN} + 1));;
  esac
done
echo "$@" >> ${join(directory, 'arguments')}
exec tail -n +$from -f $journal
`;
    writeFileSync(join(directory, 'journalctl'), script);
    chmodSync(join(directory, 'journalctl'), 0o755);
    write(2);
  });
  afterEach(async () => {
    await reader?.stop();
    rmSync(directory, { recursive: true });
  });

  function write(count: number): void {
    const lines = Array.from({ length: count }, (_, index) => {
      const number = String(index + 1);
      const odd = index % 2 === 0 ? { PRIORITY: '3' } : { PRIORITY: '6' };
      return JSON.stringify({
        __CURSOR: number,
        __REALTIME_TIMESTAMP: `${String(BEGIN + index + 1)}000000`,
        MESSAGE: `m${number}`,
        ...odd,
      });
    });
    writeFileSync(join(directory, 'journal'), lines.map((line) => `${line}\n`).join(''));
  }

  function start(
    saved: SavedJournal | undefined,
    pattern?: string,
    program = join(directory, 'journalctl'),
  ): JournalReader {
    const events = sink.connect();
    const filters = pattern === undefined ? [] : [[{ field: 'PRIORITY', pattern, ignoreIfMissing: false }]];
    reader = new JournalReader({
      program,
      filter: new JournalFilter(filters),
      filterKey: pattern === undefined ? 'all' : 'some',
      lines: new LineFilter([], []),
      makeOutlet: (stream) =>
        new Outlet({
          location: 'journald',
          queue: '1',
          send: stream === undefined ? undefined : (event, sequence) => stream.trySend(event, sequence),
          format: (message) => message,
          sockets: [{ name: 'out', target: () => socket, format: (message) => message }],
          stats: new CollectorStats(() => new Date()),
          now: Date.now,
        }),
      onlyFuture,
      savePosition: () => {
        saves.push(reader?.position);
        return Promise.resolve(writable);
      },
      openStream: forSink ? events.openStream : undefined,
      ready: events.ready,
      logger,
      now: () => BEGIN * 1000 + 2500,
    });
    reader.start(saved);
    return reader;
  }
  const numbers = (): string[] => sink.texts.map((text) => text.slice(text.lastIndexOf('m')));

  it('begins with what comes from now on, and goes on behind the last entry', async () => {
    const first = start(undefined);
    write(4);
    await eventually('two entries', () => sink.texts.length === 2);
    await first.stop();
    expect(numbers()).to.deep.equal(['m3', 'm4']);
    const saved = first.position;
    expect(saved).to.include({ cursor: '4', sequence: '2', timestamp: `${String(BEGIN + 4)}000000` });
    write(6);
    start(saved);
    await eventually('two more', () => sink.texts.length === 4);
    expect(numbers()).to.deep.equal(['m3', 'm4', 'm5', 'm6']);
  });

  it('leaves out what the sink has beyond the saved entry', async () => {
    const saved = { timestamp: '1709802902000000', cursor: '1', stream: 'journald:x:some', sequence: '1' };
    write(9);
    const first = start(saved, '^3$');
    await eventually('entries 3, 5, 7 and 9', () => sink.texts.length === 4);
    // As after a kill: what was saved is older than what the sink has.
    await first.stop();
    write(11);
    start(saved, '^3$');
    await eventually('entry 11', () => sink.texts.length === 5);
    expect(numbers()).to.deep.equal(['m3', 'm5', 'm7', 'm9', 'm11']);
  });

  for (const future of [true, false]) {
    it(`sends nothing twice when killed before it wrote a cursor down, ${future ? 'from now on' : 'from all'}`, async () => {
      onlyFuture = future;
      write(4);
      const count = future ? 2 : 4;
      const first = start(undefined);
      await eventually('the first entries', () => sink.texts.length === count);
      await first.stop();
      expect(saves).to.have.length(1);
      write(5);
      start(saves[0]);
      await eventually('one more', () => sink.texts.length === count + 1);
      expect(new Set(numbers()).size).to.equal(count + 1);
    });
  }

  it('reads nothing before its beginning is written down', async () => {
    write(4);
    writable = false;
    const first = start(undefined);
    await eventually('it tried', () => saves.length === 1);
    await first.stop();
    expect(sink.texts).to.deep.equal([]);
  });

  it('waits while the sink has no room', async () => {
    sink.window = 2;
    sink.held = true;
    write(20);
    start({ timestamp: '0', cursor: '0' });
    await eventually('it waits for room', () => sink.waiting === 1);
    expect(sink.pending).to.equal(2);
    expect(sink.taken).to.have.length(0);
    sink.release();
    await eventually('all', () => sink.texts.length === 20);
    expect(reader?.position).to.include({ cursor: '20', sequence: '20' });
  });

  it('copies what it reads to sockets', async () => {
    start(undefined);
    write(4);
    await eventually('two entries', () => sink.texts.length === 2);
    expect(copied).to.deep.equal(sink.texts);
  });

  it('goes on behind what only sockets got', async () => {
    forSink = false;
    const first = start(undefined);
    write(4);
    await eventually('two entries', () => copied.length === 2);
    await first.stop();
    expect(first.position).to.deep.equal({ cursor: '4', timestamp: `${String(BEGIN + 4)}000000` });
    write(6);
    forSink = true;
    start(first.position);
    await eventually('two more', () => sink.texts.length === 2);
    expect(numbers()).to.deep.equal(['m5', 'm6']);
    expect(copied).to.have.length(4);
  });

  it('says once that there is no journalctl', async () => {
    start(undefined, undefined, join(directory, 'missing'));
    const warnings = (): string[] => logger.lines.filter((line) => line.startsWith('warn'));
    await eventually('a warning', () => warnings().length > 0);
    expect(warnings()).to.have.length(1);
    expect(warnings()[0]).to.include('The journal cannot be followed').and.include('ENOENT');
  });
});
