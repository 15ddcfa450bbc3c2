import type { MatchContext } from '../../patterns/matcher.js';
import type { Diagnostics, EngineEvent } from '../event.js';
import {
  type Decoder,
  type DecoderSet,
  OFFSET_AFTER_PARENT,
  OFFSET_AFTER_PREMATCH,
  OFFSET_AFTER_REGEX,
  type RootDecoder,
} from './decoder-set.js';
import { giveCaptures } from './give-captures.js';
import type { Plugins } from './plugins/plugins.js';

/** One step of decoding, for people: which decoder, what was tried on it, from which offset of the log, with which outcome. */
export type DecodingStep = {
  readonly decoder: Decoder;
  /** `taken`: a child without a prematch, which ends the search among its siblings. */
  readonly what: 'program_name' | 'prematch' | 'selected' | 'taken' | 'regex' | 'plugin';
  /** Offset in the log at which the pattern began to read. */
  readonly from: number;
  readonly matched: boolean;
  /** Offset in the log from which decoding goes on. */
  readonly next?: number;
};

/** What a decoder run works with. */
export type DecodingTools = {
  readonly context: MatchContext;
  readonly plugins: Plugins;
  readonly diagnostics: Diagnostics;
};

/**
 * Decodes an event exactly as decoding.md 4.5 words it, step by step and without any short cut. `EventDecoder` does the same
 * faster and is tested against this; explanations of a decoding come from here.
 *
 * @param observe is told every step
 */
export function interpretDecoders(
  set: DecoderSet,
  event: EngineEvent,
  tools: DecodingTools,
  observe: (step: DecodingStep) => void = () => {},
): void {
  const roots = event.programName === undefined ? set.plainRoots : set.programRoots;
  for (const root of roots) {
    const afterParent = matchRoot(root.decoder, event, tools.context, observe);
    if (afterParent !== undefined) {
      new Selection(set, event, tools, observe, root, afterParent).run();
      return;
    }
  }
}

/** Where decoding goes on behind the root's prematch, or undefined when the root does not match. */
function matchRoot(
  decoder: Decoder,
  event: EngineEvent,
  context: MatchContext,
  observe: (step: DecodingStep) => void,
): number | undefined {
  if (event.programName !== undefined) {
    const matched = decoder.programName?.test(event.programName, context) ?? false;
    observe({ decoder, what: 'program_name', from: 0, matched });
    if (!matched) {
      return undefined;
    }
  }
  if (decoder.prematch === undefined) {
    return 0;
  }
  const matched = decoder.prematch.exec(event.log, context);
  const next = matched ? advance(context.end, event.log.length) : undefined;
  observe({ decoder, what: 'prematch', from: 0, matched, ...(next === undefined ? {} : { next }) });
  return next;
}

/** `adv(end)` of decoding.md 4.5: the byte behind the match, or the end of the subject. */
export function advance(end: number, length: number): number {
  return end >= length ? length : end + 1;
}

/** What happens once a root is selected. */
class Selection {
  #current: Decoder;
  #afterPrematch = -1;

  constructor(
    readonly set: DecoderSet,
    readonly event: EngineEvent,
    readonly tools: DecodingTools,
    readonly observe: (step: DecodingStep) => void,
    readonly root: RootDecoder,
    readonly afterParent: number,
  ) {
    this.#current = root.decoder;
  }

  run(): void {
    this.#select(this.root.decoder);
    if (this.root.children.length === 0) {
      this.#extract([this.root.decoder], 0);
      return;
    }
    const index = this.#chooseChild();
    if (index !== undefined) {
      this.#extract(this.root.children, index);
    }
  }

  #select(decoder: Decoder): void {
    this.#current = decoder;
    this.event.decoder = decoder.identity;
    this.event.category = decoder.category;
    this.observe({ decoder, what: 'selected', from: 0, matched: true });
  }

  #chooseChild(): number | undefined {
    const { children } = this.root;
    const { log } = this.event;
    for (let index = 0; index < children.length; index += 1) {
      let child = children[index];
      if (child?.prematch === undefined) {
        // Taken without a test; the event's decoder stays the root.
        this.#afterPrematch = this.afterParent;
        if (child !== undefined) {
          this.observe({ decoder: child, what: 'taken', from: this.afterParent, matched: true });
        }
        return index;
      }
      const from = child.prematchAfterParent ? this.afterParent : 0;
      const matched = child.prematch.exec(log.slice(from), this.tools.context);
      if (matched) {
        this.#afterPrematch = from + advance(this.tools.context.end, log.length - from);
        this.observe({ decoder: child, what: 'prematch', from, matched, next: this.#afterPrematch });
        this.#select(child);
        return index;
      }
      this.observe({ decoder: child, what: 'prematch', from, matched });
      // The rest of a chain goes with its first member.
      while (child?.chained === true) {
        index += 1;
        child = children[index];
      }
    }
    return undefined;
  }

  #extract(siblings: readonly Decoder[], first: number): void {
    let previous = -1;
    for (const decoder of siblings.slice(first)) {
      if (decoder.plugin !== undefined) {
        this.#runPlugin(decoder);
      } else if (decoder.regex !== undefined) {
        const next = this.#runRegex(decoder, previous);
        if (next === 'full') {
          return;
        }
        previous = next ?? previous;
      } else {
        return;
      }
      if (!decoder.chained) {
        return;
      }
    }
  }

  #runPlugin(decoder: Decoder): void {
    if (decoder.plugin === undefined) {
      return;
    }
    const offsets = { afterParent: this.afterParent, afterPrematch: this.#afterPrematch };
    this.observe({ decoder, what: 'plugin', from: 0, matched: true });
    this.tools.plugins[decoder.plugin].decode(this.event, this.#current, offsets, this.tools.context);
  }

  /** Offset behind the match, undefined when there is none, 'full' when the event can take no more fields. */
  #runRegex(decoder: Decoder, previous: number): number | 'full' | undefined {
    const { event, tools, set } = this;
    const from = this.#regexStart(decoder, previous);
    if (from < 0 || decoder.regex?.exec(event.log.slice(from), tools.context) !== true) {
      this.observe({ decoder, what: 'regex', from, matched: false });
      return undefined;
    }
    const next = from + advance(tools.context.end, event.log.length - from);
    this.observe({ decoder, what: 'regex', from, matched: true, next });
    return giveCaptures(event, decoder, set.orderSize, tools) ? next : 'full';
  }

  #regexStart(decoder: Decoder, previous: number): number {
    switch (decoder.regexOffset) {
      case OFFSET_AFTER_PARENT:
        return this.afterParent;
      case OFFSET_AFTER_PREMATCH:
        return this.#afterPrematch;
      case OFFSET_AFTER_REGEX:
        return previous >= 0 ? previous : this.#afterPrematch;
      default:
        return 0;
    }
  }
}
