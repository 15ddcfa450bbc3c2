import type { Matcher } from '../../patterns/matcher.js';
import type { Category, DecoderIdentity, SourcePlace, StaticField } from '../event.js';
import type { PluginName } from '../load/decoder-definition.js';
import type { ChildIndex } from './child-index.js';

/** Where a regex or plugin begins to read; numbers, because they are looked at for each event. */
export const OFFSET_NONE = 0;
export const OFFSET_AFTER_PARENT = 1;
export const OFFSET_AFTER_PREMATCH = 2;
export const OFFSET_AFTER_REGEX = 3;
export type OffsetKind = 0 | 1 | 2 | 3;

/** What a capture fills: a static member, or the dynamic field of that name. */
export type CaptureTarget = {
  readonly staticField: StaticField | undefined;
  readonly name: string;
};

/** A decoder ready to run (decoding.md 4.4, 4.5). */
export type Decoder = {
  /** What the event shows when this decoder is selected. */
  readonly identity: DecoderIdentity;
  /** Name as written; children are chained by it. */
  readonly ownName: string;
  readonly place: SourcePlace;
  readonly category: Category;
  readonly programName: Matcher | undefined;
  readonly prematch: Matcher | undefined;
  readonly prematchAfterParent: boolean;
  readonly regex: Matcher | undefined;
  readonly regexOffset: OffsetKind;
  readonly targets: readonly CaptureTarget[];
  readonly plugin: PluginName | undefined;
  readonly pluginOffset: OffsetKind;
  readonly discardNulls: boolean;
  readonly csvArrays: boolean;
  /** "Continue with the next sibling": a later sibling has the same name. */
  readonly chained: boolean;
};

/** A root with the children that were attached to it, in load order. */
export type RootDecoder = {
  readonly decoder: Decoder;
  readonly children: readonly Decoder[];
  readonly childIndex: ChildIndex;
};

/** All decoders of a ruleset. */
export type DecoderSet = {
  /** Roots with `program_name`: the only ones events with a program name see. */
  readonly programRoots: readonly RootDecoder[];
  /** Roots without: the only ones other events see. */
  readonly plainRoots: readonly RootDecoder[];
  /** Every name, XML and internal, with its number: what `decoded_as` is looked up in. */
  readonly ids: ReadonlyMap<string, number>;
  /** Most dynamic fields of an event (`analysisd.decoder_order_size`). */
  readonly orderSize: number;
};
