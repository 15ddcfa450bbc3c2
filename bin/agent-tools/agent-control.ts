import { isIP } from 'node:net';
import * as z from 'zod';
import { formatAgentId, isAgentId, MANAGER_ID } from '../../lib/agentlink/agent-identity.js';
import { takesTextOrders } from '../../lib/agentlink/restart-order.js';
import { BusError } from '../../lib/bus/bus-error.js';
import { dbContract } from '../../lib/bus/contracts/db.js';
import { AGENT_STATUSES, type AgentFilter, MAX_AGENTS_PER_PAGE } from '../../lib/bus/contracts/db-agents.js';
import { execdContract } from '../../lib/bus/contracts/execd.js';
import { MAX_AGENTS_PER_SEND, remotedContract } from '../../lib/bus/contracts/remoted.js';
import { syscheckdContract } from '../../lib/bus/contracts/syscheckd.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { loadManagerConfig } from '../../lib/config/load-manager-config.js';
import type { Home } from '../../lib/home/home.js';
import { ctime } from '../../lib/time/ctime.js';
import { AgentControlError, type AgentControlErrorNumber } from './agent-control-error.js';
import { type AgentOrder, orderErrors, orderMessage, runMessage, SCAN_ORDER } from './agent-order.js';
import { daemonClient } from './daemon-client.js';
import { requireManager } from './require-manager.js';

/** A send to very many agents takes its time, milliseconds. */
const SEND_DEADLINE_MS = 120_000;
const FIELDS = ['id', 'name', 'registerIP', 'status'];
const DETAILS = [...FIELDS, 'os.uname', 'version', 'configSum', 'mergedSum', 'lastKeepAlive'];
const STATUS_WORDS = {
  active: 'Active',
  disconnected: 'Disconnected',
  never_connected: 'Never connected',
  pending: 'Pending',
} as const;
const NOT_KNOWN = 'Unknown';
/** A program in active-response/bin of agents, by its own name. */
const SCRIPT = /^![\w.-]+$/;

/** An agent in a list; the status is the word shown. */
export type ListedAgent = { readonly id: string; readonly name: string; readonly ip: string; readonly status: string };

/** All that is shown of one agent, under the names of the JSON answer. */
export type AgentDetails = ListedAgent & {
  readonly os: string;
  readonly version: string;
  readonly configSum: string;
  readonly mergedSum: string;
  /** Epoch seconds. */
  readonly lastKeepAlive: string;
  /** Local time, as C's `ctime` writes it. */
  readonly syscheckTime: string;
  /** The end is not known while a scan runs. */
  readonly syscheckEndTime: string;
};

const itemSchema = z.object({
  id: z.string(),
  name: z.string(),
  registerIP: z.string(),
  status: z.enum(AGENT_STATUSES),
  os: z.object({ uname: z.string().optional() }).optional(),
  version: z.string().optional(),
  configSum: z.string().optional(),
  mergedSum: z.string().optional(),
  lastKeepAlive: z.string().optional(),
});
type AgentRow = z.output<typeof itemSchema>;

/** The work of `agent_control` for one manager: it asks svc-db, and svc-remoted or svc-syscheckd to do things. */
export class AgentControl {
  readonly #home: Home;
  readonly #db: RequestClient<typeof dbContract>;
  readonly #remoted: RequestClient<typeof remotedContract>;
  readonly #syscheckd: RequestClient<typeof syscheckdContract>;
  readonly #execd: RequestClient<typeof execdContract>;

  /** @throws HomeError when the home is no manager's, or that of a worker; ConfigError */
  constructor(home: Home) {
    requireManager(home);
    this.#home = home;
    this.#db = daemonClient(home, dbContract);
    this.#remoted = daemonClient(home, remotedContract);
    this.#syscheckd = daemonClient(home, syscheckdContract);
    this.#execd = daemonClient(home, execdContract);
  }

  /** The manager itself, then agents by id. @throws AgentControlError 46 */
  async *list(which: 'all' | 'active' | 'not active'): AsyncGenerator<ListedAgent> {
    const others = AGENT_STATUSES.filter((status) => status !== 'active');
    const filters = { all: {}, active: { status: 'active' }, 'not active': { status: others } };
    const manager = await this.#find(MANAGER_ID, FIELDS);
    if (manager !== undefined) yield listed(manager);
    for await (const page of this.#pages(filters[which], FIELDS)) yield* page.map(listed);
  }

  /** @param text the id as it was typed @throws AgentControlError 40, 46 */
  async info(text: string): Promise<AgentDetails> {
    const id = agentId(text);
    const found = await this.#find(id, DETAILS);
    if (found === undefined) throw unknownAgent(text);
    return details(found, await this.#ask(() => this.#db.call('fim.last_scan', { agent: id })));
  }

  /** Sends an order to one agent. @throws AgentControlError 40, 42, 44, 47 and for daemons that do not answer 41, 43, 46 */
  async order(order: AgentOrder, text: string): Promise<void> {
    this.#check(order);
    const id = agentId(text);
    if (id === MANAGER_ID) return this.#orderManager(order);
    const agent = await this.#find(id, [...FIELDS, 'version']);
    if (agent === undefined) throw unknownAgent(text);
    const [failed] = await this.#send(order, [id], takesTextOrders(agent.version));
    if (failed !== undefined) throw new AgentControlError(orderErrors(order)[1], failed.message);
  }

  /** The daemons of the manager itself are told over the bus. */
  async #orderManager(order: AgentOrder): Promise<void> {
    if (order === 'restart') {
      throw new AgentControlError(44, "000 is the manager itself: 'svc-control restart' restarts it");
    }
    const [away] = orderErrors(order);
    if (order === 'scan') {
      await this.#ask(() => this.#syscheckd.call('order', { text: SCAN_ORDER }), away);
    } else {
      const message = runMessage(order.response, order.address);
      await this.#ask(() => this.#execd.call('responses.run', { message }), away);
    }
  }

  /** @throws AgentControlError 47 for a response that there is none of */
  #check(order: AgentOrder): void {
    if (typeof order === 'string') return;
    const { response, address } = order;
    if (isIP(address) === 0) throw new AgentControlError(47, `Invalid address '${address}'.`);
    if (SCRIPT.test(response) || this.responses().some(({ name }) => name === response)) return;
    throw new AgentControlError(47, `Invalid active response '${response}'. -L lists those that there are.`);
  }

