import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { toByteString } from '../engine/byte-string.js';
import { DEFAULT_STEP_BUDGET, type EngineOptions } from '../engine/engine.js';
import type { EngineRuleset } from '../engine/engine-ruleset.js';
import type { Diagnostics } from '../engine/event.js';
import { loadRuleset } from '../engine/load-ruleset.js';
import { MitreTable } from '../engine/mitre-table.js';
import { readOfflineRuleset } from '../logtest/read-offline-ruleset.js';
import { compilePattern } from '../patterns/compile-pattern.js';
import { productRoot } from '../product/product-root.js';

/** `log_alert_level` and `email_alert_level` of the shipped configuration (rules-and-alerts.md 7.9). */
const LOG_LEVEL = 3;
const MAIL_LEVEL = 12;

/**
 * Loads the ruleset of directories that hold `decoders/`, `rules/` and `lists/`.
 *
 * @throws RulesetError when it cannot be used
 */
export function loadTestRuleset(dirs: readonly string[], diagnostics: Diagnostics): EngineRuleset {
  return loadRuleset(readOfflineRuleset(dirs, diagnostics), {
    diagnostics,
    compilePattern,
    mitre: MitreTable.parse(readFileSync(new URL('etc/ruleset/mitre/attack.json', productRoot()), 'utf8')),
    logLevel: LOG_LEVEL,
    mailLevel: MAIL_LEVEL,
  });
}

/** How tests run the engine: as logtest does. */
export function testEngineOptions(): EngineOptions {
  return {
    mode: 'test',
    origin: { managerName: toByteString(hostname()), cluster: undefined, showHiddenLabels: false },
    logFirewall: false,
    budget: DEFAULT_STEP_BUDGET,
  };
}
