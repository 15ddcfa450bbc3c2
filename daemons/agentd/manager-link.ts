import type { AgentKey } from '../../lib/agentlink/agent-key.js';
import type { ClientKeysFile } from '../../lib/agentlink/client-keys-file.js';
import { pause } from '../../lib/async/pause.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../lib/log/logger.js';
import { COMPATIBILITY_VERSION } from '../../lib/product/version.js';
import { AgentHandshake } from './agent-handshake.js';
import type { ClientConfig, ServerConfig } from './agentd-settings.js';
import type { AutoEnrollment } from './auto-enrollment.js';
import { Session, type SessionParts } from './session.js';
import { resolveHost } from './transport.js';

const SECOND_MS = 1000;
/** Between rounds of enrolment without a key: 5, 10 ... 60 seconds (agents-and-groups.md 2.7). */
const ENROLL_PAUSE_S = 5;
const ENROLL_LONGEST_PAUSE_S = 60;

export type LinkParts = {
  readonly client: ClientConfig;
  readonly keys: ClientKeysFile;
  readonly enrollment: AutoEnrollment;
  readonly session: SessionParts;
  /** The name in the key that the configuration was read with. */
  readonly name: string | undefined;
  /** The key has another name now: whom a block of agent.conf is for may be another answer. */
  readonly renamed: () => void;
  readonly logger: Logger;
  /** A condition the operator should see, or undefined when it is over. */
  readonly setProblem: (problem: string | undefined) => void;
  readonly signal: AbortSignal;
};

/** Thrown to those who wait for a connection when the agent stops. */
class StoppingError extends Error {
  override readonly name = 'StoppingError';
}

/**
 * Keeps a connection to one of the managers: server by server, each with its attempts, enrolling where no key is or
 * where no attempt helped (agents-and-groups.md 5.4).
 */
export class ManagerLink {
  readonly #parts: LinkParts;
  /** The file is looked at each second while no key is there. */
  readonly #keyProblems: LimitedLogger;
  #session: Session | undefined;
  #waiting: { resolve: (session: Session) => void; reject: (error: Error) => void }[] = [];
  #name: string | undefined;
  #handshake: { readonly id: string; readonly name: string; readonly steps: AgentHandshake } | undefined;
  /** There was a connection, and it was lost. */
  #lost = false;
  #stopping = false;
  /** A server that closes each connection at once must not be called again at once. */
  #startedAt = -Infinity;

  constructor(parts: LinkParts) {
    this.#parts = parts;
    this.#name = parts.name;
    this.#keyProblems = parts.logger.limited();
  }

  get session(): Session | undefined {
    return this.#session?.open === true ? this.#session : undefined;
  }

