import fc from 'fast-check';
import type { Operation, Schema } from '../../../../lib/contract/api-contract.js';
import { GOOD_PASSWORD } from '../security-client.js';
import { TEST_PASSWORD } from '../test-api.js';
import { hostileText } from './hostile-texts.js';
import { goodText } from './parameter-arbitrary.js';

/** What is sent: undefined for nothing. */
export type FuzzBody = { readonly type: string | undefined; readonly bytes: Buffer | undefined };

const ACTIONS = ['agent:read', 'agent:delete', 'group:read', '*:*', 'security:read', 'nothing:read', 'agent', ':', ''];
const RESOURCES = ['agent:id:001', 'agent:id:*', 'agent:group:web', '*:*:*', 'user:id:1&role:id:1', 'x:y', '::', ''];
/** Patterns of rules that take a careless matcher long. */
const PATTERNS = ["r'(a+)+$'", "r'(.*)*x'", "r'['", 'admin', "r'^admin'", '', '*'];
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  // Only these two, so that the fuzz can log in again whatever it has changed.
  password: [TEST_PASSWORD, GOOD_PASSWORD],
  effect: ['allow', 'deny', 'Allow', ''],
  actions: ACTIONS,
  resources: RESOURCES,
  log_format: ['syslog', 'json', 'eventchannel', 'nothing'],
  location: ['/var/log/auth.log', ''],
  event: ['Dec 10 01:02:02 host sshd[1234]: Failed password for root from 192.0.2.7 port 41234 ssh2', '{"a":1}', ''],
  events: ['Dec 10 01:02:02 host sshd[1]: Failed password for root', '{"a":{"b":[1]}}'],
  token: ['0a1b2c3d', ''],
};

const hostileJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  hostileText,
  fc.constantFrom<unknown>(null, [], {}, [[]], 0, -1, 1e308, true, '', 1e21),
  fc.constantFrom<unknown>(...['__proto__', 'constructor', 'toString'].map((name) => ({ [name]: { admin: true } }))),
  fc.constantFrom(16, 62, 200).map(nested),
);

/** Rules over contexts (rest-api.md 5.6), whole or nearly. */
const securityRule: fc.Arbitrary<unknown> = fc.letrec<{ rule: unknown }>((tie) => ({
  rule: fc.oneof(
    { depthSize: 'small' },
    {
      weight: 3,
      arbitrary: fc
        .tuple(
          fc.constantFrom('FIND', 'FIND$', 'MATCH', 'MATCH$'),
          fc.constantFrom('user', 'groups', "r'^(a+)+$'", '__proto__', ''),
          fc.oneof(
            fc.constantFrom<unknown>(...PATTERNS),
            fc.array(fc.constantFrom(...PATTERNS), { maxLength: 3 }),
            hostileJson,
          ),
        )
        .map(([operator, name, value]) => ({ [operator]: { [name]: value } })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom('AND', 'OR', 'NOT', 'XOR'), fc.array(tie('rule'), { maxLength: 3 }))
        .map(([operator, inner]) => ({ [operator]: inner })),
    },
    { weight: 1, arbitrary: hostileJson },
  ),
})).rule;

const context = fc.dictionary(
  fc.constantFrom('user', 'groups', 'name', '__proto__', 'a'),
  fc.oneof(fc.constantFrom<unknown>('admin', `${'a'.repeat(40)}!`, ['soc', 'admin'], 7), fc.jsonValue({ maxDepth: 3 })),
  { maxKeys: 4 },
);

const XML = [
  '<group name="x,"><rule id="100500" level="3"><match>x</match><description>x</description></rule></group>',
  '<decoder name="x"><program_name>x</program_name></decoder>',
  '<agent_config><localfile><location>/var/log/x</location><log_format>syslog</log_format></localfile></agent_config>',
  '<manager_config><global><logall>no</logall></global></manager_config>',
  '<group name="x,"><rule id="1" level="99"><if_sid>1</if_sid><regex type="pcre2">(a+)+$</regex></rule></group>',
  '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>',
  '<a><![CDATA[x]]><!-- - -- -></a>',
  'key:value\nother:',
  'a:b\n\n"x:y":z\n',
  '\ufeff<a/>',
];
const files: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...XML) },
  {
    weight: 3,
    // Cut off, or with something in between.
    arbitrary: fc
      .tuple(fc.constantFrom(...XML), fc.nat(), hostileText)
      .map(([text, at, other]) => text.slice(0, at % text.length) + other + text.slice((at * 7) % text.length)),
  },
  { weight: 2, arbitrary: hostileText },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('<a>', '<a ', '&lt;', '<!--', 'k:v\n', '<rule id="1">'), fc.constantFrom(100, 5000))
      .map(([text, times]) => text.repeat(times)),
  },
);

