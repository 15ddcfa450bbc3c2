import fc from 'fast-check';
import type { Parameter, Schema } from '../../../../lib/contract/api-contract.js';
import { hostileText } from './hostile-texts.js';

/** Values of good will by the name of a parameter or member: of things that exist for the most part. */
const BY_NAME: Readonly<Record<string, readonly string[]>> = {
  agent_id: ['000', '001', '002', '003', '0001', '999'],
  agents_list: ['000', '001', '002', '003', '999', 'all'],
  agent_name: ['web1', 'agent-2'],
  command: ['upgrade', 'restart-svc'],
  date: ['2026-05-08', '2026-02-31', '1970-01-01', '9999-12-31'],
  distinct: ['true', 'false'],
  endpoint: ['GET /agents', 'PUT /groups/{group_id}/configuration'],
  field: ['logall', 'rule_dir', 'nothing'],
  fields: ['name', 'version', 'os.platform', 'status', 'id'],
  file: ['/etc/passwd', '/etc/ssh/sshd_config'],
  file_name: ['agent.conf', 'merged.mg', 'ar.conf'],
  file_path: ['var/upgrade/own.wpk', 'var/upgrade/absent.wpk'],
  filename: ['one_rules.xml', 'one_decoders.xml', 'one', 'new_rules.xml', 'new'],
  group: ['default', 'web', 'nowhere'],
  group_id: ['default', 'web', 'db', 'nowhere', 'new'],
  groups_list: ['default', 'web', 'nowhere', 'all'],
  group_ids: ['intrusion-set--d0b3393b-3bec-4ba3-bda9-199d30db47b6', 'G0007'],
  ip: ['192.0.2.1', 'any', '192.0.2.0/24', '2001:db8::1'],
  level: ['3', '0-16', '16-0', 'info', 'error', '99'],
  name: ['web1', 'one', 'administrator', 'new'],
  node_id: ['node01', 'manager', 'nowhere'],
  nodes_list: ['node01', 'manager', 'nowhere'],
  older_than: ['7d', '0s', '1m', '12', '999999999999d'],
  policy_id: ['1', '100', '101', '9999'],
  policy_ids: ['1', '100', '101', '9999', 'all'],
  position: ['0', '1', '99', '2147483647'],
  'os.platform': ['debian', 'windows'],
  relative_dirname: ['etc/rules', 'etc/decoders', 'etc/lists', 'ruleset/rules', 'etc/rules/absent', 'etc/rules//'],
  role_id: ['1', '100', '101', '9999'],
  role_ids: ['1', '2', '100', '101', '9999', 'all'],
  rule_id: ['1', '100', '101', '9999'],
  rule_ids: ['1', '100', '100000', '9999', 'all'],
  section: ['global', 'ruleset', 'remote', 'cluster'],
  tag: ['svc-apid', 'wazuh-apid', 'nothing'],
  tasks_list: ['1', '2', '999'],
  technique_ids: ['attack-pattern--09c4c11e-4fa1-4f8c-8dad-3cf8e69ad119', 'T1110'],
  user_id: ['1', '100', '101', '9999'],
  user_ids: ['2', '100', '101', '9999', 'all'],
  username: ['reader', 'new-user', 'admin'],
  version: ['v4.14.7', '4.14.7'],
};
const BY_FORMAT: Readonly<Record<string, readonly string[]>> = {
  agent_key: ['a'.repeat(64)],
  active_response_command: ['!restart-svc', 'drop0'],
  alphanumeric: ['abc', 'web 1', 'ünï', '1.2.3'],
  alphanumeric_symbols: ['any', '192.0.2.7', '*'],
  group_names: ['default', 'web', 'new'],
  hash: ['ab73af41699f13fdd81903b5f23d8d00', ''],
  names: ['web1', 'id', 'name', 'a.b', '100%'],
  numbers: ['0', '1', '22', '001', '99999999999999999999'],
  numbers_or_all: ['1', '100', 'all'],
  path: ['example.org/packages', '/opt/packages'],
  range: ['3', '3-5', '15-2'],
  timeframe: ['1d', '10', '0s'],
  version: ['v4.14.7', '4.15.0', '999999.0.0'],
  xml_filename: ['one_rules.xml', 'two_rules.xml,one_rules.xml'],
  xml_filename_path: ['one_rules.xml', 'one_decoders.xml', 'new.xml'],
};
const OPERATORS = ['=', '!=', '<', '>', '~', '==', ''];
const VALUES = [
  '1',
  '0',
  'web',
  'active',
  '2026-05-08T12:34:19Z',
  '7d',
  'null',
  '-5',
  '',
  '001',
  'a b',
  '.*',
  '[',
  '(',
];

