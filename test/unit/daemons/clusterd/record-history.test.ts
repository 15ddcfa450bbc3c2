import { expect } from 'chai';
import type { NatsSession } from '../../../../daemons/clusterd/nats/nats-link.js';
import { RecordHistory } from '../../../../daemons/clusterd/records/record-history.js';
import { recordSubject } from '../../../../daemons/clusterd/records/record-messages.js';
import { clusterSubjects } from '../../../../lib/cluster/cluster-subjects.js';

const subjects = clusterSubjects('office');
const NEWEST = { kind: 'agent', key: '007', revision: 40, value: {} } as const;

describe('what a node has of the records, beside what NATS has', () => {
  let now = 0;
  /** Last sequence of the stream, and that of the subject of the newest record. */
  let stream = 40;
  let last: number | undefined = 40;
  const session = {
    jsm: {
      streams: {
        info: () => Promise.resolve({ state: { last_seq: stream } }),
        getMessage: (_name: string, { last_by_subj: subject }: { last_by_subj: string }) => {
          expect(subject).to.equal(recordSubject(subjects, 'agent', '007'));
          return Promise.resolve(last === undefined ? null : { seq: last });
        },
      },
    },
  } as unknown as NatsSession;
  const watch = () =>
    new RecordHistory({ subjects, copy: { revision: 40, newest: () => NEWEST }, monotonic: () => now });

  beforeEach(() => {
    [now, stream, last] = [0, 40, 40];
  });

  it('is the same while the stream has the newest record, or another one in its place', async () => {
    const history = watch();
    expect(await history.look(session)).to.equal('the same');
    [stream, last] = [90, 77];
    expect(await history.look(session)).to.equal('the same');
  });

  it('is lost when the stream ends before it for long, or others have written in its place', async () => {
    for (const [end, seq] of [
      [39, undefined],
      [90, 12],
      [90, undefined],
    ] as const) {
      [now, stream, last] = [0, end, seq];
      const history = watch();
      expect(await history.look(session)).to.equal('in doubt');
      now = 29_000;
      expect(await history.look(session)).to.equal('in doubt');
      now = 30_000;
      expect(await history.look(session)).to.equal('lost');
    }
  });

  it('is the same again when a server was asked that was cut off', async () => {
    const history = watch();
    stream = 12;
    expect(await history.look(session)).to.equal('in doubt');
    [now, stream] = [29_000, 41];
    expect(await history.look(session)).to.equal('the same');
    [now, stream] = [40_000, 12];
    expect(await history.look(session)).to.equal('in doubt');
  });
});
