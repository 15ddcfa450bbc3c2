import type { Category } from '../event.js';

/** Remembered events as plain data: what a checkpoint holds. Attributes and fields are held by name. */
export type CorrelationSnapshot = {
  readonly events: readonly {
    readonly time: number;
    readonly agentId: string;
    readonly category: Category;
    readonly fullLog: string;
    readonly log: string;
    readonly attributes: readonly (string | null)[];
    readonly hasFields: boolean;
    readonly fields: readonly (readonly [string, string])[];
    readonly mark: number;
  }[];
  /** List key to positions in `events`, oldest first; an event stands in a list as often as it counts. */
  readonly lists: readonly (readonly [string, readonly number[]])[];
  readonly evicted: number;
  /** When idle lists are looked through next, in epoch seconds. */
  readonly nextSweep: number;
};
