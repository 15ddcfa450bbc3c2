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

/** What internal decoders cause elsewhere. It decides nothing about the event at hand. */
export interface AgentEffects {
  /** A command of svc-db for an agent, without the leading `agent <id> `. Commands of one agent stay in order. */
  database(agentId: string, command: string): void;
  /** Asks an agent to send the results of a policy again; `first` as in the order `sca-dump:<policy>:<first>`. */
  requestScaDump(agentId: string, policyId: string, first: boolean): void;
  /** A new or changed line of the file of known hosts. */
  hostInformation(line: string): void;
}

/** For engines that only show what would happen. */
export const NO_EFFECTS: AgentEffects = {
  database: () => {},
  requestScaDump: () => {},
  hostInformation: () => {},
};

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
