import type { Operation } from '../../../../lib/contract/api-contract.js';
import { WORLD_NODE } from './permission-world.js';
import { specifiedActionTypes } from './specified-action-types.js';

/** One action that a request needs. */
export type Requirement = {
  readonly action: string;
  /** Kind of resource, for example `agent:id`. */
  readonly type: string;
  /** `named`: these resources; `all`: all there are, filtered silently; `fixed`: the same, but refused when none is allowed. */
  readonly form: 'named' | 'all' | 'fixed';
  readonly values: readonly string[];
};

/** A request whose permissions are tried. It changes nothing that other ones see: what it would change does not exist. */
export type Probe = {
  readonly name: string;
  readonly operation: Operation;
  readonly target: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly requirements: readonly Requirement[];
  /** Whether it would change the world when it is allowed: it is tried for those to whom it is not. */
  readonly onlyWhenRefused: boolean;
};

type Choice = { readonly values: Readonly<Record<string, string>>; readonly onlyWhenRefused?: boolean };

/** Named resources that exist for the most part, and those that do not exist. */
const NAMED: Readonly<
  Record<string, { readonly single: string[]; readonly lists: string[]; readonly missing: string }>
> = {
  agent_id: { single: ['000', '001', '002', '003', '005', '901'], lists: [], missing: '901' },
  agents_list: { single: [], lists: ['001,003,901', '002,005', '000,004', '902'], missing: '901,902' },
  group_id: { single: ['web', 'db', 'default', 'nowhere'], lists: [], missing: 'nowhere' },
  groups_list: { single: [], lists: ['web,mail,nowhere', 'db'], missing: 'nowhere,nothing' },
  node_id: { single: [WORLD_NODE, 'node99'], lists: [], missing: 'node99' },
  nodes_list: { single: [], lists: [`${WORLD_NODE},node99`, 'node99', WORLD_NODE], missing: 'node98,node99' },
  user_id: { single: ['1', '100', '9001'], lists: [], missing: '9001' },
  user_ids: { single: [], lists: ['1,2,100,9001', '101'], missing: '9001,9002' },
  role_id: { single: ['1', '100', '9001'], lists: [], missing: '9001' },
  role_ids: { single: [], lists: ['1,2,100,9001', '101'], missing: '9001,9002' },
  policy_id: { single: ['1', '101', '9001'], lists: [], missing: '9001' },
  policy_ids: { single: [], lists: ['1,2,101,9001', '102'], missing: '9001,9002' },
  rule_id: { single: ['1', '9001'], lists: [], missing: '9001' },
  rule_ids: { single: [], lists: ['1,2,9001', '2'], missing: '9001,9002' },
  filename: { single: [], lists: [], missing: '' },
};
const FILES: Readonly<Record<string, readonly string[]>> = {
  rules: ['one_rules.xml', 'two_rules.xml', 'no_rules.xml'],
  decoders: ['one_decoders.xml', 'two_decoders.xml', 'no_decoders.xml'],
  lists: ['one', 'two', 'no-list'],
  tests: ['one_tests.yml', 'no_tests.yml'],
};
/** Other parameters that are required, and some without which an operation would do something. */
const OTHERS: Readonly<Record<string, string>> = {
  'GET /alerts/top': 'field=rule.id',
  'DELETE /agents': 'status=all&older_than=9000d',
  'POST /agents/insert/quick': 'agent_name=x',
  'PUT /agents/upgrade_custom': 'file_path=var/upgrade/own.wpk',
  'PUT /rules/files/{filename}': 'relative_dirname=etc/rules/absent',
  'PUT /decoders/files/{filename}': 'relative_dirname=etc/decoders/absent',
};
/** Places of paths that are no resources. */
const PLACES: Readonly<Record<string, string>> = {
  alert_id: '20261127-000-100',
  component: 'agent',
  configuration: 'client',
  file_name: 'agent.conf',
  requirement: 'pci_dss',
  token: '0a1b2c3d',
  policy_id: 'cis',
};
/** Bodies that the contract takes and that change nothing. */
const BODIES: Readonly<Record<string, string>> = {
  'POST /agents': '{"name":"x"}',
  'POST /agents/insert': `{"name":"x","id":"901","key":"${'k'.repeat(64)}"}`,
  'POST /groups': '{"group_id":"default"}',
  'POST /security/users': '{"username":"admin","password":"Another-42-word"}',
  'PUT /security/users/{user_id}': '{"password":"Another-42-word"}',
  'POST /security/roles': '{"name":"administrator"}',
  'PUT /security/roles/{role_id}': '{"name":"another"}',
  'POST /security/rules': '{"name":"wui_elastic_admin","rule":{"FIND":{"a":"b"}}}',
  'PUT /security/rules/{rule_id}': '{"name":"another"}',
  'POST /security/policies':
    '{"name":"agents_read_agents","policy":{"actions":["agent:read"],"resources":["agent:id:*"],"effect":"allow"}}',
  'PUT /security/policies/{policy_id}': '{"name":"another"}',
  'PUT /rules/tests': '{"tests":"none"}',
  'PUT /logtest': '{"event":"a","log_format":"syslog","location":"a"}',
  'POST /events': '{"events":["a"]}',
  'PUT /active-response': '{"command":"!a"}',
  'PUT /security/config': '{"auth_token_exp_timeout":900}',
};
/** Requests that change nothing although they are no reading ones, whomever they name. */
const HARMLESS =
  /^(PUT \/(agents\/(\{agent_id\}\/restart|restart|reconnect)|syscheck|rootcheck)|DELETE \/(syscheck|rootcheck)\/)/;