  /** Runs until `signal` is aborted. */
  async run(): Promise<void> {
    const { client, session, logger, signal, setProblem } = this.#parts;
    const servers = client.server;
    await this.#needKey();
    for (let at = 0; !signal.aborted;) {
      const server = servers[at];
      if (server === undefined) return;
      const connected = await this.#tryServer(server);
      if (signal.aborted) return;
      if (connected === undefined) {
        at = (at + 1) % servers.length;
        const next = servers[at];
        if (at === 0) {
          logger.error('Unable to connect to any server.');
          setProblem('no manager can be reached; events wait');
        } else {
          logger.info(`Trying next server ip in the line: '${next?.address ?? ''}'.`);
        }
        continue;
      }
      setProblem(undefined);
      const end = await connected.ended;
      this.#session = undefined;
      session.state.status = 'disconnected';
      if (end === 'stopped') return;
      if (end === 'lost') logger.error('(1137): Lost connection with manager. Setting lock.');
      this.#lost = true;
      logger.info(`Closing connection to server (${place(server, server.address)}).`);
      const pause = server.retry_interval * SECOND_MS - (performance.now() - this.#startedAt);
      if (end !== 'renew' && pause > 0) await this.#pause(pause);
    }
  }

  /** Sends an event as soon as there is a connection with room. @throws StoppingError; MessageSizeError */
  async sendEvent(payload: Buffer): Promise<void> {
    for (;;) {
      const session = this.session ?? (await this.connected());
      if (session.full) await session.drained();
      if (!session.open) continue;
      session.send(payload);
      return;
    }
  }

  /** Sends what waits for nobody: without a connection it is left out. */
  notify(payload: Buffer): void {
    this.session?.send(payload);
  }

  /** The connection, when there is one. @throws StoppingError */
  connected(): Promise<Session> {
    const { session } = this;
    if (session !== undefined) return Promise.resolve(session);
    if (this.#stopping) return Promise.reject(new StoppingError('svc-agentd stops'));
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Whoever waits for a connection waits no more. */
  refuse(): void {
    this.#stopping = true;
    for (const { reject } of this.#waiting.splice(0)) reject(new StoppingError('svc-agentd stops'));
  }

  /** Waits until there is a key: enrolling, or looking whether somebody has put one there. */
  async #needKey(): Promise<void> {
    const { client, enrollment, logger, signal, setProblem } = this.#parts;
    const { enabled, manager_address, delay_after_enrollment } = client.enrollment;
    const hosts = [...new Set([manager_address ?? [], client.server.map(({ address }) => address)].flat())];
    let pause = ENROLL_PAUSE_S;
    while (!signal.aborted && (await this.#key()) === undefined) {
      if (enabled) {
        for (const host of hosts) {
          if (signal.aborted || !(await enrollment.enrol(host))) continue;
          logger.info(`Waiting ${delay_after_enrollment} seconds before server connection`);
          await this.#pause(delay_after_enrollment * SECOND_MS);
          return;
        }
      }
      if (!signal.aborted) setProblem('this agent has no key: it is not enrolled at a manager; events wait');
      // A key may be imported meanwhile.
      for (let second = 0; second < pause && !signal.aborted; second += 1) {
        await this.#pause(SECOND_MS);
        if ((await this.#key()) !== undefined) return;
      }
      pause = Math.min(pause + ENROLL_PAUSE_S, ENROLL_LONGEST_PAUSE_S);
    }
  }

  async #tryServer(server: ServerConfig): Promise<Session | undefined> {
    const { client, enrollment, logger, signal } = this.#parts;
    for (let attempt = 1; attempt <= server.max_retries && !signal.aborted; attempt += 1) {
      const session = await this.#attempt(server);
      if (session !== undefined) return session;
      if (attempt < server.max_retries) await this.#pause(server.retry_interval * SECOND_MS);
    }
    if (!signal.aborted && client.enrollment.enabled && (await enrollment.enrol(server.address))) {
      const session = await this.#attempt(server);
      if (session !== undefined) return session;
    }
    await this.#pause(server.retry_interval * SECOND_MS);
    if (!signal.aborted) {
      logger.warn(
        `(4101): Waiting for server reply (not started). Tried: '${server.address}'. Ensure that the manager version is 'v${COMPATIBILITY_VERSION}' or higher.`,
      );
    }
    return undefined;
  }

  async #attempt(server: ServerConfig): Promise<Session | undefined> {
    const { logger, session: parts, signal } = this.#parts;
    const key = await this.#key();
    if (key === undefined) {
      logger.error('(1751): File client.keys not found or empty.');
      return undefined;
    }
    if (key.name !== this.#name) {
      this.#name = key.name;
      this.#parts.renamed();
    }
    let address: string;
    try {
      address = await resolveHost(server.address);
    } catch {
      logger.warn(`Could not resolve hostname '${server.address}'`);
      return undefined;
    }
    const where = place(server, address);
    logger.info(`Trying to connect to server (${where}).`);
    const session = new Session(parts, key, address);
    const stop = (): void => session.end('stopped');
    signal.addEventListener('abort', stop);
    void session.ended.then(() => {
      signal.removeEventListener('abort', stop);
    });
    try {
      const refusal = await session.start(server, address, this.#steps(key));
      if (refusal !== undefined) {
        if (refusal !== '') logger.error(`Couldn't connect to server '${server.address}': '${refusal}'`);
        else if (!signal.aborted) logger.debug(`No answer from ${where}`);
        return undefined;
      }
    } catch (error) {
      session.end('lost');
      logger.error(`(1216): Unable to connect to '${where}': '${describeError(error)}'.`);
      return undefined;
    }
    logger.info(`(4102): Connected to the server (${where}).`);
    if (this.#lost) logger.info('Server responded. Releasing lock.');
    this.#lost = false;
    this.#startedAt = performance.now();
    this.#session = session;
    parts.state.status = 'connected';
    if (session.open) for (const { resolve } of this.#waiting.splice(0)) resolve(session);
    return session;
  }

  /** One a key: the event of the start is sent once a process. */
  #steps({ id, name, ip }: AgentKey): AgentHandshake {
    if (this.#handshake?.id !== id || this.#handshake.name !== name) {
      this.#handshake = { id, name, steps: new AgentHandshake(`v${COMPATIBILITY_VERSION}`, { name, ip }) };
    }
    return this.#handshake.steps;
  }

  async #key(): Promise<AgentKey | undefined> {
    try {
      const { agents, problems } = await this.#parts.keys.read();
      for (const { text } of problems) this.#keyProblems.error(text);
      return agents[0];
    } catch (error) {
      this.#keyProblems.error(`(1410): Reading authentication keys file: ${describeError(error)}`);
      return undefined;
    }
  }

  #pause(milliseconds: number): Promise<void> {
    return pause(milliseconds, this.#parts.signal);
  }
}

/** `[192.0.2.1]:1514/tcp` */
function place({ port, protocol }: ServerConfig, address: string): string {
  return `[${address}]:${port}/${protocol}`;
}
