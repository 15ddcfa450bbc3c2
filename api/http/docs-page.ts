import type { ApiContract, Operation } from '../contract/contract.js';
import { API_TITLE } from '../product-names.js';
import { rawResult } from './envelope.js';
import type { DocumentPage } from './request-context.js';

/** The page and its style come from this server and nothing else does (rest-api.md 8.1, 7). */
const PAGE_POLICY = "default-src 'self'";

const STYLE = `body { font: 16px/1.5 sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; color: #1b1f24; background: #fff; }
h2 { border-bottom: 1px solid #ccd; margin-top: 2.5rem; }
details { border: 1px solid #ccd; border-radius: 4px; margin: 0.4rem 0; padding: 0.4rem 0.8rem; }
summary { cursor: pointer; }
code, .method { font-family: monospace; }
.method { display: inline-block; width: 4.5rem; font-weight: bold; }
.absent, .deprecated { color: #7a5c00; }
table { border-collapse: collapse; width: 100%; }
td, th { border-top: 1px solid #e3e6ea; padding: 0.2rem 0.6rem 0.2rem 0; text-align: left; vertical-align: top; }
@media (prefers-color-scheme: dark) { body { color: #e6e8eb; background: #14171a; } a { color: #8ab4f8; } .absent, .deprecated { color: #e0b84c; } }
`;

/**
 * The contract for programs (`/openapi.json`) and for people (`/docs`): no login, no outside assets, no script.
 * @param available whether this version has an operation
 */
export function documentationPages(
  contract: ApiContract,
  available: (operation: Operation) => boolean,
): ReadonlyMap<string, DocumentPage> {
  return new Map<string, DocumentPage>([
    ['/openapi.json', { result: rawResult('application/json', JSON.stringify(contract.document)) }],
    [
      '/docs',
      {
        result: rawResult('text/html; charset=utf-8', page(contract, available)),
        contentSecurityPolicy: PAGE_POLICY,
      },
    ],
    ['/docs/style.css', { result: rawResult('text/css; charset=utf-8', STYLE), contentSecurityPolicy: PAGE_POLICY }],
  ]);
}

function page(contract: ApiContract, available: (operation: Operation) => boolean): string {
  const info = member(contract.document, 'info');
  const tags = contract.document['tags'] as readonly { name: string; description: string }[];
  const sections = tags.map((tag) => {
    const operations = contract.operations.filter(
      (operation) => definition(contract, operation)['tags']?.[0] === tag.name,
    );
    const items = operations.map((operation) => operationItem(contract, operation, available(operation)));
    return `<section><h2 id="${escape(tag.name)}">${escape(tag.name)}</h2><p>${escape(tag.description)}</p>${items.join('')}</section>`;
  });
  const links = tags.map(({ name }) => `<a href="#${escape(name)}">${escape(name)}</a>`).join(' · ');
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(API_TITLE)}</title><link rel="stylesheet" href="/docs/style.css"></head>
<body><h1>${escape(API_TITLE)}</h1><p>${code(String(info['description']))}</p>
<p>Version ${escape(String(info['version']))} · <a href="/openapi.json">OpenAPI document</a></p><nav>${links}</nav>
${sections.join('\n')}</body></html>
`;
}

type OperationDefinition = { tags?: string[]; summary?: string; description?: string; parameters?: { $ref: string }[] };

function operationItem(contract: ApiContract, operation: Operation, available: boolean): string {
  const { summary = '', description = '' } = definition(contract, operation);
  const notes = [
    available ? '' : ' <span class="absent">not in this version</span>',
    operation.deprecated ? ' <span class="deprecated">deprecated</span>' : '',
  ].join('');
  const needs = operation.actions.length === 0 ? '' : `<p>Needs ${operation.actions.map(tt).join(', ')}.</p>`;
  const body = operation.body === undefined ? '' : `<p>Body: ${operation.body.types.map(tt).join(', ')}.</p>`;
  const fields = operation.body?.json === undefined ? '' : bodyTable(operation.body.json);
  return (
    `<details id="${operation.id}"><summary><span class="method">${operation.method}</span> ` +
    `${tt(operation.path)} ${escape(summary)}${notes}</summary><p>${code(description)}</p>${needs}` +
    `${parameterTable(contract, operation)}${body}${fields}</details>`
  );
}

function parameterTable(contract: ApiContract, operation: Operation): string {
  if (operation.parameters.length === 0) return '';
  const descriptions = parameterDescriptions(contract, operation);
  const rows = operation.parameters.map(
    ({ name, in: where, required, schema }, index) =>
      `<tr><td>${tt(name)}</td><td>${where}${required ? ', required' : ''}</td>` +
      `<td>${escape(typeText(schema))}</td><td>${code(descriptions[index] ?? '')}</td></tr>`,
  );
  return `<table><tr><th>Parameter</th><th>In</th><th>Type</th><th>Meaning</th></tr>${rows.join('')}</table>`;
}

function bodyTable(schema: Readonly<Record<string, unknown>>): string {
  const required = Array.isArray(schema['required']) ? (schema['required'] as string[]) : [];
  const rows = Object.entries((schema['properties'] ?? {}) as Record<string, Record<string, unknown>>).map(
    ([name, field]) =>
      `<tr><td>${tt(name)}</td><td>${required.includes(name) ? 'required' : ''}</td><td>${escape(typeText(field))}</td></tr>`,
  );
  return rows.length === 0 ? '' : `<table><tr><th>Field</th><th></th><th>Type</th></tr>${rows.join('')}</table>`;
}

function typeText(schema: Readonly<Record<string, unknown>>): string {
  const items = schema['items'] as Readonly<Record<string, unknown>> | undefined;
  if (schema['type'] === 'array' && items !== undefined) return `list of ${typeText(items)}`;
  const values = Array.isArray(schema['enum']) ? `: ${schema['enum'].join(', ')}` : '';
  const fallback = schema['default'] === undefined ? '' : `, default ${String(schema['default'])}`;
  return `${String(schema['x-format'] ?? schema['type'] ?? 'any')}${values}${fallback}`;
}

function parameterDescriptions(contract: ApiContract, operation: Operation): string[] {
  const parameters = member(member(contract.document, 'components'), 'parameters');
  return (definition(contract, operation).parameters ?? []).map(({ $ref }) => {
    const parameter = member(parameters, $ref.slice($ref.lastIndexOf('/') + 1));
    return String(parameter['description'] ?? '');
  });
}

function definition(
  contract: ApiContract,
  operation: Operation,
): OperationDefinition & Record<string, string[] | undefined> {
  const path = member(member(contract.document, 'paths'), operation.path);
  return member(path, operation.method.toLowerCase()) as OperationDefinition & Record<string, string[] | undefined>;
}

function member(value: Readonly<Record<string, unknown>>, name: string): Record<string, unknown> {
  return value[name] as Record<string, unknown>;
}

function tt(text: string): string {
  return `<code>${escape(text)}</code>`;
}

/** Escaped, with `...` in backquotes as code. */
function code(text: string): string {
  return escape(text).replace(/`([^`]*)`/g, '<code>$1</code>');
}

function escape(text: string): string {
  const places: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (character) => places[character] ?? character);
}
