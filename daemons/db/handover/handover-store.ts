import type { HandoverRow, HandoverStoreName } from '../../../lib/bus/contracts/db-handover.js';

/** A row of a section, as another node of the same product reads it. */
export type SectionRow = { readonly key: Buffer; readonly value: Buffer };

/** A store of rows of agents that can be handed over from node to node. */
export interface HandoverStore {
  /** Parts that an agent's rows are in, always in the same order. @param agent `001` */
  sections(agent: string): readonly string[];
  /** Rows of a section as they were last committed, behind a key. */
  rows(agent: string, section: string, after: Buffer | undefined): Iterable<SectionRow>;
  /**
   * Stores rows where there is none of the same key: what the agent has told here is newer.
   * @returns how many were stored
   * @throws BusError `disk_full`, `disk_failed`; Error for rows that are not what they should be, of which none is stored then
   */
  adopt(agent: string, rows: readonly HandoverRow[]): Promise<number>;
}

/** All of them, by the names that nodes say. */
export type HandoverStores = Readonly<Record<HandoverStoreName, HandoverStore>>;
