import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { StatisticsFiles, type StatisticsFilesState } from '../../../../daemons/analysisd/statistics-files.js';

const MARCH_4 = new Date(2025, 2, 4, 10, 30);

describe('statistics files', () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'stats-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  const path = (day: string) => join(directory, 'totals', '2025', 'Mar', `ossec-totals-${day}.log`);
  const read = (day: string) => readFileSync(path(day), 'latin1');
  const open = (from: Date | StatisticsFilesState) => new StatisticsFiles(directory, from);
  const hour = (files: StatisticsFiles, hourKey: string, events: number, dayCounts?: readonly number[]) => {
    files.appendTotals({ hourKey, nextHourKey: '', fired: [], alerts: 1, events, syscheck: 3, firewall: 4 }, dayCounts);
  };

  it('adds hours to the file of their day, and the sums of the day with its last', () => {
    const files = open(MARCH_4);
    files.flush();
    expect(existsSync(path('04'))).to.equal(false);
    hour(files, '2025-03-04T09', 2);
    files.flush();
    expect(read('04')).to.equal('9--1--2--3--4\n\n');
    hour(files, '2025-03-04T23', 2, [5, 6]);
    hour(files, '2025-03-05T00', 7);
    files.close();
    expect(read('04')).to.equal(
      '9--1--2--3--4\n\n23--1--2--3--4\n\nHour totals - 0:5\nHour totals - 1:6\nTotal events for day:11\n',
    );
    expect(read('05')).to.equal('0--1--7--3--4\n\n');
  });

  it('takes the hours since a state once more, over a day, beside what was there before', async () => {
    mkdirSync(join(directory, 'totals', '2025', 'Mar'), { recursive: true });
    writeFileSync(path('04'), '8--0--0--0--0\n\n');
    const run = (files: StatisticsFiles) => {
      hour(files, '2025-03-04T09', 2);
      files.flush();
      hour(files, '2025-03-04T23', 2);
      hour(files, '2025-03-05T00', 2);
      files.flush();
    };
    const first = open(new Date(2025, 2, 3));
    const state = structuredClone(first.state());
    run(first);
    await first.sync();
    first.close();
    const whole = ['04', '05'].map(read);
    truncateSync(path('05'), 5);

    const second = open(state);
    run(second);
    second.endReplay();
    second.close();
    expect(['04', '05'].map(read)).to.deep.equal(whole);
    expect(existsSync(path('03'))).to.equal(false);
  });

  it('keeps hours that the disk does not take', () => {
    const files = open(MARCH_4);
    writeFileSync(join(directory, 'totals'), 'in the way');
    hour(files, '2025-03-04T10', 2);
    hour(files, '2025-03-05T00', 2);
    expect(() => {
      files.flush();
    }).to.throw(/totals/);
    rmSync(join(directory, 'totals'));
    files.close();
    expect([read('04'), read('05')]).to.deep.equal(['10--1--2--3--4\n\n', '0--1--2--3--4\n\n']);
  });

  it('has hours that are not written yet in its state', async () => {
    const files = open(MARCH_4);
    hour(files, '2025-03-04T10', 2);
    const state = structuredClone(files.state());
    await files.sync();
    hour(files, '2025-03-04T11', 2);
    files.close();
    const again = open(state);
    hour(again, '2025-03-04T11', 2);
    again.endReplay();
    again.close();
    expect(read('04')).to.equal('10--1--2--3--4\n\n11--1--2--3--4\n\n');
  });
});
