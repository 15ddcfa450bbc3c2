import { expect } from 'chai';
import { RecordCommits } from '../../../../daemons/clusterd/records/record-commits.js';

describe('a commit that NATS has acknowledged', () => {
  let revision: number;
  /** Revision of the last change of the kinds that it is held against. */
  let latest: number;
  let writer: string | undefined;
  /** Revision of the record that it has changed, as the copy has it. */
  let found: number;
  /** Records that were to be sent. */
  let written: string[];
  let commits: RecordCommits;

  beforeEach(() => {
    [revision, latest, writer, found, written] = [4, 0, undefined, 0, []];
    commits = new RecordCommits({
      node: 'n1',
      link: {
        downForMs: 0,
        session: () => ({ js: { publish: () => Promise.resolve({ seq: 5, duplicate: false }) } }),
      },
      copy: {
        get revision() {
          return revision;
        },
        latest: () => (revision < 5 ? 0 : latest),
        get: () => ({ revision: found, value: null }),
        writerOf: () => writer,
        messageIdOf: () => undefined,
        changed: () => {
          revision = 6;
          return Promise.resolve();
        },
      },
      messages: {
        write: (kind: string, key: string, value: { readonly commit?: string } | null) => {
          written.push(`${kind} ${key} ${value?.commit}`);
          return { subject: 'a', plain: Buffer.of(1) };
        },
        sealed: () => Buffer.of(1),
      },
      hindrance: () => undefined,
      contended: () => false,
    } as never);
  });
  afterEach(async () => {
    await commits.stop();
  });

  const outcome = () =>
    commits
      .commit({ id: 'own', basis: 0, kinds: ['agent'], changes: [{ kind: 'agent', key: '001', value: null }] })
      .catch((error: unknown) => error);

  it('is made where its last record is there', async () => {
    writer = 'own';
    expect(await outcome()).to.equal(5);
  });

  it('that changes nothing is one of a barrier, and is made where that is there', async () => {
    const barrier = () => commits.commit({ id: 'own', basis: 0, kinds: ['agent'], changes: [] });
    writer = 'own';
    expect(await barrier()).to.equal(5);
    expect(written).to.deep.equal(['barrier n1 own']);
    expect(commits.counters).to.include({ commits: 0, records: 0, held: 1 });
    // It was lost, and others have written in its place.
    [revision, writer] = [4, undefined];
    expect(await barrier().catch((error: unknown) => error)).to.include({ code: 'cluster_unavailable' });
  });

  it('is made where its last record was changed again before it was seen', async () => {
    found = 6;
    expect(await outcome()).to.equal(5);
  });

  it('is stale where another one is there instead that changed the same', async () => {
    [writer, latest] = ['another', 5];
    expect(await outcome()).to.include({ code: 'stale' });
  });

  it('is not known to be made where something else is there, or nothing', async () => {
    for (const other of ['another', undefined]) {
      writer = other;
      revision = 4;
      const error = await outcome();
      expect(error).to.include({ code: 'cluster_unavailable' });
      expect(String(error)).to.include('revision 5').and.to.include('not known what was made');
    }
  });
});
