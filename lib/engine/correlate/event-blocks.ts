import type { RememberedEvent } from './remembered-event.js';

/** Events of a block at most: encoding them takes a few milliseconds, and what is encoded once is kept. */
const MAX_EVENTS = 1000;
/** Blocks that have no more than that between them become one. */
const SMALL_EVENTS = MAX_EVENTS / 2;

/** What is encoded of a block, once. Its events are needed no more then. */
export type BlockContent = { events: readonly RememberedEvent[]; encoded: Buffer | undefined };

/** Some remembered events that are encoded together, in the order of arrival of each shard. */
export class EventBlock {
  #events: (RememberedEvent | undefined)[] = [];
  #living = 0;
  #content: BlockContent = { events: [], encoded: undefined };

  constructor(events: readonly RememberedEvent[]) {
    this.append(events);
  }

  /** Events that are still remembered. */
  get living(): number {
    return this.#living;
  }

  /** By the places they have in what is encoded; undefined for those that are forgotten. */
  get events(): readonly (RememberedEvent | undefined)[] {
    return this.#events;
  }

  get content(): BlockContent {
    return this.#content;
  }

  /** Whether it should be encoded anew: it was never, or half of it is forgotten. */
  get isStale(): boolean {
    return this.#content.encoded === undefined || this.#living * 2 < this.#events.length;
  }

  /** Forgets those that are forgotten, and adds others; what was encoded is of no use then. */
  append(events: readonly RememberedEvent[]): void {
    const living = [...this.#events.filter((event) => event !== undefined), ...events];
    for (const [index, event] of living.entries()) {
      event.block = this;
      event.blockIndex = index;
    }
    this.#events = living;
    this.#living = living.length;
    this.#content = { events: [...living], encoded: undefined };
  }

  /** An event of it is forgotten. */
  release(event: RememberedEvent): void {
    this.#events[event.blockIndex] = undefined;
    this.#living -= 1;
    event.block = undefined;
  }

  /** Those that are still remembered. */
  survivors(): RememberedEvent[] {
    return this.#events.filter((event) => event !== undefined);
  }
}

/** All remembered events in blocks: those of one shard are in the order of their arrival. */
export class EventBlocks {
  #blocks: readonly EventBlock[] = [];

  /**
   * Brings blocks up to date.
   * @param fresh events that are in none yet; newer than those of their shards that are
   */
  update(fresh: readonly RememberedEvent[]): readonly EventBlock[] {
    const blocks: EventBlock[] = [];
    for (const block of this.#blocks) {
      const last = blocks.at(-1);
      if (block.living === 0) continue;
      if (last !== undefined && last.living + block.living <= SMALL_EVENTS) {
        last.append(block.survivors());
        continue;
      }
      if (block.isStale) block.append([]);
      blocks.push(block);
    }
    let from = 0;
    const last = blocks.at(-1);
    if (last !== undefined && last.living <= SMALL_EVENTS && fresh.length > 0) {
      from = Math.min(fresh.length, MAX_EVENTS - last.living);
      last.append(fresh.slice(0, from));
    }
    for (; from < fresh.length; from += MAX_EVENTS) blocks.push(new EventBlock(fresh.slice(from, from + MAX_EVENTS)));
    this.#blocks = blocks;
    return blocks;
  }
}
