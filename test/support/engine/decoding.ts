import type { DecoderSet } from '../../../lib/engine/decode/decoder-set.js';
import { EventDecoder } from '../../../lib/engine/decode/event-decoder.js';
import { type DecodingStep, interpretDecoders } from '../../../lib/engine/decode/interpret-decoders.js';
import type { RuleExists } from '../../../lib/engine/decode/plugins/ossec-alert-plugin.js';
import { makePlugins } from '../../../lib/engine/decode/plugins/plugins.js';
import { EngineEvent, STATIC_FIELDS } from '../../../lib/engine/event.js';
import { loadDecoders } from '../../../lib/engine/load/load-decoders.js';
import type { RulesetSource } from '../../../lib/engine/load/ruleset-source.js';
import { predecode } from '../../../lib/engine/predecode/predecode.js';
import { readLocation } from '../../../lib/engine/predecode/read-location.js';
import { compilePattern } from '../../../lib/patterns/compile-pattern.js';
import { MatchContext } from '../../../lib/patterns/matcher.js';
import { RecordingDiagnostics } from '../recording-diagnostics.js';

/** What came out of an event, for comparing: only what is set, fields as name and value pairs in order. */
export type Decoded = {
  decoder?: string;
  parent?: string;
  category: string;
  static: Record<string, string>;
  fields: [string, string][];
};

export function decodedOf(event: EngineEvent): Decoded {
  const { decoder } = event;
  const set = STATIC_FIELDS.flatMap((name) => (event[name] === undefined ? [] : [[name, event[name]] as const]));
  return {
    ...(decoder === undefined ? {} : { decoder: decoder.name }),
    ...(decoder?.parent === undefined ? {} : { parent: decoder.parent }),
    category: event.category,
    static: Object.fromEntries(set),
    fields: event.fieldNames.map((name, i) => [name, event.fieldValues[i] ?? '']),
  };
}

/** A UTF-8 text as a byte string. */
export function bytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Decoders of some XML, both ways of running them, on byte strings. */
export class DecodingBench {
  readonly diagnostics = new RecordingDiagnostics();
  readonly set: DecoderSet;
  readonly #fast: EventDecoder;
  readonly #tools;

  constructor(xml: string | readonly RulesetSource[], options: { orderSize?: number; ruleExists?: RuleExists } = {}) {
    const { diagnostics } = this;
    const { orderSize = 256, ruleExists = (): boolean => true } = options;
    const sources = typeof xml === 'string' ? [{ path: 'test.xml', content: xml }] : xml;
    this.set = loadDecoders(sources, { diagnostics, compilePattern, orderSize });
    const plugins = makePlugins({ orderSize, compilePattern, ruleExists, diagnostics });
    this.#tools = { context: new MatchContext(), plugins, diagnostics };
    this.#fast = new EventDecoder(this.set, this.#tools);
  }

  /** The pre-decoded event of a message. */
  event(message: string, location = '/var/log/x.log'): EngineEvent {
    const event = new EngineEvent({ ...readLocation(location), queue: '1', message, receivedAt: 0 });
    predecode(event, 'mgr');
    return event;
  }

  decode(message: string, location?: string): EngineEvent {
    const event = this.event(message, location);
    this.#fast.decode(event);
    return event;
  }

  interpret(message: string, location?: string, observe?: (step: DecodingStep) => void): EngineEvent {
    const event = this.event(message, location);
    interpretDecoders(this.set, event, this.#tools, observe);
    return event;
  }
}
