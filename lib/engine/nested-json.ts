import { asciiLowerCase } from './ascii-case.js';
import { printValue } from './json/json-printer.js';
import { JsonReader, JsonSyntaxError } from './json/json-reader.js';
import { jsonString } from './json-text.js';

/** Holds nothing between calls. */
const reader = new JsonReader();

/**
 * A JSON object built from dotted names (rules-and-alerts.md 7.1): `a.b` becomes a member of the object `a`. Names are
 * compared without regard to case; of equal names the first stays, and a name that would go through something that is
 * no object is dropped. All texts are byte strings.
 */
export class NestedJson {
  readonly #names: string[] = [];
  readonly #values: (string | NestedJson)[] = [];
  readonly #positions = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#names.length === 0;
  }

  /** Adds a member as it is, without looking at dots. `json` is JSON text. */
  set(name: string, json: string): void {
    this.#put(name, json);
  }

  /** Adds a text under a dotted name; a text that is a complete JSON array becomes that array. */
  addText(dottedName: string, text: string): void {
    if (!dottedName.includes('.')) {
      this.#put(dottedName, textOrArray(text));
      return;
    }
    const parts = dottedName.split('.');
    const last = parts.pop() ?? '';
    const parent = this.#descend(parts);
    if (parent !== undefined) parent.#put(last, textOrArray(text));
  }

  toString(): string {
    let json = '';
    for (let i = 0; i < this.#names.length; i++) {
      const value = this.#values[i];
      if (value === undefined) continue;
      json += `${i === 0 ? '{' : ','}${jsonString(this.#names[i] ?? '')}:${typeof value === 'string' ? value : value.toString()}`;
    }
    return json === '' ? '{}' : `${json}}`;
  }

  #put(name: string, value: string | NestedJson): void {
    const key = asciiLowerCase(name);
    if (this.#positions.has(key)) return;
    this.#positions.set(key, this.#names.length);
    this.#names.push(name);
    this.#values.push(value);
  }

  /** The object at a path, made where it is missing; undefined when something else stands in the way. */
  #descend(path: readonly string[]): NestedJson | undefined {
    let object: NestedJson | undefined;
    // Step by step, and not by recursion: a name may have any number of dots.
    for (const name of path) {
      object = object === undefined ? this.#child(name) : object.#child(name);
      if (object === undefined) return undefined;
    }
    return object;
  }

  #child(name: string): NestedJson | undefined {
    const position = this.#positions.get(asciiLowerCase(name));
    if (position === undefined) {
      const child = new NestedJson();
      this.#put(name, child);
      return child;
    }
    const value = this.#values[position];
    return value instanceof NestedJson ? value : undefined;
  }
}

function textOrArray(text: string): string {
  if (text.charCodeAt(0) !== 0x5b) return jsonString(text);
  return arrayJson(text) ?? jsonString(text);
}

/** Compact JSON of a text that is a complete JSON array, or undefined. */
function arrayJson(text: string): string | undefined {
  try {
    reader.start(text);
    const json = printValue(reader, false);
    return reader.atEnd() ? json : undefined;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}
