import type { Home } from '../../lib/home/home.js';
import { outputParts } from '../chaos/output-parts.js';
import { GrowingFile } from '../support/logcollector/growing-file.js';
import { FACTS, type FileFacts } from './file-facts.js';

type FimAlert = {
  readonly timestamp: string;
  readonly rule: { readonly id: string };
  readonly agent: { readonly id: string };
  readonly syscheck?: { readonly path: string; readonly event: string; readonly mode: string } & Readonly<
    Record<string, unknown>
  >;
};

/** Rules of the shipped ruleset by event (integrity-and-inventory.md 6.6). */
const RULES: Readonly<Record<string, string>> = { added: '554', modified: '550', deleted: '553' };
/** Faults kept in full; beyond it they are only counted. */
const MOST_FAULTS = 50;

/**
 * What alerts.json says of files, told from the first alert to the last: the state that each path has by them. Each alert
 * must go on where the one before it ended, so that one that is lost and one that is written twice both show.
 */
export class AlertStory {
  /** State by path; a path that is not in it does not exist as far as the alerts say. */
  readonly state: Map<string, FileFacts>;
  readonly faults: string[] = [];
  faultCount = 0;
  /** Alerts of files so far, and by mode. */
  count = 0;
  readonly modes = new Map<string, number>();
  readonly #home: Home;
  readonly #files = new Map<string, GrowingFile>();
  readonly #history = new Map<string, string[]>();
  readonly #changes = new Map<string, number>();

  /** @param state what the product knows without having told: that of the baseline */
  constructor(home: Home, state: ReadonlyMap<string, FileFacts>) {
    this.#home = home;
    this.state = new Map(state);
  }

  /** Reads on. */
  read(): void {
    for (const path of outputParts(this.#home, 'alerts.json')) {
      const file = this.#files.get(path) ?? new GrowingFile(path);
      this.#files.set(path, file);
      for (const line of file.read().toString('utf8').split('\n')) {
        if (line.includes('"syscheck":')) this.#tell(JSON.parse(line) as FimAlert);
      }
    }
  }

  /** Alerts of a path, one line each. */
  historyOf(path: string): readonly string[] {
    return this.#history.get(path) ?? [];
  }

  /** How many alerts a path that exists had since it was last deleted; undefined when it had none at all. */
  changesOf(path: string): number | undefined {
    return this.#changes.get(path);
  }

  #tell({ syscheck, rule, agent, timestamp }: FimAlert): void {
    if (syscheck === undefined) return;
    const { path, event, mode } = syscheck;
    const now = factsOf(syscheck);
    const before = this.state.get(path);
    this.count += 1;
    this.modes.set(mode, (this.modes.get(mode) ?? 0) + 1);
    const told = `${timestamp} ${event} (${mode}) inode ${now.inode} size ${now.size} mtime ${now.mtime} ${now.md5.slice(0, 8)}`;
    this.#history.set(path, [...this.historyOf(path), told]);
    if (agent.id !== '000') this.#fault(path, `${told}: of agent ${agent.id}`);
    if (rule.id !== RULES[event]) this.#fault(path, `${told}: rule ${rule.id}`);
    if (event === 'added') {
      if (before !== undefined) this.#fault(path, `${told}: it was there`);
    } else if (before === undefined) {
      this.#fault(path, `${told}: it was not there`);
    } else if (event === 'modified') {
      this.#compareModified(path, told, syscheck, before, now);
    } else {
      const wrong = FACTS.filter((name) => now[name] !== before[name]);
      if (wrong.length > 0) this.#fault(path, `${told}: it had another ${wrong.join(', ')}`);
    }
    if (event === 'deleted') {
      this.state.delete(path);
      this.#changes.delete(path);
    } else {
      this.state.set(path, now);
      this.#changes.set(path, (this.#changes.get(path) ?? 0) + 1);
    }
  }

  /** What it says of the file before is what the alert before said. */
  #compareModified(
    path: string,
    told: string,
    syscheck: NonNullable<FimAlert['syscheck']>,
    before: FileFacts,
    now: FileFacts,
  ): void {
    const wrong = FACTS.filter((name) => {
      const value = syscheck[`${name}_before`];
      const old = value === undefined ? now[name] : name === 'mtime' ? epochSeconds(value) : textOf(value);
      return old !== before[name];
    });
    if (wrong.length > 0) this.#fault(path, `${told}: it had another ${wrong.join(', ')}`);
    if (FACTS.every((name) => now[name] === before[name])) this.#fault(path, `${told}: nothing changed`);
  }

  #fault(path: string, what: string): void {
    this.faultCount += 1;
    if (this.faults.length < MOST_FAULTS) this.faults.push(`${path}: ${what}`);
  }
}

function factsOf(syscheck: Readonly<Record<string, unknown>>): FileFacts {
  const fact = (name: string): string => textOf(syscheck[`${name}_after`]);
  return {
    size: fact('size'),
    perm: fact('perm'),
    uid: fact('uid'),
    gid: fact('gid'),
    md5: fact('md5'),
    sha1: fact('sha1'),
    sha256: fact('sha256'),
    mtime: epochSeconds(syscheck['mtime_after']),
    inode: fact('inode'),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** Alerts have the local time of the manager, which is that of this process. */
function epochSeconds(value: unknown): string {
  return String(Date.parse(textOf(value)) / 1000);
}
