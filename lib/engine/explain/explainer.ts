import type { DecoderSet } from '../decode/decoder-set.js';
import { type DecodingStep, type DecodingTools, interpretDecoders } from '../decode/interpret-decoders.js';
import type { EngineEvent } from '../event.js';
import type { RuleRun } from '../rules/rule-run.js';
import type { CompiledRule, Ruleset } from '../rules/ruleset.js';
import { EXPLANATION_STEPS } from './explain-search.js';
import { type HeaderFormat, headerFormat } from './header-format.js';
import { RuleWalk } from './rule-walk.js';

/** What pre-decoding made of the message. Byte strings. */
export type PredecodingFacts = {
  readonly format: HeaderFormat;
  readonly timestamp: string | undefined;
  readonly hostname: string;
  readonly programName: string | undefined;
  /** What decoders look at. */
  readonly log: string;
};

/**
 * Watches one event on its way through an engine and remembers each step. The engine then uses the interpreters of the
 * specification in place of its fast paths, so the way shown does not depend on them, and the outcome is the same.
 */
export class Explainer {
  predecoding: PredecodingFacts | undefined = undefined;
  readonly decoding: DecodingStep[] = [];
  /** The rules that were tried; undefined when the event did not come to them. */
  walk: RuleWalk | undefined = undefined;
  readonly #steps: number;

  /** @param steps that searches for earlier events may take to be described */
  constructor(steps = EXPLANATION_STEPS) {
    this.#steps = steps;
  }

  /** Takes down what pre-decoding found; decoders may change it. */
  predecoded(event: EngineEvent): void {
    this.predecoding = {
      format: headerFormat(event.fullLog),
      timestamp: event.timestamp,
      hostname: event.hostname,
      programName: event.programName,
      log: event.log,
    };
  }

  decode(set: DecoderSet, event: EngineEvent, tools: DecodingTools): void {
    interpretDecoders(set, event, tools, (step) => this.decoding.push(step));
  }

  evaluate(ruleset: Ruleset, event: EngineEvent, run: RuleRun): CompiledRule | undefined {
    this.walk = new RuleWalk(event, run, this.#steps);
    return this.walk.evaluate(ruleset);
  }
}
