import { expect } from 'chai';
import { Membership } from '../../../../daemons/clusterd/membership.js';
import type { Commit } from '../../../../daemons/clusterd/records/record-commits.js';
import type { SharedRecord } from '../../../../lib/cluster/shared-records.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

describe('Membership', () => {
  const RECORD = { kind: 'node', key: 'n1', revision: 7, value: { instance: 'first home', joinedAt: 1 } } as const;
  let logger: RecordingLogger;
  let committed: Commit[];
  let noted: unknown[];
  let membership: Membership;
  /** Times that the membership has asked whether it has listened. */
  let asked: number;
  let hasListened: boolean;
  let rivalry: string | undefined;

  /** A second home, with the records as a cluster has them in which `n1` is another home, or in which it is not. */
  function begin(record: SharedRecord | undefined, joined?: string, forgotten?: string): void {
    noted = [];
    [logger, committed, asked, hasListened, rivalry] = [new RecordingLogger(), [], 0, false, undefined];
    membership = new Membership({
      copy: {
        get: () => record,
        latest: () => record?.revision ?? 0,
        state: {
          revision: 7,
          whole: true,
          seeded: [],
          instance: 'second home',
          ...(joined === undefined ? {} : { joined }),
          ...(forgotten === undefined ? {} : { forgotten }),
        },
        note: (change) => {
          noted.push(change);
          return Promise.resolve();
        },
        isForgotten: () => record?.value === null,
      },
      commits: {
        commit: (commit) => {
          committed.push(commit);
          return Promise.resolve(8);
        },
      },
      node: 'n1',
      instance: 'second home',
      joining: 'today',
      rivalry: () => rivalry,
      hasListened: () => {
        asked += 1;
        return hasListened;
      },
      logger,
      now: () => 5000,
    });
    membership.start();
  }
  afterEach(() => membership.stop());

  it('takes a name that nobody has at once', async () => {
    begin(undefined);
    await eventually('it has joined', () => membership.problem === undefined);
    expect(committed.map(({ changes }) => changes)).to.deep.equal([
      [{ kind: 'node', key: 'n1', value: { instance: 'second home', joinedAt: 5 } }],
    ]);
  });

  it('takes the name of a home that is lost only when it has listened for that home', async () => {
    begin(RECORD);
    await eventually('it was kept from joining twice', () => asked >= 2);
    expect(committed).to.deep.equal([]);
    hasListened = true;
    await eventually('it has joined', () => membership.problem === undefined);
    expect(committed).to.have.length(1);
    expect(logger.lines.join('\n')).to.include('which is not heard: this one takes its place');
  });

  it('is none once the cluster has forgotten it, until it is told to join again', async () => {
    begin({ ...RECORD, value: null }, 'today');
    await eventually('it says so', () => logger.lines.some((line) => line.includes('This is no node of the cluster')));
    expect(membership.problem).to.include('the cluster has forgotten this manager');
    expect(() => membership.requireNotForgotten()).to.throw('the cluster has forgotten this manager');
    expect(committed).to.deep.equal([]);
    await membership.stop();
    begin({ ...RECORD, value: null }, 'yesterday');
    await eventually('it has joined', () => committed.length === 1);
  });

  it('has a node forgotten the way that all changes of a node go', async () => {
    begin(RECORD);
    const ways: Commit[] = [];
    const forget = (node: string, isPresent = false) =>
      membership.forget(
        node,
        () => isPresent,
        (change) => {
          ways.push(change);
          return Promise.resolve(8);
        },
      );
    await forget('n2');
    expect(ways).to.deep.equal([{ basis: 7, kinds: ['node'], changes: [{ kind: 'node', key: 'n2', value: null }] }]);
    for (const refused of [forget('n1'), forget('n2', true)]) {
      expect(await refused.catch((error: unknown) => error)).to.include({ code: 'node_present' });
    }
    expect(committed).to.deep.equal([]);
  });

  it('does not take the name of a home that is heard late', async () => {
    begin(RECORD);
    await eventually('it was kept from joining', () => asked >= 1);
    rivalry = 'another manager calls itself n1';
    hasListened = true;
    await eventually('it says so', () => logger.lines.some((line) => line.includes('another manager calls itself n1')));
    expect(committed).to.deep.equal([]);
  });

  it('stays forgotten when another home has its name since then, until it joins anew', async () => {
    begin(RECORD, 'today');
    await eventually('it says so', () => logger.lines.join('\n').includes('This is no node of the cluster any more'));
    expect(noted).to.deep.equal([{ forgotten: 'today' }]);
    await membership.stop();
    begin(undefined, 'today', 'today');
    expect(membership.forgotten).to.equal(true);
    await membership.stop();
    begin(undefined, 'today', 'yesterday');
    expect(membership.forgotten).to.equal(false);
    await eventually('it has joined', () => membership.problem === undefined);
  });
});
