import { expect } from 'chai';
import { factsOf, levelsOverTime, missingOf } from '../../../../api/console/browser/client/alerts.js';
import { severityOf } from '../../../../api/console/browser/client/severity.js';
import { ofLocalField, readIso, readTime, toLocalField } from '../../../../api/console/browser/client/time-span.js';

describe('console: what alerts say', () => {
  it('takes levels together by how bad they are', () => {
    expect([0, 6, 7, 11, 12, 14, 15, 16].map(severityOf)).to.deep.equal([
      ...['low', 'low', 'medium', 'medium', 'high', 'high', 'critical', 'critical'],
    ]);
    const { times, counts } = levelsOverTime([
      {
        time: '2026-11-27T00:00:00.000Z',
        count: 9,
        by: [
          { value: 3, count: 2 },
          { value: 7, count: 3 },
          { value: 15, count: 1 },
        ],
      },
      { time: '2026-11-27T00:30:00.000Z', count: 0 },
    ]);
    expect(times[1]).to.equal(Date.parse('2026-11-27T00:30:00Z') / 1000);
    // What has no level, and what is in none of the series, is no reason for alarm.
    expect(counts).to.deep.equal({ critical: [1, 0], high: [0, 0], medium: [3, 0], low: [5, 0] });
  });

  it('lists every value with the path by which it is asked for', () => {
    const alert = { rule: { level: 5, groups: ['a', 'b'] }, data: { x: { y: null, z: true } }, full_log: 'text' };
    expect(factsOf(alert)).to.deep.equal([
      { path: 'rule.level', value: 5 },
      { path: 'rule.groups', value: 'a' },
      { path: 'rule.groups', value: 'b' },
      { path: 'data.x.z', value: true },
      { path: 'full_log', value: 'text' },
    ]);
  });

  it('says who did not answer', () => {
    expect(missingOf([{ id: ['node02', 'node03'], error: { code: 3021, message: 'Timeout' } }])).to.deep.equal([
      'node02, node03: Timeout',
    ]);
  });
});

describe('console: times', () => {
  const now = Date.parse('2026-11-27T12:00:00Z');

  it('reads what the API takes', () => {
    const iso = (text: string) => new Date(readTime(text, now) ?? Number.NaN).toISOString();
    expect(iso('now')).to.equal('2026-11-27T12:00:00.000Z');
    expect(iso('now-15m')).to.equal('2026-11-27T11:45:00.000Z');
    expect(iso('now-2w')).to.equal('2026-11-13T12:00:00.000Z');
    expect(iso('2026-11-27')).to.equal('2026-11-27T00:00:00.000Z');
    expect(iso('2026-11-27T10:00:00')).to.equal('2026-11-27T10:00:00.000Z');
    expect(iso('2026-11-27T10:00:00.5+0200')).to.equal('2026-11-27T08:00:00.500Z');
    expect(iso('1795780800')).to.equal('2026-11-27T12:00:00.000Z');
    expect(iso('1795780800000')).to.equal('2026-11-27T12:00:00.000Z');
    for (const wrong of ['', 'yesterday', 'now-5', 'now+5m', '2026-13-45', 'now-999999999w']) {
      expect(readTime(wrong, now)).to.equal(undefined);
    }
  });

  it('reads the times of alerts, whose offset has no colon', () => {
    expect(readIso('2026-11-27T12:00:00.250+0100')).to.equal(Date.parse('2026-11-27T11:00:00.250Z'));
  });

  it('takes a moment into a field of a form and back', () => {
    expect(ofLocalField(toLocalField(now))).to.equal(new Date(now).toISOString());
    expect(ofLocalField('')).to.equal(undefined);
  });
});
