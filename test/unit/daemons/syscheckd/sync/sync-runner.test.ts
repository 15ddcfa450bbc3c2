import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { SyncRunner, type SyncSettings } from '../../../../../daemons/syscheckd/sync/sync-runner.js';
import type { FimRow } from '../../../../../lib/events/fim/fim-messages.js';
import type { SyncClock } from '../../../../../lib/sync/sync-clock.js';
import type { SyncOutlet } from '../../../../../lib/sync/sync-outlet.js';
import { eventually } from '../../../../support/eventually.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';
import { SYNC_SETTINGS, syncRow, SyncRows } from '../../../../support/syscheckd/sync-rows.js';
import { SPEC_ROWS, SPEC_TIME, SPEC_TRACE } from '../../../../support/syscheckd/sync-traces.js';

/** A clock that stands still until it is told to go on. */
class HeldClock implements SyncClock {
  seconds = 0;
  readonly slept: number[] = [];
  #sleepers: { readonly until: number; readonly wake: () => void }[] = [];

  readonly now = (): number => SPEC_TIME + this.seconds;
  readonly elapsed = (): number => this.seconds;
  readonly sleep = (milliseconds: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      this.slept.push(milliseconds);
      signal.addEventListener('abort', () => resolve(), { once: true });
      this.#sleepers.push({ until: this.seconds + milliseconds / 1000, wake: resolve });
    });

  goTo(seconds: number): void {
    this.seconds = seconds;
    const due = this.#sleepers.filter(({ until }) => until <= seconds);
    this.#sleepers = this.#sleepers.filter(({ until }) => until > seconds);
    for (const { wake } of due) wake();
  }
}

/** Keeps what is sent, and may lose it. */
class KeepingOutlet implements SyncOutlet {
  readonly messages: string[] = [];
  lost = 0;
  fails: ((message: string) => boolean) | undefined;

  send(message: string): Promise<void> {
    if (this.fails?.(message) === true) this.lost += 1;
    else this.messages.push(message);
    return Promise.resolve();
  }

  get types(): string[] {
    return this.messages.map((message) => (JSON.parse(message) as { type: string }).type);
  }
}

const failed = (begin: string, end: string, id = 1_700_001_000): string =>
  `fim_file dbsync checksum_fail {"begin":"/etc/${begin}","end":"/etc/${end}","id":${id}}`;
const noData = (begin: string, end: string, id = 1_700_001_000): string =>
  failed(begin, end, id).replace('checksum_fail', 'no_data');

