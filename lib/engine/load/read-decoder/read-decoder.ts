import type { PatternLanguage } from '../../../patterns/matcher.js';
import { attributeValue, type XmlElement } from '../../../xml/xml-element.js';
import { staticFieldOf } from '../../decode/static-field.js';
import type { Category, Diagnostics, SourcePlace } from '../../event.js';
import {
  type DecoderDefinition,
  type DecoderOffset,
  type PatternDefinition,
  PLUGIN_NAMES,
  type PluginName,
} from '../decoder-definition.js';
import type { FtsPart, FtsSpec } from '../fts-spec.js';
import { RulesetError } from '../ruleset-error.js';

/** Joined text of a repeatable element must stay below this (decoding.md 4.2). */
const MAX_TEXT = 1024;

const CATEGORIES: ReadonlyMap<string, Category> = new Map([
  ['syslog', 'syslog'],
  ['firewall', 'firewall'],
  ['ids', 'ids'],
  ['web-log', 'web-log'],
  ['squid', 'squid'],
  ['windows', 'windows'],
  ['host-information', 'host-information'],
  ['ossec', 'ossec'],
]);

export type DecoderReaderOptions = {
  readonly file: string;
  readonly diagnostics: Diagnostics;
  /** `analysisd.decoder_order_size`, 32 to 1024. */
  readonly orderSize: number;
};

/**
 * Reads and checks one `<decoder>` element by itself (decoding.md 4.2, 4.3); patterns are not compiled yet.
 *
 * @throws RulesetError for everything that decoding.md 4.2 and 4.3 call fatal, after all its texts went to the diagnostics
 */
export function readDecoder(element: XmlElement, options: DecoderReaderOptions): DecoderDefinition {
  return new DecoderReader(element, options).read();
}

type PatternElement = 'prematch' | 'regex' | 'program_name';

class DecoderReader {
  readonly #element: XmlElement;
  readonly #file: string;
  readonly #diagnostics: Diagnostics;
  readonly #orderSize: number;

  #name = '';
  #parent: string | undefined;
  #ftscomment: string | undefined;
  readonly #patterns = new Map<PatternElement, PatternDefinition & { dropped: boolean }>();
  #order: string[] = [];
  #fts: FtsSpec | undefined;
  #category: Category = 'syslog';
  #useOwnName = false;
  #accumulate = false;
  #plugin: PluginName | undefined;
  #pluginOffset: DecoderOffset | undefined;
  #badPluginOffset = false;
  #discardNulls = false;
  #csvArrays = false;

  constructor(element: XmlElement, { file, diagnostics, orderSize }: DecoderReaderOptions) {
    this.#element = element;
    this.#file = file;
    this.#diagnostics = diagnostics;
    this.#orderSize = orderSize;
  }

  read(): DecoderDefinition {
    this.#readName();
    if (this.#element.children.length === 0) {
      this.#fail(this.#element, '(1231): Invalid NULL element in the configuration.');
    }
    for (const child of this.#element.children) {
      this.#readElement(child);
    }
    return this.#check();
  }

