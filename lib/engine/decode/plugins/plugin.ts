import type { MatchContext } from '../../../patterns/matcher.js';
import type { EngineEvent } from '../../event.js';
import type { Decoder } from '../decoder-set.js';

/** Where the text that a plugin may be told to begin at stands in the log; -1 = there is none. */
export type PluginOffsets = {
  afterParent: number;
  afterPrematch: number;
};

/** A decoder written as code (decoding.md 4.8). It reads the event's log and sets members and fields. */
export interface Plugin {
  /**
   * @param decoder the event's current decoder, whose options count
   * @param context scratch for patterns
   */
  decode(event: EngineEvent, decoder: Decoder, offsets: PluginOffsets, context: MatchContext): void;
}
