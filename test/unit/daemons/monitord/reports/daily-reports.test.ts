import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type Mail, MailRefusedError } from '../../../../../daemons/monitord/outputs/mail/mail-transport.js';
import { SharedOutputStore } from '../../../../../daemons/monitord/outputs/shared-output-store.js';
import { DailyReports, earlierDay } from '../../../../../daemons/monitord/reports/daily-reports.js';
import type { DailyReport, ReportPlan } from '../../../../../daemons/monitord/reports/report-plan.js';
import { ManualClock } from '../../../../support/manual-clock.js';
import { sampleAlert } from '../../../../support/monitord/alert-files.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';
import { TemporaryHome } from '../../../../support/temporary-home.js';

const SERVER = { server: 'mx', secure: 'no', helo: 'h', from: 'm@x.test', fromName: 'M' } as const;
const daily = (title: string, changes: Partial<DailyReport> = {}): DailyReport => ({
  key: title,
  title,
  to: [`${title}@x.test`],
  options: { name: title, filters: [], relations: [], showLogs: false },
  ...changes,
});
const plan = (...reports: DailyReport[]): ReportPlan => ({ reports, server: SERVER });

describe('daily reports', () => {
  let home: TemporaryHome;
  let clock: ManualClock;
  let logger: RecordingLogger;
  let store: SharedOutputStore;
  let mails: Mail[];
  /** What a sending does instead of taking the mail. */
  let refuse: (mail: Mail) => Error | undefined;

  beforeEach(() => {
    home = new TemporaryHome();
    clock = new ManualClock('2026-11-20T12:00:00');
    logger = new RecordingLogger();
    mails = [];
    refuse = () => undefined;
    store = openStore();
  });
  afterEach(async () => {
    await store.close();
    home.remove();
  });

  function openStore(): SharedOutputStore {
    const directory = home.path('queue', 'outputs');
    return new SharedOutputStore({ directory, logger, fatal: (error) => expect.fail(error.message) });
  }

  /** As after a start of the process. */
  function start(wanted: ReportPlan): DailyReports {
    const made = new DailyReports({
      home,
      logger,
      clock,
      store: { get: () => store.get() },
      dayWait: () => 10,
      send: (_server, mail) => {
        const error = refuse(mail);
        if (error !== undefined) return Promise.reject(error);
        mails.push(mail);
        return Promise.resolve();
      },
    });
    made.follow(wanted);
    return made;
  }
  const tick = (reports: DailyReports) => reports.tick();

  /** Alerts of a day of November 2026. */
  function alerts(day: number, count: number, name = `ossec-alerts-${String(day)}.json`): void {
    mkdirSync(home.path('logs/alerts/2026/Nov'), { recursive: true });
    const text = `${JSON.stringify(sampleAlert({ timestamp: `2026-11-${String(day)}T10:00:00.000+0000` }))}\n`;
    const content = text.repeat(count);
    writeFileSync(home.path('logs/alerts/2026/Nov', name), name.endsWith('.gz') ? gzipSync(content) : content);
  }
  const processed = () => mails.map(({ text }) => Number(/->Processed alerts: (\d+)/.exec(text)?.[1]));

  it('are mailed once after the day has changed and the wait is over, of all files of the day', async () => {
    const reports = start(plan(daily('a'), daily('b')));
    alerts(19, 9);
    alerts(20, 2, 'ossec-alerts-20.json.gz');
    alerts(20, 1, 'ossec-alerts-20-001.json');
    await tick(reports);
    expect(mails, 'a new one begins with today').to.deep.equal([]);
    expect(reports.neededDay).to.equal(undefined);
    clock.set('2026-11-21T00:00:09');
    expect(reports.neededDay).to.deep.equal({ year: 2026, month: 10, day: 20 });
    await tick(reports);
    expect(mails, 'before the wait is over').to.deep.equal([]);
    clock.set('2026-11-21T00:00:10');
    await tick(reports);
    await tick(reports);
    expect(mails.map(({ to, subject }) => [to, subject])).to.deep.equal([
      [['a@x.test'], 'a'],
      [['b@x.test'], 'b'],
    ]);
    expect(processed()).to.deep.equal([3, 3]);
    expect(reports.stats()).to.include({ configured: 2, sent: 2, empty: 0, failed: 0, waiting: 0, available: true });
    expect(reports.neededDay).to.equal(undefined);
    await tick(start(plan(daily('a'), daily('b'))));
    expect(mails, 'after a restart').to.have.length(2);
    clock.set('2026-11-22T00:00:10');
    alerts(21, 5);
    await tick(reports);
    expect(processed()).to.deep.equal([3, 3, 5, 5]);
  });

  it('say that nothing was left instead of a mail', async () => {
    const filters = [{ field: 'user', value: 'nobody' }] as const;
    const only = daily('a', { options: { name: 'a', filters, relations: [], showLogs: false } });
    const reports = start(plan(only));
    await tick(reports);
    alerts(20, 1);
    clock.set('2026-11-21T00:00:10');
    await tick(reports);
    await tick(start(plan(only)));
    expect(mails).to.deep.equal([]);
    expect(logger.lines).to.deep.equal(["info: Report 'a' completed and zero alerts post-filter."]);
    expect(reports.stats()).to.include({ sent: 0, empty: 1 });
  });

  it('make up for yesterday alone, and say what was missed', async () => {
    await tick(start(plan(daily('a'))));
    for (const day of [20, 21, 22, 23]) alerts(day, day);
    clock.set('2026-11-24T15:00:00');
    const reports = start(plan(daily('a')));
    await tick(reports);
    expect(processed()).to.deep.equal([23]);
    expect(logger.lines[0]).to.equal(
      "warn: Report 'a' was not made of the 3 days after 2026-11-19: svc-monitord did not run, or reports were off.",
    );
    expect(reports.stats()).to.include({ missed_days: 3, sent: 1 });
  });

  it('make up for yesterday also when they were ended once it was told what is missed', async () => {
    await tick(start(plan(daily('a'))));
    alerts(23, 23);
    clock.set('2026-11-24T15:00:00');
    const ended = start(plan(daily('a')));
    refuse = () => {
      ended.follow({ reports: [], server: undefined });
      return new Error('ended before the mail');
    };
    await tick(ended).catch(() => {});
    refuse = () => undefined;
    await tick(start(plan(daily('a'))));
    expect(processed()).to.deep.equal([23]);
    expect(logger.lines.filter((line) => line.startsWith('warn: '))).to.have.length(1);
  });

  it('go out again, the same mail, when the process ended before it was noted', async () => {
    await tick(start(plan(daily('a'))));
    alerts(20, 1);
    clock.set('2026-11-21T00:00:10');
    const killed = start(plan(daily('a')));
    refuse = (mail) => {
      mails.push(mail);
      killed.follow({ reports: [], server: undefined });
      return new Error('ended behind the mail');
    };
    await tick(killed).catch(() => {});
    refuse = () => undefined;
    await tick(start(plan(daily('a'))));
    expect(mails.map(({ id }) => id)).to.deep.equal([mails[0]?.id, mails[0]?.id]);
    await tick(start(plan(daily('a'))));
    expect(mails).to.have.length(2);
  });

  it('are tried again until they are taken, and hold up no others', async () => {
    const reports = start(plan(daily('a'), daily('b')));
    await tick(reports);
    alerts(20, 1);
    clock.set('2026-11-21T00:00:10');
    let tries = 0;
    refuse = ({ subject }) => (subject === 'a' && (tries += 1) <= 4 ? new Error('451 later') : undefined);
    await tick(reports);
    expect(mails.map(({ subject }) => subject)).to.deep.equal(['b', 'a']);
    expect(clock.now().getTime() - new Date('2026-11-21T00:00:10').getTime()).to.equal(15_000);
    expect(reports.stats()).to.include({ sent: 2, failed: 4, given_up: 0, available: true });
    const failures = logger.lines.filter((line) => line.includes('for now'));
    expect(failures).to.have.length.within(1, 2);
    expect(failures[0]).to.equal("warn: Report 'a' is not mailed for now: 451 later. It waits, and it is tried again.");
    expect(logger.lines).to.include('info: Reports are mailed again.');
  });

  it('are given up when they are refused for good, and when their day is no longer yesterday', async () => {
    const reports = start(plan(daily('a'), daily('b')));
    await tick(reports);
    alerts(20, 1);
    clock.set('2026-11-21T00:00:10');
    refuse = ({ subject }) => (subject === 'a' ? new MailRefusedError('550 nobody') : undefined);
    await tick(reports);
    expect(mails.map(({ subject }) => subject)).to.deep.equal(['b']);
    expect(logger.lines).to.include("error: Report 'a' of 2026-11-20 to a@x.test is given up: 550 nobody");
    expect(reports.stats()).to.include({ sent: 1, failed: 7, given_up: 1 });
    alerts(21, 2);
    clock.set('2026-11-22T00:00:10');
    refuse = () => new Error('away');
    await tick(reports);
    expect(clock.now().getDate(), 'a day later').to.equal(23);
    expect(reports.stats()).to.include({ sent: 1, given_up: 3 });
    refuse = () => undefined;
    clock.set('2026-11-23T00:00:10');
    alerts(22, 4);
    await tick(reports);
    expect(processed()).to.deep.equal([1, 4, 4]);
  });

  it('wait while alerts of the day may still be written, but not for ever', async () => {
    const reports = start(plan(daily('a')));
    await tick(reports);
    alerts(20, 1);
    linkSync(home.path('logs/alerts/2026/Nov/ossec-alerts-20.json'), home.path('logs/alerts/alerts.json'));
    clock.set('2026-11-21T00:00:10');
    await tick(reports);
    expect(mails).to.deep.equal([]);
    rmSync(home.path('logs/alerts/alerts.json'));
    alerts(20, 7);
    await tick(reports);
    expect(processed()).to.deep.equal([7]);
    alerts(21, 2);
    linkSync(home.path('logs/alerts/2026/Nov/ossec-alerts-21.json'), home.path('logs/alerts/alerts.json'));
    clock.set('2026-11-22T00:00:10');
    await tick(reports);
    clock.set('2026-11-22T00:10:09');
    await tick(reports);
    expect(mails).to.have.length(1);
    clock.set('2026-11-22T00:10:10');
    await tick(reports);
    expect(processed()).to.deep.equal([7, 2]);
  });

  it('follow another plan: a new title begins with today, one that is gone is forgotten', async () => {
    const reports = start(plan(daily('a')));
    await tick(reports);
    alerts(20, 1);
    clock.set('2026-11-21T08:00:00');
    reports.follow(plan(daily('a', { to: ['other@x.test'] }), daily('b')));
    await tick(reports);
    expect(mails.map(({ to }) => to)).to.deep.equal([['other@x.test']]);
    reports.follow(plan(daily('b')));
    await tick(reports);
    expect([...(await store.get()).reports.entries()].map(([key]) => key)).to.deep.equal(['b']);
    reports.follow({ reports: [], server: undefined });
    clock.set('2026-11-22T08:00:00');
    await tick(reports);
    expect(mails).to.have.length(1);
  });

  it('are not held up by a clock that was ahead', async () => {
    clock.set('2030-01-01T12:00:00');
    await tick(start(plan(daily('a'))));
    clock.set('2026-11-20T12:00:00');
    const reports = start(plan(daily('a')));
    await tick(reports);
    expect(logger.lines).to.deep.equal(["warn: The clock was set back: report 'a' goes on with today."]);
    alerts(20, 1);
    clock.set('2026-11-21T00:00:10');
    await tick(reports);
    expect(mails).to.have.length(1);
  });

  it('are made of what can be read, which the log tells', async () => {
    const reports = start(plan(daily('a')));
    await tick(reports);
    // The end of its only line was lost in a crash.
    mkdirSync(home.path('logs/alerts/2026/Nov'), { recursive: true });
    writeFileSync(home.path('logs/alerts/2026/Nov/ossec-alerts-20.json'), JSON.stringify(sampleAlert()));
    alerts(20, 500, 'ossec-alerts-20-001.json.gz');
    writeFileSync(home.path('logs/alerts/2026/Nov/ossec-alerts-20-002.json.gz'), 'nothing');
    writeFileSync(home.path('logs/alerts/2026/Nov/ossec-alerts-20-003.json'), '{"rule":\n');
    clock.set('2026-11-21T00:00:10');
    await tick(reports);
    expect(processed()).to.deep.equal([501]);
    expect(logger.lines[0]).to.match(
      /^warn: Reports of 2026-11-20 are not whole: '.*-002\.json' cannot be read to its/,
    );
    expect(logger.lines[1]).to.equal('warn: 1 damaged lines of alerts.json of 2026-11-20 are in no report.');
    expect(reports.stats()).to.include({ damaged_lines: 1 });
  });

  it('know the earlier of two days', () => {
    const [a, b] = [
      { year: 2026, month: 0, day: 31 },
      { year: 2026, month: 1, day: 1 },
    ];
    expect([earlierDay(a, b), earlierDay(b, a), earlierDay(undefined, b), earlierDay(a, undefined)]).to.deep.equal([
      a,
      a,
      b,
      a,
    ]);
    expect(earlierDay(undefined, undefined)).to.equal(undefined);
  });
});
