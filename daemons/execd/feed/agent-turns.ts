/**
 * Which agents may be sent something now, so that each gets everything in order: none that is away, none that something is on its way to,
 * and none that was passed over for something earlier of the same round, even if it is free again meanwhile.
 */
export class AgentTurns {
  readonly #away = new Set<string>();
  readonly #busy = new Set<string>();
  readonly #passed = new Set<string>();

  /** A round over everything that waits begins. */
  begin(): void {
    this.#passed.clear();
  }

  /** Whether it may be sent what comes next in this round; who may not has its turn in another round. */
  take(agent: string): boolean {
    if (this.#away.has(agent) || this.#busy.has(agent)) this.#passed.add(agent);
    return !this.#passed.has(agent);
  }

  /** It was away when it was tried. */
  away(agent: string): void {
    this.#away.add(agent);
  }

  /** Something is on its way to it. */
  busy(agent: string): void {
    this.#busy.add(agent);
    this.#passed.add(agent);
  }

  /** It is known what became of that. */
  free(agent: string): void {
    this.#busy.delete(agent);
  }

  /** Those that were away are tried again. */
  retry(): void {
    this.#away.clear();
  }
}
