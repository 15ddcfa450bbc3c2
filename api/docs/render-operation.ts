import type { ApiContract, Operation, Schema } from '../../lib/contract/api-contract.js';
import { exampleOf } from './example-of.js';
import { codeHtml, escapeHtml, jsonAttribute, preHtml, proseHtml } from './html.js';
import { describeType, fieldList, shapeLink, typeText } from './render-schema.js';
import { type SchemaDocument, shapeName } from './schema-document.js';

/** Parameters that nearly every operation has: described once, at the end of the page. */
export const COMMON_PARAMETERS: readonly string[] = [
  ...['pretty', 'wait_for_complete', 'offset', 'limit', 'sort', 'search', 'select', 'q', 'distinct'],
];

/** An operation of the contract as it is written there. */
export type OperationDefinition = {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Schema[];
  readonly responses?: Readonly<Record<string, Schema>>;
  /** Codes of `error` that are its own, beside those that any request may meet. */
  readonly 'x-error-codes'?: readonly number[];
};

/** @throws TypeError for an operation of another contract */
export function definitionOf({ document }: ApiContract, operation: Operation): OperationDefinition {
  const paths = document['paths'] as Readonly<Record<string, Readonly<Record<string, OperationDefinition>>>>;
  return paths[operation.path]?.[operation.method.toLowerCase()] ?? {};
}

/** Everything about an operation, as a `details` element with the operation's id. @param available in this version */
export function operationHtml(
  contract: ApiContract,
  document: SchemaDocument,
  operation: Operation,
  available: boolean,
): string {
  const definition = definitionOf(contract, operation);
  const { summary = '', description = '' } = definition;
  const notes = [
    available ? '' : ' <span class="absent">not in this version</span>',
    operation.deprecated ? ' <span class="absent">deprecated</span>' : '',
  ].join('');
  const missing = operation.missing === undefined ? '' : `<p class="absent">${escapeHtml(operation.missing)}.</p>`;
  const needs = operation.actions.length === 0 ? '' : `<p>Needs ${operation.actions.map(codeHtml).join(', ')}.</p>`;
  const words = [
    ...[operation.method, operation.path, operation.id, summary, description, ...operation.actions],
    ...operation.parameters.map(({ name }) => name).filter((name) => !COMMON_PARAMETERS.includes(name)),
  ];
  return (
    `<details class="operation" id="${operation.id}" data-words="${escapeHtml(words.join(' ').toLowerCase())}"` +
    `${jsonAttribute('try', tryData(operation))}>` +
    `<summary><span class="method ${operation.method.toLowerCase()}">${operation.method}</span> ` +
    `${codeHtml(operation.path)} <span class="title">${escapeHtml(summary)}</span>${notes}</summary>` +
    `<p>${proseHtml(description)} <a class="link" href="#${operation.id}">#${operation.id}</a></p>${missing}${needs}` +
    `${parametersHtml(document, operation, definition)}${bodyHtml(document, operation)}` +
    `${answersHtml(document, definition)}</details>`
  );
}

/** What the form to try an operation is made of, in the page (api/docs/browser/try-request.ts). */
function tryData({ method, path, parameters, body, credentials }: Operation): object {
  return {
    method,
    path,
    basic: credentials === 'basic',
    types: body?.types ?? [],
    parameters: parameters
      .filter((parameter) => parameter.in !== 'header')
      .map(({ name, in: where, required, schema }) => ({
        name,
        in: where,
        ...(required ? { required } : {}),
        ...(schema['type'] === 'boolean' ? { values: ['true', 'false'] } : {}),
        ...(Array.isArray(schema['enum']) ? { values: schema['enum'] as unknown[] } : {}),
      })),
  };
}

