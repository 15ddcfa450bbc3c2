import type { YamlDocument } from '../config/yaml-document.js';
import { isObject } from '../json/is-object.js';

/** A policy that cannot be used: its message names file, line, check and field. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
  readonly code = 'bad_policy';
}

/** Characters of one text: policies in the field have some thousand. More does not fit into a message. */
const MOST_CHARACTERS = 65_536;
/** Texts in one list. */
const MOST_TEXTS = 1000;

/**
 * The fields of one mapping of a policy. Names come from outside, so only the mapping's own count; each scalar is a text, whatever
 * it looks like (`5.10` stays what it is).
 */
export class PolicyFields {
  readonly #file: string;
  readonly #document: YamlDocument;
  readonly #path: readonly PropertyKey[];
  readonly #values: Readonly<Record<string, unknown>>;
  /** Whose fields they are, for messages: `check 90001`. */
  readonly #owner: string | undefined;

  /** @throws PolicyError when there is no mapping at the path */
  constructor(
    place: { readonly file: string; readonly document: YamlDocument; readonly path: readonly PropertyKey[] },
    value: unknown,
    owner?: string,
  ) {
    this.#file = place.file;
    this.#document = place.document;
    this.#path = place.path;
    this.#owner = owner;
    if (!isObject(value)) {
      this.#values = {};
      throw this.error(undefined, owner === undefined ? 'there is no mapping' : 'it is no mapping');
    }
    this.#values = value;
  }

  /** The same fields, called otherwise from now on. */
  of(owner: string): PolicyFields {
    return new PolicyFields({ file: this.#file, document: this.#document, path: this.#path }, this.#values, owner);
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** Undefined for a field that is not there or has no content. */
  get(name: string): unknown {
    return Object.hasOwn(this.#values, name) ? (this.#values[name] ?? undefined) : undefined;
  }

  /** Names and values of all fields. */
  entries(): [string, unknown][] {
    return Object.entries(this.#values);
  }

  /** @throws PolicyError */
  text(name: string): string {
    const value = this.optionalText(name);
    if (value === undefined || value === '') throw this.error(name, `'${name}' is missing`);
    return value;
  }

  /** @throws PolicyError for what is no text */
  optionalText(name: string): string | undefined {
    const value = this.get(name);
    return value === undefined ? undefined : this.#checked(name, value);
  }

  /** A list of texts, or one text. @throws PolicyError */
  texts(name: string): string[] {
    const value = this.get(name);
    if (value === undefined) return [];
    return this.listOf(name, value);
  }

  /** The same of a value within the field. @throws PolicyError */
  listOf(name: string, value: unknown): string[] {
    if (!Array.isArray(value)) return [this.#checked(name, value)];
    if (value.length > MOST_TEXTS) throw this.error(name, `'${name}' has more than ${String(MOST_TEXTS)} entries`);
    return value.map((entry: unknown) => this.#checked(name, entry));
  }

  /** @param called what each is called @throws PolicyError when the field is no list of mappings @returns fields of each */
  mappings(name: string, called: string): PolicyFields[] {
    const value = this.get(name);
    if (!Array.isArray(value)) throw this.error(name, `'${name}' is no list`);
    return value.map(
      (entry: unknown, index) =>
        new PolicyFields(this.#place(name, index), entry, this.#within(`${called} ${String(index + 1)}`)),
    );
  }

  /** @throws PolicyError when the field is no mapping */
  mapping(name: string): PolicyFields {
    return new PolicyFields(this.#place(name), this.get(name), this.#within(name));
  }

  /** An error about a field, or about all of them. */
  error(name: string | undefined, text: string, index?: number): PolicyError {
    const path = [...this.#path, ...(name === undefined ? [] : [name]), ...(index === undefined ? [] : [index])];
    const line = this.#document.lineOf(path);
    const where = line > 0 ? `${this.#file} line ${String(line)}` : this.#file;
    return new PolicyError(`${where}: ${this.#owner === undefined ? '' : `${this.#owner}: `}${text}`);
  }

  #within(name: string): string {
    return this.#owner === undefined ? name : `${this.#owner}: ${name}`;
  }

  #place(...names: readonly PropertyKey[]) {
    return { file: this.#file, document: this.#document, path: [...this.#path, ...names] };
  }

  #checked(name: string, value: unknown): string {
    if (typeof value !== 'string') throw this.error(name, `'${name}' is no text`);
    if (value.length > MOST_CHARACTERS) {
      throw this.error(name, `'${name}' has more than ${String(MOST_CHARACTERS)} characters`);
    }
    return value;
  }
}
