import type { AgentRecord, AgentRow } from '../agent-record.js';
import type { Edit } from '../edit.js';
import { sameTold } from './presence-row.js';

/** Which agents are this node's, and the versions of their rows (`RowVersion`). */
export class Ownership {
  /** Rises when this process stood still: what it heard before may not be so any more. */
  #life = 1;

  readonly #isFresh: () => boolean;

  /**
   * @param node name of this node
   * @param isFresh whether this process has not stood still just now
   */
  constructor(
    readonly node: string,
    isFresh: () => boolean,
  ) {
    this.#isFresh = isFresh;
  }

  /** What was heard up to now is not sure any more. */
  stoodStill(): void {
    this.#life += 1;
  }

  /** Whether this node has heard the agent itself, and knows it better than others. */
  hears({ record, heard }: AgentRow): boolean {
    return record.nodeName === this.node && heard === this.#life && this.#isFresh();
  }

  /** One that no node has claimed is known here alone. */
  isOwn({ record }: AgentRow): boolean {
    return record.claim === undefined || record.nodeName === this.node;
  }

  /** Makes an agent that was heard here one of this node. @returns whether it was another's until now */
  take(edit: Edit, row: AgentRow): boolean {
    const { claim, nodeName } = row.record;
    const isNew = claim === undefined || nodeName !== this.node;
    if (isNew) edit.setAgent(row.id, this.claimed(row.record));
    const isTaken = isNew && claim !== undefined;
    row.heard = this.#life;
    row.partial ||= isTaken;
    return isTaken;
  }

  /** The record as one of this node, newer than what is known. */
  claimed(record: AgentRecord): AgentRecord {
    return { ...record, nodeName: this.node, claim: (record.claim ?? 0) + 1, revision: 0 };
  }

  /** The record that is put in place of another: where it says something new of an own agent it is a newer one. */
  stamped(before: AgentRecord, next: AgentRecord): AgentRecord {
    if (next.nodeName !== this.node || next.claim === undefined) return next;
    if (next.claim !== before.claim || next.revision !== before.revision) return next;
    return sameTold(before, next) ? next : { ...next, revision: (before.revision ?? 0) + 1 };
  }

  /** The record of an agent whose labels have changed. */
  relabelled(record: AgentRecord): AgentRecord {
    if (record.nodeName !== this.node || record.claim === undefined) return record;
    return { ...record, revision: (record.revision ?? 0) + 1 };
  }
}
