import { RuleJsonTable } from '../alert/rule-json-table.js';
import { FieldTable } from '../decode/field-table.js';
import { RootIndex } from '../decode/root-index.js';
import type { Diagnostics } from '../event.js';
import { CdbList } from '../rules/cdb-list.js';
import { buildRuleset } from './build-ruleset.js';
import type { EngineRuleset } from './engine-ruleset.js';
import { DEFAULT_ORDER_SIZE, loadDecoders } from './load-decoders.js';
import type { MitreTable } from './mitre-table.js';
import { PatternCache } from './pattern-cache.js';
import type { PatternCompiler } from './pattern-compiler.js';
import { loadRules } from './rule-loader.js';
import type { RulesetSource } from './ruleset-source.js';

/** Smallest `<global><memory_size>`; lower values are raised to it (rules-and-alerts.md 5.1). */
const MIN_MEMORY_SIZE = 2048;

/** The files of a ruleset in load order. Contents are byte strings. */
export type RulesetSources = {
  readonly decoders: readonly RulesetSource[];
  readonly rules: readonly RulesetSource[];
  /** Text forms of the configured lists; `path` is the path as configured, which rules name. */
  readonly lists: readonly RulesetSource[];
};

export type LoadRulesetOptions = {
  readonly diagnostics: Diagnostics;
  readonly compilePattern: PatternCompiler;
  readonly mitre: MitreTable;
  /** `<alerts>`: `log_alert_level` and `email_alert_level`. */
  readonly logLevel: number;
  readonly mailLevel: number;
  /** `analysisd.default_timeframe`, seconds. */
  readonly defaultTimeframe?: number;
  /** `analysisd.decoder_order_size`. */
  readonly orderSize?: number;
  /** `<global><memory_size>`. */
  readonly memorySize?: number;
};

/**
 * Loads a whole ruleset. Nothing outside is touched, so a caller that catches the error still has its old one.
 * @throws RulesetError naming file and line when the ruleset cannot be used (rules-and-alerts.md, "fatal")
 */
export function loadRuleset(sources: RulesetSources, options: LoadRulesetOptions): EngineRuleset {
  const { diagnostics, mailLevel, logLevel } = options;
  const orderSize = options.orderSize ?? DEFAULT_ORDER_SIZE;
  const patterns = new PatternCache(options.compilePattern);
  const decoders = loadDecoders(sources.decoders, { diagnostics, compilePattern: patterns.compile, orderSize });
  const lists = new Map<string, CdbList>();
  for (const { path, content } of sources.lists) {
    const name = listPath(path);
    lists.set(name, CdbList.parse(name, content));
  }
  const list = (path: string): CdbList | undefined => lists.get(path) ?? lists.get(path.replace(/\.cdb$/, ''));
  const fields = new FieldTable();
  const tree = loadRules(sources.rules, {
    diagnostics,
    patterns,
    fields,
    mailLevel,
    logLevel,
    defaultTimeframe: options.defaultTimeframe ?? 360,
    maxFields: orderSize,
    knowsDecoder: (name) => decoders.ids.has(name),
    decoderId: (name) => decoders.ids.get(name),
    knowsList: (path) => list(path) !== undefined,
    list,
  });
  const rules = buildRuleset(tree, fields, Math.max(MIN_MEMORY_SIZE, options.memorySize ?? 8192), diagnostics);
  diagnostics.info(`Total rules enabled: '${String(rules.nodeCount)}'`);
  return {
    decoders,
    rootIndex: new RootIndex(decoders),
    rules,
    lists: [...lists.values()],
    ruleJson: new RuleJsonTable(options.mitre, rules.rules.length),
    compilePattern: patterns.compile,
    matchers: () => patterns.matchers(),
    mailLevel,
    logLevel,
  };
}

/** Configured path of a list: a trailing `.cdb` is cut, and a bare name means a file of the shipped rules (6.1). */
export function listPath(path: string): string {
  const text = path.replace(/\.cdb$/, '');
  return text.includes('/') ? text : `ruleset/rules/${text}`;
}
