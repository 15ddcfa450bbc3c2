import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ReceivedEvent } from '../../../lib/bus/bus-event.js';
import { EventSink } from '../../../lib/bus/event-sink.js';
import { MemoryStreamPositions } from '../../../lib/bus/stream-positions.js';
import { writeFileAtomically } from '../../../lib/files/write-file-atomically.js';
import type { Home } from '../../../lib/home/home.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { type AgentIdentity, keyLine } from '../agentlink/minimal-agent.js';
import { RecordingLogger } from '../recording-logger.js';
import { TemporaryHome } from '../temporary-home.js';

/** Settings of a home of svc-remoted. */
export type RemotedHomeOptions = {
  /** Elements of the `<remote>` block beside connection and port. */
  readonly remote?: string;
  /** Other sections. */
  readonly sections?: string;
  /** Lines of etc/local_internal_options.conf. */
  readonly options?: string;
};

/** The identity of a test's agent. */
export function identity(number: number, ip = 'any'): AgentIdentity {
  const id = String(number).padStart(3, '0');
  return { id, name: `box${id}`, ip, key: `${id}secret`.repeat(6) };
}

/** A home in which svc-remoted listens on ports the system chooses. */
export class RemotedHome extends TemporaryHome {
  constructor({ remote = '<protocol>tcp,udp</protocol>', sections = '', options = '' }: RemotedHomeOptions = {}) {
    super();
    mkdirSync(this.path('queue', 'rids'));
    copyFileSync(
      fileURLToPath(new URL('etc/internal_options.conf', productRoot())),
      this.path('etc', 'internal_options.conf'),
    );
    writeFileSync(this.path('etc', 'local_internal_options.conf'), options);
    writeFileSync(
      this.path('etc', 'manager.conf'),
      `<manager_config><remote><connection>secure</connection><port>0</port><local_ip>127.0.0.1</local_ip>${remote}</remote>${sections}</manager_config>\n`,
    );
  }

  /** Puts another key file in place, as svc-authd does. */
  keys(...agents: readonly AgentIdentity[]): void {
    writeFileAtomically(this.path('etc', 'client.keys'), agents.map(keyLine).join(''), { mode: 0o640 });
  }
}

/** A sink of events that takes everything at once. @param take told of each batch; what it keeps must not share memory with it */
export function sinkOf(home: Home, take: (events: readonly ReceivedEvent[]) => void): EventSink {
  return new EventSink({
    path: home.eventsSocket(),
    positions: new MemoryStreamPositions(),
    logger: new RecordingLogger(),
    onBatch: ({ events }) => {
      take(events);
      return Promise.resolve();
    },
  });
}

/** A sink that keeps what it takes. */
export class KeepingSink {
  readonly events: ReceivedEvent[] = [];
  readonly #sink: EventSink;

  constructor(home: Home) {
    this.#sink = sinkOf(home, (events) => {
      for (const event of events) this.events.push({ ...event, message: Buffer.from(event.message) });
    });
  }

  start(): Promise<void> {
    return this.#sink.start();
  }

  stop(): Promise<void> {
    return this.#sink.stop();
  }

  /** Texts of the events of an agent, in their order. */
  texts(agentId: string): string[] {
    return this.events.filter(({ agent }) => agent?.id === agentId).map(({ message }) => message.toString());
  }
}
