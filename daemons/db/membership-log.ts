import { randomUUID } from 'node:crypto';

/** Changes that can be asked for; whoever knows less gets all agents. About a second's worth of the largest manager. */
const REMEMBERED_CHANGES = 100_000;

/**
 * Which agents came, went or changed their groups, in the order in which it happened. In memory alone: another process is
 * another epoch.
 */
export class MembershipLog {
  readonly epoch = randomUUID();
  readonly #remembered: number;
  #ids: number[] = [];
  /** Changes that were forgotten. */
  #forgotten = 0;

  /** @param remembered changes that are known for certain; up to twice as many are */
  constructor(remembered = REMEMBERED_CHANGES) {
    this.#remembered = remembered;
  }

  /** Grows with each change. */
  get version(): number {
    return this.#forgotten + this.#ids.length;
  }

  note(id: number): void {
    this.#ids.push(id);
    if (this.#ids.length <= 2 * this.#remembered) return;
    this.#forgotten += this.#ids.length - this.#remembered;
    this.#ids = this.#ids.slice(-this.#remembered);
  }

  /** Ids of the agents that changed since then; undefined when that is not known. */
  since({ epoch, version }: { readonly epoch: string; readonly version: number }): Set<number> | undefined {
    if (epoch !== this.epoch || version < this.#forgotten || version > this.version) return undefined;
    return new Set(this.#ids.slice(version - this.#forgotten));
  }
}
