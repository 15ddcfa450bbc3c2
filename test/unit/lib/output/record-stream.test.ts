import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ALERT_FILES } from '../../../../lib/output/dated-files.js';
import { OutputFile } from '../../../../lib/output/output-file.js';
import { type RecordPosition, RecordStream } from '../../../../lib/output/record-stream.js';

describe('record stream', () => {
  let directory: string;
  let stream: RecordStream;
  let skipped: string[];
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'record-stream-'));
    skipped = [];
    stream = new RecordStream({ directory, ...ALERT_FILES }, (message) => skipped.push(message));
  });
  afterEach(() => {
    stream.close();
    rmSync(directory, { recursive: true });
  });

  const refusal = (position: RecordPosition) => stream.read(position, 1).catch((error: unknown) => error);
  /** As svc-monitord leaves a day behind. */
  const compress = (path: string) => {
    writeFileSync(`${path}.gz`, gzipSync(readFileSync(path)));
    rmSync(path);
  };
  async function readAll(from: RecordPosition, max: number): Promise<string[]> {
    const seen: string[] = [];
    for (let position = from; ;) {
      const { records, next } = await stream.read(position, max);
      if (records.length === 0) return seen;
      seen.push(...records);
      position = next;
    }
  }

  const open = (now: Date) =>
    new OutputFile({ directory, liveName: 'alerts.json', ...ALERT_FILES, recordEnd: '\n', maxBytes: 0 }, now);

  it('gives alerts in the order of writing, over parts and days, each once', async () => {
    const file = open(new Date(2024, 11, 31, 23));
    const expected: string[] = [];
    const write = (text: string) => {
      file.append(`${text}\n`);
      expected.push(text);
    };
    write('{"n":1}');
    write('{"n":2}');
    file.nextPart();
    write('{"n":3}');
    file.switchDay(new Date(2025, 0, 1));
    write('{"n":4}');
    file.close();
    const seen: string[] = [];
    let position = stream.start();
    for (;;) {
      const page = await stream.read(position, 1);
      if (page.records.length === 0) break;
      expect(page.records).to.have.length(1);
      seen.push(...page.records);
      position = page.next;
    }
    expect(seen).to.deep.equal(expected);
    expect(position).to.deep.equal(await stream.end());
  });

  it('does not give an alert before its line is whole', async () => {
    const file = open(new Date(2025, 0, 1));
    file.append('{"n":1}\n');
    file.flush();
    appendFileSync(file.path, '{"n":');
    const page = await stream.read(stream.start(), 10);
    expect(page.records).to.deep.equal(['{"n":1}']);
    expect(await stream.end()).to.deep.equal(page.next);
    appendFileSync(file.path, '2}\n');
    expect((await stream.read(page.next, 10)).records).to.deep.equal(['{"n":2}']);
  });

  it('waits at the end and at an empty stream', async () => {
    expect((await stream.read(stream.start(), 5)).records).to.deep.equal([]);
    const before = await stream.end();
    const file = open(new Date(2025, 0, 1));
    file.append('{"n":1}\n');
    file.flush();
    expect((await stream.read(before, 5)).records).to.deep.equal(['{"n":1}']);
    file.close();
  });

  it('refuses a position outside the stream', async () => {
    expect(await refusal({ file: '../../etc/passwd', offset: 0 })).to.be.instanceOf(RangeError);
    const file = open(new Date(2025, 0, 1));
    file.append('{"n":1}\n');
    file.flush();
    expect(await refusal({ ...stream.start(), offset: 999 })).to.match(/only 8 bytes/);
    file.close();
    compress(file.path);
    expect(await refusal({ ...stream.start(), offset: 999 })).to.match(/only 8 bytes/);
  });

  describe('of files compressed since', () => {
    const first = Array.from({ length: 60_000 }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(n % 200) }));
    const second = ['{"n":"last"}'];
    let old: OutputFile;

    beforeEach(() => {
      old = open(new Date(2025, 0, 1));
      old.append(`${first.join('\n')}\n`);
      old.flush();
    });
    const nextDay = () => {
      const { path } = old;
      old.switchDay(new Date(2025, 0, 2));
      old.append(`${second.join('\n')}\n`);
      old.close();
      return path;
    };

    it('gives every alert once, page by page and from the middle', async () => {
      compress(nextDay());
      expect(await readAll(stream.start(), 1000)).to.deep.equal([...first, ...second]);
      const { next } = await stream.read(stream.start(), 777);
      const other = new RecordStream({ directory, ...ALERT_FILES });
      expect((await other.read(next, 2)).records).to.deep.equal(first.slice(777, 779));
      other.close();
      expect(skipped).to.deep.equal([]);
    });

    it('goes on where it was when a file is compressed between two pages, and at its end', async () => {
      const page = await stream.read(stream.start(), 1000);
      const end = await stream.end();
      compress(nextDay());
      expect([...page.records, ...(await readAll(page.next, 1000))]).to.deep.equal([...first, ...second]);
      expect(await readAll(end, 10)).to.deep.equal(second);
    });

    it('finds the end of a compressed file', async () => {
      const end = await stream.end();
      old.close();
      compress(old.path);
      expect(await stream.end()).to.deep.equal(end);
    });

    it('serves more readers than it keeps files open for', async () => {
      compress(nextDay());
      const readers = Array.from({ length: 7 }, () => readAll(stream.start(), 1000));
      for (const seen of await Promise.all(readers)) expect(seen).to.have.length(first.length + 1);
    });

    it('says when a damaged file ends the day early, and goes on behind it', async () => {
      const path = nextDay();
      const packed = gzipSync(readFileSync(path));
      rmSync(path);
      writeFileSync(`${path}.gz`, packed.subarray(0, packed.length / 2));
      const seen = await readAll(stream.start(), 1000);
      expect(seen.at(-1)).to.equal('{"n":"last"}');
      expect(seen.slice(0, -1)).to.deep.equal(first.slice(0, seen.length - 1));
      expect(skipped[0]).to.match(/ossec-alerts-01\.json\.gz' cannot be read on after byte \d+/);
    });
  });

  it('gives an alert longer than a page, and passes over one that no answer could hold', async () => {
    const long = JSON.stringify('l'.repeat(6 * 1024 * 1024));
    const file = open(new Date(2025, 0, 1));
    file.append(`${long}\n${JSON.stringify('t'.repeat(20 * 1024 * 1024))}\n{"n":1}\n`);
    file.close();
    for (const form of ['plain', 'compressed']) {
      if (form === 'compressed') compress(file.path);
      skipped.length = 0;
      const seen = await readAll(stream.start(), 10);
      expect(seen.map((text) => text.length)).to.deep.equal([long.length, 7]);
      expect(skipped).to.have.length(1);
      expect(skipped[0]).to.match(/^The record at byte 6291459 of '2025\/Jan\/ossec-alerts-01.json' is longer than/);
    }
  });
});
