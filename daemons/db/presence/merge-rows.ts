import type { PresenceRow } from '../../../lib/bus/contracts/db-presence.js';
import { type AgentRow, MANAGER_ID } from '../agent-record.js';
import type { Edit } from '../edit.js';
import type { Registry } from '../registry.js';
import type { Outgoing } from './outgoing.js';
import type { Ownership } from './ownership.js';
import { saysTheSame, toldRecord } from './presence-row.js';
import { compareVersions, versionOf } from './row-version.js';

/** Rows of agents that are not registered here yet: svc-authd's word comes a moment later. More are asked for again. */
const MAX_ASIDE = 20_000;
/** How often those are looked at before they are given up: they are of agents that were removed. */
const MAX_LOOKS = 600;

export type MergeParts = {
  readonly registry: Registry;
  readonly outgoing: Pick<Outgoing, 'noteRow'>;
  readonly ownership: Ownership;
  /** Told of agents that were this node's and are another's now. */
  readonly lost: (id: number) => void;
};

/** Where rows come from: the node that told them, and the number of its batch. */
export type RowSource = { readonly node: string; readonly number: number };

/**
 * Takes over what other nodes tell of agents: the newer of two rows counts (`RowVersion`). Who tells of its own agents what is older
 * than what is known here is told that; what others say of agents of this node that it has heard itself does not count, but
 * its own word becomes newer than theirs.
 */
export class MergeRows {
  readonly counters = { rows: 0, newer: 0, lost: 0, raised: 0, corrected: 0, crowded_out: 0 };
  readonly #parts: MergeParts;
  readonly #aside = new Map<number, { readonly told: PresenceRow; readonly source: RowSource; looks: number }>();
  #crowdedOut = false;

  constructor(parts: MergeParts) {
    this.#parts = parts;
  }

  /** Rows that wait for their agents. */
  get aside(): number {
    return this.#aside.size;
  }

  /** Whether rows were left out for want of room, since it was asked last. */
  takeCrowdedOut(): boolean {
    const crowdedOut = this.#crowdedOut;
    this.#crowdedOut = false;
    return crowdedOut;
  }

  /** @throws BusError `disk_full`, `disk_failed`: nothing was taken over */
  async apply(rows: readonly PresenceRow[], source: RowSource): Promise<void> {
    if (rows.length === 0) return;
    await this.#parts.registry.edit((edit) => {
      for (const told of rows) this.#merge(edit, told, source);
    });
  }

  /** Takes over rows whose agents have been registered meanwhile. @throws BusError as `apply` */
  async retryAside(): Promise<void> {
    const { registry } = this.#parts;
    const known: { readonly told: PresenceRow; readonly source: RowSource }[] = [];
    for (const [id, kept] of this.#aside) {
      kept.looks += 1;
      if (registry.agents.get(id)?.record.name === kept.told.name) known.push(kept);
      else if (kept.looks > MAX_LOOKS) this.#aside.delete(id);
    }
    if (known.length === 0) return;
    await registry.edit((edit) => {
      for (const { told, source } of known) this.#merge(edit, told, source);
    });
    for (const { told } of known) this.#aside.delete(told.id);
  }

  #merge(edit: Edit, told: PresenceRow, source: RowSource): void {
    const { registry, ownership, outgoing } = this.#parts;
    this.counters.rows += 1;
    const row = registry.agents.get(told.id);
    // One of another name is another host's: its node has joined, and has not given the id up yet.
    if (row === undefined || (row.id !== MANAGER_ID && row.record.name !== told.name)) {
      this.#keepAside(told, source);
      return;
    }
    if (row.id === MANAGER_ID) return;
    if (told.node === source.node) row.heardAt = Math.max(row.heardAt, source.number);
    const order = compareVersions(told, versionOf(row.record));
    if (told.node === ownership.node && ownership.hears(row)) {
      this.#defend(edit, row, told, order);
    } else if (order > 0) {
      this.#takeOver(edit, row, told);
    } else if (order < 0) {
      if (told.node !== source.node) return;
      this.counters.corrected += 1;
      outgoing.noteRow(row.id);
    } else if (isLater(row, told)) {
      this.#takeOver(edit, row, told);
    } else if ((told.lastKeepAlive ?? 0) > (row.lastKeepAlive ?? 0) && told.lastKeepAlive !== undefined) {
      registry.touchOther(row, told.lastKeepAlive);
    }
  }

  /** What others know of an agent that was heard here: what is said here becomes newer than that. */
  #defend(edit: Edit, row: AgentRow, told: PresenceRow, order: number): void {
    const { outgoing } = this.#parts;
    if (order < 0) {
      outgoing.noteRow(row.id);
    } else if (order > 0 || !saysTheSame(row.record, told)) {
      this.counters.raised += 1;
      edit.setAgent(row.id, { ...row.record, claim: told.claim, revision: told.revision + 1 });
    }
  }

  #takeOver(edit: Edit, row: AgentRow, told: PresenceRow): void {
    const { registry, ownership, lost } = this.#parts;
    const { node } = ownership;
    this.counters.newer += 1;
    if (row.record.nodeName === node && told.node !== node && row.record.claim !== undefined) {
      this.counters.lost += 1;
      lost(row.id);
    }
    if (told.node !== node) row.heard = 0;
    const next = edit.setAgent(row.id, toldRecord(row.record, told));
    if (told.lastKeepAlive !== undefined) edit.setKeepAlive(next, told.lastKeepAlive);
    if (JSON.stringify(told.labels) !== JSON.stringify(registry.labels(row.id))) edit.setLabels(row.id, told.labels);
  }

  #keepAside(told: PresenceRow, source: RowSource): void {
    const known = this.#aside.get(told.id);
    if (known !== undefined && compareVersions(told, known.told) < 0) return;
    if (known === undefined && this.#aside.size >= MAX_ASIDE) {
      this.counters.crowded_out += 1;
      this.#crowdedOut = true;
      return;
    }
    this.#aside.set(told.id, { told, source, looks: 0 });
  }
}

/**
 * Of two rows of one version that differ: an agent of a lost node that two holders of the lease called disconnected. The later
 * time counts, everywhere.
 */
function isLater({ record }: AgentRow, told: PresenceRow): boolean {
  return told.disconnectionTime > record.disconnectionTime && !saysTheSame(record, told);
}
