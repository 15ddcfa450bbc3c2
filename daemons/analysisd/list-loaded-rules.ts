import { basename, dirname } from 'node:path';
import { fromByteString } from '../../lib/engine/byte-string.js';
import { listRules } from '../../lib/engine/listing/list-rules.js';
import type { RulesetSources } from '../../lib/engine/load/load-ruleset.js';

/** The rules of the ruleset in force, in the form of the listing (rules-and-alerts.md 10.2). */
export function listLoadedRules(sources: RulesetSources): Record<string, unknown>[] {
  return sources.rules.flatMap(({ path, content }) => {
    const listing = listRules({
      file: { filename: basename(path), relative_dirname: dirname(path), status: 'enabled' },
      content: fromByteString(content),
    });
    return listing.items.map((item) => ({ ...item }));
  });
}
