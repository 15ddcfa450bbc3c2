import { setTimeout as delay } from 'node:timers/promises';
import { answerMessage, requestAckMessage } from '../../lib/agentlink/control-text.js';
import type { ManagerControl } from '../../lib/agentlink/manager-control.js';
import { BusError } from '../../lib/bus/bus-error.js';
import type { logcollectorContract } from '../../lib/bus/contracts/logcollector.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { AgentState } from './agent-state.js';
import type { PartOrders } from './part-orders.js';
import type { ResponseOrders } from './response-orders.js';
import type { Session } from './session.js';
import { StatePages } from './state-pages.js';

/** Requests carried out at once: stops a manager gone wrong from filling memory (`err Too many requests`). */
const MOST_REQUESTS = 64;
/** Over UDP an answer is repeated until the manager says that it has come. */
const ANSWER_ATTEMPTS = 4;
const ANSWER_PAUSE_MS = 1000;
/** A part of the agent answers by then. */
export const PART_DEADLINE_MS = 10_000;
/** Commands by which managers have an agent restarted, the last ones of old releases. */
const RESTART_COMMANDS = ['restart-wazuh', 'restart-wazuh0', 'restart-ossec', 'restart-ossec0', 'restart'];

/** What this version cannot do on agents, by the target of a request. */
const MISSING_PARTS: Readonly<Record<string, string>> = {
  upgrade: 'upgrades of agents',
};

/** The section that is asked of part `com`. */
const LOGGING = 'logging';

export type OrderParts = {
  readonly state: AgentState;
  readonly sections: ReadonlyMap<string, () => Record<string, unknown>>;
  /** Events that wait; undefined without a buffer. */
  readonly waiting: () => number | undefined;
  readonly logcollector: RequestClient<typeof logcollectorContract>;
  readonly integrity: PartOrders;
  readonly modules: PartOrders;
  readonly responses: ResponseOrders;
  /** Whether the supervisor is there. @throws Error */
  readonly canRestart: () => Promise<void>;
  /** Has the supervisor restart the agent, or reload it. */
  readonly restart: (command: 'restart' | 'reload') => void;
  readonly logger: Logger;
};

/** What a manager asks of the agent (agents-and-groups.md 4.5). */
export class ManagerOrders {
  readonly #parts: OrderParts;
  /** Requests under way, and over UDP those whose answer has not been confirmed, by their counter. */
  readonly #open = new Set<string>();
  readonly #pages = new StatePages();

  constructor(parts: OrderParts) {
    this.#parts = parts;
  }

  take(control: ManagerControl, session: Session): void {
    const { logger } = this.#parts;
    switch (control.kind) {
      case 'force_reconnect':
        logger.info('Wazuh Agent will be reconnected because a reconnect message was received');
        session.end('renew');
        return;
      case 'request':
        void this.#request(control, session);
        return;
      case 'request_ack':
        this.#open.delete(control.counter);
        return;
      case 'execd':
        void this.#execute(control.text);
        return;
      case 'syscheck':
        this.#parts.integrity.take(control.text);
        return;
      case 'inventory':
      case 'policies':
        this.#parts.modules.take(control.text);
        return;
      case 'error':
        logger.error(`The manager says: '${control.message}'`);
        return;
      case 'unknown':
        logger.warn('Unknown message received from server.');
        break;
      default:
    }
  }

