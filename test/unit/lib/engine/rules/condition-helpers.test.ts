import { expect } from 'chai';
import { MemoryDiffStore } from '../../../../../lib/engine/correlate/diff-store.js';
import { CdbList } from '../../../../../lib/engine/rules/cdb-list.js';
import { compileGroupWords } from '../../../../../lib/engine/rules/group-word-match.js';
import { Statistics } from '../../../../../lib/engine/statistics.js';
import { IpExpression } from '../../../../../lib/network/ip-expression.js';
import { TimeExpression } from '../../../../../lib/time/time-expression.js';
import { parseWeekdays } from '../../../../../lib/time/weekday-expression.js';

describe('IpExpression', () => {
  const contains = (source: string, address: string): boolean => {
    const expression = IpExpression.compile([source]);
    if (!(expression instanceof IpExpression)) throw new Error(`invalid: ${expression.invalid}`);
    return expression.contains(address);
  };

  it('reads addresses, prefixes, masks, mapped addresses and any', () => {
    expect(contains('10.1.2.3', '10.1.2.3')).to.equal(true);
    expect(contains('10.1.2.3', '10.1.2.4')).to.equal(false);
    expect(contains('10.1.0.0/16', '10.1.255.1')).to.equal(true);
    expect(contains('10.1.0.0/16', '10.2.0.1')).to.equal(false);
    expect(contains('0.0.0.0/0', '203.0.113.9')).to.equal(true);
    expect(contains('10.1.2.128/25', '10.1.2.127')).to.equal(false);
    expect(contains('10.0.0.0/255.0.255.0', '10.9.0.1')).to.equal(true);
    expect(contains('10.0.0.0/255.0.255.0', '10.9.1.1')).to.equal(false);
    expect(contains('::ffff:10.1.2.3', '10.1.2.3')).to.equal(true);
    expect(contains('10.1.2.3', '::FFFF:10.1.2.3')).to.equal(true);
    expect(contains('any', '2001:db8::1')).to.equal(true);
    expect(contains('any', 'host')).to.equal(false);
    expect(contains('!10.1.2.3', '10.1.2.3')).to.equal(true);
  });

  it('reads IPv6 in full and compressed, and never mixes families', () => {
    expect(contains('2001:db8::/32', '2001:0db8:1:2:3:4:5:6')).to.equal(true);
    expect(contains('2001:db8::/33', '2001:db8:8000::1')).to.equal(false);
    expect(contains('::1', '0:0:0:0:0:0:0:1')).to.equal(true);
    expect(contains('fe80::/10', 'febf::1')).to.equal(true);
    expect(contains('::/0', '10.0.0.1')).to.equal(false);
    expect(contains('0.0.0.0/0', '::1')).to.equal(false);
  });

  it('refuses what is no address', () => {
    for (const source of [
      '',
      '10.0.0',
      '10.0.0.256',
      '10.0.0.1/33',
      '10.0.0.0/x',
      '10.0.0.0/-1',
      '2001:db8::/129',
      '1::2::3',
      ':::',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      'g::',
      'host',
      ' 10.0.0.1',
    ]) {
      expect(IpExpression.compile([source]), source).to.deep.equal({ invalid: source });
    }
  });

  it('takes no text of any length for an address', () => {
    expect(contains('any', `${'1:'.repeat(50_000)}1`)).to.equal(false);
  });
});

describe('TimeExpression', () => {
  const at = (source: string, hour: number, minute = 0): boolean | undefined =>
    TimeExpression.parse(source)?.contains(hour * 60 + minute);

  it('reads hours, minutes and halves of the day', () => {
    expect(at('9-17', 9)).to.equal(true);
    expect(at('9 - 17:30', 17, 30)).to.equal(true);
    expect(at('9 - 17:30', 17, 31)).to.equal(false);
    expect(at('12 am - 12 pm', 0)).to.equal(true);
    expect(at('12 am - 12 pm', 12)).to.equal(true);
    expect(at('12 am - 12 pm', 12, 1)).to.equal(false);
    expect(at('1 PM-2pm', 13, 30)).to.equal(true);
    expect(at('! 9 - 17', 12)).to.equal(false);
    expect(at('!9-17', 8, 59)).to.equal(true);
  });

  it('reads a window over midnight as not between, and an exclamation mark before it is lost', () => {
    for (const source of ['22:00 - 6:00', '!22:00 - 6:00']) {
      expect(at(source, 23)).to.equal(true);
      expect(at(source, 5, 59)).to.equal(true);
      expect(at(source, 6)).to.equal(false);
      expect(at(source, 22)).to.equal(false);
      expect(at(source, 12)).to.equal(false);
    }
  });

  it('refuses what is no window', () => {
    for (const source of ['', '9', '9-', '24-3', '13 pm - 3', '9:60-10', '9:5-10', 'a-b', '9-17-18']) {
      expect(TimeExpression.parse(source), source).to.equal(undefined);
    }
  });
});

