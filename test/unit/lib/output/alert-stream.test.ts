import { expect } from 'chai';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AlertStream } from '../../../../lib/output/alert-stream.js';
import { OutputFile } from '../../../../lib/output/output-file.js';

describe('alert stream', () => {
  let directory: string;
  let stream: AlertStream;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'alert-stream-'));
    stream = new AlertStream(directory);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const open = (now: Date) =>
    new OutputFile(
      { directory, liveName: 'alerts.json', stem: 'ossec-alerts', extension: 'json', recordEnd: '\n', maxBytes: 0 },
      now,
    );

  it('gives alerts in the order of writing, over parts and days, each once', () => {
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
      const page = stream.read(position, 1);
      if (page.alerts.length === 0) break;
      expect(page.alerts).to.have.length(1);
      seen.push(...page.alerts);
      position = page.next;
    }
    expect(seen).to.deep.equal(expected);
    expect(position).to.deep.equal(stream.end());
  });

  it('does not give an alert before its line is whole', () => {
    const file = open(new Date(2025, 0, 1));
    file.append('{"n":1}\n');
    file.flush();
    appendFileSync(file.path, '{"n":');
    const page = stream.read(stream.start(), 10);
    expect(page.alerts).to.deep.equal(['{"n":1}']);
    expect(stream.end()).to.deep.equal(page.next);
    appendFileSync(file.path, '2}\n');
    expect(stream.read(page.next, 10).alerts).to.deep.equal(['{"n":2}']);
  });

  it('waits at the end and at an empty stream', () => {
    expect(stream.read(stream.start(), 5).alerts).to.deep.equal([]);
    const before = stream.end();
    const file = open(new Date(2025, 0, 1));
    file.append('{"n":1}\n');
    file.flush();
    expect(stream.read(before, 5).alerts).to.deep.equal(['{"n":1}']);
    file.close();
  });

  it('refuses a position outside the stream', () => {
    expect(() => stream.read({ file: '../../etc/passwd', offset: 0 }, 1)).to.throw(RangeError);
    const file = open(new Date(2025, 0, 1));
    file.append('{"n":1}\n');
    file.flush();
    expect(() => stream.read({ ...stream.start(), offset: 999 }, 1)).to.throw(RangeError, 'only 8 bytes');
    file.close();
  });
});
