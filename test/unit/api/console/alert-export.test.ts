import { expect } from 'chai';
import type { Alert, AlertList } from '../../../../api/console/browser/client/alerts.js';
import { Failure } from '../../../../api/console/browser/client/failure.js';
import { CSV_HEAD, csvCell, csvLine } from '../../../../api/console/browser/pages/alerts/csv.js';
import { exportAlerts, MOST_EXPORTED } from '../../../../api/console/browser/pages/alerts/export-alerts.js';

const page = (alerts: readonly Alert[], next: string | null, failed: AlertList['failed_items'] = []): AlertList => ({
  ...{ affected_items: alerts, total_affected_items: alerts.length, total_is_exact: true, next_cursor: next },
  ...{ failed_items: failed, total_failed_items: failed.length },
});
const alert = (id: string): Alert => ({
  alert_id: id,
  rule: { id: '1', level: 3, groups: ['a', 'b'] },
  full_log: '=1+1',
});
const rest = { onProgress: () => undefined, signal: new AbortController().signal, pause: () => Promise.resolve() };

describe('console: an export of alerts', () => {
  it('guards cells that spreadsheets would calculate, and quotes what needs it', () => {
    for (const formula of ['=1+1', '+1', '-1', '@A1', '\t=1', '\r=1', '\n=1']) {
      expect(csvCell(formula).replace(/^"/, '')).to.match(/^'/);
    }
    expect(csvCell('plain')).to.equal('plain');
    expect(csvCell('a,"b"\nc')).to.equal('"a,""b""\nc"');
  });

  it('has a column for each common field, and the rest as JSON', () => {
    const line = csvLine({ ...alert('x'), data: { srcip: '10.0.0.1', other: 1 } });
    expect(line.endsWith('\r\n')).to.equal(true);
    expect(line).to.include('a; b').and.to.include(`'=1+1`).and.to.include('"{""srcip"":""10.0.0.1"",""other"":1}"');
    expect(CSV_HEAD.startsWith('\ufefftimestamp,alert_id,')).to.equal(true);
  });

  it('goes from page to page, and says who was missing', async () => {
    const asked: (string | undefined)[] = [];
    const failed = [{ id: ['node02'], error: { code: 3022, message: 'away' } }];
    const exported = await exportAlerts('ndjson', {
      ...rest,
      ask: ({ cursor }) => {
        asked.push(cursor);
        return Promise.resolve(cursor === undefined ? page([alert('1')], 'c', failed) : page([alert('2')], null));
      },
    });
    expect(asked).to.deep.equal([undefined, 'c']);
    expect(exported).to.include({ count: 2, isWhole: true });
    expect(exported.missing).to.deep.equal(['node02: away']);
    const lines = exported.pieces.join('').trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as Alert).alert_id)).to.deep.equal(['1', '2']);
  });

  it('stops at its bound, and says so', async () => {
    const exported = await exportAlerts('csv', {
      ...rest,
      ask: ({ limit }) =>
        Promise.resolve(
          page(
            Array.from({ length: limit }, (_, index) => alert(String(index))),
            'c',
          ),
        ),
    });
    expect(exported).to.include({ count: MOST_EXPORTED, isWhole: false });
  });

  it('waits when the server has had too many requests, and gives up otherwise', async () => {
    let tries = 0;
    const exported = await exportAlerts('ndjson', {
      ...rest,
      ask: () => {
        tries += 1;
        return tries < 3 ? Promise.reject(new Failure('too many', { status: 429 })) : Promise.resolve(page([], null));
      },
    });
    expect(exported.count).to.equal(0);
    const refused = new Failure('no', { status: 403 });
    const error: unknown = await exportAlerts('csv', { ...rest, ask: () => Promise.reject(refused) }).catch(
      (e: unknown) => e,
    );
    expect(error).to.equal(refused);
  });
});
