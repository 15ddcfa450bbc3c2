import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from '../support/api/api-client.js';
import { eventually } from '../support/eventually.js';
import type { ChaosHome } from './chaos-home.js';
import { signalProcess } from './processes-of-home.js';
import { KILLED, type Killed, type Product } from './product.js';
import type { Random } from './random.js';

export type MisfortuneParts = {
  readonly place: ChaosHome;
  readonly product: Product;
  readonly api: ApiClient;
  readonly random: Random;
  /** Has many events sent at once. */
  readonly crowd: (count: number) => void;
  /** Ends the producers of this process as if they were killed with everything else. */
  readonly crashProducers: () => Promise<void>;
  /** Takes from the files of the killed product what a power cut takes; after `crashProducers`. */
  readonly cutPower: () => Promise<void>;
};

/** Events and milliseconds by which a crowd goes before a kill, so that it meets a busy pipeline. */
const MAX_CROWD = 2500;
const MAX_AHEAD_MS = 150;
/** After this time nothing of a crowd is on its way into the journal any more. */
const MAX_BUSY_MS = 30;
/** Shorter than the API waits for an acknowledgement. */
const MAX_STALL_MS = 3000;
/** How long a daemon may take to come up before it is killed once more. */
const BACK_MS = 5000;

/** What can happen to a running product, chosen at random; counts what did. */
export class Misfortunes {
  /** By daemon, `supervisor` and `everything`. */
  readonly kills = new Map<string, number>();
  /** Kills of everything that were power cuts. */
  powerCuts = 0;
  restarts = 0;
  reloads = 0;
  readonly #parts: MisfortuneParts;

  constructor(parts: MisfortuneParts) {
    this.#parts = parts;
  }

  get killCount(): number {
    return [...this.kills.values()].reduce((sum, count) => sum + count, 0);
  }

  /** How often a daemon has ended, or may have, when the product is stopped. */
  endsOf(daemon: Killed): number {
    return (this.kills.get(daemon) ?? 0) + (this.kills.get('everything') ?? 0) + this.restarts + 1;
  }

  /** One misfortune. What it ended is being started again when it resolves. */
  async happen(): Promise<void> {
    const { random } = this.#parts;
    const action = random.weighted<() => Promise<void>>([
      [34, () => this.#kill('svc-analysisd')],
      [8, () => this.#killAgain('svc-analysisd')],
      [12, () => this.#kill('svc-apid')],
      [16, () => this.#kill('svc-logcollector')],
      [6, () => this.#kill('svc-monitord')],
      [6, () => this.#kill('svc-execd')],
      [8, () => this.#killSupervisor()],
      [2, () => this.#killEverything()],
      [6, () => this.#cutPower()],
      [3, () => this.#stall()],
      [4, () => this.#restart()],
      [6, () => this.#reload()],
      [4, () => this.#parts.crashProducers()],
    ]);
    await action();
  }

  async #kill(daemon: Killed): Promise<void> {
    const { product, random } = this.#parts;
    await this.#crowdAhead();
    if (await product.kill(daemon)) this.#count(daemon);
    await delay(random.integer(0, 500));
    void product.startAll();
  }

  /** A second time while it comes up again. */
  async #killAgain(daemon: Killed): Promise<void> {
    await this.#kill(daemon);
    const { product, random } = this.#parts;
    await eventually(`${daemon} comes back`, () => product.processOf(daemon) !== undefined, BACK_MS).catch(() => {});
    await delay(random.integer(0, 400));
    await this.#kill(daemon);
  }

  async #killSupervisor(): Promise<void> {
    const { product, random } = this.#parts;
    if (await product.killSupervisor()) this.#count('supervisor');
    if (random.chance(0.5)) await this.#kill(random.pick(KILLED));
    await delay(random.integer(0, 500));
    void product.startAll();
  }

  async #killEverything(): Promise<void> {
    const { product, crashProducers, random } = this.#parts;
    await product.killEverything();
    this.#count('everything');
    if (random.chance(0.5)) await crashProducers();
    void product.startAll();
  }

  async #cutPower(): Promise<void> {
    const { product, random, crowd, crashProducers, cutPower } = this.#parts;
    // Just after many events were sent, when some are on their way into the journal.
    crowd(random.integer(1, MAX_CROWD));
    await delay(random.integer(0, MAX_BUSY_MS));
    // At times the others die first, and what is acknowledged in between reaches nobody.
    if (random.chance(0.3)) await crashProducers();
    await product.kill('svc-analysisd');
    await product.killEverything();
    this.#count('everything');
    this.powerCuts += 1;
    await crashProducers();
    await cutPower();
    void product.startAll();
  }

  /** svc-analysisd stands still, as on a host that swaps, and windows fill. */
  async #stall(): Promise<void> {
    const { product, random } = this.#parts;
    const stopped = product.processOf('svc-analysisd');
    if (stopped === undefined || !signalProcess(stopped, 'SIGSTOP')) return;
    this.#parts.crowd(MAX_CROWD);
    await delay(random.integer(200, MAX_STALL_MS));
    signalProcess(stopped, 'SIGCONT');
  }

  async #restart(): Promise<void> {
    const { product, random } = this.#parts;
    await product.control('restart', ...(random.chance(0.3) ? [] : [random.pick(KILLED)]));
    this.restarts += 1;
  }

  async #reload(): Promise<void> {
    const { place, product, api, random } = this.#parts;
    if (random.chance(0.7)) place.writeNextRuleset();
    if (random.chance(0.5)) await product.control('reload', 'svc-analysisd');
    else await api.call('PUT', '/manager/analysisd/reload');
    this.reloads += 1;
  }

  async #crowdAhead(): Promise<void> {
    const { random, crowd } = this.#parts;
    if (random.chance(0.5)) return;
    crowd(random.integer(1, MAX_CROWD));
    await delay(random.integer(0, MAX_AHEAD_MS));
  }

  #count(what: string): void {
    this.kills.set(what, (this.kills.get(what) ?? 0) + 1);
  }
}
