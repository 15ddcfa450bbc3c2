import type { Matcher } from '../../patterns/matcher.js';
import type { RuleJsonTable } from '../alert/rule-json-table.js';
import type { DecoderSet } from '../decode/decoder-set.js';
import type { RootIndex } from '../decode/root-index.js';
import type { CdbList } from '../rules/cdb-list.js';
import type { Ruleset } from '../rules/ruleset.js';
import type { PatternCompiler } from './pattern-compiler.js';

/** Decoders, rules and lists that belong together. Nobody sees it change, so that engines, sessions and reloads can share it. */
export type EngineRuleset = {
  readonly decoders: DecoderSet;
  readonly rootIndex: RootIndex;
  readonly rules: Ruleset;
  readonly lists: readonly CdbList[];
  /** What alerts of a rule always show. */
  readonly ruleJson: RuleJsonTable;
  /** Compiler that shares the ruleset's patterns. */
  readonly compilePattern: PatternCompiler;
  /** All patterns of the ruleset, each once. */
  readonly matchers: () => Iterable<Matcher>;
  /** Level from which an alert is mailed and written, as the rules were loaded with. */
  readonly mailLevel: number;
  readonly logLevel: number;
};
