import { ACK_MESSAGE, errorMessage, requestAckMessage } from '../../lib/agentlink/control-text.js';
import { parseKeepalive } from '../../lib/agentlink/keepalive.js';
import { isRequestAck } from '../../lib/agentlink/request-text.js';
import { COMPATIBILITY_VERSION } from '../../lib/product/version.js';
import { type Agent, linkOf, type Route } from './agent-link.js';
import { eventLabels, keepaliveChanges, keepaliveDigest, type ManagerIdentity, withKnownSum } from './agent-report.js';
import type { AgentSender } from './agent-sender.js';
import type { FloodGuard } from './flood-guard.js';
import { type AgentControl, judgeStartup, parseAgentControl } from './link/agent-control.js';
import type { ConfigurationWatcher } from './push/configuration-check.js';
import type { RemotedCounters } from './remoted-counters.js';

/** What a control message changes in the table of agents. Times are epoch milliseconds. */
export type StatusMessage =
  | {
      readonly kind: 'startup';
      readonly at: number;
      /** Status code with which it was refused; undefined when it was accepted. */
      readonly refused: 1 | 2 | undefined;
      /** As the agent writes it; undefined when it told none. */
      readonly version: string | undefined;
    }
  | { readonly kind: 'shutdown'; readonly at: number }
  /** What it told is in the agent's link. */
  | { readonly kind: 'keepalive'; readonly at: number };

/** Where what agents tell of themselves goes. */
export interface StatusSink {
  put(agent: Agent, message: StatusMessage): void;
}

/** Where answers of agents go. */
export interface AnswerSink {
  answer(agentId: string, counter: string, payload: Buffer): boolean;
}

export type ControlParts = {
  readonly sender: AgentSender;
  readonly status: StatusSink;
  readonly requests: AnswerSink;
  readonly configuration: ConfigurationWatcher;
  readonly counters: RemotedCounters;
  readonly log: FloodGuard;
  readonly manager: ManagerIdentity;
  /** `<agents><allow_higher_versions>`, as of now. */
  readonly allowHigherVersions: () => boolean;
};

/** Answers control messages, and passes on what they tell (agents-and-groups.md 4.1 to 4.3). */
export class ControlMessages {
  readonly #parts: ControlParts;

  constructor(parts: ControlParts) {
    this.#parts = parts;
  }

  /**
   * Takes a control message.
   * @returns whether it was the agent's last one before it stops
   */
  take(agent: Agent, payload: Buffer, route: Route, now: number): boolean {
    const { counters, status, log } = this.#parts;
    const { counts } = linkOf(agent);
    const control = parseAgentControl(payload);
    switch (control.kind) {
      case 'keepalive':
        counters.received.keepalive += 1;
        counts.keepalive += 1;
        this.#acknowledge(agent, route);
        this.#keepalive(agent, control.text, now);
        this.#parts.configuration.keepalive(agent);
        return false;
      case 'startup':
        counters.received.startup += 1;
        counts.startup += 1;
        this.#startup(agent, control, route, now);
        return false;
      case 'shutdown':
        counters.received.shutdown += 1;
        counts.shutdown += 1;
        status.put(agent, { kind: 'shutdown', at: now });
        return true;
      case 'answer':
        counters.received.request += 1;
        counts.request += 1;
        this.#answer(agent, control.counter, control.payload, route);
        return false;
      case 'invalid':
        counters.received.unknown += 1;
        log.log('warning', `Invalid message from agent: '${agent.name}' (${agent.id})`);
        log.log('warning', `Error validating control message from agent ID '${agent.id}'.`);
        return false;
    }
  }

  #acknowledge(agent: Agent, route: Route): void {
    if (!this.#parts.sender.answer(agent, route, ACK_MESSAGE)) return;
    this.#parts.counters.sent.ack += 1;
    linkOf(agent).counts.sent.ack += 1;
  }

  #startup(agent: Agent, control: AgentControl & { kind: 'startup' }, route: Route, now: number): void {
    const { sender, status, configuration, log } = this.#parts;
    configuration.startup(agent);
    const verdict = judgeStartup(control, COMPATIBILITY_VERSION, this.#parts.allowHigherVersions());
    if (verdict.accepted) {
      this.#acknowledge(agent, route);
      status.put(agent, { kind: 'startup', at: now, refused: undefined, version: control.version });
      return;
    }
    sender.answer(agent, route, errorMessage(verdict.message));
    log.log(
      'warning',
      verdict.statusCode === 2
        ? `Unable to get version from agent '${agent.id}' on startup message`
        : `Agent '${agent.name}' (${agent.id}) was refused: its version is higher than the manager's.`,
    );
    status.put(agent, { kind: 'startup', at: now, refused: verdict.statusCode, version: control.version });
  }

  /** The same text again tells nothing new: only the time counts. */
  #keepalive(agent: Agent, text: string, now: number): void {
    const { configuration, manager } = this.#parts;
    const link = linkOf(agent);
    const digest = keepaliveDigest(text);
    if (digest !== link.keepalive) {
      const keepalive = parseKeepalive(text);
      const isWhole = configuration.isWhole(agent, keepalive.mergedSum);
      // The sum of a file that is half written is not passed on: the same text later may be true.
      link.keepalive = isWhole ? digest : undefined;
      const changes = keepaliveChanges(keepalive, manager);
      link.report = isWhole ? changes : withKnownSum(changes, link.report);
      link.labels = eventLabels(keepalive);
      link.mergedSum = keepalive.mergedSum;
    }
    this.#parts.status.put(agent, { kind: 'keepalive', at: now });
  }

  #answer(agent: Agent, counter: string, payload: Buffer, route: Route): void {
    const { requests, sender } = this.#parts;
    requests.answer(agent.id, counter, payload);
    // Over UDP an agent sends its answer again until it is told that it has come, awaited or not.
    if (route.lossy && !isRequestAck(payload)) sender.answer(agent, route, requestAckMessage(counter));
  }
}