/**
 * Operations on everything that change what they are about; with `all` they are tried for those who may not. So is one that needs
 * more than its actions say (test/unit/api/rules-tests.test.ts).
 */
const DESTRUCTIVE =
  /^(PUT \/rules\/tests|DELETE \/(groups|security\/(users|roles|rules|policies))|PUT \/agents\/group|DELETE \/security\/config)$/;
/** The specification says in a sentence what these need (rest-api.md 6.9). */
const IN_A_SENTENCE: Readonly<Record<string, readonly string[]>> = {
  'GET /security/actions': ['security:read_config'],
  'GET /security/resources': ['security:read_config'],
};

/** All requests that are tried for an operation. @param actions it needs, as the specification has them; none: a token suffices */
export function probesOf(operation: Operation, actions: readonly string[] | undefined, cluster: boolean): Probe[] {
  const name = `${operation.method} ${operation.path}`;
  const needed = actions ?? IN_A_SENTENCE[name] ?? [];
  return choices(operation, name, needed).map(({ values, onlyWhenRefused = false }) => {
    const path = operation.path.replace(/\{(\w+)\}/g, (_all, place: string) => values[place] ?? PLACES[place] ?? '');
    const query = Object.entries(values)
      .filter(([key]) => !operation.path.includes(`{${key}}`))
      .map(([key, value]) => `${key}=${value}`);
    const all = [...query, ...(OTHERS[name] === undefined ? [] : [OTHERS[name]])].join('&');
    const target = all === '' ? path : `${path}?${all}`;
    const type = operation.body?.types[0];
    const body = operation.body === undefined ? {} : { body: BODIES[name] ?? '<a', contentType: type ?? '' };
    const requirements = needed.flatMap((action) => requirementsOf(operation, action, values, cluster));
    return { name: `${operation.method} ${target}`, operation, target, ...body, requirements, onlyWhenRefused };
  });
}

