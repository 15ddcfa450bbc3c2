import type { Schema } from '../../lib/contract/api-contract.js';
import { codeHtml, escapeHtml, proseHtml } from './html.js';
import { type SchemaDocument, shapeName } from './schema-document.js';

/** Members of an object as nested lists: name, type, whether it is required, meaning. Shapes with a name are linked. */
export function fieldList(document: SchemaDocument, schema: Schema): string {
  const required = new Set((document.resolve(schema)['required'] ?? []) as readonly string[]);
  const items = [...document.properties(schema)].map(([name, value]) => {
    const { text, inner } = describeType(document, value);
    const { description } = document.resolve(value) as { readonly description?: string };
    const meaning = description === undefined ? '' : ` <span class="meaning">${proseHtml(description)}</span>`;
    const needed = required.has(name) ? ' <em>required</em>' : '';
    return `<li>${codeHtml(name)} <span class="type">${text}</span>${needed}${meaning}${inner}</li>`;
  });
  return items.length === 0 ? '' : `<ul class="fields">${items.join('')}</ul>`;
}

/** What a value is, as HTML, and the members of one whose shape has no name. */
export function describeType(document: SchemaDocument, schema: Schema): { text: string; inner: string } {
  const name = shapeName(schema);
  if (name !== undefined) return { text: shapeLink(name), inner: '' };
  const parts = (schema['allOf'] ?? schema['oneOf']) as readonly Schema[] | undefined;
  const last = parts?.at(-1);
  if (last !== undefined && document.properties(schema).size === 0) return describeType(document, last);
  const { items } = schema as { readonly items?: Schema };
  if (schema['type'] === 'array' && items !== undefined) {
    const { text, inner } = describeType(document, items);
    return { text: `list of ${text}`, inner };
  }
  return { text: escapeHtml(typeText(schema)), inner: fieldList(document, schema) };
}

export function shapeLink(name: string): string {
  return `<a href="#shape-${escapeHtml(name)}">${escapeHtml(name)}</a>`;
}

/** Type, values, limits and default of a plain value, or of a list of them. */
export function typeText(schema: Schema): string {
  const { items } = schema as { readonly items?: Schema };
  if (schema['type'] === 'array' && items !== undefined) return `list of ${typeText(items)}`;
  const type = String(schema['x-format'] ?? schema['type'] ?? (schema['properties'] === undefined ? 'any' : 'object'));
  const values = Array.isArray(schema['enum']) ? `: ${schema['enum'].join(', ')}` : '';
  const limits = (['minimum', 'maximum', 'minLength', 'maxLength'] as const)
    .filter((keyword) => schema[keyword] !== undefined)
    .map((keyword) => `, ${LIMITS[keyword]} ${String(schema[keyword])}`);
  const fallback = schema['default'] === undefined ? '' : `, default ${String(schema['default'])}`;
  return `${type}${values}${limits.join('')}${fallback}`;
}

const LIMITS = {
  minimum: 'at least',
  maximum: 'at most',
  minLength: 'characters at least',
  maxLength: 'characters at most',
} as const;
