// Writes api/contract/operations.ts: what each operation of api/openapi.yaml takes, and may use, as types.
// `--check` writes nothing and fails when the file is not what it would be.
import { Buffer } from 'node:buffer';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { JSON_SCHEMA, load } from 'js-yaml';
import { format } from 'oxfmt';
import { root } from './phases.mjs';

const CONTRACT = 'api/openapi.yaml';
const OUTPUT = 'api/contract/operations.ts';
const REQUIREMENTS = 'api/rbac/requirements.ts';

const contract = load(readFileSync(join(root, CONTRACT), 'utf8'), { schema: JSON_SCHEMA });

/** The reading of declarations that svc-apid works with: what it hands over is what the types say. */
async function loadRequirements() {
  const entry = join(root, REQUIREMENTS);
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: 'esm', write: false });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

const { permittedName, requirementsOf } = await loadRequirements();

/** What an item stands for: itself, or the target of its `$ref`. */
function resolve(item) {
  if (item.$ref === undefined) return item;
  const names = item.$ref.replace(/^#\//, '').split('/');
  return names.reduce((target, name) => target[name], contract);
}

/** The TypeScript type of what is valid for a schema. */
function typeOf(schema) {
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  switch (schema.type) {
    case 'string':
    case 'boolean':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `readonly (${typeOf(schema.items)})[]`;
    case 'object':
      return schema.properties === undefined ? 'Readonly<Record<string, unknown>>' : objectType(schema);
    default:
      throw new Error(`${CONTRACT}: no type for ${JSON.stringify(schema)}`);
  }
}

/** Defaults of bodies are for readers: nobody fills them in. */
function objectType({ properties, required = [] }) {
  return members(Object.entries(properties).map(([name, schema]) => [name, schema, required.includes(name)]));
}

/** @param entries each [name, schema, whether it is always there] */
function members(entries) {
  if (entries.length === 0) return 'Readonly<Record<never, never>>';
  const lines = entries.map(([name, schema, isSure]) => {
    return `readonly ${JSON.stringify(name)}${isSure ? '' : '?'}: ${typeOf(schema)};`;
  });
  return `{ ${lines.join('\n')} }`;
}

/**
 * Ids that may be allowed in part, and those of agents, come from what is permitted alone: nobody forgets to look. One that is not allowed
 * has ended the request.
 */
function isTaken(name, requirements) {
  return requirements.some(
    ({ resource, source }) => source.name === name && (source.isList || resource === 'agent:id'),
  );
}

/** Parameters with a default are always there: api/http/parameter-values.ts fills it in. */
function parametersType(operation, requirements) {
  const parameters = (operation.parameters ?? []).map(resolve).filter(({ name }) => !isTaken(name, requirements));
  return members(
    parameters.map(({ name, schema, required }) => [name, schema, required === true || schema.default !== undefined]),
  );
}

function bodyType({ requestBody }) {
  if (requestBody === undefined) return 'undefined';
  const json = resolve(requestBody).content['application/json'];
  return json === undefined ? 'Upload' : typeOf(json.schema);
}

/** What callers have to be allowed. */
function requirementsOfOperation(method, operation) {
  return requirementsOf({
    method: method.toUpperCase(),
    actions: operation['x-rbac-actions'] ?? [],
    parameters: (operation.parameters ?? [])
      .map(resolve)
      .map((parameter) => ({ ...parameter, resources: parameter['x-rbac-resources'] ?? [] })),
  });
}

/** What of the resources that it is about the caller may use. */
function permittedType(operation, requirements) {
  const names = requirements.map(permittedName).filter((name) => name !== undefined);
  const entries = names.map((name) => `readonly ${name}: ${name === 'agents' ? 'PermittedAgents' : 'PermittedIds'};`);
  if (operation['x-rbac-secrets'] !== undefined) entries.push('readonly secrets: boolean;');
  if (operation['x-rbac-whole'] !== undefined) entries.push('readonly whole: boolean;');
  return entries.length === 0 ? 'Readonly<Record<never, never>>' : `{ ${entries.join('\n')} }`;
}

function operationTypes() {
  return Object.entries(contract.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const requirements = requirementsOfOperation(method, operation);
      return `
        /** ${method.toUpperCase()} ${path}: ${operation.summary}. */
        ${operation.operationId}: {
          readonly parameters: ${parametersType(operation, requirements)};
          readonly body: ${bodyType(operation)};
          readonly permitted: ${permittedType(operation, requirements)};
        };`;
    }),
  );
}

const source = `// Made from ${CONTRACT} by \`npm run generate\`: change that file, not this one.

import type { PermittedAgents } from '../rbac/permitted-agents.js';
import type { PermittedIds } from '../rbac/permitted-ids.js';

/** The bytes of an uploaded file; undefined when none were sent. */
export type Upload = Buffer | undefined;

/**
 * What each operation of the contract takes, by operation id: the checked parameters of query, path and header, with
 * the defaults filled in, the checked body, and what of the resources it is about the caller may use. Handlers get exactly this (\`ApiRequest\`).
 */
export type Operations = {${operationTypes().join('\n')}
};

export type OperationId = keyof Operations;
`;

const output = join(root, OUTPUT);
const style = JSON.parse(readFileSync(join(root, '.oxfmtrc.json'), 'utf8'));
const { code: text, errors } = await format(output, source, { ...style, ignorePatterns: [] });
if (errors.length > 0) throw new Error(`${OUTPUT}: ${errors[0].message}`);
if (!process.argv.includes('--check')) {
  writeFileSync(output, text);
} else if (readFileSync(output, 'utf8') !== text) {
  console.error(`${OUTPUT} is not what ${CONTRACT} says: run \`npm run generate\` and commit it.`);
  process.exitCode = 1;
}
