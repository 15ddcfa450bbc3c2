import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { CounterFiles } from '../../../../daemons/remoted/link/counter-files.js';
import {
  compareCounters,
  type CounterPair,
  formatCounters,
  laterCounters,
  parseCounters,
} from '../../../../lib/agentlink/message-counters.js';
import { SenderCounter } from '../../../../lib/agentlink/sender-counter.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const fail = (error: unknown): void => {
  throw error;
};

describe('message counters', () => {
  const pairs = fc.record({
    global: fc.integer({ min: 0, max: 0xfffffffe }),
    local: fc.integer({ min: 0, max: 9997 }),
  });

  it('count to 9997 and then the global one up', () => {
    expect(laterCounters({ global: 0, local: 0 })).to.deep.equal({ global: 0, local: 1 });
    expect(laterCounters({ global: 0, local: 9996 })).to.deep.equal({ global: 0, local: 9997 });
    expect(laterCounters({ global: 0, local: 9997 })).to.deep.equal({ global: 1, local: 1 });
    expect(laterCounters({ global: 3, local: 9999 })).to.deep.equal({ global: 4, local: 1 });
    expect(laterCounters({ global: 0xffffffff, local: 9997 })).to.deep.equal({ global: 0, local: 1 });
  });

  it('go the same way in one step and in many', () => {
    fc.assert(
      fc.property(pairs, fc.integer({ min: 1, max: 300 }), (pair, steps) => {
        let walked: CounterPair = pair;
        for (let step = 0; step < steps; step += 1) walked = laterCounters(walked);
        expect(laterCounters(pair, steps)).to.deep.equal(walked);
        if (pair.global < 0xffffff00) expect(compareCounters(walked, pair)).to.equal('newer');
        expect(compareCounters(pair, pair)).to.equal('duplicate');
      }),
    );
  });

  it('are read back from their text, whatever stands behind it', () => {
    fc.assert(
      fc.property(pairs, pairs, (pair, longer) => {
        const old = formatCounters(longer);
        const text = formatCounters(pair);
        expect(parseCounters(text + old.slice(text.length))).to.deep.equal(pair);
      }),
    );
    const noise = fc
      .array(fc.constantFrom('0', '9', '42', ':', ' ', '-', 'x', '\0', '99999999999'))
      .map((all) => all.join(''));
    fc.assert(
      fc.property(noise, (text) => {
        const read = parseCounters(text);
        if (read !== undefined) expect(parseCounters(formatCounters(read))).to.deep.equal(read);
      }),
      { numRuns: 500 },
    );
    for (const wrong of ['', ':', '1', '1:', '1:x:', 'x:1:', '-1:1:', '1:12345678901:', '4294967296:1:', ' 1:1:']) {
      expect(parseCounters(wrong), wrong).to.equal(undefined);
    }
    expect(parseCounters('1:21')).to.deep.equal({ global: 1, local: 21 });
  });
});

