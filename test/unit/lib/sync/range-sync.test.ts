import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { SyncSchedule } from '../../../../daemons/syscheckd/sync/sync-schedule.js';
import { RangeHash } from '../../../../lib/events/sync/range-hash.js';
import type { SyncRow, SyncStep } from '../../../../lib/events/sync/sync-step.js';
import { compareKeys } from '../../../../lib/fim/byte-order.js';
import { type RangeSource, RangeSync } from '../../../../lib/sync/range-sync.js';

class Rows implements RangeSource<SyncRow> {
  rows: SyncRow[];
  constructor(entries: Iterable<readonly [string, string]>) {
    this.rows = [...entries].map(([key, checksum]) => ({ key, checksum })).sort((a, b) => compareKeys(a.key, b.key));
  }
  first() {
    return this.rows[0];
  }
  last() {
    return this.rows.at(-1);
  }
  range(begin: string, end: string) {
    return this.rows.filter(({ key }) => compareKeys(key, begin) >= 0 && compareKeys(key, end) <= 0);
  }
  hash(begin: string, end: string) {
    const hash = new RangeHash();
    for (const { checksum } of this.range(begin, end)) hash.add(checksum);
    return hash.digest();
  }
}

/** The manager of integrity-and-inventory.md 5.2, as far as the agent can tell. */
class Manager extends Rows {
  take(step: SyncStep<SyncRow>): 'checksum_fail' | 'no_data' | undefined {
    if (step.type === 'integrity_clear') this.rows = [];
    if (step.type === 'integrity_clear') return undefined;
    if (step.type === 'state') {
      this.rows = new Rows([
        ...this.rows.filter(({ key }) => key !== step.row.key).map(({ key, checksum }) => [key, checksum] as const),
        [step.row.key, step.row.checksum],
      ]).rows;
      return undefined;
    }
    const { begin, end, checksum } = step.check;
    const rows = this.range(begin, end).length;
    const answer = rows === 0 ? 'no_data' : this.hash(begin, end) === checksum ? undefined : 'checksum_fail';
    if (step.type === 'integrity_check_global') this.rows = this.range(begin, end);
    if (step.type === 'integrity_check_left') {
      const { tail } = step.check;
      this.rows = this.rows.filter(({ key }) => compareKeys(key, end) <= 0 || compareKeys(key, tail) >= 0);
    }
    return answer;
  }
}

/** Lets agent and manager talk until neither has anything to say. */
async function talk(agent: RangeSync<SyncRow>, manager: Manager, id: number): Promise<string[]> {
  const said: string[] = [];
  const queue = [await agent.start(id)];
  for (let step = queue.shift(); step !== undefined; step = queue.shift()) {
    said.push(describeStep(step));
    const verb = manager.take(step);
    if (verb === undefined || !('check' in step)) continue;
    const { begin, end } = step.check;
    queue.push(...(await stepsOf(agent.answer({ verb, begin, end, id: step.check.id }))));
  }
  return said;
}

async function stepsOf(answer: AsyncIterable<SyncStep<SyncRow>>): Promise<SyncStep<SyncRow>[]> {
  const steps: SyncStep<SyncRow>[] = [];
  for await (const step of answer) steps.push(step);
  return steps;
}

function describeStep(step: SyncStep<SyncRow>): string {
  if (step.type === 'integrity_clear') return 'clear';
  if (step.type === 'state') return `state ${step.row.key}`;
  const { begin, end, checksum } = step.check;
  const tail = step.type === 'integrity_check_left' ? ` tail ${step.check.tail}` : '';
  return `${step.type.slice('integrity_check_'.length)} ${begin}..${end}${tail} ${checksum}`;
}

const SPEC_ROWS = [
  ['/etc/a', '3f39d4406ddedbbb4b06c84e688ec43f027f2e19'],
  ['/etc/b', 'e282f39c76672f3f883cfd58a1e3b110c3b9d5a5'],
  ['/etc/c', 'b1f98ae97cfa4c40fe16dcdad56553b132aa8263'],
  ['/etc/d', 'f6c7f7cc067b6ba160ef275369210ef3d19a9f90'],
  ['/etc/e', '845b0bac0d59c9f96e6e43350da02b241d8781b1'],
] as const;

