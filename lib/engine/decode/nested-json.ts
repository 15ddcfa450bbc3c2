import { asciiLowerCase } from '../ascii-case.js';
import { jsonString } from '../json-text.js';
import { printValue } from './json/json-printer.js';
import { JsonReader, JsonSyntaxError } from './json/json-reader.js';

/** Holds nothing between calls. */
const reader = new JsonReader();

const OPEN_BRACKET = 0x5b;

/** One step of a dotted name: how members are compared, and how it is written. */
type PathStep = { readonly key: string; readonly json: string };

/** Names whose steps are kept; a flood of made-up names only makes the cache begin anew. */
const MAX_PATHS = 8192;
/** Longer names are split each time: a log can have hundreds of them, all different. */
const MAX_PATH_LENGTH = 256;
/**
 * Most objects that a name opens; what is behind them is one name with its dots. A log of dots would be as many objects,
 * which no reader of JSON takes.
 */
const MAX_DEPTH = 64;
const paths = new Map<string, readonly PathStep[]>();

/** Steps of a dotted name. Events of one source have the same names again and again. */
function pathOf(dottedName: string): readonly PathStep[] {
  let path = paths.get(dottedName);
  if (path === undefined) {
    path = splitName(dottedName).map(stepOf);
    if (dottedName.length > MAX_PATH_LENGTH) return path;
    if (paths.size >= MAX_PATHS) paths.clear();
    paths.set(dottedName, path);
  }
  return path;
}

function splitName(dottedName: string): string[] {
  const names = dottedName.split('.', MAX_DEPTH + 1);
  if (names.length <= MAX_DEPTH) return names;
  const before = names.slice(0, MAX_DEPTH).join('.').length + 1;
  return [...names.slice(0, MAX_DEPTH), dottedName.slice(before)];
}

function stepOf(name: string): PathStep {
  return { key: asciiLowerCase(name), json: `${jsonString(name)}:` };
}

/**
 * A JSON object built from dotted names (rules-and-alerts.md 7.1): `a.b` becomes a member of the object `a`. Names are
 * compared without regard to case; of equal names the first stays, and a name that would go through something that is
 * no object is dropped. All texts are byte strings.
 */
export class NestedJson {
  /** By name in lower case, in the order in which they came. */
  readonly #members = new Map<string, Member>();

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  /** Adds a member as it is, without looking at dots. `json` is JSON text. */
  set(name: string, json: string): void {
    this.#put(stepOf(name), json);
  }

  /** Adds a text under a dotted name; a text that is a complete JSON array becomes that array. */
  addText(dottedName: string, text: string): void {
    this.addJson(dottedName, arrayJson(text) ?? jsonString(text));
  }

  /** Adds JSON text under a dotted name. */
  addJson(dottedName: string, json: string): void {
    NestedJson.#addAt(this, pathOf(dottedName), json);
  }

  toString(): string {
    let json = '{';
    for (const { step, value } of this.#members.values()) {
      if (json.length > 1) json += ',';
      json += step.json + (typeof value === 'string' ? value : value.toString());
    }
    return `${json}}`;
  }

  static #addAt(root: NestedJson, path: readonly PathStep[], json: string): void {
    let parent = root;
    for (let i = 0; i < path.length - 1; i += 1) {
      const step = path[i];
      const child = step === undefined ? undefined : parent.#child(step);
      if (child === undefined) return;
      parent = child;
    }
    const last = path[path.length - 1];
    if (last !== undefined) parent.#put(last, json);
  }

  #put(step: PathStep, value: string | NestedJson): void {
    if (!this.#members.has(step.key)) this.#members.set(step.key, { step, value });
  }

  /** The object that is this member, made where it is missing; undefined when something else stands there. */
  #child(step: PathStep): NestedJson | undefined {
    const member = this.#members.get(step.key);
    if (member === undefined) {
      const child = new NestedJson();
      this.#put(step, child);
      return child;
    }
    return member.value instanceof NestedJson ? member.value : undefined;
  }
}

type Member = { readonly step: PathStep; readonly value: string | NestedJson };

/** More bytes than such a text can have; V8 keeps it as a small integer, unlike infinity. */
const NO_BOUND = 0x3fffffff;

/** Compact JSON of a text that is a complete JSON array, or undefined. */
export function arrayJson(text: string): string | undefined {
  if (text.charCodeAt(0) !== OPEN_BRACKET) return undefined;
  try {
    reader.start(text);
    const json = printValue(reader, false, NO_BOUND);
    return reader.atEnd() ? json : undefined;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}
