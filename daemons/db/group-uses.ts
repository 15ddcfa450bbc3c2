import { randomUUID } from 'node:crypto';

/**
 * When groups were last wanted: created, or given to agents. Who removes a group because of something seen a moment ago
 * must not take it from those who have made it again meanwhile. In memory alone: another process is another epoch.
 */
export class GroupUses {
  readonly #epoch = randomUUID();
  readonly #last = new Map<string, number>();
  #moment = 0;

  /** Stands for this moment. */
  get mark(): string {
    return `${this.#epoch}:${String(this.#moment)}`;
  }

  /** The groups are wanted. */
  note(names: Iterable<string>): void {
    this.#moment += 1;
    for (const name of names) this.#last.set(name, this.#moment);
  }

  /** The groups are gone. */
  forget(names: Iterable<string>): void {
    for (const name of names) this.#last.delete(name);
  }

  /** Whether a group was not wanted since then; false when that cannot be told. */
  isUnusedSince(name: string, mark: string): boolean {
    const [epoch, moment] = mark.split(':');
    return epoch === this.#epoch && (this.#last.get(name) ?? 0) <= Number(moment);
  }
}
