// Writes dist/operations.json: of each operation of the contract what a client needs to know. A program that is typed, or asked
// for completions at every TAB, has no time to read the contract itself, which takes most of a second.
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CONTRACT = 'api/openapi.yaml';
const OUTPUT = 'dist/operations.json';
const METHODS = ['get', 'put', 'post', 'delete'];
/** What of a schema values can be held against before they are sent. */
const KEYWORDS = ['type', 'enum', 'pattern', 'x-format', 'minimum', 'maximum', 'minLength', 'maxLength', 'default'];

/** @param resolve gives what a reference stands for */
function operationOf(method, path, definition, resolve) {
  const body = definition.requestBody === undefined ? undefined : resolve(definition.requestBody);
  return {
    method: method.toUpperCase(),
    path,
    summary: definition.summary,
    parameters: (definition.parameters ?? []).map((item) => parameterOf(resolve(item))),
    bodyTypes: Object.keys(body?.content ?? {}),
    bodyRequired: body?.required === true,
  };
}

function parameterOf({ name, in: where, required = false, description = '', schema }) {
  const value = schema.type === 'array' ? schema.items : schema;
  const rule = Object.fromEntries(KEYWORDS.flatMap((key) => (key in value ? [[key, value[key]]] : [])));
  return { name, in: where, required, description, list: schema.type === 'array', rule };
}

/** Writes it anew when the contract is another one than it was made from. */
export async function writeClientOperations(root) {
  const output = join(root, OUTPUT);
  const { mtimeMs, size } = statSync(join(root, CONTRACT));
  const source = `${mtimeMs}:${size}`;
  if (existsSync(output) && JSON.parse(readFileSync(output, 'utf8')).source === source) return;
  const { JSON_SCHEMA, load } = await import('js-yaml');
  const contract = load(readFileSync(join(root, CONTRACT), 'utf8'), { schema: JSON_SCHEMA });
  const resolve = (item) =>
    item.$ref === undefined
      ? item
      : item.$ref
          .replace(/^#\//, '')
          .split('/')
          .reduce((target, name) => target[name], contract);
  const operations = Object.entries(contract.paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => method in methods).map((method) => operationOf(method, path, methods[method], resolve)),
  );
  writeFileSync(`${output}.tmp`, JSON.stringify({ source, operations }));
  renameSync(`${output}.tmp`, output);
}
