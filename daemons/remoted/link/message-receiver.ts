import { NO_COUNTERS } from '../../../lib/agentlink/message-counters.js';
import type { MessageOpener } from '../../../lib/agentlink/message-opener.js';
import { counterTexts, type RejectionText, rejectionText } from '../../../lib/agentlink/message-rejection.js';
import type { CounterFiles } from './counter-files.js';
import { type KeyStore, unknownSenderText } from './key-store.js';
import type { KnownAgent } from './known-agent.js';
import { readMessageHead } from './message-prefix.js';

/** What a frame or datagram turned out to be. */
export type ReceivedMessage<State> =
  /** To be answered with `PONG`. */
  | { readonly kind: 'ping' }
  /** Opened and accepted: a control message where `isControl` says so, an event otherwise. */
  | { readonly kind: 'message'; readonly agent: KnownAgent<State>; readonly payload: Buffer }
  /** Nothing was opened, as the agent has another connection: `claim` said so. */
  | { readonly kind: 'in_use'; readonly agent: KnownAgent<State>; readonly logs: readonly RejectionText[] }
  /** To be logged; over TCP the connection is to be closed. */
  | {
      readonly kind: 'rejected';
      readonly agent: KnownAgent<State> | undefined;
      readonly logs: readonly RejectionText[];
      /** What to ask for the agent's key, `id:<id>` or `ip:<address>`, where that may help (agents-and-groups.md 2.6). */
      readonly keyRequest: string | undefined;
    };

/** Parts of a receiver. */
export type ReceiverParts<State> = {
  readonly store: KeyStore<State>;
  readonly opener: MessageOpener;
  readonly counters: CounterFiles;
  /** `remoted.verify_msg_id`: whether only newer counters are accepted. */
  readonly verify: boolean;
};

const UNKNOWN_AGENT = '(unknown)';
const PING = { kind: 'ping' } as const;
const HASH_SIGN = 0x23;

/** The manager's way from a frame to the payload of a known agent (agents-and-groups.md 3.5, steps 2 to 12). */
export class MessageReceiver<State> {
  readonly #parts: ReceiverParts<State>;

  constructor(parts: ReceiverParts<State>) {
    this.#parts = parts;
  }

  /**
   * Opens one message. The agent then has its time, form and counters.
   * @param message may share memory with others; the payload does not
   * @param source address of the peer, as `normalizeAddress` gives it
   * @param now epoch milliseconds
   * @param claim asked before anything costly is done, whether the agent may use this connection (step 5)
   */
  receive(
    message: Buffer,
    source: string,
    now: number,
    claim?: (agent: KnownAgent<State>) => boolean,
  ): ReceivedMessage<State> {
    const head = readMessageHead(message);
    if (head.kind === 'ping') return PING;
    if (head.kind === 'malformed') {
      return rejected(undefined, [rejectionText('malformed', UNKNOWN_AGENT, source)]);
    }
    const sender = this.#parts.store.identify(head, source);
    if (!sender.ok) {
      const wanted = sender.reason === 'invalid_id' ? `id:${sender.id}` : `ip:${source}`;
      return rejected(undefined, [{ level: 'warning', text: unknownSenderText(sender, source) }], wanted);
    }
    const { agent } = sender;
    if (claim?.(agent) === false) {
      const text = `Agent key already in use: agent ID '${agent.id}'`;
      return { kind: 'in_use', agent, logs: [{ level: 'warning', text }] };
    }
    return this.#open(agent, head.body, source, now);
  }

  #open(agent: KnownAgent<State>, body: Buffer, source: string, now: number): ReceivedMessage<State> {
    const { opener, counters, verify } = this.#parts;
    const opened = opener.open(agent.key, body, agent.form);
    if (!opened.ok) {
      const wrongKey = opened.reason === 'wrong_key';
      // The reference names the registered address when it is AES that fails.
      const host = wrongKey && body[0] === HASH_SIGN ? agent.ip : source;
      const wanted = wrongKey ? `id:${agent.id}` : undefined;
      return rejected(agent, [rejectionText(opened.reason, agent.id, host)], wanted);
    }
    const { global, local } = opened;
    if (verify && agent.counters === undefined) agent.restoreCounters(counters.read(agent.id));
    const saved = agent.counters;
    const verdict = agent.acceptCounters({ global, local }, verify);
    if (verdict !== 'newer') return rejected(agent, counterTexts(agent, verdict, opened, saved ?? NO_COUNTERS));
    counters.note(agent.id, { global, local });
    agent.form = opened.form;
    agent.lastReceivedAt = now;
    return { kind: 'message', agent, payload: opened.payload };
  }
}

function rejected<State>(
  agent: KnownAgent<State> | undefined,
  logs: readonly RejectionText[],
  keyRequest?: string,
): ReceivedMessage<State> {
  return { kind: 'rejected', agent, logs, keyRequest };
}
