import { DEFAULT_STEP_BUDGET, type EngineOptions } from '../engine/engine.js';
import type { EngineRuleset } from '../engine/engine-ruleset.js';
import type { Diagnostics } from '../engine/event.js';
import { loadOfflineRuleset, offlineOrigin } from '../logtest/offline-ruleset.js';

/**
 * Loads the ruleset of directories that hold `decoders/`, `rules/` and `lists/`.
 *
 * @throws RulesetError when it cannot be used
 */
export function loadTestRuleset(dirs: readonly string[], diagnostics: Diagnostics): EngineRuleset {
  return loadOfflineRuleset(dirs, diagnostics);
}

/** How tests run the engine: as logtest does. */
export function testEngineOptions(): EngineOptions {
  return { mode: 'test', origin: offlineOrigin(), logFirewall: false, budget: DEFAULT_STEP_BUDGET };
}
