import { isIP } from 'node:net';
import type { BusEvent } from '../../lib/bus/bus-event.js';
import type { authdContract } from '../../lib/bus/contracts/authd.js';
import type { dbContract } from '../../lib/bus/contracts/db.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { QUEUE_IDS } from '../../lib/events/queue-ids.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { LimitedLogger, Logger } from '../../lib/log/logger.js';
import type { Clock } from '../../lib/rotation/clock.js';
import { LostAgents } from './lost-agents.js';

/** Times of the watch, seconds unless said otherwise. */
export type AgentWatchSettings = {
  /** `<agents_disconnection_time>`: also how often it is looked. */
  readonly disconnectionTime: number;
  /** `<agents_disconnection_alert_time>` */
  readonly alertTime: number;
  /** `monitord.monitor_agents` */
  readonly alerts: boolean;
  /** `monitord.delete_old_agents`, minutes; 0: none are deleted. */
  readonly deleteAfterMinutes: number;
  /** Name of this node in a cluster: it watches its own agents, and those of lost nodes while it holds the lease. */
  readonly node: string | undefined;
};

export type AgentWatchParts = {
  readonly db: Pick<RequestClient<typeof dbContract>, 'call'>;
  readonly authd: Pick<RequestClient<typeof authdContract>, 'call'>;
  /** False when the event has to be offered again. */
  readonly send: (event: BusEvent) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** As of now: a reload may change them. */
  readonly settings: () => AgentWatchSettings;
};

export type GoneAgent = {
  readonly id: string;
  readonly name: string;
  readonly registerIP: string;
  /** The address it told last, which its alerts show. */
  readonly ip: string;
};

const TICK_MS = 1000;
/** After the start, agents that connect anew are to be seen before others are called gone. */
const START_WAIT_SECONDS = 10;
/** When svc-db did not answer. */
const RETRY_SECONDS = 10;
/** Agents asked for in one call, and deleted in one. */
const AGENTS_PER_CALL = 1000;
/** Events that wait for a full window; older ones are given up. */
const MAX_WAITING_EVENTS = 100_000;
const LOCATION = 'wazuh-monitord';
const MINUTE = 60;

/** Finds agents that are no longer heard, and tells the analysis (agents-and-groups.md 4.6, daemons-and-config.md 4.1). */
export class AgentWatch {
  readonly #parts: AgentWatchParts;
  readonly #failureLog: LimitedLogger;
  /** Disconnected and not yet announced, by id. */
  readonly #remembered = new Map<string, GoneAgent>();
  readonly #lost: LostAgents;
  #outbox: BusEvent[] = [];
  #nextCheck: number;
  #nextAnnouncement = 0;
  #nextDeletion: number | undefined;

  constructor(parts: AgentWatchParts) {
    this.#parts = parts;
    this.#failureLog = parts.logger.limited();
    this.#lost = new LostAgents(parts.db);
    this.#nextCheck = this.#now() + Math.min(START_WAIT_SECONDS, parts.settings().disconnectionTime);
  }

  /** Agents that were found disconnected and are not announced yet. */
  get remembered(): number {
    return this.#remembered.size + this.#lost.remembered;
  }

