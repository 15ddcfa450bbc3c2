import { randomUUID } from 'node:crypto';
import {
  MAX_PRESENCE_BYTES,
  MAX_PRESENCE_ROWS,
  type PresenceBatch,
  type PresenceMark,
  type PresenceRow,
} from '../../../lib/bus/contracts/db-presence.js';
import type { AgentRow } from '../agent-record.js';
import type { Registry } from '../registry.js';
import { type Beat, encodeBeats } from './beats.js';
import { presenceRow, presenceRowBytes } from './presence-row.js';

/** Batches of one turn: a whole node's agents connect at once, and others are to have their turn. */
const MAX_BATCHES = 20;
const NO_BEATS = new Uint8Array();

/** What this node has to tell the others, collected until it is their turn. */
export class Outgoing {
  /** This life of svc-db. */
  readonly incarnation = randomUUID();
  readonly counters = { batches: 0, rows: 0, beats: 0 };
  readonly #registry: Registry;
  readonly #node: string;
  #number = 0;
  #rows = new Set<number>();
  #beats = new Set<number>();

  constructor(registry: Registry, node: string) {
    this.#registry = registry;
    this.#node = node;
  }

  /** Up to here all is told. */
  get mark(): PresenceMark {
    return { incarnation: this.incarnation, number: this.#number };
  }

  get waiting(): number {
    return this.#rows.size;
  }

  /** A row has changed, or is to be told again. */
  noteRow(id: number): void {
    this.#rows.add(id);
  }

  noteBeat(id: number): void {
    this.#beats.add(id);
  }

  /** What there is to tell now; without anything new a batch that says up to where all is told. */
  take(): PresenceBatch[] {
    const batches: PresenceBatch[] = [];
    while (this.#rows.size > 0 && batches.length < MAX_BATCHES) {
      const rows = this.#takeRows();
      if (rows.length > 0) batches.push(this.#batch(rows, NO_BEATS));
    }
    const beats = this.#takeBeats();
    if (beats.length > 0 || batches.length === 0) batches.push(this.#batch([], encodeBeats(beats)));
    this.counters.batches += batches.length;
    this.counters.beats += beats.length;
    return batches;
  }

  #batch(rows: PresenceRow[], beats: Uint8Array): PresenceBatch {
    return { node: this.#node, incarnation: this.incarnation, number: this.#number, rows, beats };
  }

  #takeRows(): PresenceRow[] {
    const taken: { readonly row: AgentRow; readonly told: PresenceRow }[] = [];
    let bytes = 0;
    for (const id of this.#rows) {
      const row = this.#registry.agents.get(id);
      const told = row === undefined ? undefined : presenceRow(row, this.#registry.labels(id));
      if (told !== undefined) bytes += presenceRowBytes(told);
      if (taken.length === MAX_PRESENCE_ROWS || (bytes > MAX_PRESENCE_BYTES && taken.length > 0)) break;
      this.#rows.delete(id);
      this.#beats.delete(id);
      if (row !== undefined && told !== undefined) taken.push({ row, told });
    }
    if (taken.length > 0) this.#number += 1;
    for (const { row } of taken) row.toldAt = this.#number;
    this.counters.rows += taken.length;
    return taken.map(({ told }) => told);
  }

  /** Keepalives of agents that are this node's; those whose row is still to be told come with it. */
  #takeBeats(): Beat[] {
    const ids = [...this.#beats].filter((id) => !this.#rows.has(id)).sort((a, b) => a - b);
    this.#beats = new Set();
    return ids.flatMap((id) => {
      const row = this.#registry.agents.get(id);
      const isOwn = row?.record.nodeName === this.#node;
      return isOwn && row.lastKeepAlive !== undefined ? [{ id, time: row.lastKeepAlive }] : [];
    });
  }
}
