import type { AgentKey } from '../../lib/agentlink/agent-key.js';
import { isControl, SHUTDOWN_MESSAGE } from '../../lib/agentlink/control-text.js';
import { PushReceiver, type PushResult } from '../../lib/agentlink/file-push.js';
import { keepsPushOpen, type ManagerControl, parseManagerControl } from '../../lib/agentlink/manager-control.js';
import type { MessageOpener } from '../../lib/agentlink/message-opener.js';
import type { MessageSealer } from '../../lib/agentlink/message-sealer.js';
import type { SenderCounter } from '../../lib/agentlink/sender-counter.js';
import type { Logger } from '../../lib/log/logger.js';
import type { AgentHandshake } from './agent-handshake.js';
import type { AgentState } from './agent-state.js';
import type { ServerConfig } from './agentd-settings.js';
import { openTransport, type Transport } from './transport.js';

/** What every session of the process shares. */
export type SessionParts = {
  readonly sealer: MessageSealer;
  readonly opener: MessageOpener;
  readonly counter: SenderCounter;
  readonly state: AgentState;
  readonly logger: Logger;
  readonly form: 'aes' | 'blowfish';
  /** Milliseconds between keepalives. */
  readonly notifyMs: number;
  /** Milliseconds without a sign of the manager before the connection is given up. */
  readonly silentMs: number;
  /** Milliseconds to wait for the answer to the startup. */
  readonly answerMs: number;
  /** Milliseconds after which the agent connects anew; 0 never. */
  readonly renewMs: () => number;
  /** Text of a keepalive. @param address of this host on the connection */
  readonly keepalive: (address: string | undefined) => string;
  /** A control message that is not the session's own. */
  readonly control: (control: ManagerControl, session: Session) => void;
  /** The end of a pushed file. */
  readonly pushed: (result: PushResult) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** Why a session ended. */
export type SessionEnd = 'lost' | 'silent' | 'renew' | 'stopped';

/** One connection to a manager, from the startup to its end (agents-and-groups.md 4.2, 5.4). */
export class Session {
  readonly #parts: SessionParts;
  readonly #key: AgentKey;
  readonly #from: string;
  #transport: Transport | undefined;
  #keepalives: NodeJS.Timeout | undefined;
  #renewal: NodeJS.Timeout | undefined;
  #lastHeard = 0;
  #connectedAt = 0;
  readonly #push = new PushReceiver();
  /** Content without a file is told of once. */
  #strayTold = false;
  #end: SessionEnd | undefined;
  #answered: ((control: ManagerControl | undefined) => void) | undefined;
  readonly ended: Promise<SessionEnd>;
  #finish: (end: SessionEnd) => void = () => {};

  /** @param from address for the log */
  constructor(parts: SessionParts, key: AgentKey, from: string) {
    this.#parts = parts;
    this.#key = key;
    this.#from = from;
    this.ended = new Promise((resolve) => (this.#finish = resolve));
  }

  get lossy(): boolean {
    return this.#transport?.lossy === true;
  }

  get open(): boolean {
    return this.#transport !== undefined && this.#end === undefined;
  }

  get full(): boolean {
    return this.#transport?.full === true;
  }

  /**
   * Connects and shakes hands.
   * @returns undefined when connected, or why not: in the manager's words when it refused, empty when nothing came
   * @throws Error when there is no connection
   */
  async start(server: ServerConfig, address: string, handshake: AgentHandshake): Promise<string | undefined> {
    this.#transport = await openTransport(server, address, {
      message: (message) => this.#receive(message),
      closed: () => this.#close('lost'),
    });
    if (!this.open) {
      // The agent was told to stop meanwhile.
      this.#transport.close();
      return '';
    }
    const answer = this.#answer();
    this.send(handshake.begin());
    const control = await answer;
    if (control === undefined) {
      this.end('lost');
      return '';
    }
    const step = handshake.answer(control);
    if (step.state === 'rejected') {
      this.end('lost');
      return step.message;
    }
    for (const message of step.messages) this.send(message);
    this.#parts.state.connections += 1;
    this.keepalive();
    this.#keepalives = setInterval(() => this.#beat(), this.#parts.notifyMs);
    this.#connectedAt = this.#parts.now();
    this.planRenewal();
    return undefined;
  }

  /** Plans the next connection, also when the interval was changed: it counts from the beginning of this one. */
  planRenewal(): void {
    clearTimeout(this.#renewal);
    const { renewMs, now } = this.#parts;
    const interval = renewMs();
    if (interval === 0 || !this.open) return;
    const left = Math.max(0, this.#connectedAt + interval - now());
    this.#renewal = setTimeout(() => this.end('renew'), left);
  }

  /** Seals and sends. @throws MessageSizeError */
  send(payload: string | Buffer): void {
    if (!this.open || this.#transport === undefined) return;
    const { sealer, counter, form, state } = this.#parts;
    const bytes = sealer.seal(this.#key, payload, {
      form,
      counters: counter.next(),
      prefixId: this.#key.address.single ? undefined : this.#key.id,
      framed: !this.#transport.lossy,
    });
    this.#transport.send(bytes);
    state.sent += 1;
  }

  /** Resolves when more may be sent; whether the session lives is to be looked at. */
  async drained(): Promise<void> {
    await this.#transport?.drained();
  }

  /** Ends it. A manager is told only when the agent stops. */
  end(end: SessionEnd): void {
    if (end === 'stopped') this.send(SHUTDOWN_MESSAGE);
    const transport = this.#transport;
    this.#close(end);
    transport?.close();
  }

  #close(end: SessionEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    clearInterval(this.#keepalives);
    clearTimeout(this.#renewal);
    this.#answered?.(undefined);
    this.#finish(end);
  }

  /** The first control message; undefined when none comes in time or the connection is gone. */
  #answer(): Promise<ManagerControl | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#answered?.(undefined), this.#parts.answerMs);
      this.#answered = (control) => {
        clearTimeout(timer);
        this.#answered = undefined;
        resolve(control);
      };
    });
  }

  #beat(): void {
    if (this.#parts.now() - this.#lastHeard > this.#parts.silentMs) {
      this.#parts.logger.warn('Server unavailable. Setting lock.');
      this.end('silent');
    } else {
      this.keepalive();
    }
  }

  /** Sends a keepalive, now: beside those at their times where something new is to be told. */
  keepalive(): void {
    this.send(this.#parts.keepalive(this.#transport?.localAddress));
    this.#parts.state.lastKeepalive = this.#parts.now();
  }

  #receive(message: Buffer): void {
    if (this.#end !== undefined) return;
    const { opener, form, state, logger } = this.#parts;
    const opened = opener.open(this.#key, message, form);
    if (!opened.ok) {
      logger.warn(`(1214): Problem receiving message from '${this.#from}'.`);
      return;
    }
    if (!isControl(opened.payload)) {
      if (!this.#push.add(opened.payload) && !this.#strayTold) {
        this.#strayTold = true;
        logger.warn('Unknown message received. No action defined.');
      }
      return;
    }
    this.#lastHeard = state.lastAck = this.#parts.now();
    const control = parseManagerControl(opened.payload);
    if (!keepsPushOpen(control)) this.#takePush(control);
    if (this.#answered !== undefined) {
      this.#answered(control);
      if (control.kind === 'ack' || control.kind === 'error') return;
    }
    this.#parts.control(control, this);
  }

  /** A control message that begins or ends a file (agents-and-groups.md 4.4). */
  #takePush(control: ManagerControl): void {
    const { logger, pushed } = this.#parts;
    if (control.kind === 'push_end') return pushed(this.#push.end());
    if (this.#push.open) logger.debug('A file that the manager sent was abandoned in the middle.');
    this.#push.abort();
    if (control.kind !== 'push_start' || this.#push.start(control.md5, control.name)) return;
    logger.error(`Invalid file '${control.name}', vulnerable to directory traversal attack. Ignoring.`);
  }
}
