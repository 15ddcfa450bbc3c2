import { readFileSync } from 'node:fs';
import type { Diagnostics } from '../../lib/engine/event.js';
import type { EngineRuleset } from '../../lib/engine/load/engine-ruleset.js';
import { loadRuleset } from '../../lib/engine/load/load-ruleset.js';
import { MitreTable } from '../../lib/engine/load/mitre-table.js';
import { compilePattern } from '../../lib/patterns/compile-pattern.js';
import { optimizingLess } from '../../lib/process/optimizing-less.js';
import { productRoot } from '../../lib/product/product-root.js';
import { readOfflineRuleset } from './read-offline-ruleset.js';

/** `log_alert_level` and `email_alert_level` of the shipped configuration (rules-and-alerts.md 7.9). */
export const SHIPPED_LOG_LEVEL = 3;
const SHIPPED_MAIL_LEVEL = 12;

/**
 * Loads the ruleset of directories that hold `decoders/`, `rules/` and `lists/`, without any home.
 * @throws RulesetError when it cannot be used
 */
export function loadOfflineRuleset(
  dirs: readonly string[],
  diagnostics: Diagnostics,
  logLevel: number = SHIPPED_LOG_LEVEL,
): EngineRuleset {
  const options = {
    diagnostics,
    compilePattern,
    mitre: MitreTable.parse(readFileSync(new URL('etc/ruleset/mitre/attack.json', productRoot()), 'utf8')),
    logLevel,
    mailLevel: SHIPPED_MAIL_LEVEL,
  };
  return optimizingLess(() => loadRuleset(readOfflineRuleset(dirs, diagnostics), options));
}
