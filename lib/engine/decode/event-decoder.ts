import type { MatchContext, Matcher } from '../../patterns/matcher.js';
import type { EngineEvent } from '../event.js';
import {
  type Decoder,
  type DecoderSet,
  OFFSET_AFTER_PARENT,
  OFFSET_AFTER_PREMATCH,
  OFFSET_AFTER_REGEX,
  type RootDecoder,
} from './decoder-set.js';
import { giveCaptures } from './give-captures.js';
import { advance, type DecodingTools } from './interpret-decoders.js';
import type { PluginOffsets } from './plugins/plugin.js';
import { RootIndex } from './root-index.js';

/**
 * Finds an event's decoder and takes its fields out (decoding.md 4.5). The result is that of `interpretDecoders`; this one
 * is made for speed: roots, children and the members of chains that the log cannot match are passed over in one loop.
 *
 * One object serves one engine: it keeps scratch memory.
 */
export class EventDecoder {
  readonly #orderSize: number;
  readonly #tools: DecodingTools;
  readonly #context: MatchContext;
  readonly #index: RootIndex;
  #costly: Decoder | undefined = undefined;
  readonly #offsets: PluginOffsets = { afterParent: 0, afterPrematch: -1 };

  /** @param index the ruleset's, when several engines share it */
  constructor(set: DecoderSet, tools: DecodingTools, index: RootIndex = new RootIndex(set)) {
    this.#orderSize = set.orderSize;
    this.#tools = tools;
    this.#context = tools.context;
    this.#index = index;
  }

  /** Decodes a pre-decoded event; without a matching root it stays without decoder. */
  decode(event: EngineEvent): void {
    const { log, programName } = event;
    const context = this.#context;
    const subject = context.pin(log);
    this.#costly = undefined;
    const { roots, sieves } =
      programName === undefined ? this.#index.plain : this.#index.forProgram(programName, context);
    const sieve = sieves.at(subject, 0);
    for (let way = sieve.nextWay(0, subject); way >= 0; way = sieve.nextWay(way + 1, subject)) {
      const root = roots[sieve.position(way)];
      if (root === undefined) return;
      const { prematch } = root.decoder;
      if (prematch === undefined) {
        this.#decodeWith(root, event, 0);
        return;
      }
      if (this.#matches(root.decoder, prematch, log, 0, sieve.alternative(way), -1)) {
        this.#decodeWith(root, event, advance(context.end, log.length));
        return;
      }
    }
  }

  /** Name of the decoder with which the last event used up its steps of decoding; undefined where it did not. */
  get costly(): string | undefined {
    return this.#costly?.ownName;
  }

  #matches(decoder: Decoder, matcher: Matcher, log: string, from: number, alternative: number, found: number): boolean {
    if (this.#isUsedUp(decoder)) {
      return false;
    }
    return matcher.exec(log, this.#context, from, alternative, found) && !this.#isUsedUp(decoder);
  }

  #isUsedUp(decoder: Decoder): boolean {
    const { stepsLeft, exhausted } = this.#context;
    if (stepsLeft >= 0 && !exhausted) {
      return false;
    }
    this.#costly ??= decoder;
    return true;
  }

  #decodeWith(root: RootDecoder, event: EngineEvent, afterParent: number): void {
    const { decoder, children, childIndex } = root;
    event.decoder = decoder.identity;
    event.category = decoder.category;
    const offsets = this.#offsets;
    offsets.afterParent = afterParent;
    offsets.afterPrematch = -1;
    if (children.length === 0) {
      this.#extractOne(decoder, decoder, event, -1, -1, -1);
      return;
    }
    const { log } = event;
    const context = this.#context;
    const subject = context.pin(log);
    const sieve = childIndex.prematches(subject, afterParent);
    for (let way = sieve.nextWay(0, subject); way >= 0; way = sieve.nextWay(way + 1, subject)) {
      const position = childIndex.head(sieve.position(way));
      const child = children[position];
      if (child?.prematch === undefined) {
        offsets.afterPrematch = afterParent;
        this.#extract(decoder, root, position, event);
        return;
      }
      const from = child.prematchAfterParent ? afterParent : 0;
      if (this.#matches(child, child.prematch, log, from, sieve.alternative(way), -1)) {
        offsets.afterPrematch = from + advance(context.end, log.length - from);
        event.decoder = child.identity;
        event.category = child.category;
        this.#extract(child, root, position, event);
        return;
      }
    }
  }

  /** Runs the chosen child and, along its chain, the siblings behind it. */
  #extract(current: Decoder, { children, childIndex }: RootDecoder, first: number, event: EngineEvent): void {
    const context = this.#context;
    const sieve = childIndex.chain(first);
    sieve.look(context.subject(event.log), context);
    let previous = -1;
    let way = 0;
    for (;;) {
      // A regex that the log cannot match changes nothing.
      way = sieve.nextWay(way, context.subject(event.log));
      if (way < 0) {
        return;
      }
      const position = sieve.position(way);
      const decoder = children[first + position];
      if (decoder === undefined) {
        return;
      }
      const next = this.#extractOne(decoder, current, event, previous, sieve.alternative(way), sieve.found(way));
      if (next === STOP) {
        return;
      }
      if (next >= 0) {
        previous = next;
        way = sieve.begin(position + 1);
      } else {
        way += 1;
      }
    }
  }

  /** Offset behind a regex that matched, -1 where none did, or STOP. */
  #extractOne(
    decoder: Decoder,
    current: Decoder,
    event: EngineEvent,
    previous: number,
    alternative: number,
    found: number,
  ): number {
    const offsets = this.#offsets;
    if (decoder.plugin !== undefined) {
      this.#context.stepsLeft -= event.log.length >> PLUGIN_BYTES_A_STEP_SHIFT;
      if (this.#isUsedUp(decoder)) {
        return -1;
      }
      this.#tools.plugins[decoder.plugin].decode(event, current, offsets, this.#context);
      return -1;
    }
    const { regex } = decoder;
    if (regex === undefined) {
      return STOP;
    }
    const from = regexStart(decoder, offsets, previous);
    if (from < 0) {
      return -1;
    }
    const { log } = event;
    const context = this.#context;
    if (!this.#matches(decoder, regex, log, from, alternative, found)) {
      return -1;
    }
    if (giveCaptures(event, decoder, this.#orderSize, this.#tools)) {
      return from + advance(context.end, log.length - from);
    }
    this.#isUsedUp(decoder);
    return STOP;
  }
}

/** Bytes of the log that a plugin reads in the time of one step, as a power of two. */
const PLUGIN_BYTES_A_STEP_SHIFT = 4;

/** The extraction is over: there is nothing to run, or no room. */
const STOP = -2;

function regexStart(decoder: Decoder, offsets: PluginOffsets, previous: number): number {
  switch (decoder.regexOffset) {
    case OFFSET_AFTER_PARENT:
      return offsets.afterParent;
    case OFFSET_AFTER_PREMATCH:
      return offsets.afterPrematch;
    case OFFSET_AFTER_REGEX:
      return previous >= 0 ? previous : offsets.afterPrematch;
    default:
      return 0;
  }
}
