import { mkdirSync } from 'node:fs';
import { BlowfishCache } from '../../lib/agentlink/blowfish-cache.js';
import { MessageSealer } from '../../lib/agentlink/message-sealer.js';
import { SenderCounter } from '../../lib/agentlink/sender-counter.js';
import type { DaemonParts } from '../../lib/daemon/daemon-parts.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { AgentLink } from './agent-link.js';
import { AgentSender } from './agent-sender.js';
import { CounterFiles } from './link/counter-files.js';
import { KeyStore } from './link/key-store.js';
import type { RemotedBase } from './remoted-base.js';

/** What opens messages of agents and seals those to them. */
export type AgentCrypto = {
  readonly store: KeyStore<AgentLink>;
  readonly schedules: BlowfishCache;
  /** Counters of the messages that agents sent. */
  readonly counterFiles: CounterFiles;
  /** The counter of those to them. */
  readonly senderCounter: SenderCounter;
  readonly sender: AgentSender;
};

/** Makes what opens and seals messages; the counters in queue/rids are written when it stops. */
export function agentCrypto({ home, settings, counters, log }: RemotedBase, parts: DaemonParts): AgentCrypto {
  const rids = home.path('queue', 'rids');
  mkdirSync(rids, { recursive: true, mode: 0o770 });
  const problem = (error: unknown): void => {
    log.log('error', `Counters of messages cannot be kept in queue/rids: ${describeError(error)}`);
  };
  const senderCounter = parts.use(new SenderCounter(home.path('queue', 'rids', 'sender_counter'), problem));
  const flushEvery = settings.started.options.get('remoted.recv_counter_flush');
  const counterFiles = parts.use(new CounterFiles(rids, problem, flushEvery));
  const schedules = new BlowfishCache();
  const sender = new AgentSender(new MessageSealer(schedules), senderCounter, counters);
  return { store: new KeyStore<AgentLink>(), schedules, counterFiles, senderCounter, sender };
}