  async #execute(text: string): Promise<void> {
    const command = commandOf(text);
    if (!RESTART_COMMANDS.includes(command)) return this.#parts.responses.take(text);
    try {
      await this.#parts.canRestart();
      this.#parts.restart('restart');
    } catch (error) {
      this.#parts.logger.error(`The manager's order to restart cannot be followed: ${describeError(error)}`);
    }
  }

  async #request(request: ManagerControl & { kind: 'request' }, session: Session): Promise<void> {
    const { counter, target, payload } = request;
    if (session.lossy) session.send(requestAckMessage(counter));
    // A repeated datagram: it is being answered.
    if (this.#open.has(counter)) return;
    if (this.#open.size >= MOST_REQUESTS) return session.send(answerMessage(counter, 'err Too many requests'));
    this.#open.add(counter);
    try {
      this.#parts.state.requests += 1;
      const answer = await this.#answer(target, payload);
      const message = answerMessage(counter, answer);
      for (let attempt = 0; attempt < (session.lossy ? ANSWER_ATTEMPTS : 1); attempt += 1) {
        if (!this.#open.has(counter)) return;
        session.send(message);
        if (session.lossy) await delay(ANSWER_PAUSE_MS, undefined, { ref: false });
      }
    } catch (error) {
      session.send(answerMessage(counter, 'err Maximum buffer length reached'));
      this.#parts.logger.debug(`An answer was not sent: ${describeError(error)}`);
    } finally {
      this.#open.delete(counter);
    }
  }

  async #answer(target: string, payload: Buffer): Promise<string> {
    const [command = '', argument] = payload.toString('utf8').split(' ', 2);
    const missing = MISSING_PARTS[target];
    if (missing !== undefined) return `err This version has no ${missing}`;
    switch (target) {
      case 'syscheck':
        return this.#parts.integrity.answer(payload.toString('latin1'));
      case 'wmodules':
        return this.#parts.modules.answer(payload.toString('latin1'));
      case 'agent':
        return this.#agent(command, argument);
      case 'logcollector':
        return this.#logcollector(command, argument);
      case 'com':
        return command === 'getconfig' ? this.#comSection(argument) : this.#com(command);
      default:
        return `err Unknown target '${target}'`;
    }
  }

  #agent(command: string, argument: string | undefined): string {
    const { state, sections, waiting } = this.#parts;
    if (command === 'getstate') return JSON.stringify({ error: 0, data: state.toJson(waiting()) });
    if (command !== 'getconfig') return 'err Unrecognized command';
    if (argument === undefined || argument === '') return 'err AGCOM getconfig needs arguments';
    const section = argument === LOGGING ? undefined : sections.get(argument);
    return section === undefined ? 'err Could not get requested section' : `ok ${JSON.stringify(section())}`;
  }

  /** Of part `com`, which is svc-execd; which logs are written is known here. */
  async #comSection(argument: string | undefined): Promise<string> {
    if (argument === undefined || argument === '') return 'err EXECCOM getconfig needs arguments';
    const section = argument === LOGGING ? this.#parts.sections.get(argument) : undefined;
    return section === undefined ? this.#parts.responses.section(argument) : `ok ${JSON.stringify(section())}`;
  }

  async #logcollector(command: string, argument: string | undefined): Promise<string> {
    const { logcollector } = this.#parts;
    const options = { deadlineMs: PART_DEADLINE_MS };
    try {
      if (command === 'getstate') {
        if (argument === 'next') return this.#pages.next() ?? 'err There is no next page';
        return this.#pages.first(await logcollector.call('getstate', {}, options));
      }
      if (command !== 'getconfig') return 'err Unrecognized command';
      if (argument === undefined || argument === '') return 'err LGCOM getconfig needs arguments';
      return `ok ${JSON.stringify(await logcollector.call('config', { section: argument }, options))}`;
    } catch (error) {
      if (error instanceof BusError && error.code === 'unknown_section') return 'err Could not get requested section';
      return `err ${describeError(error)}`;
    }
  }

  async #com(command: string): Promise<string> {
    const order = command === 'reload' ? 'reload' : RESTART_COMMANDS.includes(command) ? 'restart' : undefined;
    if (order === undefined) {
      return "err This version serves 'restart', 'reload' and 'getconfig' of part com on agents";
    }
    try {
      await this.#parts.canRestart();
    } catch (error) {
      return `err ${describeError(error)}`;
    }
    this.#parts.restart(order);
    return 'ok ';
  }
}

/** Name of the command in an order of active response: JSON from 4.2 on, before it the first word. */
function commandOf(text: string): string {
  try {
    const order: unknown = JSON.parse(text);
    if (typeof order === 'object' && order !== null && 'command' in order && typeof order.command === 'string') {
      return printable(order.command);
    }
  } catch {
    // The old form.
  }
  return printable(text.split(' ', 1)[0] ?? '');
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
}
