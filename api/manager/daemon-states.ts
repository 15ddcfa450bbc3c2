import { BusError } from '../../lib/bus/bus-error.js';
import type { monitordContract } from '../../lib/bus/contracts/monitord.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import { readDaemonStatus, shownState } from '../../lib/daemon/daemon-status.js';
import type { Home } from '../../lib/home/home.js';
import type { DaemonName } from '../../lib/product/daemon-names.js';
import type { ApiSettings } from '../api-settings.js';
import { shownDaemon } from './daemon-names.js';

/** How long svc-monitord may take before the status is read from var/run instead (architecture.md 4 "Status"). */
const STATUS_DEADLINE_MS = 500;
/** How long an answer serves those who ask after it: a quarter of the time between two heartbeats. */
const SHARED_MS = 250;

/** Order in which `GET /manager/status` shows the daemons (product.md 2.5). */
const SHOWN_DAEMONS = [
  'svc-analysisd',
  'svc-authd',
  'svc-monitord',
  'svc-execd',
  'svc-logcollector',
  'svc-remoted',
  'svc-syscheckd',
  'svc-clusterd',
  'svc-modulesd',
  'svc-db',
  'svc-apid',
] as const satisfies readonly DaemonName[];

/** `running` or `stopped` by the name of the daemon as answers show it. */
export type ShownStates = Readonly<Record<string, string>>;

export type DaemonStatesParts = {
  readonly home: Home;
  readonly monitord: RequestClient<typeof monitordContract>;
  readonly settings: () => Pick<ApiSettings, 'daemonNames'>;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic: () => number;
};

type SharedStates = {
  readonly askedAt: number;
  readonly names: ApiSettings['daemonNames'];
  readonly states: Promise<ShownStates>;
};

/** States of the daemons for `GET /manager/status`: however many want them at a time, svc-monitord is asked once. */
export class DaemonStates {
  readonly #parts: DaemonStatesParts;
  #shared: SharedStates | undefined;

  constructor(parts: DaemonStatesParts) {
    this.#parts = parts;
  }

  /** States that are not older than a quarter of a second; the same object for as long as they are shared. */
  current(): Promise<ShownStates> {
    const now = this.#parts.monotonic();
    const { daemonNames } = this.#parts.settings();
    const known = this.#shared;
    if (known !== undefined && now - known.askedAt < SHARED_MS && known.names === daemonNames) return known.states;
    const states = this.#ask(daemonNames);
    const shared = { askedAt: now, names: daemonNames, states };
    this.#shared = shared;
    states.catch(() => {
      if (this.#shared === shared) this.#shared = undefined;
    });
    return states;
  }

  async #ask(daemonNames: ApiSettings['daemonNames']): Promise<ShownStates> {
    const shown = (state: (name: DaemonName) => string) =>
      Object.fromEntries(SHOWN_DAEMONS.map((name) => [shownDaemon(name, daemonNames), state(name)]));
    try {
      const states = await this.#parts.monitord.call('status', {}, { deadlineMs: STATUS_DEADLINE_MS });
      return shown((name) => (states[name] === 'running' ? 'running' : 'stopped'));
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      const states = await readDaemonStatus(this.#parts.home);
      return shown((name) => shownState(states.get(name)));
    }
  }
}
