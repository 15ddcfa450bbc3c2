import { readFileSync } from 'node:fs';
import { productRoot } from '../../../lib/product/product-root.js';

/** Types of fields by their paths, as indexer.md says them of an index. */
export type SpecifiedFields = Readonly<Record<string, string>>;

const DOCUMENT = new URL('docs/spec/indexer.md', productRoot());
const TYPES = /scaled_float|match_only_text|unsigned_long|keyword|boolean|integer|short|long|date|ip/g;

/** The fields of all inventory indices by kind, read from the tables of indexer.md 3.2 to 3.14, with those of 3.1. */
export function specifiedFields(): ReadonlyMap<string, SpecifiedFields> {
  const sections = readFileSync(DOCUMENT, 'utf8').split(/^### /m);
  const common = fieldsOf(sections.find((section) => section.startsWith('3.1 ')) ?? '');
  const kinds = sections.flatMap((section): [string, SpecifiedFields][] => {
    const [, kind] = /^3\.\d+ `(?:…|wazuh-states-inventory)-([a-z-]+)-<c>`/.exec(section) ?? [];
    return kind === undefined ? [] : [[kind, { ...common, ...fieldsOf(section) }]];
  });
  return new Map(kinds);
}

function fieldsOf(section: string): SpecifiedFields {
  const [, single, type] = /One field: `([^`]+)` (\w+)/.exec(section) ?? [];
  if (single !== undefined && type !== undefined) return { [single]: type };
  const fields: Record<string, string> = {};
  for (const line of section.split('\n')) {
    const [, names = '', types = ''] = line.split(/(?<!\\)\|/);
    const found = types.match(TYPES);
    if (!line.startsWith('| `') || found === null) continue;
    let parent = '';
    const paths = [...names.matchAll(/`([^`]+)`/g)].flatMap(([, word = '']) => {
      // `.status` and `name` stand beside a field that is written out.
      const isWhole = !word.startsWith('.') && (word.includes('.') || parent === '');
      const path = isWhole ? word : `${parent}.${word.replace(/^\./, '')}`;
      if (isWhole) parent = path.slice(0, path.replace(/\.\{.*$/, '.x').lastIndexOf('.'));
      return spellOut(path);
    });
    for (const [index, path] of paths.entries()) fields[path] = found[Math.min(index, found.length - 1)] ?? '';
  }
  return fields;
}

function spellOut(path: string): string[] {
  const [, before = '', choices = '', behind = ''] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(path) ?? [];
  return before === '' ? [path] : choices.split(',').flatMap((choice) => spellOut(before + choice + behind));
}
