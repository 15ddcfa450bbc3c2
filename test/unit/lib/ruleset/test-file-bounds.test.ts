import { expect } from 'chai';
import { MAX_TEST_FILE_BYTES, readTestFile } from '../../../../lib/ruleset/tests/read-test-file.js';

const refusal = (source: string, file = 'a.yml'): string => {
  try {
    readTestFile(source, file);
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
};

describe('a file of tests', () => {
  it('has a largest size', () => {
    expect(refusal(`# ${'x'.repeat(MAX_TEST_FILE_BYTES)}`)).to.equal('a.yml: larger than 1048576 bytes');
  });

  it('is not larger than that by its aliases', () => {
    const long = `- &a {name: a, log: &log '${'x'.repeat(500_000)}', expect: {rule: 1}}\n`;
    expect(refusal(long + '- *a\n'.repeat(9))).to.include('aliases');
    const levels = ['- &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 12; level += 1) {
      levels.push(`- &a${String(level)} [${Array.from({ length: 10 }, () => `*a${String(level - 1)}`).join(', ')}]`);
    }
    expect(refusal(levels.join('\n'))).to.include('aliases');
    const shared = '- &a {name: a, log: x, expect: {rule: 1}}\n- *a\n';
    expect(readTestFile(shared, 'a.yml').map(({ line }) => line)).to.deep.equal([1, 2]);
  });

  it('counts events before there are any', () => {
    const test = (logs: string) => `- name: a\n  logs: [${logs}]\n  expect: {rule: 1}\n`;
    const many = '&e {log: x, times: 100000}';
    expect(readTestFile(test(many), 'a.yml')[0]?.events).to.have.length(100_000);
    expect(refusal(test(many + ', *e'.repeat(9000)))).to.equal('a.yml:1: more than 100000 events');
    expect(refusal(test(many).repeat(6))).to.equal('a.yml:16: more than 500000 events in all');
    const [spaced] = readTestFile(test('x, {log: y, times: 3, after: 2, every: 5}'), 'a.yml');
    expect(spaced?.events.map(({ after }) => after)).to.deep.equal([0, 2, 5, 5]);
  });

  it('has short names; an error does not repeat all of a file', () => {
    const entry = (members: string) => `- {name: a, log: x, expect: {rule: 1}, ${members}}\n`;
    expect(refusal(entry(`skip: '${'x'.repeat(1001)}'`))).to.include('skip');
    expect(refusal(entry(`'${'x'.repeat(100_000)}': 1`)).length).to.be.below(1100);
  });

  it('of the other form takes keys and values with any spaces', () => {
    const spaces = ' '.repeat(100_000);
    const [test] = readTestFile(`[a]\nrule${spaces}=${spaces}5\nlog 1 pass : x = y ${spaces}\nalert=3\n`, 'a.ini');
    expect(test?.events[0]?.log).to.equal('x = y');
    expect(test?.expect).to.deep.equal({ rule: 5, level: 3, decoder: null });
    expect(refusal(`[a]\nx${spaces}y\n`, 'a.ini')).to.equal('a.ini:2: not "key = value"');
    expect(refusal('[a]\n= y\n', 'a.ini')).to.equal('a.ini:2: not "key = value"');
  });
});
