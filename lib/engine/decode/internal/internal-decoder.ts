import type { DecoderIdentity, EngineEvent } from '../../event.js';
import type { InternalDecoderName } from '../../load/internal-decoder-names.js';

/** What becomes of an event behind an internal decoder: it goes on to the rules, or there is nothing more to do. */
export type InternalOutcome = 'rules' | 'done';

/** A decoder of one message queue (decoding.md 4.11). */
export interface InternalDecoder {
  /** Reads `event.log`; sets decoder, fields and, for some, the texts of the event. Never throws. */
  decode(event: EngineEvent): InternalOutcome;
}

/** Identities of internal decoders as the ruleset at hand numbers them. */
export type Identities = (name: InternalDecoderName) => DecoderIdentity;

/**
 * Asks an agent to send the results of a policy again; `first` as in the order `sca-dump:<policy>:<first>`. It decides nothing
 * about the event at hand.
 */
export type RequestScaDump = (agentId: string, policyId: string, first: boolean) => void;

/** Makes the event one of this internal decoder. */
export function setDecoder(event: EngineEvent, identity: DecoderIdentity): void {
  event.decoder = identity;
  event.category = 'ossec';
}

/** Adds a dynamic field; undefined adds none. */
export function addField(event: EngineEvent, name: string, value: string | undefined): void {
  if (value !== undefined) {
    event.fieldNames.push(name);
    event.fieldValues.push(value);
  }
}
