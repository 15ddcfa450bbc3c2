import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Home } from '../../../lib/home/home.js';
import { productRoot } from '../../../lib/product/product-root.js';

/**
 * Puts into a home what svc-analysisd needs before its own rules and configuration: the directories of a ruleset, one
 * file of decoders, an empty MITRE table and the shipped internal options.
 * @param decoders text of `ruleset/decoders/<name>.xml`
 */
export function writeEngineFiles(home: Home, decoders: { readonly name: string; readonly text: string }): void {
  for (const directory of ['ruleset/rules', 'ruleset/decoders', 'ruleset/mitre', 'etc/lists']) {
    mkdirSync(home.path(directory), { recursive: true });
  }
  writeFileSync(home.path('ruleset/mitre/attack.json'), '{"tactics":[],"techniques":[]}');
  writeFileSync(home.path('ruleset/decoders', `${decoders.name}.xml`), decoders.text);
  const options = fileURLToPath(new URL('etc/internal_options.conf', productRoot()));
  copyFileSync(options, home.path('etc/internal_options.conf'));
}

/** Puts the shipped rules and decoders into a home, and the directories that svc-analysisd and svc-db need beside them. */
export function copyShippedRuleset(home: Home): void {
  for (const directory of ['rules', 'decoders', 'mitre']) {
    const source = fileURLToPath(new URL(`etc/ruleset/${directory}`, productRoot()));
    cpSync(source, home.path('ruleset', directory), { recursive: true });
  }
  for (const directory of ['etc/lists', 'queue/db']) mkdirSync(home.path(directory), { recursive: true });
}
