import type { Consumer, JsMsg } from '@nats-io/jetstream';
import { expect } from 'chai';
import { AlertGaps, type InFront } from '../../../../../daemons/clusterd/alerts/alert-gaps.js';
import type { AlertBatch } from '../../../../../daemons/clusterd/alerts/alert-messages.js';
import { AlertPlaces } from '../../../../../daemons/clusterd/alerts/alert-places.js';

type Info = { done: number; delivered: number; doneCount?: number; start?: number };

/** A stream of messages 1 to 9, each of a node for itself, and what NATS says of the consumer, one after the other. */
async function inFront(
  seq: number,
  infos: readonly Info[],
  firstSeq = 1,
  lookMs = 0,
): Promise<InFront & { asked: number }> {
  let now = 0;
  let asked = -1;
  const batch = (at: number): AlertBatch => ({
    node: `n${String(at)}`,
    instance: 'home',
    position: { file: 'a', offset: 10 },
    alerts: [String(at)],
  });
  const info = () => {
    asked += 1;
    const { done, delivered, doneCount = done, start } = infos[Math.min(asked, infos.length - 1)] as Info;
    return Promise.resolve({
      ack_floor: { stream_seq: done, consumer_seq: doneCount },
      delivered: { stream_seq: delivered },
      config: start === undefined ? {} : { opt_start_seq: start },
    });
  };
  const streams = {
    info: () => Promise.resolve({ state: { first_seq: firstSeq } }),
    getMessage: (_stream: string, query: { seq: number }) => {
      now += lookMs;
      return Promise.resolve({ seq: query.seq, subject: '', data: Buffer.of(query.seq) });
    },
  };
  const gaps = new AlertGaps(
    'ALERTS',
    ({ data }) => Promise.resolve(batch(data[0] ?? 0)),
    () => now,
  );
  const message = { seq, subject: '' } as JsMsg;
  const front = await gaps.inFront({ jsm: { streams } } as never, { info } as unknown as Consumer, {
    message,
    batch: batch(seq),
    places: new AlertPlaces(),
  });
  return { ...front, asked };
}
const given = ({ batches }: InFront) => batches.flatMap(({ alerts }) => alerts);

describe('what NATS has passed over for an output', () => {
  it('is nothing, and nothing more is asked, where a message follows the one that was done', async () => {
    const front = await inFront(5, [{ done: 4, delivered: 4 }]);
    expect(given(front)).to.deep.equal([]);
    expect(front.asked).to.equal(0);
  });

  it('is what lies between, as far as it was not dropped', async () => {
    const between = [{ done: 2, delivered: 6 }];
    expect(given(await inFront(6, between))).to.deep.equal(['3', '4', '5']);
    const dropped = await inFront(6, between, 5);
    expect(given(dropped)).to.deep.equal(['5']);
    expect(dropped.missed).to.equal(2);
    const all = await inFront(6, between, 6);
    expect(given(all)).to.deep.equal([]);
    expect(all.missed).to.equal(3);
  });

  it('is what was found in time, one at least, and the rest with the next answer', async () => {
    const between = [{ done: 2, delivered: 8 }];
    const some = await inFront(8, between, 1, 2500);
    expect(given(some)).to.deep.equal(['3', '4']);
    expect(some).to.include({ through: 4, rest: true });
    const one = await inFront(8, between, 1, 60_000);
    expect(given(one)).to.deep.equal(['3']);
    expect(one).to.include({ through: 3, rest: true });
  });

  it('is nothing where another node did it meanwhile, which a copy of the consumer hears of late', async () => {
    const front = await inFront(5, [
      { done: 3, delivered: 3 },
      { done: 3, delivered: 4 },
      { done: 4, delivered: 5 },
    ]);
    expect(given(front)).to.deep.equal([]);
  });

  it('begins where the output began, and is not known where that is not', async () => {
    expect(given(await inFront(5, [{ done: 0, delivered: 5, start: 4 }]))).to.deep.equal(['4']);
    const unknown = await inFront(5, [{ done: 0, delivered: 5 }]);
    expect(given(unknown)).to.deep.equal([]);
    expect(unknown.missed).to.equal(0);
  });
});
