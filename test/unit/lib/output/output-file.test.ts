import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { OutputFile, type OutputFileOptions } from '../../../../lib/output/output-file.js';

const MARCH_4 = new Date(2025, 2, 4, 10, 0, 0);
const MARCH_5 = new Date(2025, 2, 5, 0, 0, 1);

describe('output file', () => {
  let directory: string;
  let options: OutputFileOptions;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'output-file-'));
    options = {
      directory,
      liveName: 'alerts.json',
      stem: 'ossec-alerts',
      extension: 'json',
      recordEnd: '\n',
      maxBytes: 0,
    };
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const dated = (name: string) => join(directory, '2025', 'Mar', name);

  it('writes to the dated file and links the live name to it', () => {
    const file = new OutputFile(options, MARCH_4);
    file.append('{"a":1}\n');
    expect(file.position).to.equal(8);
    expect(statSync(file.path).size).to.equal(0);
    file.flush();
    expect(readFileSync(dated('ossec-alerts-04.json'), 'latin1')).to.equal('{"a":1}\n');
    expect(statSync(join(directory, 'alerts.json')).ino).to.equal(statSync(file.path).ino);
    file.close();
  });

  it('writes records of any size, and many before a flush', () => {
    const file = new OutputFile(options, MARCH_4);
    let expected = '';
    const add = (text: string) => {
      expected += text;
      file.append(text);
      expect(file.position).to.equal(expected.length);
    };
    for (const size of [1, 16_383, 70_000, 3_000_000, 5]) {
      add(`${'x'.repeat(size)}\n`);
      if (size > 70_000) file.flush();
    }
    for (let round = 0; round < 3; round += 1) {
      for (let i = 0; i < 5000; i += 1) add(`${String(round)} ${String(i)}\n`);
      file.flush();
    }
    file.close();
    expect(readFileSync(dated('ossec-alerts-04.json'), 'latin1')).to.equal(expected);
  });

  it('keeps bytes as they are: one char code is one byte', () => {
    const file = new OutputFile(options, MARCH_4);
    file.append(Buffer.from('é\n', 'utf8').toString('latin1'));
    expect(file.position).to.equal(3);
    file.close();
    expect(readFileSync(dated('ossec-alerts-04.json'), 'utf8')).to.equal('é\n');
  });

  it('moves to the next day with everything appended before flushed to the old one', () => {
    const file = new OutputFile(options, MARCH_4);
    file.append('old\n');
    file.switchDay(MARCH_5);
    file.append('new\n');
    file.close();
    expect(readFileSync(dated('ossec-alerts-04.json'), 'latin1')).to.equal('old\n');
    expect(readFileSync(dated('ossec-alerts-05.json'), 'latin1')).to.equal('new\n');
    expect(readFileSync(join(directory, 'alerts.json'), 'latin1')).to.equal('new\n');
  });

  it('numbers the parts of a day and continues the newest', () => {
    const file = new OutputFile(options, MARCH_4);
    file.append('0\n');
    file.nextPart();
    file.append('1\n');
    file.close();
    const again = new OutputFile(options, MARCH_4);
    expect(again.path).to.equal(dated('ossec-alerts-04-001.json'));
    expect(again.position).to.equal(2);
    again.close();
  });

  it('goes on by itself when the new day could not be opened at first', () => {
    const file = new OutputFile(options, MARCH_4);
    file.append('old\n');
    writeFileSync(join(directory, '2026'), 'in the way');
    const newYear = new Date(2026, 0, 1, 0, 0, 1);
    expect(() => file.switchDay(newYear)).to.throw(/2026/);
    file.append('new\n');
    expect(() => file.flush()).to.throw(/2026/);
    rmSync(join(directory, '2026'));
    file.flush();
    file.append('newer\n');
    file.close();
    expect(readFileSync(dated('ossec-alerts-04.json'), 'latin1')).to.equal('old\n');
    expect(readFileSync(join(directory, '2026', 'Jan', 'ossec-alerts-01.json'), 'latin1')).to.equal('new\nnewer\n');
    expect(readFileSync(join(directory, 'alerts.json'), 'latin1')).to.equal('new\nnewer\n');
  });

  it('puts the live name on a part that could not be linked at first', () => {
    const file = new OutputFile(options, MARCH_4);
    file.append('0\n');
    file.flush();
    mkdirSync(join(directory, 'alerts.json.new'));
    expect(() => file.nextPart()).to.throw(/alerts\.json\.new/);
    rmSync(join(directory, 'alerts.json.new'), { recursive: true });
    file.switchDay(MARCH_4);
    file.append('1\n');
    file.close();
    expect(readFileSync(join(directory, 'alerts.json'), 'latin1')).to.equal('1\n');
  });

  it('closes when somebody removed its empty file, and makes it no more', () => {
    const descriptors = () => readdirSync('/proc/self/fd').length;
    const before = descriptors();
    const file = new OutputFile(options, MARCH_4);
    expect(descriptors()).to.equal(before + 1);
    rmSync(file.path);
    file.close();
    expect(descriptors()).to.equal(before);
    expect(existsSync(file.path)).to.equal(false);
  });

  it('does not make a part after an empty one', () => {
    const file = new OutputFile(options, MARCH_4);
    file.nextPart();
    expect(file.path).to.equal(dated('ossec-alerts-04.json'));
    file.close();
  });

  it('does not continue a part above the size limit', () => {
    const first = new OutputFile(options, MARCH_4);
    first.append(`${'x'.repeat(100)}\n`);
    first.close();
    const second = new OutputFile({ ...options, maxBytes: 50 }, MARCH_4);
    expect(second.path).to.equal(dated('ossec-alerts-04-001.json'));
    second.close();
  });

  it('removes an empty dated file when it closes', () => {
    const file = new OutputFile(options, MARCH_4);
    file.close();
    expect(existsSync(dated('ossec-alerts-04.json'))).to.equal(false);
  });

  it('cuts a tail torn by a crash and says how much', () => {
    const first = new OutputFile(options, MARCH_4);
    first.append('{"whole":1}\n');
    first.close();
    appendFileSync(first.path, '{"torn":');
    const cuts: [string, number][] = [];
    const second = new OutputFile({ ...options, onRepair: ({ path, bytes }) => cuts.push([path, bytes]) }, MARCH_4);
    expect(cuts).to.deep.equal([[second.path, 8]]);
    expect(second.position).to.equal(12);
    second.append('{"next":1}\n');
    second.close();
    expect(readFileSync(second.path, 'latin1')).to.equal('{"whole":1}\n{"next":1}\n');
  });

  it('replaces a live name that points elsewhere', () => {
    writeFileSync(join(directory, 'alerts.json'), 'stale');
    const file = new OutputFile(options, MARCH_4);
    expect(statSync(join(directory, 'alerts.json')).ino).to.equal(statSync(file.path).ino);
    file.close();
  });
});
