import { readFileSync } from 'node:fs';
import { productRoot } from '../../../lib/product/product-root.js';

/** An operation that the specification has, and what it says of it; a table of twins says less. */
export type SpecifiedOperation = {
  readonly name: string;
  readonly priority?: string;
  /** Actions that are needed; undefined where the specification names none. */
  readonly actions?: readonly string[];
  readonly deprecated?: boolean;
};

const SPECIFICATION = new URL('docs/spec/rest-api.md', productRoot());
const OWN_ENTRY = /^- \*\*(GET|PUT|POST|DELETE) (\S+)\*\* (P\d)(.*)$/;
const METHODS = /^((?:GET|PUT|POST|DELETE)(?:, (?:GET|PUT|POST|DELETE))*) (.+)$/;
const ACTION = /`([a-z-]+:[a-z_]+(?: \+ [a-z-]+:[a-z_]+)*)`/;

/** All operations of section 6 of rest-api.md: its own entries, the tables of twins, and those in running text. */
export function specifiedOperations(): readonly SpecifiedOperation[] {
  const text = readFileSync(SPECIFICATION, 'utf8');
  const section = text.slice(text.indexOf('\n## 6. Endpoints'), text.indexOf('\n## 7. '));
  const found = new Map<string, SpecifiedOperation>();
  const add = (operation: SpecifiedOperation) => {
    if (!found.has(operation.name)) found.set(operation.name, operation);
  };
  const lines = section.split('\n');
  for (const line of lines) {
    const [, method, path, priority = '', rest = ''] = OWN_ENTRY.exec(line) ?? [];
    if (method === undefined || path === undefined) continue;
    const actions = ACTION.exec(rest)?.[1]?.split(' + ');
    const deprecated = rest.includes('· deprecated');
    add({ name: `${method} ${path}`, priority, deprecated, ...(actions === undefined ? {} : { actions }) });
  }
  for (const line of lines.filter((one) => one.startsWith('| '))) {
    for (const name of tableRow(line.split('|')[1]?.trim() ?? '')) add({ name });
  }
  for (const [, name = ''] of section.matchAll(/`((?:GET|PUT|POST|DELETE) \/[^\s`]+)`/g)) {
    // Tables of errors and examples name operations that have an entry of their own.
    if (!name.includes('...')) add({ name });
  }
  return [...found.values()];
}

/** `GET, PUT /a`, `GET /a, /b`, `GET /a/{b, c}`, `GET /a, DELETE /b` and `GET /a (nodes_list)`. */
function tableRow(cell: string): string[] {
  const text = cell.replace(/ \([^)]*\)|, \d{3}$/g, '');
  const [, methods = '', rest = ''] = METHODS.exec(text) ?? [];
  if (methods === '') return [];
  const names: string[] = [];
  let base = '';
  for (const part of rest.split(/, (?![^{]*\})/)) {
    const [, ownMethods, own = part] = METHODS.exec(part) ?? [];
    // `/stats/hourly` behind `/cluster/{node_id}/stats` is below the node as well.
    const path = base !== '' && ownMethods === undefined ? base.replace(/\}.*$/, '}') + own : own;
    base ||= path;
    const choices = /^(.*)\{([^}]*, [^}]*)\}$/.exec(path);
    const paths = choices === null ? [path] : (choices[2] ?? '').split(', ').map((end) => `${choices[1] ?? ''}${end}`);
    for (const method of (ownMethods ?? methods).split(', ')) names.push(...paths.map((one) => `${method} ${one}`));
  }
  return names;
}
