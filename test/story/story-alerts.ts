import type { Home } from '../../lib/home/home.js';
import { outputParts } from '../chaos/output-parts.js';
import { GrowingFile } from '../support/logcollector/growing-file.js';

export type StoryAlert = {
  readonly id: string;
  readonly timestamp: string;
  readonly rule: { readonly id: string; readonly level: number; readonly description: string };
  readonly agent: { readonly id: string; readonly name: string };
  readonly data?: { readonly srcip?: string };
  readonly full_log?: string;
};

/** Alerts of a home, read while they are written. */
export class StoryAlerts {
  readonly #home: Home;
  readonly #files = new Map<string, GrowingFile>();
  readonly #all: StoryAlert[] = [];

  constructor(home: Home) {
    this.#home = home;
  }

  /** From now on those count that are written behind. */
  forget(): void {
    this.#read();
    this.#all.length = 0;
  }

  /** Those there are by now, in their order. */
  all(): readonly StoryAlert[] {
    this.#read();
    return this.#all;
  }

  #read(): void {
    for (const path of outputParts(this.#home, 'alerts.json')) {
      const file = this.#files.get(path) ?? new GrowingFile(path);
      this.#files.set(path, file);
      for (const line of file.read().toString().split('\n')) {
        if (line !== '') this.#all.push(JSON.parse(line) as StoryAlert);
      }
    }
  }

  /** Those of a rule, about an address where one is given. */
  of(rule: string, address?: string): readonly StoryAlert[] {
    return this.all().filter(
      (alert) => alert.rule.id === rule && (address === undefined || alert.data?.srcip === address),
    );
  }
}
