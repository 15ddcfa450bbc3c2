import { JetStreamApiError } from '@nats-io/jetstream';
import { expect } from 'chai';
import { type AlertBatch, AlertMessages } from '../../../../../daemons/clusterd/alerts/alert-messages.js';
import { AlertPublisher } from '../../../../../daemons/clusterd/alerts/alert-publisher.js';
import { Seal } from '../../../../../daemons/clusterd/nats/sealing.js';
import { clusterSubjects } from '../../../../../lib/cluster/cluster-subjects.js';
import { StreamedAlert } from '../../../../../lib/output/alert-feed.js';
import type { RecordPosition } from '../../../../../lib/output/record-stream.js';
import { eventually } from '../../../../support/eventually.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';

const FILE = '2026/Nov/ossec-alerts-28.json';
const subjects = clusterSubjects('test');
const messages = new AlertMessages(subjects, new Seal('k'.repeat(32), 'test', 'alerts'));

type Options = { readonly msgID: string; readonly expect: { readonly lastSubjectSequence: number } };

/** The stream of alerts as a server of NATS 2.9 keeps it, for one node. */
class Stream {
  stored: { readonly seq: number; readonly data: Uint8Array }[] = [];
  refused = 0;
  /** Ids that it is at work on, and does not finish. */
  readonly stuck = new Set<string>();
  #last = 0;
  readonly #ids = new Map<string, number>();
  /** What becomes of the next message: it is kept in memory by its id alone, and the sender hears nothing. */
  loseNext = false;
  /** Whether it refuses such an id, as later versions do. */
  isNewer = false;

  readonly session = {
    js: {
      publish: (_subject: string, data: Uint8Array, { msgID, expect: { lastSubjectSequence } }: Options) => {
        const known = this.#ids.get(msgID);
        if (known === 0 && this.isNewer) {
          const error = { code: 409, err_code: 10_158, description: 'duplicate message id is in process' };
          return Promise.reject(new JetStreamApiError(error));
        }
        if (known !== undefined) return Promise.resolve({ seq: known, duplicate: true });
        if (this.loseNext) {
          this.loseNext = false;
          this.#ids.set(msgID, 0);
          return Promise.reject(new Error('timeout'));
        }
        if (lastSubjectSequence !== (this.stored.at(-1)?.seq ?? 0)) {
          this.refused += 1;
          const error = { code: 400, err_code: 10_071, description: 'wrong last sequence' };
          return Promise.reject(new JetStreamApiError(error));
        }
        this.#last += 1;
        this.#ids.set(msgID, this.#last);
        this.stored.push({ seq: this.#last, data });
        return Promise.resolve({ seq: this.#last, duplicate: false });
      },
    },
    jsm: {
      streams: {
        info: () => Promise.resolve({ state: { bytes: 0, last_seq: this.#last }, config: { max_bytes: 1000 } }),
        getMessage: () => Promise.resolve(this.stored.at(-1) ?? null),
      },
    },
  };

  async batches(): Promise<AlertBatch[]> {
    return await Promise.all(this.stored.map(({ data }) => messages.read(messages.subject('n1'), data)));
  }
}

describe('the alerts of a node on their way into the stream of the cluster', function () {
  this.timeout(60_000);
  let stream: Stream;
  let logger: RecordingLogger;
  let kept: RecordPosition | undefined;
  /** What is on the disk is written each second at most: a test says when that is over. */
  let keeping: boolean;
  let written: number;
  let publisher: AlertPublisher;

  beforeEach(() => {
    stream = new Stream();
    logger = new RecordingLogger();
    kept = { file: FILE, offset: 0 };
    keeping = true;
    written = 0;
    const feed = {
      mark: () => '',
      end: () => Promise.resolve({ file: FILE, offset: written }),
      bytesAfter: () => 0,
      changed: () => new Promise((resolve) => setTimeout(resolve, 2)),
      // An alert a byte.
      read: ({ offset }: RecordPosition) => {
        const at = Array.from({ length: written - offset }, (_, index) => offset + index + 1);
        const alerts = at.map((end) => new StreamedAlert(`alert ${String(end)}`, { file: FILE, offset: end }));
        return Promise.resolve({ alerts, next: { file: FILE, offset: written } });
      },
    };
    publisher = new AlertPublisher({
      link: { connected: true, session: () => stream.session } as never,
      subjects,
      messages,
      feed: feed as never,
      node: 'n1',
      instance: 'home',
      joined: () => true,
      kept: () => kept,
      keep: (position) => {
        if (keeping) kept = position;
        return Promise.resolve();
      },
      limits: { replicas: 1, bytes: 1000, ms: 1000 },
      logger,
    });
  });
  afterEach(async () => {
    await publisher.stop();
  });

  const come = (count: number) => eventually(`${String(count)} messages`, () => stream.stored.length === count, 30_000);
  const ranges = async () =>
    (await stream.batches()).map(({ start, position }) => [start?.offset, position.offset] as const);

  it('say where the message before them ends', async () => {
    publisher.start();
    written = 3;
    await come(1);
    written = 5;
    await come(2);
    expect(await ranges()).to.deep.equal([
      [0, 3],
      [3, 5],
    ]);
  });

  it('do not where the node begins, with what is alerted from then on', async () => {
    kept = undefined;
    written = 3;
    publisher.start();
    await eventually('it begins', () => kept !== undefined);
    written = 5;
    await come(1);
    written = 6;
    await come(2);
    expect(await ranges()).to.deep.equal([
      [undefined, 5],
      [5, 6],
    ]);
  });

  for (const isNewer of [false, true]) {
    it(`are sent under another id where NATS takes them for what it has, and has not${isNewer ? ', and refuses them' : ''}`, async () => {
      stream.isNewer = isNewer;
      publisher.start();
      written = 3;
      await come(1);
      stream.loseNext = true;
      written = 5;
      await come(2);
      expect(await ranges()).to.deep.equal([
        [0, 3],
        [3, 5],
      ]);
      expect(stream.refused).to.equal(0);
    });
  }

  it('are sent again, and that is told, where NATS has lost them within the second', async () => {
    publisher.start();
    written = 3;
    await come(1);
    keeping = false;
    written = 5;
    await come(2);
    stream.stored.pop();
    written = 6;
    await eventually('all are there', async () => (await ranges()).at(-1)?.[1] === 6, 30_000);
    const all = await ranges();
    expect(all.map(([start]) => start)).to.deep.equal([0, ...all.slice(0, -1).map(([, end]) => end)]);
    expect(logger.lines.filter((line) => line.includes('NATS has lost alerts'))).to.have.length(1);
    expect(logger.lines.join()).to.include('from byte 3 on');
  });
});
