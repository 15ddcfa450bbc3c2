import { BusError } from '../../../lib/bus/bus-error.js';
import type { RecordKind } from '../../../lib/bus/contracts/clusterd.js';
import { STALE } from '../../../lib/cluster/stale-error.js';

/**
 * Who decides now, or anew, comes first for so long, milliseconds: some ten are the rule, and a node that does not come holds others up
 * no longer.
 */
const KEPT_MS = 500;

/** What is to be written. */
export type TurnOf = {
  /** The node that decides it. */
  readonly node: string;
  /** What it is decided on. */
  readonly kinds: readonly RecordKind[];
  /** What it may change. */
  readonly changes: readonly RecordKind[];
};

type Waiting = { readonly of: TurnOf; readonly begin: () => void; readonly fail: (error: Error) => void };
type Kept = { readonly of: TurnOf; readonly timer: NodeJS.Timeout };

/**
 * One commit after the other, in the order in which they came. One that others have overtaken keeps its turn while it is decided
 * anew: nobody else changes what it rests on meanwhile. So of several nodes that decide at once each is overtaken once at most, and
 * none waits for longer than all others take.
 */
export class CommitTurns {
  readonly #waiting: Waiting[] = [];
  #isRunning = false;
  #kept: Kept | undefined;
  #stopped = false;
  #idle: (() => void) | undefined;

  get waiting(): number {
    return this.#waiting.length;
  }

  /** @throws BusError `cluster_unavailable` when nothing is begun any more; what the work throws */
  async run<T>(of: TurnOf, work: () => Promise<T>): Promise<T> {
    await this.#turn(of);
    try {
      return await work();
    } catch (error) {
      if (error instanceof BusError && error.code === STALE) this.#keep(of);
      throw error;
    } finally {
      this.#end();
    }
  }

  /**
   * Has a node decide when it is its turn, and comes first with that.
   * @param isOver whether it waits no longer @throws BusError as `run`; `busy` when it waits no longer: the turn is the next one's
   */
  async give(of: TurnOf, isOver = () => false): Promise<void> {
    await this.#turn(of);
    const over = isOver();
    if (!over) this.#keep(of);
    this.#end();
    if (over) throw new BusError('busy', 'nobody waits for it any more');
  }

  /** Begins nothing any more; to be called once. @returns when what was begun is done */
  stop(): Promise<void> {
    this.#stopped = true;
    this.#leave();
    for (const { fail } of this.#waiting.splice(0)) fail(stopping());
    return this.#isRunning ? new Promise((resolve) => (this.#idle = resolve)) : Promise.resolve();
  }

  #turn(of: TurnOf): Promise<void> {
    return new Promise((begin, fail) => {
      if (this.#stopped) throw stopping();
      this.#waiting.push({ of, begin, fail });
      this.#next();
    });
  }

  #end(): void {
    this.#isRunning = false;
    if (this.#stopped) this.#idle?.();
    this.#next();
  }

  #keep(of: TurnOf): void {
    this.#leave();
    const timer = setTimeout(() => {
      this.#leave();
      this.#next();
    }, KEPT_MS);
    this.#kept = { of, timer };
  }

  #leave(): void {
    clearTimeout(this.#kept?.timer);
    this.#kept = undefined;
  }

  #next(): void {
    if (this.#isRunning || this.#stopped) return;
    const kept = this.#kept?.of;
    const own = kept === undefined ? -1 : this.#waiting.findIndex(({ of }) => isSame(of, kept));
    const at = own >= 0 ? own : this.#waiting.findIndex(({ of }) => kept === undefined || !overtakes(of, kept));
    const [first] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (first === undefined) return;
    if (own >= 0) this.#leave();
    this.#isRunning = true;
    first.begin();
  }
}

/** Whether one is the other, decided now or anew. */
function isSame(one: TurnOf, other: TurnOf): boolean {
  return one.node === other.node && one.kinds.join() === other.kinds.join();
}

function stopping(): BusError {
  return new BusError('cluster_unavailable', 'svc-clusterd stops; nothing was made');
}

function overtakes({ changes }: TurnOf, { kinds }: TurnOf): boolean {
  return changes.some((kind) => kinds.includes(kind));
}