describe('synchronisation of files', () => {
  let clock: HeldClock;
  let outlet: KeepingOutlet;
  let logger: RecordingLogger;
  let runner: SyncRunner;

  beforeEach(() => {
    clock = new HeldClock();
    outlet = new KeepingOutlet();
    logger = new RecordingLogger();
  });
  afterEach(() => runner.stop());

  function begin(settings: Partial<SyncSettings> = {}, rows: readonly FimRow[] = SPEC_ROWS): void {
    runner = new SyncRunner({ source: new SyncRows(rows), outlet, clock, logger }, { ...SYNC_SETTINGS, ...settings });
    runner.start();
  }
  const sent = (count: number): Promise<boolean> =>
    eventually(`${count} messages`, () => outlet.messages.length >= count);
  /** It has nothing to do until its next round. */
  const idle = (naps = 1): Promise<boolean> => eventually('it is idle', () => clock.slept.length >= naps);

  it('goes through the worked example byte for byte', async () => {
    begin();
    const expected: string[] = [];
    for (const { order, messages } of SPEC_TRACE) {
      if (order !== undefined) runner.take(order);
      expected.push(...messages);
      await sent(expected.length);
    }
    expect(outlet.messages).to.deep.equal(expected);
    expect(logger.lines).to.deep.equal(['info: FIM sync module started.']);
    expect(runner.stats).to.include({ rounds: 1, checks: 7, states: 1, answers: 4, failed: 0, lost: 0 });
  });

  it('says that there is nothing, and where it has nothing in common sends every row', async () => {
    begin({}, []);
    await sent(1);
    expect(outlet.messages).to.deep.equal([
      '{"component":"fim_file","data":{"id":1700001000},"type":"integrity_clear"}',
    ]);
    await runner.stop();
    outlet.messages.length = 0;
    begin();
    await sent(1);
    runner.take(noData('a', 'e'));
    await sent(6);
    expect(outlet.types.slice(1)).to.deep.equal(Array.from({ length: 5 }, () => 'state'));
  });

  it('sends so many messages and pauses for a second', async () => {
    begin({ max_eps: 2 });
    await sent(1);
    runner.take(noData('a', 'e'));
    for (let second = 1; second <= 3; second += 1) {
      await eventually('the pause', () => clock.slept.filter((time) => time === 1000).length === second);
      expect(outlet.messages).to.have.length(second * 2);
      clock.goTo(second);
    }
  });

  it('begins rounds at their times, later while one is worked off', async () => {
    begin({ interval: 300, max_interval: 1000, response_timeout: 30 });
    await idle();
    expect(outlet.types).to.deep.equal(['integrity_check_global']);
    clock.goTo(300);
    await idle(2);
    expect(outlet.messages).to.have.length(2);
    expect(outlet.messages[1]).to.contain('"id":1700001300}');
    clock.goTo(590);
    runner.take(failed('c', 'c', 1_700_001_300));
    await idle(3);
    clock.goTo(600);
    await idle(4);
    expect(outlet.types.slice(2)).to.deep.equal(['state']);
    expect(runner.stats).to.include({ rounds: 2, interval: 600 });
    clock.goTo(1200);
    await idle(5);
    expect(runner.stats).to.include({ rounds: 3, interval: 600 });
  });

  it('drops answers that find no room, and counts what is none', async () => {
    begin({ queue_size: 2, max_eps: 1 });
    await idle();
    // It pauses after its first message: nothing is taken from the queue.
    for (const place of ['a', 'b', 'c', 'd']) runner.take(failed(place, place));
    for (const text of [
      'fim_file dbsync dance {}',
      'fim_file dbsync no_data',
      'fim_file dbsync no_data {"begin":1}',
      'fim_file dbsync no_data {',
      'fim_file',
      '',
    ]) {
      runner.take(text);
    }
    runner.take('fim_registry_key dbsync no_data {"begin":"a","end":"b","id":1}');
    expect(runner.stats).to.include({ waiting: 2, answers: 2, dropped: 2, malformed: 6, ignored: 1 });
    expect(logger.lines.filter((line) => line.startsWith('warn: '))).to.have.length(2);
    clock.goTo(1);
    await sent(2);
    clock.goTo(2);
    await sent(3);
    expect(outlet.messages.slice(1).map((text) => /"index":"(.*?)"/.exec(text)?.[1])).to.deep.equal([
      '/etc/a',
      '/etc/b',
    ]);
  });

  it('gives up what it was sending when a message is lost, until the next round', async () => {
    begin();
    await idle();
    outlet.fails = (message) => message.includes('"/etc/b"');
    runner.take(noData('a', 'e'));
    await idle(2);
    expect(outlet.types).to.deep.equal(['integrity_check_global', 'state']);
    outlet.fails = () => true;
    clock.goTo(300);
    await idle(3);
    outlet.fails = undefined;
    clock.goTo(600);
    await idle(4);
    expect(outlet.types).to.deep.equal(['integrity_check_global', 'state', 'integrity_check_global']);
  });

  it('goes on after a table that could not be read', async () => {
    let broken = true;
    const rows = new SyncRows(SPEC_ROWS);
    const source = {
      first: () => rows.first(),
      last: () => rows.last(),
      range(from: string, to: string) {
        if (broken) throw new Error('disk');
        return rows.range(from, to);
      },
    };
    runner = new SyncRunner({ source, outlet, clock, logger }, SYNC_SETTINGS);
    runner.start();
    await idle();
    expect(logger.lines).to.include('warn: The synchronisation of files stopped until its next round: disk');
    broken = false;
    clock.goTo(300);
    await sent(1);
    expect(runner.stats).to.include({ rounds: 2, failed: 1 });
  });

  it('does not send what no message holds', async () => {
    // Six bytes each where they are escaped.
    const [first, second, third] = ['a', 'b', 'c'].map((name) => `/${name}${'\x01'.repeat(4000)}`);
    begin(
      {},
      [first, second, third].map((path, index) => syncRow(path ?? '', String(index))),
    );
    await idle();
    runner.take(`fim_file dbsync checksum_fail ${JSON.stringify({ begin: first, end: third, id: 1_700_001_000 })}`);
    await idle(2);
    expect(outlet.types).to.deep.equal(['integrity_check_global', 'integrity_check_right']);
    expect(runner.stats).to.include({ too_long: 1, checks: 2 });
    expect(logger.lines.at(-1)).to.match(/^warn: A message of the synchronisation is longer than/);
  });

  it('sends a large table while others have their turn, and stops in the middle', async () => {
    const rows = Array.from({ length: 20_000 }, (_none, index) => {
      const key = `/srv/${String(index).padStart(5, '0')}`;
      return syncRow(key, createHash('sha1').update(key).digest('hex'));
    });
    begin({}, rows);
    await sent(1);
    let turns = 0;
    let counting = true;
    const count = (): void => {
      turns += 1;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    runner.take('fim_file dbsync no_data {"begin":"/srv/00000","end":"/srv/99999","id":1700001000}');
    await eventually('all are sent', () => outlet.messages.length === 20_001, 30_000);
    counting = false;
    expect(turns).to.be.above(200);
    runner.take('fim_file dbsync no_data {"begin":"/srv/00000","end":"/srv/99999","id":1700001000}');
    await sent(20_100);
    await runner.stop();
    const { length } = outlet.messages;
    expect(length).to.be.below(40_001);
    await new Promise((resolve) => setImmediate(resolve));
    expect(outlet.messages).to.have.length(length);
  });

  it('does not wait for a manager that takes nothing when it stops', async () => {
    let taken = 0;
    outlet.send = () => {
      taken += 1;
      return new Promise(() => {});
    };
    begin();
    await eventually('it sends', () => taken === 1);
    await runner.stop();
    expect(runner.stats).to.include({ rounds: 1, checks: 0 });
  });

  it('is switched on and off, and takes other settings while it runs', async () => {
    begin({ enabled: false });
    runner.take(noData('a', 'e'));
    expect(runner.stats).to.include({ enabled: false, ignored: 1, rounds: 0 });
    expect(logger.lines).to.deep.equal([]);
    await runner.apply({ ...SYNC_SETTINGS, interval: 100 });
    await idle();
    expect(outlet.messages).to.have.length(1);
    await runner.apply({ ...SYNC_SETTINGS, interval: 50 });
    clock.goTo(49);
    await idle(2);
    expect(runner.stats).to.include({ rounds: 1, interval: 50 });
    clock.goTo(50);
    await sent(2);
    await runner.apply({ ...SYNC_SETTINGS, enabled: false });
    clock.goTo(500);
    expect(runner.stats).to.include({ enabled: false, rounds: 2 });
    await runner.apply(SYNC_SETTINGS);
    await sent(3);
    expect(logger.lines).to.deep.equal(['info: FIM sync module started.', 'info: FIM sync module started.']);
  });

  it('does nothing before the baseline is there', async () => {
    runner = new SyncRunner({ source: new SyncRows(SPEC_ROWS), outlet, clock, logger }, SYNC_SETTINGS);
    await runner.apply({ ...SYNC_SETTINGS, interval: 7 });
    runner.take(noData('a', 'e'));
    expect(runner.stats).to.include({ rounds: 0, ignored: 1 });
    runner.start();
    await sent(1);
  });
});
