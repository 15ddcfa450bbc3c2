import { expect } from 'chai';
import type { Operation, Schema } from '../../../lib/contract/api-contract.js';
import { ResponseChecker } from '../../support/api/response-checker.js';
import { TestApi } from '../../support/api/test-api.js';
import { readVectors } from '../../support/read-vectors.js';

/** A value the schema accepts. */
function sample(schema: Schema): unknown {
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  const samples: Record<string, unknown> = {
    alert_id: '20261127-000-100',
    numbers: '100',
    numbers_or_all: '100',
    timeframe: '7d',
    xml_filename_path: 'a.xml',
    agent_key: 'a'.repeat(64),
    get_dirnames_path: 'etc/rules',
    wpk_path: 'var/upgrade/own.wpk',
  };
  const byFormat = samples[String(schema['x-format'])];
  if (byFormat !== undefined) return byFormat;
  switch (schema['type']) {
    case 'object': {
      const required = (schema['required'] ?? []) as string[];
      const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
      const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1);
      return Object.fromEntries(names.map((name) => [name, sample(properties[name] ?? {})]));
    }
    case 'array':
      return [sample(schema['items'] as Schema)];
    case 'integer':
      return Number(schema['minimum'] ?? 1);
    case 'boolean':
      return true;
    default:
      return 'abcd';
  }
}

/** Whether there are values the schema does not accept. */
function isRestricted(schema: Schema): boolean {
  if (schema['type'] === 'array') return isRestricted(schema['items'] as Schema);
  return schema['type'] !== 'string' || ['pattern', 'enum', 'format'].some((keyword) => keyword in schema);
}

function requestOf(operation: Operation): { path: string; body?: unknown; type?: string } {
  const values = new Map(operation.parameters.map((parameter) => [parameter.name, parameter]));
  const path = operation.path.replace(/\{(\w+)\}/g, (_place, name: string) => String(sample(values.get(name)!.schema)));
  const query = operation.parameters
    .filter(({ in: where, required }) => where === 'query' && required)
    .map(({ name, schema }) => `${name}=${String(sample(schema))}`);
  const target = query.length > 0 ? `${path}?${query.join('&')}` : path;
  if (operation.body === undefined) return { path: target };
  if (operation.body.json !== undefined) return { path: target, body: sample(operation.body.json) };
  return { path: target, body: '<a/>', type: operation.body.types[0]! };
}

describe('operations of the contract', () => {
  const checker = new ResponseChecker();
  let api: TestApi;
  before(async () => {
    api = await new TestApi().start({
      access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 },
      experimentalFeatures: true,
    });
  });
  after(() => api.remove());

  it('are 195, each with a name, a description and a tag', () => {
    expect(checker.operations).to.have.length(195);
    expect(new Set(checker.operations.map(({ id }) => id)).size).to.equal(195);
    expect(api.api.missingOperations(), 'operations that are answered 501').to.deep.equal([]);
  });

  it('say of none that a part of the product is missing', () => {
    expect(checker.operations.filter(({ missing }) => missing !== undefined)).to.deep.equal([]);
  });

  it('take the parameters and bodies of the reference', () => {
    type Definition = { parameters?: { $ref: string }[]; requestBody?: object };
    const reference = readVectors<{
      paths: Record<string, Record<string, Definition>>;
      components: { parameters: Record<string, { name: string; in: string; required?: boolean; schema: object }> };
    }>('openapi.json');
    for (const [path, methods] of Object.entries(reference.paths)) {
      for (const [method, definition] of Object.entries(methods)) {
        const operation = checker.operations.find((o) => o.path === path && o.method === method.toUpperCase());
        const expected = (definition.parameters ?? []).map(({ $ref }) => {
          const parameter = reference.components.parameters[$ref.split('/').at(-1)!]!;
          const { name, in: where, required = false, schema } = parameter;
          return { name, in: where, required, schema: OWN_NAMES[name]?.(schema) ?? schema };
        });
        const actual = operation?.parameters
          .filter(({ in: where }) => where !== 'header')
          .map(({ name, in: where, required, schema }) => ({ name, in: where, required, schema }));
        expect(actual, `${method} ${path}`).to.deep.equal(expected);
        expect(operation?.body === undefined).to.equal(definition.requestBody === undefined);
      }
    }
  });

  for (const operation of new ResponseChecker().operations.filter(({ credentials }) => credentials === 'token')) {
    const parameters = operation.parameters.filter(
      ({ in: where, schema }) => where === 'query' && isRestricted(schema),
    );
    if (parameters.length === 0) continue;
    it(`${operation.method} ${operation.path} refuses wrong values of its parameters`, async () => {
      for (const { name } of parameters) {
        const { path } = requestOf(operation);
        const others = path.replace(new RegExp(`([?&])${name.replace('.', '\\.')}=[^&]*&?`), '$1');
        const separator = others.includes('?') ? '&' : '?';
        const answer = await api.call(operation.method, `${others}${separator}${name}=%3B%3B%3B`);
        expect(answer.status, `${name}: ${answer.text}`).to.equal(400);
        expect((answer.json() as { detail: string }).detail).to.match(/^';;;' is not (a|of type|one of) /);
        checker.check(operation.method, operation.path, answer);
      }
    });
  }

  it('has a page and a document without a login', async () => {
    const document = await api.request('GET', '/openapi.json');
    expect(document.headers['content-type']).to.equal('application/json');
    expect(Object.keys((document.json() as { paths: object }).paths).length).to.be.greaterThan(80);
    const page = await api.request('GET', '/docs');
    expect(page.status).to.equal(200);
    expect(page.headers['content-security-policy']).to.equal("default-src 'self'");
    for (const { id } of checker.operations) expect(page.text).to.include(`id="${id}"`);
    const script = await api.request('GET', '/docs/page.js');
    expect(script.headers['content-type']).to.equal('text/javascript; charset=utf-8');
    expect(script.headers['content-security-policy']).to.equal("default-src 'self'");
    const style = await api.request('GET', '/docs/style.css');
    expect(style.headers['content-type']).to.equal('text/css; charset=utf-8');
    expect((await api.request('POST', '/docs')).status).to.equal(405);
    expect((await api.request('GET', '/docs/')).headers.location).to.equal('/docs');
  });
});

/** The sections a client may ask for, with those that only this product has. */
/** Parameters that take names of our own beside those of the reference. */
const OWN_NAMES: Readonly<Record<string, (schema: object) => object>> = {
  section: withOwnSections,
  daemons_list: withOwnDaemons,
};

function withOwnDaemons(schema: object): object {
  const { items } = schema as { items: { enum: string[] } };
  if (!items.enum.includes('svc-db')) return schema;
  return { ...schema, items: { ...items, enum: [...items.enum, 'svc-monitord', 'svc-execd'] } };
}

function withOwnSections(schema: object): object {
  const { enum: names } = schema as { enum: string[] };
  const behind = names.indexOf('integration') + 1;
  return { ...schema, enum: [...names.slice(0, behind), 'journal', 'analysis', 'alert_store', ...names.slice(behind)] };
}