function parametersHtml(document: SchemaDocument, operation: Operation, definition: OperationDefinition): string {
  const described = (definition.parameters ?? []).map((parameter) => document.resolve(parameter));
  const all = operation.parameters.map((parameter, index) => ({
    ...parameter,
    description: String(described[index]?.['description'] ?? ''),
  }));
  const own = all.filter(({ name }) => !COMMON_PARAMETERS.includes(name));
  const common = all.filter(({ name }) => COMMON_PARAMETERS.includes(name));
  const items = own.map(
    ({ name, in: where, required, schema, description }) =>
      `<li>${codeHtml(name)} <span class="type">${escapeHtml(typeText(schema))}</span> ` +
      `${where === 'query' ? '' : `in the ${where}`} ${required ? '<em>required</em>' : ''} ` +
      `<span class="meaning">${proseHtml(description)}</span></li>`,
  );
  const links = common.map(({ name }) => `<a href="#parameter-${name}">${name}</a>`).join(', ');
  const list = items.length === 0 ? '' : `<ul class="fields">${items.join('')}</ul>`;
  const others = common.length === 0 ? '' : `<p>${items.length === 0 ? 'Takes' : 'Also'} ${links}.</p>`;
  return list === '' && others === '' ? '' : `<h3>Parameters</h3>${list}${others}`;
}

function bodyHtml(document: SchemaDocument, { body }: Operation): string {
  if (body === undefined) return '';
  const types = body.types.map(codeHtml).join(', ');
  if (body.json === undefined) return `<h3>Body</h3><p>The content of the file, as ${types}.</p>`;
  const example = JSON.stringify(exampleOf(document, body.json), null, 2);
  return `<h3>Body</h3><p>${types}</p>${fieldList(document, body.json)}${preHtml(example, 'body')}`;
}

/** Answers that succeed, with their shape and an example, and the statuses of the others. */
function answersHtml(
  document: SchemaDocument,
  { responses = {}, 'x-error-codes': codes = [] }: OperationDefinition,
): string {
  const statuses = Object.keys(responses);
  const refusals = statuses.filter((status) => !status.startsWith('2'));
  const links = refusals.map((status) => `<a href="#status-${status}">${status === 'default' ? 'others' : status}</a>`);
  const good = statuses.filter((status) => status.startsWith('2'));
  const errors = codes.map((code) => `<a href="#error-${code}">${code}</a>`);
  return (
    `<h3>Answers</h3>${good.map((status) => answerHtml(document, status, responses[status] ?? {})).join('')}` +
    `<p>Refusals: ${links.join(', ')}.${errors.length === 0 ? '' : ` Error codes: ${errors.join(', ')}.`}</p>`
  );
}

function answerHtml(document: SchemaDocument, status: string, response: Schema): string {
  const { description = '', content = {} } = document.resolve(response) as {
    readonly description?: string;
    readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
  };
  const raw = Object.keys(content).filter((type) => type !== 'application/json');
  const also = raw.length === 0 ? '' : ` Also as ${raw.map(codeHtml).join(', ')}.`;
  const head = `<p><b>${status}</b> ${proseHtml(description)}${also}</p>`;
  const schema = content['application/json']?.schema;
  if (schema === undefined) return head;
  const example = JSON.stringify(exampleOf(document, schema), null, 2);
  return `${head}${shapeHtml(document, schema)}${preHtml(example, 'answer')}`;
}

/** The envelope, and what it holds. */
function shapeHtml(document: SchemaDocument, schema: Schema): string {
  const parts = (schema['allOf'] ?? [schema]) as readonly Schema[];
  const names = parts.map(shapeName).filter((name) => name !== undefined);
  const envelope = names.map(shapeLink).join(' and ');
  const data = document.properties(parts.at(-1) ?? {}).get('data');
  if (names.length === 0 || data === undefined || parts.length === 1) {
    return `<p>${envelope}</p>${envelope === '' ? fieldList(document, schema) : ''}`;
  }
  const items = document.properties(data).get('affected_items');
  const { text, inner } = describeType(document, items ?? data);
  return `<p>${envelope}, <code>${items === undefined ? 'data' : 'data.affected_items'}</code>: ${text}</p>${inner}`;
}
