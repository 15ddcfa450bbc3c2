import type { ApiContract, Operation, Schema } from '../../lib/contract/api-contract.js';
import type { ErrorCatalogue } from '../http/error-catalogue.js';
import { API_TITLE } from '../product-names.js';
import { codeHtml, escapeHtml, proseHtml } from './html.js';
import { COMMON_PARAMETERS, definitionOf, operationHtml } from './render-operation.js';
import { fieldList, typeText } from './render-schema.js';
import { SchemaDocument } from './schema-document.js';

/** Statuses that every operation may answer, by the name of their response in the contract. */
const STATUSES: readonly (readonly [string, string])[] = [
  ...['400', '401', '403', '404', '405', '406', '413', '415', '429', '500', '503'].map(
    (status) => [status, `E${status}`] as const,
  ),
  ['default', 'Refused'],
];

/**
 * The page of the contract for people: readable without script; with it, the search works and operations can be tried.
 * @param available whether this version has an operation
 */
export function renderPage(
  contract: ApiContract,
  errors: ErrorCatalogue,
  available: (operation: Operation) => boolean,
): string {
  const document = new SchemaDocument(contract.document);
  const info = contract.document['info'] as { readonly description: string; readonly version: string };
  const tags = contract.document['tags'] as readonly { name: string; description: string }[];
  const sections = tags.map((tag) => {
    const items = contract.operations
      .filter((operation) => definitionOf(contract, operation).tags?.[0] === tag.name)
      .map((operation) => operationHtml(contract, document, operation, available(operation)));
    const id = escapeHtml(tag.name);
    return `<section><h2 id="${id}">${id}</h2><p>${proseHtml(tag.description)}</p>${items.join('\n')}</section>`;
  });
  const links = [...tags.map(({ name }) => name), 'Common-parameters', 'Statuses', 'Error-codes', 'Shapes'];
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(API_TITLE)}</title><link rel="stylesheet" href="/docs/style.css">
<script type="module" src="/docs/page.js"></script></head>
<body><h1>${escapeHtml(API_TITLE)}</h1><p>${proseHtml(info.description)}</p>
<p>Version ${escapeHtml(info.version)} · ${contract.operations.length} operations · <a href="/openapi.json">OpenAPI document</a></p>
<div class="bar" id="tools" hidden><input type="search" id="search" placeholder="Search: agents restart, 1701, group_id …" aria-label="Search">
<span id="found" role="status"></span><details id="login"><summary id="session">Log in to try</summary></details></div>
<nav>${links.map((name) => `<a href="#${escapeHtml(name)}">${escapeHtml(name.replace('-', ' '))}</a>`).join(' · ')}</nav>
${sections.join('\n')}
${commonParameters(document)}
${statuses(document)}
${errorCodes(errors)}
${shapes(document)}
</body></html>
`;
}

function commonParameters(document: SchemaDocument): string {
  const items = COMMON_PARAMETERS.map((name) => {
    const parameter = document.resolve({ $ref: `#/components/parameters/${name === 'q' ? 'query' : name}` });
    return (
      `<li id="parameter-${name}" data-words="${name}">${codeHtml(name)} ` +
      `<span class="type">${escapeHtml(typeText(parameter['schema'] as Schema))}</span> ` +
      `<span class="meaning">${proseHtml(String(parameter['description']))}</span></li>`
    );
  });
  return `<section><h2 id="Common-parameters">Common parameters</h2><ul class="fields">${items.join('')}</ul></section>`;
}

function statuses(document: SchemaDocument): string {
  const items = STATUSES.map(([status, name]) => {
    const response = document.resolve({ $ref: `#/components/responses/${name}` });
    const shown = status === 'default' ? 'others' : status;
    return `<li id="status-${status}"><b>${shown}</b> ${proseHtml(String(response['description']))}</li>`;
  });
  return (
    '<section><h2 id="Statuses">Statuses</h2><p>Every refusal is a <a href="#shape-Problem">Problem</a>, ' +
    `<code>application/problem+json</code>.</p><ul class="fields">${items.join('')}</ul></section>`
  );
}

/** Codes of any operation: a failure of ours, a daemon that is down, too much time, too many requests, a body without type. */
const COMMON_CODES = [1000, 1017, 3021, 6001, 6002];

/** Codes of `error` in a refusal and of items that failed. */
function errorCodes(errors: ErrorCatalogue): string {
  const items = [...errors].map(
    ([code, { status, message, remediation = '' }]) =>
      `<li id="error-${code}" data-words="${escapeHtml(`${code} ${message}`.toLowerCase())}"><b>${code}</b> ` +
      `<span class="type">${status}</span> ${escapeHtml(message)} <span class="meaning">${escapeHtml(remediation)}</span></li>`,
  );
  const common = COMMON_CODES.map((code) => `<a href="#error-${code}">${code}</a>`);
  return (
    '<section><h2 id="Error-codes">Error codes</h2><p>In <code>error</code> of a refusal, with the status named here, and in ' +
    `<code>failed_items</code> of a list. Any operation may meet ${common.join(', ')}.</p><details id="errors" class="many"><summary>${errors.size} codes</summary>` +
    `<ul class="fields">${items.join('')}</ul></details></section>`
  );
}

function shapes(document: SchemaDocument): string {
  const items = document.named.map(
    ([name, schema]) =>
      `<details id="shape-${escapeHtml(name)}" data-words="${escapeHtml(name.toLowerCase())}"><summary>${codeHtml(name)} ` +
      `${proseHtml(String(schema['description'] ?? ''))}</summary>${fieldList(document, schema)}</details>`,
  );
  return `<section><h2 id="Shapes">Shapes</h2>${items.join('\n')}</section>`;
}
