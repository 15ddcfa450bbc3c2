import { expect } from 'chai';
import type { NatsSession } from '../../../../daemons/clusterd/nats/nats-link.js';
import { RecordHistory } from '../../../../daemons/clusterd/records/record-history.js';
import { recordSubject } from '../../../../daemons/clusterd/records/record-messages.js';
import { clusterSubjects } from '../../../../lib/cluster/cluster-subjects.js';

const subjects = clusterSubjects('office');
const NEWEST = { kind: 'agent', key: '007', revision: 40, value: { name: 'seven' } } as const;
const BEFORE = { kind: 'agent', key: '006', revision: 39, value: { name: 'six' } } as const;

describe('what a node has of the records, beside what NATS has', () => {
  let now = 0;
  /** Last sequence of the stream, and that of the subject of the newest record. */
  let stream = 40;
  let last: number | undefined = 40;
  let lastValue: unknown = NEWEST.value;
  /** Last sequence of the subject of the record before. */
  let before: number | undefined = 39;
  const session = {
    jsm: {
      streams: {
        info: () => Promise.resolve({ state: { last_seq: stream } }),
        getMessage: (_name: string, { last_by_subj: subject }: { last_by_subj: string }) => {
          const [seq, value] =
            subject === recordSubject(subjects, 'agent', '007') ? [last, lastValue] : [before, BEFORE.value];
          return Promise.resolve(seq === undefined ? null : { seq, data: value });
        },
      },
    },
  } as unknown as NatsSession;
  const watch = () =>
    new RecordHistory({
      subjects,
      copy: { revision: 40, newest: () => [NEWEST, BEFORE] },
      messages: { read: (_subject: string, data: unknown) => ({ ...NEWEST, value: data }) as never },
      monotonic: () => now,
    });

  beforeEach(() => {
    [now, stream, last, before, lastValue] = [0, 40, 40, 39, NEWEST.value];
  });

  it('is the same while the stream has the newest record, or another one in its place', async () => {
    const history = watch();
    expect(await history.look(session)).to.equal('the same');
    [stream, last] = [90, 77];
    expect(await history.look(session)).to.equal('the same');
  });

  async function looksFor(history: RecordHistory, milliseconds: number): Promise<string> {
    let state: string = await history.look(session);
    for (const end = now + milliseconds; now < end;) {
      now += 5000;
      state = await history.look(session);
    }
    return state;
  }

  it('is lost when the stream ends before it for long, or others have written in its place', async () => {
    const forks: (() => void)[] = [
      () => {
        [stream, last] = [39, undefined];
      },
      () => {
        [stream, last] = [90, 12];
      },
      () => {
        [stream, last] = [90, undefined];
      },
      // Another host was given the id, at the same place or behind it.
      () => {
        [stream, lastValue] = [41, { name: 'another' }];
      },
      () => {
        [stream, last, before] = [90, 77, 12];
      },
    ];
    for (const fork of forks) {
      [now, stream, last, before, lastValue] = [0, 40, 40, 39, NEWEST.value];
      fork();
      const history = watch();
      expect(await looksFor(history, 25_000)).to.equal('in doubt');
      expect(await looksFor(history, 5000)).to.equal('lost');
    }
  });

  it('is the same again when a server was asked that was cut off', async () => {
    const history = watch();
    stream = 12;
    expect(await history.look(session)).to.equal('in doubt');
    [now, stream] = [9000, 41];
    expect(await history.look(session)).to.equal('the same');
    [now, stream] = [14_000, 12];
    expect(await history.look(session)).to.equal('in doubt');
  });

  it('is in doubt anew where nobody has looked for a while', async () => {
    const history = watch();
    stream = 12;
    expect(await history.look(session)).to.equal('in doubt');
    now = 40_000;
    expect(await history.look(session)).to.equal('in doubt');
  });
});