  /** Sends an order to all active agents. @returns how many it went to @throws AgentControlError 41, 43, 46, 47 */
  async orderAll(order: AgentOrder): Promise<number> {
    this.#check(order);
    const text: string[] = [];
    const json: string[] = [];
    for await (const page of this.#pages({ status: 'active' }, [...FIELDS, 'version'])) {
      for (const { id, version } of page) (takesTextOrders(version) ? text : json).push(id);
    }
    const failed = [await this.#send(order, text, true), await this.#send(order, json, false)].flat();
    return text.length + json.length - failed.length;
  }

  /** Active responses of the configuration, by the names agents know them by. @throws ConfigError */
  responses(): { readonly name: string; readonly executable: string }[] {
    const { 'active-response': section } = loadManagerConfig(this.#home, ['command', 'active-response']);
    return section.responses.map(({ command, timeout }) => ({
      name: `${command.name}${timeout}`,
      executable: command.executable,
    }));
  }

  close(): void {
    this.#db.close();
    this.#remoted.close();
    this.#syscheckd.close();
    this.#execd.close();
  }

  async #find(id: string, select: string[]): Promise<AgentRow | undefined> {
    const { items } = await this.#ask(() => this.#db.call('agents.get', { ids: [id], select }));
    return items.map((item) => itemSchema.parse(item))[0];
  }

  /** Agents without the manager itself, many at a time. */
  async *#pages(filter: AgentFilter, select: string[]): AsyncGenerator<AgentRow[]> {
    for (let offset = 0; ;) {
      const params = { ...filter, offset, limit: MAX_AGENTS_PER_PAGE, select };
      const { items, total } = await this.#ask(() => this.#db.call('agents.list', params));
      yield items.map((item) => itemSchema.parse(item)).filter(({ id }) => id !== MANAGER_ID);
      offset += items.length;
      if (items.length === 0 || offset >= total) return;
    }
  }

  async #send(order: AgentOrder, ids: readonly string[], asText: boolean) {
    const message = orderMessage(order, asText);
    const failed: { readonly id: string; readonly message: string }[] = [];
    for (let at = 0; at < ids.length; at += MAX_AGENTS_PER_SEND) {
      const params = { ids: ids.slice(at, at + MAX_AGENTS_PER_SEND), message };
      const call = () => this.#remoted.call('agents.send', params, { deadlineMs: SEND_DEADLINE_MS });
      failed.push(...(await this.#ask(call, orderErrors(order)[0])).failed);
    }
    return failed;
  }

  async #ask<T>(call: () => Promise<T>, number: AgentControlErrorNumber = 46): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw error instanceof BusError ? new AgentControlError(number, error.message, { cause: error }) : error;
    }
  }
}

/** @throws AgentControlError 40 */
function agentId(text: string): string {
  if (!isAgentId(text)) throw unknownAgent(text);
  return formatAgentId(Number(text));
}

function unknownAgent(text: string): AgentControlError {
  return new AgentControlError(40, `Invalid agent id '${text}'.`);
}

function listed({ id, name, registerIP, status }: AgentRow): ListedAgent {
  return { id, name, ip: registerIP, status: id === MANAGER_ID ? 'Active/Local' : STATUS_WORDS[status] };
}

function details(item: AgentRow, scan: { readonly start: string | null; readonly end: string | null }): AgentDetails {
  const { os, version = NOT_KNOWN, configSum = NOT_KNOWN, mergedSum = NOT_KNOWN, lastKeepAlive } = item;
  const seconds = lastKeepAlive === undefined ? NaN : Date.parse(lastKeepAlive) / 1000;
  return {
    ...listed(item),
    os: os?.uname ?? NOT_KNOWN,
    version,
    configSum,
    mergedSum,
    lastKeepAlive: Number.isNaN(seconds) ? NOT_KNOWN : String(seconds),
    syscheckTime: localTime(scan.start),
    syscheckEndTime: localTime(scan.end),
  };
}

/** @param time ISO 8601 */
function localTime(time: string | null): string {
  return time === null ? NOT_KNOWN : ctime(String(Date.parse(time) / 1000));
}
