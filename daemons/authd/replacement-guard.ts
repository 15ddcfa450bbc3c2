/** Replacements of one name are remembered for this long, milliseconds. */
const WINDOW_MS = 3_600_000;
/** So many replacements within the window are let through even when an earlier owner is seen coming back. */
const RETURNS_ALLOWED = 2;
/** So many within the window are too many, whoever asks. */
const REPLACEMENTS_ALLOWED = 10;
/** Names remembered; an attacker who enrols ever new ones pushes out the oldest instead of filling the memory. */
const MAX_NAMES = 10_000;

/** A replacement of the past. */
type Replacement = {
  readonly at: number;
  /** Where the owner that had to go had enrolled from, when known. */
  readonly oldSource: string | undefined;
  readonly oldKeyHash: string;
};

type History = {
  readonly replacements: Replacement[];
  /** Source of the present owner. */
  source: string | undefined;
  refused: number;
  refusedSources: Set<string>;
  lastAt: number;
};

/** Hosts that use one name, for the log and the API. Times are milliseconds since 1970. */
export type NameConflict = {
  readonly name: string;
  /** Addresses seen, the present owner's first. */
  readonly sources: readonly string[];
  /** How often the name changed hands within the last hour. */
  readonly replacements: number;
  /** Enrolments refused because of it. */
  readonly refused: number;
  readonly last: number;
};

/** Addresses of one name kept for the report. */
const MAX_SOURCES = 8;

/**
 * Keeps two hosts with one name from replacing each other for ever. Each that was replaced loses its key, enrols again
 * and replaces the other. An earlier owner that comes back is recognised by the hash of its lost key or by its address;
 * after a few changes of hands the name stays with the one that has it until an hour has passed.
 */
export class ReplacementGuard {
  readonly #names = new Map<string, History>();
  readonly #now: () => number;

  /** @param now milliseconds since 1970 */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Whether the present owner of the name stays because the name changes hands in a loop. A refusal is counted.
   * @param source address of the host that asks
   * @param keyHash hash of the key it says it has
   */
  holds(name: string, source: string | undefined, keyHash: string | undefined): boolean {
    const history = this.#recent(name);
    if (history === undefined) return false;
    const { replacements } = history;
    const returns = replacements.some(
      ({ oldKeyHash, oldSource }) =>
        oldKeyHash === keyHash || (source !== undefined && oldSource === source && history.source !== source),
    );
    const held = replacements.length >= REPLACEMENTS_ALLOWED || (returns && replacements.length >= RETURNS_ALLOWED);
    if (held) {
      history.refused += 1;
      history.lastAt = this.#now();
      if (source !== undefined && history.refusedSources.size < MAX_SOURCES) history.refusedSources.add(source);
    }
    return held;
  }

  /** Whether a host that asks is known as one that lost the name to the host that has it now. */
  wasReplaced(name: string, source: string, keyHash: string | undefined): boolean {
    const history = this.#recent(name);
    if (history === undefined || history.source === source) return false;
    return history.replacements.some(({ oldKeyHash }) => oldKeyHash === keyHash);
  }

  /**
   * A new agent got the name from an old one.
   * @param stays whether it is taken for the same agent: as long as it comes from the same address, nothing was replaced
   */
  replaced(name: string, oldKeyHash: string, source: string | undefined, stays = false): void {
    const known = this.#recent(name);
    if (stays && known?.source === source) return;
    const history = known ?? {
      replacements: [],
      source: undefined,
      refused: 0,
      refusedSources: new Set<string>(),
      lastAt: 0,
    };
    const at = this.#now();
    history.replacements.push({ at, oldSource: history.source, oldKeyHash });
    history.source = source;
    history.lastAt = at;
    // The map keeps the order of insertion: the name moves to its end.
    this.#names.delete(name);
    this.#names.set(name, history);
    if (this.#names.size > MAX_NAMES) {
      const [oldest] = this.#names.keys();
      if (oldest !== undefined) this.#names.delete(oldest);
    }
  }

  /** The name is free: an operator removed its agent, and whoever comes next shall have it. */
  forget(name: string): void {
    this.#names.delete(name);
  }

  /** Names under dispute within the last hour, the latest first. */
  conflicts(): NameConflict[] {
    const found: NameConflict[] = [];
    for (const name of [...this.#names.keys()].reverse()) {
      const history = this.#recent(name);
      if (history === undefined || (history.refused === 0 && history.replacements.length < RETURNS_ALLOWED)) continue;
      const sources = [history.source, ...history.replacements.map(({ oldSource }) => oldSource)];
      const known = sources.filter((source) => source !== undefined);
      found.push({
        name,
        sources: [...new Set([...known, ...history.refusedSources])].slice(0, MAX_SOURCES),
        replacements: history.replacements.length,
        refused: history.refused,
        last: history.lastAt,
      });
    }
    return found;
  }

  #recent(name: string): History | undefined {
    const history = this.#names.get(name);
    if (history === undefined) return undefined;
    const oldest = this.#now() - WINDOW_MS;
    const kept = history.replacements.findIndex(({ at }) => at > oldest);
    if (kept < 0) {
      this.#names.delete(name);
      return undefined;
    }
    if (kept > 0) history.replacements.splice(0, kept);
    return history;
  }
}
