import { BusError } from '../../../lib/bus/bus-error.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { ClusterdClient } from '../../../lib/cluster/shared-records.js';
import type { Home } from '../../../lib/home/home.js';
import type { DaemonName } from '../../../lib/product/daemon-names.js';
import { ASKABLE } from '../askable-methods.js';

type AnyClient = {
  call(method: string, params: unknown, options: { deadlineMs: number }): Promise<unknown>;
  close(): void;
};

/** The daemons of this node, as other nodes may call them. */
export class LocalDaemons {
  readonly #clients = new Map<string, AnyClient>();

  /** @param own answers for svc-clusterd itself, which need not call itself over the bus */
  constructor(
    private readonly home: Home,
    private readonly own: () => ClusterdClient,
  ) {}

  /** @throws BusError `not_askable` */
  requireAskable(daemon: string, method: string): void {
    const askable = Object.hasOwn(ASKABLE, daemon) ? ASKABLE[daemon as DaemonName] : undefined;
    if (askable === undefined || !askable.methods.includes(method)) {
      throw new BusError('not_askable', `${daemon} does not answer '${method}' to other nodes`);
    }
  }

  /** @throws BusError `not_askable`, `timeout`; what the daemon answers */
  async call(daemon: string, method: string, params: unknown, deadlineMs: number): Promise<unknown> {
    this.requireAskable(daemon, method);
    if (daemon === 'svc-clusterd') return await this.#callOwn(method as 'records.write', params, deadlineMs);
    return await this.#client(daemon as DaemonName).call(method, params, { deadlineMs });
  }

  /** What is begun goes on when nobody waits for it any more. */
  async #callOwn(method: 'records.write', params: unknown, deadlineMs: number): Promise<unknown> {
    const over = new AbortController();
    const timer = setTimeout(() => {
      over.abort(new BusError('timeout', `svc-clusterd did not answer '${method}' within ${deadlineMs} ms`));
    }, deadlineMs);
    try {
      return await this.own().call(method, params as never, { signal: over.signal });
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    for (const client of this.#clients.values()) client.close();
  }

  #client(daemon: DaemonName): AnyClient {
    let client = this.#clients.get(daemon);
    const askable = ASKABLE[daemon];
    if (askable === undefined) throw new BusError('not_askable', `${daemon} answers nothing to other nodes`);
    if (client === undefined) {
      client = new RequestClient({
        contract: askable.contract,
        path: this.home.socket(daemon),
      }) as unknown as AnyClient;
      this.#clients.set(daemon, client);
    }
    return client;
  }
}