/** Values of those parameters that name resources. */
function choices(operation: Operation, name: string, actions: readonly string[]): Choice[] {
  const harmless = operation.method === 'GET' || HARMLESS.test(name);
  let result: Choice[] = [{ values: {}, onlyWhenRefused: DESTRUCTIVE.test(name) }];
  for (const { name: parameter, required } of operation.parameters) {
    const isFile = parameter === 'filename' && required;
    const named = isFile ? fileNames(operation, harmless) : namesOf(parameter, operation, actions, harmless);
    if (named === undefined) continue;
    const own = named.map((value) => ({ values: { [parameter]: value }, onlyWhenRefused: false }));
    const takesAll = required && parameter.endsWith('s') !== operation.path.includes(`{${parameter}}`);
    const all = takesAll && /^(agents_list|groups_list|\w+_ids)$/.test(parameter) && !name.includes('upgrade');
    const isLinks = /\/\{\w+\}\/(roles|policies|rules)$/.test(operation.path);
    if (all && !(isLinks && operation.method === 'POST')) {
      own.push({ values: { [parameter]: 'all' }, onlyWhenRefused: DESTRUCTIVE.test(name) });
    }
    const before = required ? [] : result;
    const combined = result.flatMap(({ values, onlyWhenRefused: outer = false }) =>
      own.map((one) => ({
        values: { ...values, ...one.values },
        onlyWhenRefused: one.onlyWhenRefused || (outer && !DESTRUCTIVE.test(name)),
      })),
    );
    result = [...before, ...combined];
  }
  return result;
}

function namesOf(
  parameter: string,
  { path }: Operation,
  actions: readonly string[],
  harmless: boolean,
): readonly string[] | undefined {
  // Of rules of detection, of ATT&CK and of assessments ids are no resources.
  const noResource = !path.startsWith('/security') && /^(rule|policy|group)_ids?$/.test(parameter);
  if (noResource && !(parameter === 'group_id' && !path.startsWith('/mitre'))) return undefined;
  const found = NAMED[parameter];
  if (found === undefined || actions.length === 0 || parameter === 'filename') return undefined;
  // Those who may restart agents learn of groups whether they exist (6.2).
  if (path === '/agents/group/{group_id}/restart') return ['web', 'nowhere'];
  // No agent is changed by an operation on a group that is not there.
  return harmless ? [...found.single, ...found.lists] : [found.missing];
}

function fileNames({ path }: Operation, harmless: boolean): readonly string[] {
  const [, first = '', second] = path.split('/');
  const names = FILES[second === 'tests' ? second : first] ?? [];
  return harmless ? names : names.slice(-1);
}

function requirementsOf(
  operation: Operation,
  action: string,
  values: Readonly<Record<string, string>>,
  cluster: boolean,
): Requirement[] {
  const [group = '', verb = ''] = action.split(':');
  if (group === 'manager' && cluster) return [named(`cluster:${verb}`, 'node:id', [WORLD_NODE])];
  const types = specifiedActionTypes().get(action);
  if (types === undefined) throw new Error(`the specification does not know the action ${action}`);
  if (types.includes('*:*')) return [named(action, '*:*', ['*'])];
  if (types.includes('agent:id')) return [ofParameters(action, 'agent:id', values, 'agent_id', 'agents_list')];
  if (types.includes('group:id')) return [ofParameters(action, 'group:id', values, 'group_id', 'groups_list')];
  if (types.includes('node:id')) {
    if (operation.path.startsWith('/cluster/local/')) return [named(action, 'node:id', [WORLD_NODE])];
    return [ofParameters(action, 'node:id', values, 'node_id', 'nodes_list')];
  }
  const [type = ''] = types;
  if (type.endsWith(':file')) {
    if (operation.path.includes('{filename}')) return [named(action, type, [values['filename'] ?? ''])];
    return [{ action, type, form: 'fixed', values: [] }];
  }
  return operation.path
    .split('/')
    .filter((part) => /^(users|roles|policies|rules)$/.test(part))
    .map((part) => {
      const kind = part === 'policies' ? 'policy' : part.slice(0, -1);
      return ofParameters(action, `${kind}:id`, values, `${kind}_id`, `${kind}_ids`);
    });
}

function named(action: string, type: string, values: readonly string[]): Requirement {
  return { action, type, form: 'named', values };
}

function ofParameters(
  action: string,
  type: string,
  values: Readonly<Record<string, string>>,
  single: string,
  list: string,
): Requirement {
  const given = values[single] ?? values[list];
  if (given === undefined || given === 'all') return { action, type, form: 'all', values: [] };
  return named(action, type, given.split(','));
}