describe('range synchronisation', () => {
  it('goes through the worked example', async () => {
    const manager = new Manager([
      ...SPEC_ROWS.filter(([key]) => key !== '/etc/d'),
      ['/etc/d', 'c09a249f1c1a7684ee43077681d097b41912d3ad'],
    ]);
    expect(manager.hash('/etc/a', '/etc/e')).to.equal('bdaf1a032d85375608085ef69b602c1a50dac3cc');
    const agent = new RangeSync(new Rows(SPEC_ROWS));
    // Answers come one after the other, so halves are told before what follows on them.
    expect(await talk(agent, manager, 1700001000)).to.deep.equal([
      'global /etc/a../etc/e ab679e59e3accb211660b7a1a7d97c688ce8fd3a',
      'left /etc/a../etc/b tail /etc/c 3bd8628bfeba939c1b641928224190afee36bc52',
      'right /etc/c../etc/e 5eeee39e6809b9bb96ac266ed6c2d69aee22fcf3',
      'left /etc/c../etc/c tail /etc/d 2e2f546f44a038e206688494e4dd2f710b260a32',
      'right /etc/d../etc/e 89583461037dad525bde5241302fc8fd98710b1c',
      'left /etc/d../etc/d tail /etc/e 3215dfeb207b4937cf076121f06fef4bcdab4b04',
      'right /etc/e../etc/e 183652bce8e6a1049a66aa116d71acfd5e25c404',
      'state /etc/d',
    ]);
    expect(await talk(agent, manager, 1700001300)).to.have.length(1);
  });

  it('sends every row to an empty manager, and clears it when there is none', async () => {
    const manager = new Manager([]);
    expect((await talk(new RangeSync(new Rows(SPEC_ROWS)), manager, 1)).slice(1)).to.deep.equal(
      SPEC_ROWS.map(([key]) => `state ${key}`),
    );
    expect(await talk(new RangeSync(new Rows([])), manager, 2)).to.deep.equal(['clear']);
    expect(manager.rows).to.deep.equal([]);
  });

  it('passes over answers of later rounds and goes back to earlier ones', async () => {
    const agent = new RangeSync(new Rows(SPEC_ROWS));
    await agent.start(100);
    const range = { begin: '/etc/a', end: '/etc/e' };
    expect(await stepsOf(agent.answer({ verb: 'no_data', ...range, id: 101 }))).to.deep.equal([]);
    expect(await stepsOf(agent.answer({ verb: 'no_data', ...range, id: 90 }))).to.have.length(5);
    expect(agent.currentId).to.equal(90);
    expect(await stepsOf(agent.answer({ verb: 'no_data', ...range, id: 100 }))).to.deep.equal([]);
  });

  it('says nothing about a range that rows have left', async () => {
    const agent = new RangeSync(new Rows(SPEC_ROWS));
    await agent.start(100);
    for (const [begin, end] of [
      ['/etc/x', '/etc/y'],
      ['/etc/a0', '/etc/b'],
      ['/etc/e', '/etc/a'],
    ] as const) {
      expect(await stepsOf(agent.answer({ verb: 'checksum_fail', begin, end, id: 100 }))).to.deep.equal([]);
    }
  });

  it('brings any manager to the rows of any agent within two rounds', async () => {
    const key = fc.oneof(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }), fc.constantFrom("'", '%', ' '));
    const table = fc.dictionary(key, fc.constantFrom('one', 'two'), { maxKeys: 12 });
    // Checksums of two rows are never the same: the inode is in them.
    const rowsOf = (contents: Readonly<Record<string, string>>) =>
      Object.entries(contents).map(
        ([name, content]) => [name, createHash('sha1').update(`${content}:${name}`).digest('hex')] as const,
      );
    await fc.assert(
      fc.asyncProperty(table, table, async (mine, theirs) => {
        const rows = new Rows(rowsOf(mine));
        const manager = new Manager(rowsOf(theirs));
        const agent = new RangeSync(rows);
        await talk(agent, manager, 1);
        await talk(agent, manager, 2);
        expect(manager.rows).to.deep.equal(rows.rows);
      }),
    );
  });

  it('walks a large table in pieces, whatever becomes of the rows in between', async () => {
    const entries = Array.from({ length: 3000 }, (_none, index) => {
      const key = `/srv/${String(index).padStart(4, '0')}`;
      return [key, createHash('sha1').update(key).digest('hex')] as const;
    });
    const rows = new Rows(entries);
    const whole = rows.hash('/srv/0000', '/srv/2999');
    let calls = 0;
    let most = 0;
    const source: RangeSource<SyncRow> = {
      first: () => rows.first(),
      last: () => rows.last(),
      *range(begin, end) {
        calls += 1;
        let given = 0;
        for (const row of rows.range(begin, end)) {
          most = Math.max(most, (given += 1));
          yield row;
        }
      },
    };
    const agent = new RangeSync(source);
    const first = await agent.start(1);
    expect(first).to.have.nested.property('check.checksum', whole);
    expect(most).to.be.below(600);
    expect(calls).to.be.above(5);
    const range = { begin: '/srv/0000', end: '/srv/2999', id: 1 };
    const [left, right] = await stepsOf(agent.answer({ verb: 'checksum_fail', ...range }));
    expect(left).to.have.nested.property('check.checksum', rows.hash('/srv/0000', '/srv/1499'));
    expect(right).to.have.nested.property('check.checksum', rows.hash('/srv/1500', '/srv/2999'));
    // The row at which a piece ended goes away, and one comes just behind it.
    const keys: string[] = [];
    for await (const step of agent.answer({ verb: 'no_data', ...range })) {
      if (step.type !== 'state') continue;
      keys.push(step.row.key);
      if (keys.length === 512) {
        rows.rows = rows.rows.filter(({ key }) => key !== '/srv/0511' && key < '/srv/2000');
        rows.rows.splice(511, 0, { key: '/srv/0511a', checksum: 'new' });
      }
    }
    expect(keys.slice(510, 514)).to.deep.equal(['/srv/0510', '/srv/0511', '/srv/0511a', '/srv/0512']);
    expect(keys).to.have.length(2001);
    const pending = agent.answer({ verb: 'checksum_fail', ...range });
    rows.rows = rows.rows.slice(0, 1);
    expect(await stepsOf(pending)).to.deep.equal([]);
  });

  it('orders keys as their bytes in UTF-8 are', () => {
    const text = fc.string({ unit: 'binary', maxLength: 4 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareKeys(a, b))).to.equal(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
    expect(compareKeys('/\u{1F600}', '/\uffee')).to.be.above(0);
    expect(compareKeys('/A', '/a')).to.be.below(0);
  });
});

describe('times of the synchronisation', () => {
  const times = { interval: 300, maxInterval: 1000, responseTimeout: 30 };

  it('begin at once and then each interval', () => {
    const schedule = new SyncSchedule(times);
    expect(schedule.due(0)).to.equal(true);
    expect(schedule.due(299)).to.equal(false);
    expect(schedule.due(300)).to.equal(true);
    const later = new SyncSchedule(times, 20);
    expect(later.due(19)).to.equal(false);
    expect(later.due(20)).to.equal(true);
  });

  it('double while a round is being worked off, up to the longest, and go back when all is quiet', () => {
    const schedule = new SyncSchedule(times);
    schedule.due(0);
    schedule.traffic(290, 'answer');
    expect(schedule.due(300)).to.equal(false);
    expect(schedule.interval).to.equal(600);
    schedule.traffic(899, 'state');
    expect(schedule.due(900)).to.equal(false);
    expect(schedule.interval).to.equal(1000);
    expect(schedule.due(1900)).to.equal(true);
    // There had been answers to the round before: the interval stays.
    expect(schedule.interval).to.equal(1000);
    expect(schedule.due(2900)).to.equal(true);
    expect(schedule.interval).to.equal(300);
  });
});
