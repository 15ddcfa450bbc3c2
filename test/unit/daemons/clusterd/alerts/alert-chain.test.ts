import { expect } from 'chai';
import { type Chain, chainBetween, type Walk } from '../../../../../daemons/clusterd/alerts/alert-chain.js';
import type { AlertBatch } from '../../../../../daemons/clusterd/alerts/alert-messages.js';

type Place = readonly [file: string, offset: number];
const at = ([file, offset]: Place) => ({ file, offset });
const message = (start: Place | undefined, end: Place, instance = 'home'): AlertBatch => ({
  node: 'n1',
  instance,
  ...(start === undefined ? {} : { start: at(start) }),
  position: at(end),
  alerts: [`${end[0]} ${String(end[1])}`],
});

/** What lies between a place and the last of some messages of a node, which are all in the stream. */
async function between(
  place: Place,
  messages: readonly AlertBatch[],
  isOver = () => false,
  walk?: Walk,
): Promise<Chain & { reads: number; walk?: Walk }> {
  let reads = 0;
  const getMessage = (_stream: string, { seq }: { seq: number }) =>
    Promise.resolve(seq > messages.length ? null : { seq, subject: 'alerts.n1', data: Buffer.of(seq) });
  const chain = await chainBetween(
    at(place),
    { seq: messages.length, subject: 'alerts.n1', batch: messages.at(-1) as AlertBatch },
    {
      session: { jsm: { streams: { getMessage } } } as never,
      stream: 'ALERTS',
      read: ({ data }) => {
        reads += 1;
        return Promise.resolve(messages[(data[0] ?? 0) - 1]);
      },
      isOver,
    },
    walk,
  );
  return 'found' in chain ? { ...chain, reads } : { found: [], lost: [], reads, walk: chain };
}
const ends = ({ found }: Chain) => found.map(({ position: { file, offset } }) => `${file} ${String(offset)}`);

describe('the messages between what an output had and what comes', () => {
  it('are none, and nothing is read, where one begins at the place or before it', async () => {
    const messages = [message(undefined, ['a', 10]), message(['a', 10], ['a', 20])];
    for (const offset of [10, 15, 20, 30]) {
      expect(await between(['a', offset], messages)).to.deep.equal({ found: [], lost: [], reads: 0 });
    }
    expect(await between(['a', 5], [message(undefined, ['a', 10])]), 'an earlier version').to.include({ reads: 0 });
  });

  it('are all from the place on, of the same home alone', async () => {
    const messages = [
      message(undefined, ['a', 10]),
      message(['a', 10], ['a', 20]),
      message(['a', 15], ['a', 25], 'another home'),
      message(['a', 20], ['a', 30]),
      message(['a', 30], ['a', 40]),
    ];
    const chain = await between(['a', 10], messages);
    expect(ends(chain)).to.deep.equal(['a 20', 'a 30']);
    expect(chain.lost).to.deep.equal([]);
  });

  it('are found though they were cut otherwise when they were published again', async () => {
    const messages = [message(undefined, ['a', 10]), message(['a', 10], ['a', 25]), message(['a', 25], ['a', 30])];
    expect(ends(await between(['a', 15], messages))).to.deep.equal(['a 25']);
  });

  it('lead over into the next file', async () => {
    const messages = [
      message(undefined, ['a', 10]),
      message(['a', 10], ['a', 20]),
      message(['a', 20], ['b', 5]),
      message(['b', 5], ['b', 9]),
    ];
    expect(ends(await between(['a', 10], messages))).to.deep.equal(['a 20', 'b 5']);
  });

  it('are none where nothing leads to a place in another file: it may be behind', async () => {
    const messages = [message(undefined, ['a', 10]), message(['a', 10], ['a', 20]), message(['a', 20], ['a', 30])];
    expect(await between(['b', 5], messages)).to.deep.include({ found: [], lost: [] });
  });

  it('are looked for further on where the time was over, one at least each time', async () => {
    const messages = [10, 20, 30, 40].map((end) => message(['a', end - 10], ['a', end]));
    let walk: Walk | undefined;
    for (let times = 0; times < 3; times += 1) {
      const part = await between(['a', 10], messages, () => true, walk);
      expect(part.reads).to.equal(1);
      expect(part.walk).to.not.equal(undefined);
      walk = part.walk;
    }
    const chain = await between(['a', 10], messages, () => true, walk);
    expect(ends(chain)).to.deep.equal(['a 20', 'a 30']);
    expect(chain.reads).to.equal(0);
  });

  it('end before the file of the place began, where the place is lost', async () => {
    const messages = [
      message(['z', 5], ['z', 9]),
      message(['z', 9], ['a', 10]),
      message(['a', 10], ['a', 20]),
      message(['a', 20], ['a', 30]),
    ];
    const whole = { found: ['a 10', 'a 20'], lost: [] };
    const chain = await between(['a', 5], messages);
    expect({ found: ends(chain), lost: chain.lost }).to.deep.equal(whole);
    const longer = await between(['a', 5], [...messages, message(['a', 30], ['b', 5]), message(['b', 5], ['b', 9])]);
    expect(ends(longer)).to.deep.equal([...whole.found, 'a 30', 'b 5']);
  });

  it('are named by their bytes where they are missing', async () => {
    const messages = [message(undefined, ['a', 10]), message(['a', 20], ['a', 30]), message(['a', 40], ['a', 50])];
    const chain = await between(['a', 10], messages);
    expect(ends(chain)).to.deep.equal(['a 30']);
    expect(chain.lost).to.deep.equal([
      { node: 'n1', file: 'a', from: 10, to: 20 },
      { node: 'n1', file: 'a', from: 30, to: 40 },
    ]);
  });
});