/** An expression of `q` over some fields: whole for the most part (rest-api.md 4.5). */
export function queryArbitrary(fields: readonly string[]): fc.Arbitrary<string> {
  const field = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...fields) }, hostileText);
  const value = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...VALUES) }, hostileText);
  const term = fc.tuple(field, fc.constantFrom(...OPERATORS), value).map((parts) => parts.join(''));
  const { expression } = fc.letrec<{ expression: string }>((tie) => ({
    expression: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { weight: 4, arbitrary: term },
      {
        weight: 2,
        arbitrary: fc
          .tuple(tie('expression'), fc.constantFrom(';', ',', ' ', ''), tie('expression'))
          .map((parts) => parts.join('')),
      },
      { weight: 1, arbitrary: tie('expression').map((inner) => `(${inner})`) },
    ),
  }));
  return fc.oneof(
    { weight: 12, arbitrary: expression },
    { weight: 1, arbitrary: hostileText },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom('(', 'id=1;', 'id=1,', '((id=1);'), fc.constantFrom(50, 500))
        .map(([text, times]) => text.repeat(times)),
    },
  );
}

/** A value of a parameter as a client of good will writes it. @param fields that items of the answer have */
export function goodValue(
  parameter: Pick<Parameter, 'name' | 'schema'>,
  fields: readonly string[],
): fc.Arbitrary<string> {
  const { name, schema } = parameter;
  switch (name) {
    case 'q':
      return queryArbitrary(fields);
    case 'sort':
      return fieldList(fields, ['', '+', '-']);
    case 'select':
      return fieldList(fields, ['']);
    case 'search':
      return fc.constantFrom('web', '-web', 'a', '-', '1', 'ü', ' ');
    case 'offset':
      return fc.constantFrom('0', '1', '5', '499', '100000', '2147483647');
    case 'limit':
      return fc.constantFrom('1', '2', '500', '1000', '100000');
  }
  if (schema['type'] !== 'array') return goodText(schema, name);
  const item = goodText((schema['items'] ?? {}) as Schema, name);
  return fc.array(item, { minLength: 1, maxLength: 4 }).map((items) => items.join(','));
}

/** A text, or the text of a number or boolean, that a schema describes. */
export function goodText(schema: Schema, name: string): fc.Arbitrary<string> {
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as string[]));
  if (schema['type'] === 'boolean') return fc.constantFrom('true', 'false', 'True');
  if (schema['type'] === 'integer') {
    const minimum = Number(schema['minimum'] ?? 0);
    return fc.oneof(
      fc.constantFrom(...(BY_NAME[name] ?? ['0', '1', '100'])),
      fc.integer({ min: minimum, max: 2_147_483_647 }).map(String),
    );
  }
  const known = BY_NAME[name] ?? BY_FORMAT[String(schema['x-format'])] ?? ['abc', '1', 'web'];
  return fc.constantFrom(...known);
}

function fieldList(fields: readonly string[], signs: readonly string[]): fc.Arbitrary<string> {
  const one = fc.tuple(fc.constantFrom(...signs), fc.constantFrom(...fields)).map((parts) => parts.join(''));
  return fc.array(one, { minLength: 1, maxLength: 4 }).map((items) => items.join(','));
}
