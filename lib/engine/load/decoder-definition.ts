import type { PatternLanguage } from '../../patterns/matcher.js';
import type { Category, SourcePlace } from '../event.js';
import type { FtsSpec } from './fts-spec.js';

/** Names of the plugin decoders (decoding.md 4.8). */
export const PLUGIN_NAMES = [
  'PF_Decoder',
  'SymantecWS_Decoder',
  'SonicWall_Decoder',
  'OSSECAlert_Decoder',
  'JSON_Decoder',
] as const;
export type PluginName = (typeof PLUGIN_NAMES)[number];

/** Where a pattern or plugin of a decoder begins to read. */
export type DecoderOffset = 'after_parent' | 'after_prematch' | 'after_regex';

/** A pattern of a decoder as written: repeated elements are joined, the language is the last one's. */
export type PatternDefinition = {
  readonly source: string;
  readonly language: PatternLanguage;
  readonly offset: DecoderOffset | undefined;
  readonly place: SourcePlace;
};

/** One `<decoder>` as read and checked for itself, before it is put into the tree (decoding.md 4.2, 4.3). */
export type DecoderDefinition = {
  readonly name: string;
  readonly place: SourcePlace;
  readonly parent: string | undefined;
  readonly programName: PatternDefinition | undefined;
  readonly prematch: PatternDefinition | undefined;
  readonly regex: PatternDefinition | undefined;
  /** Field names for the captures of `regex`; empty without. */
  readonly order: readonly string[];
  readonly fts: FtsSpec | undefined;
  readonly ftscomment: string | undefined;
  readonly category: Category;
  readonly useOwnName: boolean;
  readonly accumulate: boolean;
  readonly plugin: PluginName | undefined;
  readonly pluginOffset: DecoderOffset | undefined;
  /** `json_null_field` is `discard`. */
  readonly discardNulls: boolean;
  /** `json_array_structure` is `csv`. */
  readonly csvArrays: boolean;
};