  /** Works until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#parts.clock.sleep(TICK_MS, signal);
      if (!signal.aborted) await this.tick();
    }
  }

  /** One turn; failures are logged and tried again. */
  async tick(): Promise<void> {
    const settings = this.#parts.settings();
    this.#flush();
    const now = this.#now();
    if (now >= this.#nextCheck) {
      let done = false;
      await this.#guarded(async () => {
        done = await this.#disconnect(settings, now);
      });
      this.#nextCheck = now + (done ? settings.disconnectionTime : Math.min(RETRY_SECONDS, settings.disconnectionTime));
    }
    if (this.#remembered.size > 0 && now >= this.#nextAnnouncement) {
      await this.#guarded(async () => {
        // In a cluster one that is gone here may be connected elsewhere: that must be known now, not only before.
        if (settings.node === undefined || (await this.#disconnect(settings, now))) await this.#announce(settings, now);
      });
      this.#nextAnnouncement = now + Math.max(1, settings.alertTime);
    }
    if (settings.node !== undefined) {
      await this.#guarded(async () => {
        for (const agent of await this.#lost.look(settings, now)) this.#outbox.push(this.#disconnectedEvent(agent));
      });
    }
    await this.#deleteWhenDue(settings, now);
    this.#flush();
  }

  /** @returns whether it is known which agents are connected */
  async #disconnect({ disconnectionTime, alerts }: AgentWatchSettings, now: number): Promise<boolean> {
    const { agents, judged } = await this.#parts.db.call('agents.disconnect_stale', {
      before: now - disconnectionTime,
      at: now,
    });
    if (!alerts) return judged;
    for (const { id, name, registerIP, ip } of agents) this.#remembered.set(id, { id, name, registerIP, ip });
    return judged;
  }

  /** Announces those that are still gone, and gone for long enough. */
  async #announce({ disconnectionTime, alertTime }: AgentWatchSettings, now: number): Promise<void> {
    const ids = [...this.#remembered.keys()];
    for (let at = 0; at < ids.length; at += AGENTS_PER_CALL) {
      const { items, unknown } = await this.#parts.db.call('agents.get', {
        ids: ids.slice(at, at + AGENTS_PER_CALL),
        select: ['id', 'status', 'lastKeepAlive'],
      });
      for (const id of unknown) this.#take(id, (agent) => this.#removedEvent(agent));
      for (const { id, status, lastKeepAlive } of items) {
        if (typeof id !== 'string') continue;
        if (status !== 'disconnected') {
          this.#remembered.delete(id);
        } else if (secondsOf(lastKeepAlive) < now - disconnectionTime - alertTime) {
          this.#take(id, (agent) => this.#disconnectedEvent(agent));
        }
      }
    }
  }

  #take(id: string, event: (agent: GoneAgent) => BusEvent): void {
    const agent = this.#remembered.get(id);
    this.#remembered.delete(id);
    if (agent !== undefined) this.#outbox.push(event(agent));
  }

  async #deleteWhenDue(settings: AgentWatchSettings, now: number): Promise<void> {
    const { deleteAfterMinutes, disconnectionTime } = settings;
    if (deleteAfterMinutes === 0) {
      this.#nextDeletion = undefined;
      return;
    }
    const period = deleteAfterMinutes * MINUTE;
    this.#nextDeletion ??= now + period;
    if (now < this.#nextDeletion) return;
    this.#nextDeletion = now + period;
    await this.#guarded(() => this.#deleteOld(disconnectionTime + period, settings));
  }

  async #deleteOld(olderThan: number, { alerts, node }: AgentWatchSettings): Promise<void> {
    const { authd, logger } = this.#parts;
    for (;;) {
      const old = await this.#oldAgents(olderThan, node);
      if (old.length === 0) return;
      const { removed, unknown } = await authd.call('remove', { ids: old.map(({ id }) => id) });
      const gone = new Set(removed.map(({ id }) => id));
      for (const agent of old.filter(({ id }) => gone.has(id))) {
        logger.info(`Agent '${agent.name}' (${agent.id}) was removed: it was disconnected for too long.`);
        this.#remembered.delete(agent.id);
        if (alerts) this.#outbox.push(this.#removedEvent(agent));
      }
      // svc-db hears of a removal a moment later: what is left of this page comes with the next turn.
      if (unknown.length > 0 || old.length < AGENTS_PER_CALL) return;
    }
  }

  /** Times of other nodes' agents are by other clocks: theirs are deleted there, and those of lost nodes by how long these are lost. */
  async #oldAgents(olderThan: number, node: string | undefined): Promise<GoneAgent[]> {
    const { items } = await this.#parts.db.call('agents.list', {
      status: 'disconnected',
      older_than: `${String(olderThan)}s`,
      select: ['id', 'name', 'registerIP'],
      limit: AGENTS_PER_CALL,
      ...(node === undefined ? {} : { node_name: node }),
    });
    const old = items.flatMap(({ id, name, registerIP }): GoneAgent[] =>
      typeof id === 'string' && typeof name === 'string' && typeof registerIP === 'string'
        ? [{ id, name, registerIP, ip: registerIP }]
        : [],
    );
    if (node === undefined || old.length > 0) return old;
    return (await this.#lost.old(olderThan, this.#now())).slice(0, AGENTS_PER_CALL);
  }

  #disconnectedEvent({ id, name, registerIP, ip }: GoneAgent): BusEvent {
    const labels = isIP(ip) === 0 ? undefined : new Map([['_agent_ip', ip]]);
    return this.#event(`ossec: Agent disconnected: '${name}-${registerIP}'.`, { id, name, ip: registerIP, labels });
  }

  #removedEvent({ name, registerIP }: GoneAgent): BusEvent {
    return this.#event(`ossec: Agent removed: '${name}-${registerIP}'.`, undefined);
  }

  #event(text: string, agent: BusEvent['agent']): BusEvent {
    const receivedAt = this.#parts.clock.now().getTime();
    return { queue: QUEUE_IDS.log, location: LOCATION, message: Buffer.from(text), receivedAt, agent };
  }

  #flush(): void {
    let sent = 0;
    for (const event of this.#outbox) {
      if (!this.#parts.send(event)) break;
      sent += 1;
    }
    this.#outbox = this.#outbox.slice(Math.max(sent, this.#outbox.length - MAX_WAITING_EVENTS));
  }

  #now(): number {
    return Math.floor(this.#parts.clock.now().getTime() / 1000);
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#failureLog.error(`Agents are not watched at the moment: ${describeError(error)}`);
    }
  }
}

/** Epoch seconds of a time as lists of agents show it; without one the agent was never heard. */
function secondsOf(time: unknown): number {
  return typeof time === 'string' ? Math.floor(Date.parse(time) / 1000) : 0;
}
