import { JetStreamApiError, type JetStreamOptions, type JetStreamPublishOptions, PubHeaders } from '@nats-io/jetstream';
import type { MsgHdrs } from '@nats-io/transport-node';
import { expect } from 'chai';
import type { NatsSession } from '../../../../daemons/clusterd/nats/nats-link.js';
import { RecordChain } from '../../../../daemons/clusterd/records/record-chain.js';
import type { RecordMessage } from '../../../../daemons/clusterd/records/record-messages.js';

const ID = 'commit';
const message = (subject: string): RecordMessage => ({ subject, plain: Buffer.from(subject) });
const messages = (count: number) => Array.from({ length: count }, (_none, at) => message(`m${at}`));
const refusal = (code: number, description: string) =>
  new JetStreamApiError({ code: 400, err_code: code, description } as never);

describe('messages of a commit, one behind the other', () => {
  /** What the stream has: who wrote it, and which subject. */
  let stream: { readonly id: string; readonly msgId: string; readonly subject: string }[];
  let lost: Set<string>;
  /** What the server knows of ids, whether it has taken the message or not: their sequence, or 0. */
  let ids: Map<string, number>;
  /** Messages of which the server stages the id once, and does no more. */
  let staged: Set<string>;
  /** Messages that are taken once without an answer. */
  let unanswered: Set<string>;
  /** Whether it refuses ids that it has staged, as newer servers do. */
  let isNewer: boolean;
  let full: number;
  /** Behind this subject somebody else writes. */
  let another: string;
  let answered: string[];
  let reached: number[];
  let chain: RecordChain;

  beforeEach(() => {
    [stream, lost, full, another, answered, reached] = [[], new Set(), Infinity, '', [], []];
    [ids, staged, unanswered, isNewer] = [new Map(), new Set(), new Set(), false];
    const take = (subject: string, msgId: string, behind: number, lastMsgId: string): number => {
      const known = ids.get(msgId);
      if (known === 0 && isNewer) throw refusal(10_158, 'duplicate message id is in process');
      if (known !== undefined) return known;
      ids.set(msgId, 0);
      if (staged.delete(subject)) throw new Error('timeout');
      if (stream.length >= full) throw refusal(10_077, 'maximum bytes exceeded');
      if (stream.length !== behind) throw refusal(10_071, `wrong last sequence: ${stream.length}`);
      if (lastMsgId !== '' && stream.at(-1)?.msgId !== lastMsgId) throw refusal(10_070, 'wrong last msg ID');
      stream.push({ id: msgId.split('.')[0] ?? '', msgId, subject });
      ids.set(msgId, behind + 1);
      if (subject === another) stream.push({ id: 'another', msgId: 'another.0.0.1', subject: 'x' });
      if (unanswered.delete(subject)) throw new Error('timeout');
      return behind + 1;
    };
    const session = {
      nc: {
        publish: (subject: string, _payload: Uint8Array, { headers }: { headers: MsgHdrs }) => {
          if (lost.delete(subject)) return;
          try {
            take(
              subject,
              headers.get(PubHeaders.MsgIdHdr),
              Number(headers.get(PubHeaders.ExpectedLastSeqHdr)),
              headers.get(PubHeaders.ExpectedLastMsgIdHdr),
            );
          } catch {
            // Nobody is told.
          }
        },
      },
      js: {
        publish: async (
          subject: string,
          _payload: Uint8Array,
          {
            msgID = '',
            expect: { lastSequence = 0, lastMsgID = '' } = {},
          }: Partial<JetStreamPublishOptions> & JetStreamOptions,
        ) => {
          answered.push(subject);
          if (lost.delete(subject)) throw new Error('timeout');
          return await Promise.resolve({ seq: take(subject, msgID, lastSequence, lastMsgID) });
        },
      },
    } as unknown as NatsSession;
    chain = new RecordChain({
      link: { session: () => session },
      copy: {
        writerOf: (revision) => stream[revision - 1]?.id,
        messageIdOf: (revision) => stream[revision - 1]?.msgId,
      },
      messages: { sealed: ({ plain }) => plain },
      reach: (revision) => {
        reached.push(revision);
        return Promise.resolve();
      },
      signal: new AbortController().signal,
    });
  });

  const send = (count: number, isContended = false) =>
    chain.send({ id: ID, behind: stream.length, messages: messages(count), deadline: Infinity, isContended });
  const subjects = () => stream.map(({ subject }) => subject);

  it('are all there with the last one, and only the first and the last are answered', async () => {
    expect(await send(5)).to.deep.equal({ last: 5, made: 5 });
    expect(subjects()).to.deep.equal(['m0', 'm1', 'm2', 'm3', 'm4']);
    expect(answered).to.deep.equal(['m0', 'm4']);
    expect(await send(1)).to.deep.equal({ last: 6, made: 1 });
  });

  it('begin with one alone where others write, too', async () => {
    await send(4, true);
    expect(answered).to.deep.equal(['m0', 'm1', 'm3']);
  });

  it('go on behind what came where some were lost on the way', async () => {
    lost = new Set(['m2']);
    expect(await send(6)).to.deep.equal({ last: 6, made: 6 });
    expect(subjects()).to.deep.equal(['m0', 'm1', 'm2', 'm3', 'm4', 'm5']);
    expect(reached).to.deep.equal([2]);
  });

  it('are all sent under other ids from where they were lost, with the last that was refused meanwhile', async () => {
    lost = new Set(['m2', 'm3', 'm4', 'm5']);
    expect(await send(6)).to.deep.equal({ last: 6, made: 6 });
    expect(subjects()).to.deep.equal(['m0', 'm1', 'm2', 'm3', 'm4', 'm5']);
    expect(answered).to.deep.equal(['m0', 'm5', 'm5', 'm2', 'm5']);
  });

  it('go on where the first was lost, and all behind it were refused', async () => {
    lost = new Set(['m0']);
    expect(await send(4)).to.deep.equal({ last: 4, made: 4 });
    expect(subjects()).to.deep.equal(['m0', 'm1', 'm2', 'm3']);
  });

  it('are sent under another id where a server knows the id and does not have the message', async () => {
    for (const newer of [false, true]) {
      isNewer = newer;
      [stream, ids, staged] = [[], new Map(), new Set(['m0', 'm3'])];
      expect(await send(4)).to.deep.equal({ last: 4, made: 4 });
      expect(subjects()).to.deep.equal(['m0', 'm1', 'm2', 'm3']);
    }
  });

  it('are known to be there where the answer was lost alone', async () => {
    unanswered = new Set(['m0', 'm3']);
    expect(await send(4)).to.deep.equal({ last: 4, made: 4 });
    unanswered = new Set(['m0']);
    expect(await send(1)).to.deep.equal({ last: 5, made: 1 });
  });

  it('are found by what they meet where a server has forgotten their ids', async () => {
    unanswered = new Set(['m0', 'm3']);
    const forget = { get: () => undefined, set: () => ids };
    ids = forget as unknown as typeof ids;
    expect(await send(4)).to.deep.equal({ last: 4, made: 4 });
    expect(subjects()).to.deep.equal(['m0', 'm1', 'm2', 'm3']);
  });

  it('end where others have come between', async () => {
    another = 'm1';
    const { last, made, failure } = await send(5);
    expect([last, made]).to.deep.equal([2, 2]);
    expect(String(failure)).to.include('wrong last sequence: 3');
  });

  it('are none where the first is refused', async () => {
    full = 0;
    const { made, failure } = await send(3);
    expect(made).to.equal(0);
    expect(failure).to.include({ name: 'NotTaken', first: true });
  });

  it('are not known to be none where a later one is refused', async () => {
    full = 2;
    const { made, failure } = await send(4);
    expect(made).to.equal(1);
    expect(failure).to.include({ name: 'NotTaken' });
  });
});