  #readName(): void {
    const [first, second, third] = this.#element.attributes;
    const valid =
      first !== undefined &&
      first.name.toLowerCase() === 'name' &&
      (second === undefined || second.name.toLowerCase() === 'status') &&
      third === undefined;
    if (!valid) {
      this.#fail(this.#element, "(1230): Invalid element in the configuration: 'decoder'.");
    }
    this.#name = first.value;
  }

  #readElement(child: XmlElement): void {
    // The reference compares this one element case-sensitively.
    if (child.name === 'type') {
      this.#readCategory(child);
      return;
    }
    switch (child.name.toLowerCase()) {
      case 'parent':
        this.#parent = this.#join(this.#parent, child);
        break;
      case 'program_name':
        this.#readPattern('program_name', child);
        break;
      case 'prematch':
        this.#readPattern('prematch', child);
        break;
      case 'regex':
        this.#readPattern('regex', child);
        break;
      case 'order':
        this.#readOrder(child);
        break;
      case 'fts':
        this.#readFts(child);
        break;
      case 'ftscomment':
        this.#ftscomment = this.#join(this.#ftscomment, child);
        break;
      case 'use_own_name':
        this.#useOwnName = child.content === 'true';
        break;
      case 'accumulate':
        this.#accumulate = true;
        break;
      case 'plugin_decoder':
        this.#readPlugin(child);
        break;
      case 'json_null_field':
        this.#readJsonNulls(child);
        break;
      case 'json_array_structure':
        this.#readJsonArrays(child);
        break;
      default:
        this.#fail(child, `Invalid element '${child.name}' for decoder 'decoder'`);
    }
  }

  #readCategory(child: XmlElement): void {
    const category = CATEGORIES.get(child.content);
    if (category === undefined) {
      this.#fail(child, `Invalid decoder type '${child.content}'.`);
    }
    this.#category = category;
  }

  /** Texts of a repeated element are concatenated; one that becomes too long is dropped altogether. */
  #join(before: string | undefined, child: XmlElement): string | undefined {
    const text = (before ?? '') + child.content;
    if (text.length >= MAX_TEXT) {
      this.#diagnostics.error(`(1104): Maximum string size reached for: ${child.content}.`, this.#place(child));
      return undefined;
    }
    return text;
  }

  #readPattern(element: PatternElement, child: XmlElement): void {
    const before = this.#patterns.get(element);
    let offset = before?.offset;
    const word = element === 'program_name' ? undefined : attributeValue(child, 'offset');
    if (word !== undefined) {
      if (before !== undefined) {
        this.#fail(child, `(2109): Duplicated offsets for same regex: '${this.#name}'.`, this.#decoderError());
      }
      offset = readOffset(word);
      if (offset === undefined) {
        const text = this.#badAttribute('offset', element);
        if (element === 'regex') {
          this.#diagnostics.warn(text, this.#place(child));
        } else {
          this.#diagnostics.error(text, this.#place(child));
        }
      }
    }
    const joined = this.#join(before?.dropped === false ? before.source : undefined, child);
    this.#patterns.set(element, {
      source: joined ?? '',
      dropped: joined === undefined,
      language: this.#readLanguage(element, child),
      offset,
      place: before?.place ?? this.#place(child),
    });
  }

  #readLanguage(element: PatternElement, child: XmlElement): PatternLanguage {
    const fallback = element === 'program_name' ? 'osmatch' : 'osregex';
    const type = attributeValue(child, 'type');
    if (type === undefined) {
      return fallback;
    }
    const language = type.toLowerCase();
    if (language === 'osregex' || language === 'pcre2' || (language === 'osmatch' && element === 'program_name')) {
      return language;
    }
    this.#diagnostics.warn(this.#badAttribute('type', element), this.#place(child));
    return fallback;
  }

  #badAttribute(attribute: string, element: string): string {
    return (
      `(7601): Invalid value for attribute '${attribute}' in '${element}' option (decoder \`${this.#name}\`). ` +
      'Default value will be used.'
    );
  }

  #readOrder(child: XmlElement): void {
    const words = this.#readWords(child);
    for (const word of words) {
      if (word === '') {
        this.#fail(child, `decode-xml: Wrong field '${word}' in the order of decoder '${this.#name}'`);
      }
    }
    this.#order = words;
  }

  #readWords(child: XmlElement): string[] {
    const words = splitWords(child.content);
    if (words.length > this.#orderSize) {
      this.#fail(child, 'Order has too many fields.');
    }
    return words;
  }

  #readFts(child: XmlElement): void {
    const parts = new Set<FtsPart>();
    const fields = new Set<string>();
    // Only the dynamic fields before the first static one of the order can be named.
    const firstStatic = this.#order.findIndex((name) => staticFieldOf(name) !== undefined);
    const known = new Set(firstStatic < 0 ? this.#order : this.#order.slice(0, firstStatic));
    for (const word of this.#readWords(child)) {
      const part = FTS_WORDS.get(word);
      if (part !== undefined) {
        parts.add(part);
      } else if (known.has(word)) {
        fields.add(word);
      } else if (word !== 'name' && this.#order.length > 0) {
        this.#fail(child, `decode-xml: Wrong field '${word}' in the fts decoder '${this.#name}'`);
      }
    }
    this.#fts = { parts, fields: [...fields] };
  }

  #readPlugin(child: XmlElement): void {
    const plugin = PLUGIN_NAMES.find((name) => name === child.content);
    if (plugin === undefined) {
      this.#fail(child, `(2110): Invalid decoder argument for plugin_decoder: '${child.content}'.`);
    }
    this.#plugin = plugin;
    const word = attributeValue(child, 'offset');
    if (word !== undefined) {
      this.#pluginOffset = readOffset(word);
      this.#badPluginOffset = this.#pluginOffset === undefined;
    }
  }

  #readJsonNulls(child: XmlElement): void {
    this.#discardNulls = child.content === 'discard';
    if (child.content === 'empty') {
      this.#warnValue(7603, 'Deprecated', child);
    } else if (child.content !== 'string' && child.content !== 'discard') {
      this.#warnValue(7602, 'Invalid', child);
    }
  }

  #readJsonArrays(child: XmlElement): void {
    this.#csvArrays = child.content === 'csv';
    if (child.content !== 'array' && child.content !== 'csv') {
      this.#warnValue(7602, 'Invalid', child);
    }
  }

  #warnValue(code: number, what: string, child: XmlElement): void {
    const option = child.name.toLowerCase();
    this.#diagnostics.warn(
      `(${String(code)}): ${what} value '${child.content}' in '${option}' option (decoder \`${this.#name}\`). ` +
        'Default value will be used.',
      this.#place(child),
    );
  }

  /** The checks of decoding.md 4.3, in their order. */
  #check(): DecoderDefinition {
    const prematch = this.#pattern('prematch');
    const programName = this.#pattern('program_name');
    const regex = this.#pattern('regex');
    const isChild = this.#parent !== undefined;
    if (prematch === undefined && !isChild && programName === undefined) {
      this.#fail(this.#element, `(2108): No 'prematch' found in decoder: '${this.#name}'.`, this.#decoderError());
    }
    if ((regex === undefined) !== (this.#order.length === 0) || (regex === undefined && this.#fts !== undefined)) {
      this.#fail(this.#element, this.#decoderError());
    }
    const regexOffset = this.#checkRegexOffset(regex, prematch);
    if (prematch?.offset !== undefined) {
      if (prematch.offset !== 'after_parent') {
        this.#fail(this.#element, this.#decoderError());
      }
      if (!isChild) {
        this.#failOffset(prematch.offset);
      }
    }
    const pluginOffset = this.#checkPluginOffset(prematch);
    if (this.#plugin !== undefined && (regex !== undefined || this.#order.length > 0)) {
      this.#fail(this.#element, `(2111): Additional data to plugin decoder: '${this.#name}'.`);
    }
    return {
      name: this.#name,
      place: this.#place(this.#element),
      parent: this.#parent,
      programName,
      prematch,
      regex: regex === undefined ? undefined : { ...regex, offset: regexOffset },
      order: this.#order,
      fts: this.#fts,
      ftscomment: this.#ftscomment,
      category: this.#category,
      useOwnName: this.#useOwnName,
      accumulate: this.#accumulate,
      plugin: this.#plugin,
      pluginOffset,
      discardNulls: this.#discardNulls,
      csvArrays: this.#csvArrays,
    };
  }

  #checkRegexOffset(regex?: PatternDefinition, prematch?: PatternDefinition): DecoderOffset | undefined {
    const offset = regex?.offset;
    if (this.#parent === undefined) {
      if (offset === 'after_prematch') {
        return 'after_parent';
      }
      if (offset !== undefined) {
        this.#failOffset(offset);
      }
    } else if (offset === 'after_prematch' && prematch === undefined) {
      this.#failOffset(offset);
    }
    return offset;
  }

  #checkPluginOffset(prematch?: PatternDefinition): DecoderOffset | undefined {
    const offset = this.#pluginOffset;
    if (this.#badPluginOffset) {
      this.#fail(this.#element, this.#decoderError());
    }
    if (offset === 'after_parent' && this.#parent === undefined) {
      this.#failOffset(offset);
    }
    if (offset === 'after_prematch') {
      if (prematch === undefined) {
        this.#failOffset(offset);
      }
      // For a root there is no text after a child's prematch: what its own prematch left is meant, as for `regex`.
      return this.#parent === undefined ? 'after_parent' : offset;
    }
    return offset;
  }

  #pattern(element: PatternElement): PatternDefinition | undefined {
    const pattern = this.#patterns.get(element);
    return pattern === undefined || pattern.dropped ? undefined : pattern;
  }

  #decoderError(): string {
    return `(2107): Decoder configuration error: '${this.#name}'.`;
  }

  #failOffset(offset: DecoderOffset): never {
    this.#fail(this.#element, `(2120): Invalid offset value: '${offset}'`, this.#decoderError());
  }

  #place(element: XmlElement): SourcePlace {
    return { file: this.#file, line: element.line };
  }

  #fail(element: XmlElement, ...texts: [string, ...string[]]): never {
    const place = this.#place(element);
    for (const text of texts) {
      this.#diagnostics.error(text, place);
    }
    throw new RulesetError(texts.at(-1) ?? '', place);
  }
}

/** Words of `fts` beside `name`, which is always part of the key. */
const FTS_WORDS: ReadonlyMap<string, FtsPart> = new Map([
  ['id', 'id'],
  ['user', 'dstuser'],
  ['dstuser', 'dstuser'],
  ['srcuser', 'srcuser'],
  ['srcip', 'srcip'],
  ['dstip', 'dstip'],
  ['data', 'data'],
  ['extra_data', 'data'],
  ['system_name', 'system_name'],
  ['location', 'location'],
]);

function readOffset(word: string): DecoderOffset | undefined {
  const lower = word.toLowerCase();
  return lower === 'after_parent' || lower === 'after_prematch' || lower === 'after_regex' ? lower : undefined;
}

/** Words between commas (`\,` is a comma), each without leading spaces and cut at the first space after that. */
function splitWords(text: string): string[] {
  return text.split(/(?<!\\),/).map((word) => /^ *([^ ]*)/.exec(word)?.[1]?.replaceAll('\\,', ',') ?? '');
}
