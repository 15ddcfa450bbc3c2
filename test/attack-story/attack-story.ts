import { setTimeout as delay } from 'node:timers/promises';
import { RunFiles } from '../../lib/daemon/run-files.js';
import { readRunRecord } from '../../lib/daemon/run-record.js';
import type { Home } from '../../lib/home/home.js';
import { MinimalAgent } from '../support/agentlink/minimal-agent.js';
import type { ApiClient } from '../support/api/api-client.js';
import { ATTACK_HOSTS, type AttackHost, attackSteps } from './attack-lines.js';

const KEEPALIVE_MS = 10_000;

export type AttackStoryParts = {
  readonly home: Home;
  readonly api: Pick<ApiClient, 'call'>;
  readonly say: (text: string) => void;
  /** Milliseconds between two lines. */
  readonly paceMs: number;
  readonly signal?: AbortSignal;
};

/** Three agents, which speak the real protocol, at a manager that runs, and what is in their logs while they are attacked. */
export class AttackStory {
  readonly #parts: AttackStoryParts;
  readonly #agents = new Map<AttackHost, MinimalAgent>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: AttackStoryParts) {
    this.#parts = parts;
  }

  /** Enrols the agents, those that are known already as who they are, and connects them. @throws Error when the manager refuses */
  async begin(): Promise<void> {
    const { home, say } = this.#parts;
    const port = readRunRecord(new RunFiles(home, 'svc-remoted').record())?.addresses['agents_tcp']?.port;
    if (port === undefined) throw new Error('svc-remoted does not listen for agents over TCP');
    for (const name of ATTACK_HOSTS) {
      const { id, key: line } = await this.#identity(name);
      // As `manage_agents -e` shows it: the agent's line of client.keys.
      const [, , , key = ''] = Buffer.from(line, 'base64').toString('utf8').split(' ');
      const agent = new MinimalAgent({ id, name, key });
      await agent.startWhenKnown(port);
      agent.keepalive();
      this.#agents.set(name, agent);
      say(`  ${name} is agent ${id}`);
    }
    this.#timer = setInterval(() => this.#agents.forEach((agent) => agent.keepalive()), KEEPALIVE_MS);
  }

  /** Plays the story, once. @returns how many lines were sent */
  async play(): Promise<number> {
    const { say, paceMs, signal } = this.#parts;
    let sent = 0;
    for (const step of attackSteps(() => new Date())) {
      say(`  ${step.title}`);
      for (const { host, location, line } of step.lines) {
        this.#agents.get(host)?.event(location, line);
        sent += 1;
        if (paceMs > 0) await delay(paceMs, undefined, signal === undefined ? {} : { signal });
      }
    }
    return sent;
  }

  end(): void {
    clearInterval(this.#timer);
    for (const agent of this.#agents.values()) {
      agent.shutdown();
      agent.socket?.end();
    }
  }

  async #identity(name: string): Promise<{ readonly id: string; readonly key: string }> {
    const known = await this.#ask('GET', `/agents?name=${name}&select=id`);
    const id = (known.affected_items?.[0] as { id: string } | undefined)?.id;
    if (id === undefined) {
      const body = JSON.stringify({ name, ip: 'any' });
      return (await this.#ask('POST', '/agents', body)) as { id: string; key: string };
    }
    const [item] = (await this.#ask('GET', `/agents/${id}/key`)).affected_items ?? [];
    return item as { id: string; key: string };
  }

  async #ask(method: string, path: string, body?: string) {
    const { api } = this.#parts;
    const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await api.call(method, path, headers, body);
    if (answer?.status !== 200) throw new Error(`${method} ${path}: ${answer?.text ?? 'the API cannot be reached'}`);
    return (answer.json() as { data: { affected_items?: unknown[] } & Record<string, unknown> }).data;
  }
}