/** A body of good will for the most part, and its media type. */
export function bodyArbitrary({ body, path }: Operation): fc.Arbitrary<FuzzBody> {
  const type = body?.types[0];
  const right = fc.constant(type);
  const types = fc.oneof(
    { weight: 15, arbitrary: right },
    fc.constantFrom(
      undefined,
      'application/json',
      'application/json; charset=utf-16',
      'application/octet-stream',
      'application/xml',
      'text/plain',
      'multipart/form-data; boundary=x',
      'a/b/c',
      ';',
    ),
  );
  if (body === undefined) {
    const rare = fc.record({ type: types, bytes: fc.constantFrom('{}', 'x', '[').map(Buffer.from) });
    const none = fc.constant<FuzzBody>({ type: undefined, bytes: undefined });
    return fc.oneof({ weight: 15, arbitrary: none }, rare);
  }
  const content =
    body.json === undefined ? files : jsonText(path.endsWith('run_as') ? context : goodJson(body.json, ''));
  return fc.record({ type: types, bytes: bytesOf(content) });
}

/** JSON as clients write it, and what is none any more. */
function jsonText(value: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 14, arbitrary: value.map((one) => JSON.stringify(one)) },
    { weight: 1, arbitrary: hostileJson.map((one) => JSON.stringify(one)) },
    { weight: 1, arbitrary: fc.tuple(value, fc.nat()).map(([one, at]) => cut(JSON.stringify(one), at)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '',
        ' ',
        '{"name":"a","name":"b"}',
        '{"__proto__":{"a":1},"name":"x"}',
        '[1,]',
        '{"a":1e400}',
        '"\\ud800"',
        '\ufeff{}',
        '['.repeat(5000),
        `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`,
      ),
    },
  );
}

function bytesOf(text: fc.Arbitrary<string>): fc.Arbitrary<Buffer | undefined> {
  return fc.oneof(
    { weight: 30, arbitrary: text.map((one) => Buffer.from(one)) },
    { weight: 1, arbitrary: text.map((one) => Buffer.from(one, 'utf16le')) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(undefined, Buffer.from([0xff, 0xfe, 0x00]), Buffer.from([0x22, 0xc3, 0x28, 0x22])),
    },
  );
}

/** A value that a schema describes, with a wrong member here and there. */
function goodJson(schema: Schema, name: string): fc.Arbitrary<unknown> {
  if (name === 'rule') return securityRule;
  const good = goodJsonOf(schema, name);
  // A password is one of those that are known, or none at all.
  const wrong = name === 'password' ? fc.constantFrom<unknown>('', 'short', 7, null, 'x'.repeat(65)) : hostileJson;
  return fc.oneof({ weight: 14, arbitrary: good }, { weight: 1, arbitrary: wrong });
}

function goodJsonOf(schema: Schema, name: string): fc.Arbitrary<unknown> {
  switch (schema['type']) {
    case 'object':
      return goodObject(schema);
    case 'array':
      return fc.array(goodJson((schema['items'] ?? {}) as Schema, name), { maxLength: 4 });
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.oneof(fc.constantFrom(0, 1, 30, 900, 2_147_483_647, -1), fc.integer());
    default: {
      const known = TEXTS[name];
      return known === undefined ? goodText(schema, name) : fc.constantFrom(...known);
    }
  }
}

function goodObject(schema: Schema): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  if (properties.length === 0) {
    return fc.dictionary(fc.constantFrom('a', 'srcip', '__proto__'), hostileJson, { maxKeys: 2 });
  }
  const members = Object.fromEntries(properties.map(([name, each]) => [name, goodJson(each, name)]));
  const required = (schema['required'] ?? []) as string[];
  const known = fc.record(members, { requiredKeys: required });
  const unknown = fc.tuple(known, fc.constantFrom('unknown', '__proto__', 'constructor', ''), hostileJson);
  return fc.oneof(
    { weight: 20, arbitrary: known },
    { weight: 1, arbitrary: unknown.map(([object, name, value]) => ({ ...object, [name]: value })) },
    { weight: 1, arbitrary: fc.record(members, { requiredKeys: [] }) },
  );
}

function nested(depth: number): unknown {
  let value: unknown = 'x';
  for (let at = 0; at < depth; at += 1) value = at % 2 === 0 ? [value] : { a: value };
  return value;
}

function cut(text: string, at: number): string {
  return text.slice(0, at % (text.length + 1));
}
