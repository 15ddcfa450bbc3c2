import { BusError } from '../../lib/bus/bus-error.js';
import { type Contract, defineContract } from '../../lib/bus/contract.js';
import { commonMethods } from '../../lib/bus/contracts/common.js';
import { logcollectorContract } from '../../lib/bus/contracts/logcollector.js';
import { syscheckdContract } from '../../lib/bus/contracts/syscheckd.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import type { DaemonCatalogue } from '../../lib/control/daemon-catalogue.js';
import type { Home } from '../../lib/home/home.js';
import type { DaemonName } from '../../lib/product/daemon-names.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-request.js';
import { ABSENT_PARTS } from './absent-parts.js';
import { DaemonClient } from './daemon-client.js';
import { isAway } from './daemon-failure.js';
import { watchedClient } from './daemon-presence.js';

/** What a daemon may take to say what it has in memory, or that it has an order; milliseconds. */
const ANSWER_MS = 5000;

/** What svc-monitord answers for svc-execd: it is about the manager as a whole. */
const ABOUT_MANAGER = new Set(['com:logging', 'com:cluster']);

/** Parts that the reference has daemons of their own for, which do not run when nothing is configured. */
const OUTPUTS = new Set(['csyslog', 'integrator', 'mail']);

/**
 * Who answers for each part of a manager (daemons-and-config.md 1.7); the others are no daemons here. A manager is no
 * agent: svc-analysisd answers for that part.
 */
const DAEMON_OF: ReadonlyMap<string, DaemonName> = new Map([
  ['agent', 'svc-analysisd'],
  ['analysis', 'svc-analysisd'],
  ['auth', 'svc-authd'],
  ['com', 'svc-execd'],
  ['csyslog', 'svc-monitord'],
  ['logcollector', 'svc-logcollector'],
  ['monitor', 'svc-monitord'],
  ['request', 'svc-remoted'],
  ['syscheck', 'svc-syscheckd'],
  ['svc-db', 'svc-db'],
  ['wmodules', 'svc-modulesd'],
]);

/** Asks the manager's own daemons what agents are asked through svc-remoted. */
export class ManagerDaemons {
  constructor(
    private readonly home: Home,
    private readonly node: () => string,
    private readonly catalogue: Pick<DaemonCatalogue, 'program'>,
  ) {}

  /**
   * The configuration that a daemon has in force; of one that this build does not have, that there is none.
   * @throws ApiError 1116, 1117, 1121
   */
  async configuration(
    component: string,
    configuration: string,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>> {
    const extra = `${component}:${configuration}`;
    const daemon = ABOUT_MANAGER.has(extra) ? 'svc-monitord' : DAEMON_OF.get(component);
    if (daemon === undefined) throw new ApiError(1117, { extra });
    const absent = ABSENT_PARTS.get(extra);
    if (absent !== undefined && this.catalogue.program(daemon) === undefined) return absent;
    try {
      const section = component === 'mail' ? `mail-${configuration}` : configuration;
      const active = await this.#with(defineContract(daemon, commonMethods), (client) =>
        client.call('config', { section }, { deadlineMs: ANSWER_MS, signal }),
      );
      if (OUTPUTS.has(component) && Object.keys(active).length === 0) throw new ApiError(1117, { extra });
      return active;
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      if (error.code === 'unknown_section') throw new ApiError(1116, { extra });
      throw isAway(error) ? new ApiError(1117, { extra }) : new ApiError(1121, { extra: daemon });
    }
  }

  /** What svc-logcollector counted, as agents answer `getstate`. @throws ApiError 1117 */
  async logcollectorState(signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    try {
      return await this.#with(logcollectorContract, (client) =>
        client.call('getstate', {}, { deadlineMs: ANSWER_MS, signal }),
      );
    } catch (error) {
      throw error instanceof BusError ? new ApiError(1117) : error;
    }
  }

  /** Gives svc-syscheckd an order, as agents are given theirs. @throws ApiError 1017 when it does not run */
  async orderSyscheckd(request: ApiRequest, text: string): Promise<void> {
    const { home, node } = this;
    await this.#with(syscheckdContract, (client) =>
      new DaemonClient({ home, node, daemon: 'svc-syscheckd', client }).call(
        request,
        'order',
        { text },
        { deadlineMs: ANSWER_MS },
      ),
    );
  }

  async #with<C extends Contract, T>(contract: C, work: (client: RequestClient<C>) => Promise<T>): Promise<T> {
    const client = watchedClient(this.home, contract);
    try {
      return await work(client);
    } finally {
      client.close();
    }
  }
}