describe('SenderCounter', () => {
  const home = new TemporaryHome();
  const path = home.path('queue', 'sender_counter');
  after(() => home.remove());
  beforeEach(() => rmSync(path, { force: true }));

  it('never uses counters again after a kill, and goes on exactly after a stop', () => {
    const killed = new SenderCounter(path, fail);
    let last: CounterPair = { global: 0, local: 0 };
    for (let message = 0; message < 600; message += 1) last = killed.next();
    expect(last).to.deep.equal({ global: 0, local: 600 });
    const next = new SenderCounter(path, fail);
    const first = next.next();
    expect(compareCounters(first, last)).to.equal('newer');
    expect(first.local - last.local).to.be.at.most(257);
    next.close();
    expect(parseCounters(readFileSync(path, 'utf8'))).to.deep.equal(first);
    expect(new SenderCounter(path, fail).next()).to.deep.equal(laterCounters(first));
  });

  it('writes once in many messages', () => {
    const counter = new SenderCounter(path, fail);
    counter.next();
    const written = readFileSync(path, 'utf8');
    for (let message = 1; message < 256; message += 1) counter.next();
    expect(readFileSync(path, 'utf8')).to.equal(written);
    counter.next();
    expect(readFileSync(path, 'utf8')).to.not.equal(written);
  });

  it('starts from the file of another program, and from a file put in its place', () => {
    writeFileSync(path, '6:9997:7:');
    const counter = new SenderCounter(path, fail);
    expect(counter.next()).to.deep.equal({ global: 7, local: 1 });
    writeFileSync(`${path}.new`, '90:5:');
    renameSync(`${path}.new`, path);
    const seen = Array.from({ length: 300 }, () => counter.next());
    expect(seen.at(-1)?.global).to.equal(90);
  });

  it('counts on in memory when the file cannot be written', () => {
    const problems: unknown[] = [];
    const counter = new SenderCounter(home.path('nowhere', 'sender_counter'), (error) => problems.push(error));
    expect([counter.next().local, counter.next().local]).to.deep.equal([1, 2]);
    expect(problems).to.have.length(1);
    const link = home.path('queue', 'link');
    symlinkSync(home.path('etc', 'home.json'), link);
    new SenderCounter(link, (error) => problems.push(error)).next();
    expect(String(problems[1])).to.include('is a link');
  });
});

describe('CounterFiles', () => {
  const home = new TemporaryHome();
  const directory = home.path('queue', 'rids');
  before(() => mkdirSync(directory));
  after(() => home.remove());
  const text = (id: string): string => readFileSync(`${directory}/${id}`, 'utf8');

  it('writes the file of the agent that sent every so many-th message, the rest at the end', async () => {
    const files = new CounterFiles(directory, fail, 4);
    for (let local = 1; local <= 6; local += 1) {
      files.note('001', { global: 0, local });
      files.note('002', { global: 1, local });
    }
    await files.close();
    expect([text('001'), text('002')]).to.deep.equal(['0:6:', '1:6:']);
    const again = new CounterFiles(directory, fail);
    expect(again.read('002')).to.deep.equal({ global: 1, local: 6 });
    expect(again.read('003')).to.equal(undefined);
    again.note('003', { global: 9, local: 9 });
    expect(again.read('003')).to.deep.equal({ global: 9, local: 9 });
    expect(existsSync(`${directory}/003`)).to.equal(false);
  });

  it('has one write under way and writes the newest counters', async () => {
    const files = new CounterFiles(directory, fail, 1);
    for (let local = 1; local <= 500; local += 1) files.note('004', { global: 0, local });
    await files.close();
    expect(parseCounters(text('004'))).to.deep.equal({ global: 0, local: 500 });
    files.note('004', { global: 1, local: 1 });
    await files.close();
    expect(parseCounters(text('004'))).to.deep.equal({ global: 1, local: 1 });
  });

  it('removes the file of an agent', async () => {
    const files = new CounterFiles(directory, fail, 1);
    files.note('005', { global: 1, local: 1 });
    await files.remove('005');
    await files.close();
    expect(existsSync(`${directory}/005`)).to.equal(false);
    expect(files.read('005')).to.equal(undefined);
    await files.remove('005');
  });

  it('says what cannot be written and follows no link', async () => {
    const problems: string[] = [];
    symlinkSync(home.path('etc', 'home.json'), `${directory}/006`);
    const files = new CounterFiles(directory, (error) => problems.push(String(error)), 1);
    files.note('006', { global: 1, local: 1 });
    await files.close();
    expect(problems).to.have.length.at.least(1);
    expect(problems[0]).to.include('is a link');
    const reads = problems.length;
    expect(new CounterFiles(directory, (error) => problems.push(String(error))).read('006')).to.equal(undefined);
    expect(problems).to.have.length(reads + 1);
    expect(() => files.read('../client.keys')).to.throw(RangeError);
  });
});
