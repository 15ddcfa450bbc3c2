import type { BusError } from '../../lib/bus/bus-error.js';
import type { CallParams, CallResult, MethodName } from '../../lib/bus/contract.js';
import { MAX_AGENTS_PER_CALL } from '../../lib/bus/contracts/db-agents.js';
import type { modulesdContract, ShownTask, WantedPackage } from '../../lib/bus/contracts/modulesd.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-request.js';
import type { FailedItem } from '../http/envelope.js';
import type { ErrorCode } from '../http/error-code.js';
import type { DaemonClient } from './daemon-client.js';

type Contract = typeof modulesdContract;

/** Codes of agents that are not upgraded (rest-api.md 6.2). */
const AGENT_CODES: readonly ErrorCode[] = [1816, 1817, 1818, 1819, 1820, 1821, 1822, 1825];

/** Filters of tasks. */
export type TaskFilter = Omit<CallParams<Contract, 'tasks.list'>, 'after' | 'limit'>;

/** Asks svc-modulesd for upgrades of agents and other tasks. */
export class ModulesdClient {
  constructor(private readonly modulesd: DaemonClient<Contract>) {}

  /**
   * Makes a task for each agent.
   * @throws ApiError 1823, 1826, 1828; 1017 when svc-modulesd does not run
   */
  async upgrade(
    request: ApiRequest,
    agents: readonly string[],
    wanted: WantedPackage,
  ): Promise<{ readonly tasks: readonly { agent: string; id: number }[]; readonly failed: readonly FailedItem[] }> {
    const tasks: { agent: string; id: number }[] = [];
    const failed: FailedItem[] = [];
    for (let at = 0; at < agents.length; at += MAX_AGENTS_PER_CALL) {
      const some = agents.slice(at, at + MAX_AGENTS_PER_CALL);
      const made = await this.#call(request, 'upgrades.create', { agents: some, package: wanted });
      for (const task of made.tasks) tasks.push(task);
      for (const { agent, code, message } of made.failed) failed.push({ id: agent, error: worded(code, message) });
    }
    return { tasks, failed };
  }

  /** The last upgrade of each agent, and who has none. @throws ApiError 1017 when svc-modulesd does not run */
  async lastUpgrades(
    request: ApiRequest,
    agents: readonly string[],
  ): Promise<{ readonly tasks: readonly ShownTask[]; readonly without: readonly string[] }> {
    const tasks: ShownTask[] = [];
    const without: string[] = [];
    for (let at = 0; at < agents.length; at += MAX_AGENTS_PER_CALL) {
      const last = await this.#call(request, 'upgrades.last', { agents: agents.slice(at, at + MAX_AGENTS_PER_CALL) });
      for (const task of last.tasks) tasks.push(task);
      for (const agent of last.without) without.push(agent);
    }
    return { tasks, without };
  }

  /** All tasks that pass, by id. @throws ApiError 1017 when svc-modulesd does not run */
  async tasks(request: ApiRequest, filter: TaskFilter): Promise<readonly ShownTask[]> {
    const tasks: ShownTask[] = [];
    for (let more = true; more;) {
      const page = await this.#call(request, 'tasks.list', { ...filter, after: tasks.at(-1)?.id ?? 0 });
      for (const task of page.tasks) tasks.push(task);
      ({ more } = page);
    }
    return tasks;
  }

  #call<K extends MethodName<Contract>>(
    request: ApiRequest,
    method: K,
    params: CallParams<Contract, K>,
  ): Promise<CallResult<Contract, K>> {
    return this.modulesd.call(request, method, params, { refusal });
  }
}

function refusal({ code, message: text }: BusError): ApiError | undefined {
  if (code === 'version_too_high') return new ApiError(1823, { values: { text } });
  if (code === 'no_package') return new ApiError(1826, { values: { text } });
  return code === 'too_many_tasks' || code === 'disk_full' ? new ApiError(1828, { values: { text } }) : undefined;
}

function worded(code: number, text: string): ApiError {
  return new ApiError(AGENT_CODES.find((known) => known === code) ?? 1828, { values: { text } });
}
