import { expect } from 'chai';
import { AlertStream, type StreamState } from '../../../../api/console/browser/client/alert-stream.js';
import { Failure } from '../../../../api/console/browser/client/failure.js';
import { LiveRows, MOST_LIVE_ROWS } from '../../../../api/console/browser/pages/alerts/live-rows.js';

const event = (type: string, data: unknown, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
const answer = (...events: string[]) => new Response(events.join(''));

/** A stream over answers that are given one after the other; it is over with the last. */
async function follow(answers: (() => Response)[]) {
  const abort = new AbortController();
  const headers: Record<string, string>[] = [];
  const alerts: string[] = [];
  const states: StreamState[] = [];
  let logins = 0;
  const stream = new AlertStream(
    {
      open: (sent) => {
        headers.push(sent);
        const next = answers.shift();
        if (next === undefined) {
          abort.abort();
          return Promise.reject(new Failure('over', { status: 0 }));
        }
        return Promise.resolve().then(next);
      },
      onAlert: (text) => alerts.push(text),
      onState: (state) => states.push(state),
      onUnauthorized: () => (logins += 1),
    },
    1,
  );
  await stream.run(abort.signal);
  return { headers, alerts, states, kinds: states.map(({ kind }) => kind), logins };
}

describe('console: alerts as they come', () => {
  it('goes on behind the latest that it had, whatever ended it', async () => {
    const { headers, alerts, kinds } = await follow([
      () => answer(event('begin', {}, '1'), event('alert', { n: 1 }, '2'), ': still here\nid: 3\n\n'),
      () => {
        throw new Failure('The server cannot be reached.', { status: 0 });
      },
      () => answer(event('begin', {}, '3'), event('alert', { n: 2 }, '4'), event('end', { reason: 'stopping' })),
    ]);
    expect(headers).to.deep.equal([{}, { 'last-event-id': '3' }, { 'last-event-id': '3' }, { 'last-event-id': '4' }]);
    expect(alerts).to.deep.equal(['{"n":1}', '{"n":2}']);
    expect(kinds).to.deep.equal([
      ...['connecting', 'live', 'lost', 'connecting', 'lost', 'connecting', 'live', 'lost', 'connecting'],
    ]);
  });

  it('says when the server waits, and which nodes of a cluster are away', async () => {
    const { states } = await follow([
      () =>
        answer(
          event('begin', {}, '1'),
          event('waiting', { detail: 'away' }),
          event('resumed', {}),
          event('waiting', { node: 'n2', detail: 'n2 is not heard' }),
          event('waiting', { node: 'n3', detail: 'n3 is not heard' }),
          event('resumed', { node: 'n2' }),
        ),
    ]);
    expect(states.slice(1, 7)).to.deep.equal([
      { kind: 'live', away: [] },
      { kind: 'waiting', detail: 'away' },
      { kind: 'live', away: [] },
      { kind: 'live', away: ['n2'] },
      { kind: 'live', away: ['n2', 'n3'] },
      { kind: 'live', away: ['n3'] },
    ]);
  });

  it('ends where asking again is of no use', async () => {
    const over = await follow([() => answer(event('begin', {}), event('end', { reason: 'unauthorized' }))]);
    expect(over.logins).to.equal(1);
    const refused = await follow([
      () => {
        throw new Failure('no such filter', { status: 400 });
      },
    ]);
    expect(refused.kinds).to.deep.equal(['connecting', 'refused']);
  });
});

describe('console: rows of what comes', () => {
  const push = (rows: LiveRows, from: number, count: number) => {
    for (let at = from; at < from + count; at += 1) rows.push(JSON.stringify({ alert_id: String(at) }), String(at));
  };

  it('keeps the newest, and counts what nobody saw', () => {
    const rows = new LiveRows();
    push(rows, 0, 10);
    const first = rows.look(0);
    expect(first).to.include({ came: 10, passedOver: 0 });
    expect(first.alerts[0]?.alert_id).to.equal('9');
    push(rows, 10, 5000);
    const second = rows.look(1000);
    expect(second.alerts).to.have.length(MOST_LIVE_ROWS);
    expect(second.alerts[0]?.alert_id).to.equal('5009');
    expect(second).to.include({ came: 5010, passedOver: 5000 - MOST_LIVE_ROWS, perSecond: 5000 });
  });

  it('draws nothing anew while nothing comes', () => {
    const rows = new LiveRows();
    push(rows, 0, 1);
    const view = rows.next(rows.look(0), 60_000);
    const still = rows.next(view, 120_000);
    expect(rows.next(still, 120_250)).to.equal(still);
  });
});
