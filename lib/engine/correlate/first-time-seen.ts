import { asciiLowerCase } from '../ascii-case.js';
import type { EngineEvent } from '../event.js';
import { findField } from '../event-field.js';
import { FTS_PARTS } from '../load/fts-spec.js';

/** Longest key in bytes (decoding.md 4.9). */
const MAX_KEY = 255;
/** Bound on the keys of one store: an attacker who makes up names must not fill the memory. */
const MAX_KEYS = 1_000_000;

export type FirstTimeSeenOptions = {
  /** How many recent keys of category ids are compared (`analysisd.fts_list_size`). */
  readonly listSize: number;
  /** Common leading bytes above which keys of category ids are shortened (`analysisd.fts_min_size_for_str`). */
  readonly minSize: number;
};

export type FirstTimeSeenSnapshot = { readonly keys: readonly string[]; readonly recent: readonly string[] };

/** Keys seen so far, for `if_fts` (rules-and-alerts.md 6.2). */
export class FirstTimeSeen {
  readonly #options: FirstTimeSeenOptions;
  readonly #keys = new Set<string>();
  /** The last keys of category ids, newest last. */
  #recent: string[] = [];
  #forgotten = 0;

  constructor(options: FirstTimeSeenOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#keys.size;
  }

  /** How many of the oldest keys were forgotten to make room; they count as new when they come again. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Whether the key is known. */
  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** Whether so many more keys can be added without any being forgotten. */
  hasRoomFor(more: number): boolean {
    return this.#keys.size + more <= MAX_KEYS;
  }

  /** Adds a key that is known already, from `queue/fts/fts-queue`. */
  load(key: string): void {
    this.#add(key);
  }

  /**
   * Whether the event's key is new; if so it is stored.
   * @returns the key as stored, undefined when it is known or the decoder declares none
   */
  firstSight(event: EngineEvent): string | undefined {
    const key = firstTimeSeenKey(event);
    return key === undefined ? undefined : this.take(key, event.category === 'ids');
  }

  /** The same for the key of an event. @param isIds whether the event is of category ids */
  take(fullKey: string, isIds: boolean): string | undefined {
    let key = fullKey;
    if (this.#keys.has(key)) return undefined;
    if (isIds) {
      key = this.#shorten(key);
      this.#recent.push(key);
      if (this.#recent.length > this.#options.listSize) this.#recent.shift();
      if (this.#keys.has(key)) {
        // Known in its short form: it is no recent key, though the oldest has made room for it.
        this.#recent.pop();
        return undefined;
      }
    }
    this.#add(key);
    return key;
  }

  /** @param withoutKeys for an owner that keeps the keys elsewhere and loads them after `restore` */
  snapshot(withoutKeys = false): FirstTimeSeenSnapshot {
    return { keys: withoutKeys ? [] : [...this.#keys], recent: [...this.#recent] };
  }

  restore(snapshot: FirstTimeSeenSnapshot): void {
    this.#keys.clear();
    for (const key of snapshot.keys) this.#keys.add(key);
    this.#recent = [...snapshot.recent];
  }

  #add(key: string): void {
    this.#keys.add(key);
    if (this.#keys.size <= MAX_KEYS) return;
    for (const oldest of this.#keys) {
      this.#keys.delete(oldest);
      this.#forgotten += 1;
      return;
    }
  }

  /** Keys that begin like more than two recent ones are cut, so that variants of one signature count once. */
  #shorten(key: string): string {
    const { minSize } = this.#options;
    const alike = this.#recent.filter((other) => commonPrefix(other, key) > minSize).length;
    return alike > 2 ? key.slice(0, minSize) : key;
  }
}

/** The event's key (decoding.md 4.9), or undefined when its decoder declares no `fts`. */
export function firstTimeSeenKey(event: EngineEvent): string | undefined {
  const { decoder } = event;
  if (decoder?.fts === undefined) return undefined;
  let key = decoder.name;
  for (const part of FTS_PARTS) {
    key += ' ';
    if (decoder.fts.parts.has(part)) key += event[part] ?? '';
  }
  for (const name of decoder.fts.fields) {
    const value = findField(event, asciiLowerCase(name));
    if (value !== undefined) key += ` ${value}`;
  }
  return key.slice(0, MAX_KEY);
}

function commonPrefix(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let i = 0;
  while (i < length && a.charCodeAt(i) === b.charCodeAt(i)) i += 1;
  return i;
}
