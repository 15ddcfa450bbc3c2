import { expect } from 'chai';
import { parseScanDays, parseScanTime } from '../../../../lib/config/scan-times.js';

/** Numbers of the days, 0 is Sunday. */
function days(text: string): number[] | undefined {
  return parseScanDays(text)?.flatMap((on, day) => (on ? [day] : []));
}

describe('times of scans', () => {
  it('are one time of day', () => {
    for (const [text, minutes] of [
      ['9pm', 1260],
      ['8:30', 510],
      ['21:00', 1260],
      ['8:30am', 510],
      ['12am', 0],
      ['12:05 PM', 725],
      [' 0:00 ', 0],
    ] as const) {
      expect(parseScanTime(text), text).to.equal(minutes);
    }
    for (const text of ['', '24:00', '13pm', '8:60', '8-9', 'noon', '8:3', '-1']) {
      expect(parseScanTime(text), text).to.equal(undefined);
    }
  });

  it('are days, or all but some', () => {
    expect(days('monday')).to.deep.equal([1]);
    expect(days('Mon, WED friday')).to.deep.equal([1, 3, 5]);
    expect(days('weekdays')).to.deep.equal([1, 2, 3, 4, 5]);
    expect(days('!weekends')).to.deep.equal([1, 2, 3, 4, 5]);
    expect(days('! sun,mon')).to.deep.equal([2, 3, 4, 5, 6]);
    for (const text of ['', '!', 'someday', 'mon,,xyz']) expect(days(text), text).to.equal(undefined);
  });
});
