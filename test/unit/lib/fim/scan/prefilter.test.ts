import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { bytesOf } from '../../../../../lib/fim/byte-order.js';
import { ALL_HASHES } from '../../../../../lib/fim/checks.js';
import { EMPTY_HASHES } from '../../../../../lib/fim/entry-checksum.js';
import { EntryReader } from '../../../../../lib/fim/scan/entry-reader.js';
import { EntryThreads } from '../../../../../lib/fim/scan/entry-threads.js';
import { SYSTEM_CALLS } from '../../../../../lib/fim/scan/file-calls.js';
import { type Prefilter, PrefilterError, readPrefilter } from '../../../../../lib/fim/scan/prefilter.js';
import { eventually } from '../../../../support/eventually.js';

/** A zombie has ended: in a container nobody may be there to collect it. */
function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ');
  } catch {
    return false;
  }
}

describe('prefilter_cmd', () => {
  let directory: string;
  let path: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-prefilter-'));
    path = join(directory, 'watched');
    writeFileSync(path, '# comment\nvalue\n');
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  const script = (text: string, name = 'filter') => {
    const file = join(directory, name);
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  const read = (prefilter: Prefilter, file = path, known?: string, now?: () => number) =>
    new EntryReader({ maxFileBytes: 2 ** 30, prefilter }, SYSTEM_CALLS, () => false, now).read(file, ALL_HASHES, known);
  const sha1 = (content: string | Buffer) => createHash('sha1').update(content).digest('hex');

  it('has its output hashed instead of the file', async () => {
    const prefilter = readPrefilter(`${script(`grep -v "^$1" "$2"`)} '#'`);
    expect(read(prefilter)).to.deep.include({ kind: 'file', size: 16, unchanged: false, unsettled: false });
    expect(read(prefilter)).to.have.nested.property('hashes.sha1', sha1('value\n'));
    const threads = new EntryThreads({ maxFileBytes: 2 ** 30, prefilter }, 1);
    try {
      expect((await threads.read([path], ALL_HASHES))[0]).to.have.nested.property('hashes.sha1', sha1('value\n'));
    } finally {
      await threads.close();
    }
  });

  it('is run without a shell, with its arguments and the path behind them', () => {
    const prefilter = readPrefilter(`${script('for word; do echo "<$word>"; done')} "a b" $(id) ';'`);
    const odd = join(directory, 'name with blank; $(id) ö');
    writeFileSync(odd, 'x');
    const bytes = Buffer.from(odd).toString('latin1');
    const printed = `<a b>\n<$(id)>\n<;>\n<${odd}>\n`;
    expect(read(prefilter, bytes)).to.have.nested.property('hashes.sha1', sha1(printed));
  });

  it('reads a file whose name is no UTF-8 all the same', () => {
    const odd = `${directory}/odd\xff`;
    writeFileSync(bytesOf(odd), 'odd\n');
    expect(read(readPrefilter(script('cat "$1"')), odd)).to.have.nested.property('hashes.sha1', sha1('odd\n'));
  });

  it('may end with any code, and print nothing', () => {
    expect(read(readPrefilter(script('cat "$1"; exit 3')))).to.have.nested.property(
      'hashes.sha1',
      sha1('# comment\nvalue\n'),
    );
    expect(read(readPrefilter(script('exit 1')))).to.deep.include({ hashes: EMPTY_HASHES });
  });

  it('gets neither what the daemon was started with nor its standard input', () => {
    process.env.SVC_SECRET_OF_TEST = 'x';
    try {
      const prefilter = readPrefilter(script('echo "$SVC_SECRET_OF_TEST"; cat; pwd'));
      expect(read(prefilter)).to.have.nested.property('hashes.sha1', sha1('\n/\n'));
    } finally {
      delete process.env.SVC_SECRET_OF_TEST;
    }
  });

  it('is not run for what has no content to hash', () => {
    const prefilter = readPrefilter(script(`: > ${directory}/ran`));
    truncateSync(path, 0);
    expect(read(prefilter)).to.deep.include({ kind: 'file', hashes: EMPTY_HASHES });
    symlinkSync('/etc/passwd', join(directory, 'link'));
    expect(read(prefilter, join(directory, 'link'))).to.deep.include({ kind: 'link', hashes: EMPTY_HASHES });
    expect(read(prefilter, join(directory, 'missing'))).to.include({ reason: 'vanished' });
    writeFileSync(path, 'large');
    const small = new EntryReader({ maxFileBytes: 5, prefilter }, SYSTEM_CALLS, () => false);
    expect(small.read(path, ALL_HASHES, undefined)).to.deep.include({ kind: 'file', hashes: EMPTY_HASHES });
    expect(existsSync(join(directory, 'ran'))).to.equal(false);
  });

  it('is ended when it takes too long or prints too much: the file cannot be read then', () => {
    const limited = (text: string, limits: Partial<Prefilter>) => read({ ...readPrefilter(script(text)), ...limits });
    expect(limited('exec sleep 600', { maxRunMs: 50 })).to.deep.equal({
      kind: 'skipped',
      reason: 'unreadable',
      code: 'PREFILTER_TIMEOUT',
    });
    expect(limited('exec yes', { maxOutputBytes: 1000 })).to.include({ code: 'PREFILTER_OUTPUT' });
    expect(limited('kill -9 $$', {})).to.include({ code: 'PREFILTER_FAILED' });
    const gone = readPrefilter(script('cat "$1"'));
    unlinkSync(gone.program);
    expect(read(gone)).to.include({ reason: 'unreadable', code: 'PREFILTER_FAILED' });
  });

  it('ends with all that it started, also what holds its output open', async () => {
    const started = join(directory, 'pid');
    const prefilter = readPrefilter(script(`sleep 600 & echo $! > "${started}"; yes`));
    expect(read({ ...prefilter, maxOutputBytes: 1000 })).to.include({ code: 'PREFILTER_OUTPUT' });
    const pid = Number(readFileSync(started, 'utf8'));
    await eventually('its child ends', () => !isRunning(pid));
  });

  it('is run again for a file that was written to meanwhile', () => {
    const once = `cat "$1"; [ -e "${directory}/done" ] || { : > "${directory}/done"; echo more >> "$1"; }`;
    const content = '# comment\nvalue\nmore\n';
    expect(read(readPrefilter(script(once))))
      .to.deep.include({ size: content.length, unsettled: false })
      .and.have.nested.property('hashes.sha1', sha1(content));
    const always = script('echo more >> "$1"; cat "$1"', 'always');
    expect(read(readPrefilter(always))).to.include({ unsettled: true, stamp: undefined });
    expect(readFileSync(path, 'utf8')).to.equal(`${content}${'more\n'.repeat(3)}`);
  });

  it('is part of what tells that a content need not be read again', () => {
    const [plain, other] = [readPrefilter(script('cat "$1"')), readPrefilter(`${script('cat "$2"', 'other')} x`)];
    utimesSync(path, 1, 1);
    const later = () => Date.now() + 10_000;
    const { stamp } = read(plain, path, undefined, later) as { stamp?: string };
    expect(stamp).to.be.a('string');
    expect(read(plain, path, stamp, later)).to.include({ unchanged: true });
    expect(read(other, path, stamp, later)).to.include({ unchanged: false });
    const bare = new EntryReader({ maxFileBytes: 2 ** 30 }, SYSTEM_CALLS, () => false, later);
    expect(bare.read(path, ALL_HASHES, stamp)).to.include({ unchanged: false });
  });

  it('must be a program that is there, by its whole path', () => {
    writeFileSync(join(directory, 'text'), '');
    chmodSync(join(directory, 'text'), 0o644);
    for (const [line, reason] of [
      ['', /No command is named/],
      ["/bin/cat 'x", /not ended/],
      ['cat', /'cat' is not an absolute path/],
      [directory, /is not a file/],
      [`${directory}/missing -y`, /ENOENT/],
      [`${directory}/text`, /permission denied/],
    ] as const) {
      expect(() => readPrefilter(line), line).to.throw(PrefilterError, reason);
    }
  });
});
