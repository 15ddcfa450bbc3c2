import { expect } from 'chai';
import { Memberships } from '../../../../../daemons/remoted/push/memberships.js';
import type { MembershipChanges, MembershipMark } from '../../../../../daemons/remoted/push/read-memberships.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';

type Answer = MembershipChanges | Error;

/** What `Memberships` does with some answers of svc-db. */
async function follow(answers: Answer[]) {
  const asked: (MembershipMark | undefined)[] = [];
  const slept: number[] = [];
  const lists: string[][] = [];
  const logger = new RecordingLogger();
  let restarts = 0;
  const memberships = new Memberships({
    read: (since) => {
      asked.push(since);
      const answer = answers.shift();
      if (answer === undefined) throw new Error('asked too often');
      if (answers.length === 0) memberships.stop();
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    onLists: (told) => lists.push(told.map((list) => list.join(','))),
    onRestart: () => (restarts += 1),
    logger,
    sleep: (milliseconds) => {
      slept.push(milliseconds);
      return Promise.resolve();
    },
  });
  await memberships.run();
  return { memberships, asked, slept, lists, logger, restarts };
}

const changes = (version: number, full: boolean, agents: Record<string, string[]>, epoch = 'a'): MembershipChanges => ({
  mark: { epoch, version },
  full,
  agents: Object.entries(agents).map(([id, groups]) => ({ id, groups })),
});

describe('whose groups are which', () => {
  it('follows svc-db from the state it knows', async () => {
    const { memberships, asked, lists, slept } = await follow([
      changes(5, true, { '001': ['default'], '002': ['default', 'web'], '003': ['default', 'web'] }),
      changes(5, false, {}),
      changes(7, false, { '001': ['web', 'default'], '002': ['default'] }),
      changes(8, false, { '003': [], '004': ['default'] }),
    ]);
    expect(asked).to.deep.equal([
      undefined,
      { epoch: 'a', version: 5 },
      { epoch: 'a', version: 5 },
      { epoch: 'a', version: 7 },
    ]);
    expect(slept).to.deep.equal([500, 500, 500, 500]);
    expect(lists).to.deep.equal([['default,web'], ['default,web', 'web,default'], ['web,default']]);
    expect(memberships.groupsOf('001')).to.deep.equal(['web', 'default']);
    expect(memberships.groupsOf('002')).to.equal(memberships.groupsOf('004'));
    expect(memberships.groupsOf('003')).to.equal(undefined);
    expect(memberships.groupsOf('005')).to.equal(undefined);
  });

  it('tells at first that there are no lists of several groups', async () => {
    const { lists } = await follow([changes(1, true, { '001': ['default'] }), changes(1, false, {})]);
    expect(lists).to.deep.equal([[]]);
  });

  it('keeps what it knows while svc-db is away, and tells of its restart', async () => {
    const away = new Error('not there');
    const { memberships, asked, lists, slept, logger, restarts } = await follow([
      away,
      changes(5, true, { '001': ['a', 'b'], '002': ['default'] }),
      away,
      away,
      changes(1, true, { '001': ['a', 'b'] }, 'b'),
      changes(1, false, {}, 'b'),
    ]);
    expect(asked[4]).to.deep.equal({ epoch: 'a', version: 5 });
    expect(asked[5]).to.deep.equal({ epoch: 'b', version: 1 });
    expect(slept).to.deep.equal([1000, 500, 1000, 1000, 500, 500]);
    expect(lists).to.deep.equal([['a,b']]);
    expect(restarts).to.equal(1);
    expect(memberships.groupsOf('002')).to.equal(undefined);
    expect(logger.lines[0]).to.equal('error: Groups of agents cannot be read, those known stay in force: not there');
    expect(logger.lines).to.include('info: Groups of agents are read from svc-db again.');
  });
});
