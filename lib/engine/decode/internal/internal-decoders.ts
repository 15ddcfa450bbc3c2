import { QUEUE_IDS } from '../../../events/queue-ids.js';
import type { AgentKnowledge } from '../../agents/agent-knowledge.js';
import type { DecoderIdentity, Diagnostics, EngineEvent } from '../../event.js';
import { INTERNAL_DECODER_NAMES } from '../../load/internal-decoder-names.js';
import type { DecoderSet } from '../decoder-set.js';
import type { JsonPlugin } from '../plugins/json-plugin.js';
import { EventchannelDecoder } from './eventchannel-decoder.js';
import { FimDecoder } from './fim-decoder.js';
import { HostinfoDecoder } from './hostinfo-decoder.js';
import {
  type Identities,
  type InternalDecoder,
  type InternalOutcome,
  type RequestScaDump,
  setDecoder,
} from './internal-decoder.js';
import { RootcheckDecoder } from './rootcheck-decoder.js';
import { ScaDecoder } from './sca-decoder.js';
import { SyscollectorDecoder } from './syscollector-decoder.js';

/** What internal decoders work with. */
export type InternalDecoderParts = {
  readonly set: Pick<DecoderSet, 'ids'>;
  /** The JSON plugin of the same engine. */
  readonly json: JsonPlugin;
  readonly memory: AgentKnowledge;
  readonly requestScaDump: RequestScaDump;
  readonly diagnostics: Diagnostics;
};

/** Decodes the messages of the queues that have a decoder of their own (decoding.md 3.1, 4.11). */
export class InternalDecoders {
  readonly #byQueue: ReadonlyMap<string, InternalDecoder>;

  constructor({ set, json, memory, requestScaDump, diagnostics }: InternalDecoderParts) {
    const identities = makeIdentities(set);
    this.#byQueue = new Map<string, InternalDecoder>([
      [QUEUE_IDS.hostInformation, new HostinfoDecoder(identities, memory)],
      // State synchronisation and results of upgrades are never events; whoever takes envelopes forwards them.
      [QUEUE_IDS.synchronization, NO_EVENT],
      [QUEUE_IDS.fileIntegrity, new FimDecoder(identities, memory, diagnostics)],
      [QUEUE_IDS.rootcheck, new RootcheckDecoder(identities, memory)],
      [QUEUE_IDS.inventory, new SyscollectorDecoder(identities, diagnostics)],
      [QUEUE_IDS.cisCat, { decode: (event) => (setDecoder(event, identities('ciscat')), 'rules') }],
      [QUEUE_IDS.windowsEventChannel, new EventchannelDecoder(identities, json, diagnostics)],
      [QUEUE_IDS.policyAssessment, new ScaDecoder(identities, memory, requestScaDump, diagnostics)],
      [QUEUE_IDS.upgrade, NO_EVENT],
    ]);
  }

  /**
   * Decodes a pre-decoded event of one of those queues.
   *
   * @returns undefined for all other queues: their events belong to the XML decoders
   */
  decode(event: EngineEvent): InternalOutcome | undefined {
    return this.#byQueue.get(event.queue)?.decode(event);
  }
}

const NO_EVENT: InternalDecoder = { decode: () => 'done' };

function makeIdentities({ ids }: Pick<DecoderSet, 'ids'>): Identities {
  const made = new Map<string, DecoderIdentity>(
    INTERNAL_DECODER_NAMES.map((name) => [name, { id: ids.get(name) ?? 0, name, accumulate: false }]),
  );
  return (name) => made.get(name) ?? { id: 0, name, accumulate: false };
}
