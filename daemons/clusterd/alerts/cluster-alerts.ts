import type { ClusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import type { DaemonParts } from '../../../lib/daemon/daemon-parts.js';
import type { Home } from '../../../lib/home/home.js';
import type { Logger } from '../../../lib/log/logger.js';
import { AlertFeed } from '../../../lib/output/alert-feed.js';
import { ALERT_FILES } from '../../../lib/output/dated-files.js';
import { type RecordPosition, RecordStream } from '../../../lib/output/record-stream.js';
import type { Membership } from '../membership.js';
import type { NatsLink } from '../nats/nats-link.js';
import type { Seal } from '../nats/sealing.js';
import type { RecordCopy } from '../records/record-copy.js';
import { AlertMessages } from './alert-messages.js';
import { AlertPublisher } from './alert-publisher.js';
import type { AlertLimits } from './alert-stream.js';
import { AlertTurns } from './alert-turns.js';

export type ClusterAlertsParts = {
  readonly home: Home;
  readonly link: NatsLink;
  readonly subjects: ClusterSubjects;
  readonly seal: Seal;
  readonly node: string;
  readonly copy: RecordCopy;
  readonly membership: Membership;
  readonly limits: AlertLimits;
  /** Whether outputs hand on the alerts of all nodes: only then those of this node are published. */
  readonly shared: boolean;
  readonly logger: Logger;
};

/** The alerts of all nodes as one stream: this node's alerts come into it, and outputs have theirs out of it. */
export class ClusterAlerts {
  readonly turns: AlertTurns;
  readonly #publisher: AlertPublisher | undefined;
  readonly #copy: RecordCopy;

  constructor(context: ClusterAlertsParts, parts: DaemonParts) {
    const { subjects, seal, shared, copy } = context;
    this.#copy = copy;
    const messages = new AlertMessages(subjects, seal);
    this.turns = new AlertTurns({ ...context, messages });
    this.#publisher = shared ? parts.use(publisherOf(context, messages, parts)) : undefined;
  }

  /** This node's alerts up to here are in the stream. */
  get published(): RecordPosition | undefined {
    return this.#publisher?.position;
  }

  stats(): Readonly<Record<string, unknown>> {
    const { counters, waitingBytes } = this.#publisher ?? {};
    return {
      outputs: { ...this.turns.counters },
      ...(counters === undefined ? {} : { published: { ...counters, waiting_bytes: waitingBytes } }),
    };
  }

  /**
   * What is alerted while this node hands on its own alerts does not come into the stream when that is over: before anything is answered.
   * @throws StoreError
   */
  async prepare(): Promise<void> {
    if (this.#publisher !== undefined || (this.#copy.state.alerts ?? null) === null) return;
    await this.#copy.note({ alerts: null });
  }

  start(): void {
    this.#publisher?.start();
  }
}

function publisherOf(
  { home, copy, membership, logger, ...context }: ClusterAlertsParts,
  messages: AlertMessages,
  parts: DaemonParts,
): AlertPublisher {
  const log = logger.limited();
  const stream = new RecordStream({ directory: home.path('logs', 'alerts'), ...ALERT_FILES }, (message) =>
    log.error(message),
  );
  const feed = new AlertFeed({
    stream: parts.use(stream),
    liveFile: home.path('logs', 'alerts', 'alerts.json'),
    log,
  });
  return new AlertPublisher({
    ...context,
    messages,
    feed,
    instance: copy.state.instance,
    joined: () => membership.problem === undefined,
    kept: () => copy.state.alerts ?? undefined,
    keep: (position) => copy.note({ alerts: { file: position.file, offset: position.offset } }),
    logger,
  });
}
