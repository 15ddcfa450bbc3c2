import type { DecoderDefinition, PatternDefinition } from '../decoder-definition.js';

/** A pattern while its elements are joined; one that became too long is as if it were not there. */
export type PatternDraft = PatternDefinition & { readonly dropped: boolean };

type PatternMember = 'programName' | 'prematch' | 'regex';

/** A decoder while its elements are read, before they are checked against each other. */
export type DecoderDraft = {
  -readonly [Member in keyof Omit<DecoderDefinition, 'place' | PatternMember>]: DecoderDefinition[Member];
} & Partial<Record<PatternMember, PatternDraft>> & {
    /** `<plugin_decoder>` has an `offset` of an unknown word. */
    badPluginOffset: boolean;
  };

/** A decoder without any element. */
export function newDecoder(name: string): DecoderDraft {
  return {
    name,
    parent: undefined,
    order: [],
    fts: undefined,
    ftscomment: undefined,
    category: 'syslog',
    useOwnName: false,
    accumulate: false,
    plugin: undefined,
    pluginOffset: undefined,
    badPluginOffset: false,
    discardNulls: false,
    csvArrays: false,
  };
}