describe('parseWeekdays', () => {
  const days = (text: string): number[] | undefined => parseWeekdays(text)?.flatMap((on, day) => (on ? [day] : []));

  it('reads names, short names and the two words', () => {
    expect(days('monday,Tue wednesday')).to.deep.equal([1, 2, 3]);
    expect(days('weekends')).to.deep.equal([0, 6]);
    expect(days('weekdays, sunday')).to.deep.equal([0, 1, 2, 3, 4, 5]);
    for (const text of ['', '!monday', 'mo', 'mondays']) expect(days(text), text).to.equal(undefined);
  });
});

describe('CdbList', () => {
  it('reads the text form', () => {
    const text = 'a:1\r\na:2\nb:\n"c:d":3\ne:"f:g"\n"h:1\ni:"j\nno colon\n  k :v:w\n::x';
    const list = CdbList.parse('etc/lists/x', text);
    expect(list.find('a')).to.equal('1');
    expect(list.find('b')).to.equal('');
    expect(list.find('c:d')).to.equal('3');
    expect(list.find('e')).to.equal('f:g');
    expect(list.find('h')).to.equal(undefined);
    expect(list.find('i')).to.equal(undefined);
    expect(list.find('  k ')).to.equal('v:w');
    expect(list.find('')).to.equal(':x');
    expect(list.find('A')).to.equal(undefined);
    expect(list.size).to.equal(6);
  });

  it('finds addresses by their longest prefix that ends in a dot', () => {
    const list = CdbList.parse('x', '10.:ten\n10.1.2.:net\n10.1.2.3:host\nhost:name');
    expect(list.findAddress('10.1.2.3')).to.equal('host');
    expect(list.findAddress('10.1.2.4')).to.equal('net');
    expect(list.findAddress('10.1.3.4')).to.equal('ten');
    expect(list.findAddress('10.1')).to.equal('ten');
    expect(list.findAddress('11.1')).to.equal(undefined);
    expect(list.findAddress('host.sub')).to.equal(undefined);
    expect(list.findAddress('.')).to.equal(undefined);
    expect(list.findAddress('')).to.equal(undefined);
  });
});

describe('compileGroupWords', () => {
  it('matches parts and prefixes without regard to case; an empty last alternative matches all', () => {
    expect(compileGroupWords('auth')('local,authentication_failed,')).to.equal(true);
    expect(compileGroupWords('^auth')('local,authentication')).to.equal(false);
    expect(compileGroupWords('^LOCAL|x')('local,')).to.equal(true);
    expect(compileGroupWords('!auth')('local')).to.equal(false);
    expect(compileGroupWords('local,$')('local,')).to.equal(false);
    expect(compileGroupWords('')('local')).to.equal(false);
    expect(compileGroupWords('x|')('local')).to.equal(true);
  });
});

describe('Statistics', () => {
  const options = { level: 4, maxDiff: 999_000, minDiff: 10, percentDiff: 150 };
  const feed = (statistics: Statistics, day: string, count: number, hour = 9): string[] =>
    Array.from({ length: count }, () => statistics.count(day, hour, 2)).filter((text) => text !== undefined);

  it('alerts once an hour when a known hour has far more events than usual', () => {
    const statistics = new Statistics(options);
    for (const day of ['d1', 'd2', 'd3']) feed(statistics, day, 100);
    // 100+20, (100+2*120)/3+5, (100+3*118)/4+5
    const average = 118;
    expect(feed(statistics, 'd4', 295)).to.deep.equal([]);
    expect(statistics.hourly.averages[9]).to.equal(average);
    expect(feed(statistics, 'd4', 300)).to.deep.equal([
      `The average number of logs between 9:00 and 10:00 is ${String(average)}. We reached 297.`,
    ]);
  });

  it('is quiet without three days of history, and when it is off', () => {
    const young = new Statistics(options);
    feed(young, 'd1', 10);
    feed(young, 'd2', 10);
    expect(feed(young, 'd3', 5000)).to.deep.equal([]);
    const off = new Statistics({ ...options, level: 0 });
    for (const day of ['d1', 'd2', 'd3', 'd4']) feed(off, day, 10);
    expect(feed(off, 'd5', 5000)).to.deep.equal([]);
    expect(off.counts[9]).to.equal(5000);
  });

  it('goes on from a snapshot', () => {
    const statistics = new Statistics(options);
    for (const day of ['d1', 'd2', 'd3']) feed(statistics, day, 100);
    feed(statistics, 'd4', 200);
    const copy = new Statistics(options);
    copy.restore(JSON.parse(JSON.stringify(statistics.snapshot())) as ReturnType<Statistics['snapshot']>);
    expect(feed(copy, 'd4', 200))
      .to.deep.equal(feed(statistics, 'd4', 200))
      .and.to.have.length(1);
  });
});

describe('MemoryDiffStore', () => {
  it('keeps to its bound and forgets what was stored longest ago', () => {
    const store = new MemoryDiffStore();
    const log = 'x'.repeat(65_000);
    for (let i = 0; i < 1200; i += 1) store.store(`host${String(i)}`, 100, log);
    expect(store.last('host0', 100)).to.equal(undefined);
    expect(store.last('host1199', 100)).to.equal(log);
    expect(store.evicted).to.be.greaterThan(100);
  });
});
