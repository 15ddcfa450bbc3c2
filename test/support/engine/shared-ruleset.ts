import { readFileSync } from 'node:fs';
import { readOfflineRuleset } from '../../../bin/offline/read-offline-ruleset.js';
import type { EngineRuleset } from '../../../lib/engine/load/engine-ruleset.js';
import { loadRuleset } from '../../../lib/engine/load/load-ruleset.js';
import { MitreTable } from '../../../lib/engine/load/mitre-table.js';
import { compilePattern } from '../../../lib/patterns/compile-pattern.js';
import { productRoot } from '../../../lib/product/product-root.js';
import { RecordingDiagnostics } from '../recording-diagnostics.js';

const loaded = new Map<string, EngineRuleset>();

/** Loads the ruleset of plain directories, once a process, with the levels of the shipped configuration. */
export function rulesetOf(...dirs: string[]): EngineRuleset {
  const key = dirs.join();
  let ruleset = loaded.get(key);
  if (ruleset === undefined) {
    const diagnostics = new RecordingDiagnostics();
    ruleset = loadRuleset(readOfflineRuleset(dirs, diagnostics), {
      diagnostics,
      compilePattern,
      mitre: MitreTable.parse(readFileSync(new URL('etc/ruleset/mitre/attack.json', productRoot()), 'utf8')),
      logLevel: 3,
      mailLevel: 12,
    });
    loaded.set(key, ruleset);
  }
  return ruleset;
}
