import { expect } from 'chai';
import {
  PermissionWorld,
  WORLD_AGENTS,
  WORLD_GROUPS,
  type WorldOptions,
} from '../../../support/api/rbac/permission-world.js';
import type { ReferencePolicy } from '../../../support/api/rbac/reference-evaluator.js';
import { policy } from '../../../support/api/rbac-user.js';

/**
 * The same user asks the same in two worlds: in one there are objects that it may not see, in the other there are none. Whatever it asks, no
 * byte of an answer tells which world it is in.
 */
type Case = {
  readonly title: string;
  readonly policies: readonly ReferencePolicy[];
  /** What there is besides what the user may see, and the same without. */
  readonly full: Partial<WorldOptions>;
  readonly bare: Partial<WorldOptions>;
  readonly requests: readonly string[];
};

/** Ways to ask a list for what it does not show. @param fields to sort by, count and search in */
function listRequests(path: string, fields: readonly string[], hidden: readonly string[]): string[] {
  const join = path.includes('?') ? '&' : '?';
  const ask = (query: string) => `GET ${path}${join}${query}`;
  return [
    `GET ${path}`,
    ...['offset=1', 'limit=1', 'offset=5', 'offset=1&limit=1'].map(ask),
    ...fields.flatMap((field) => [
      ask(`sort=${field}`),
      ask(`sort=-${field}`),
      ask(`sort=-${field}&limit=1`),
      ask(`select=${field}&distinct=true`),
      ask(`select=${field}&distinct=true&limit=1`),
      ...hidden.flatMap((value) => [
        ask(`q=${field}=${value}`),
        ask(`q=${field}!=${value}`),
        ask(`q=${field}~${value}`),
        ask(`q=${field}<${value}`),
      ]),
    ]),
    ...hidden.flatMap((value) => [
      ask(`search=${value}`),
      ask(`search=-${value}`),
      ask(`search=${value}&sort=${fields[0] ?? ''}`),
    ]),
  ];
}

const SHOWN_AGENTS = ['001', '003'];
/** Ids, names and groups of agents that are not shown, and of one that there is in neither world. */
const HIDDEN_AGENTS = ['000', '002', '005', '901', 'db', 'manager1'];

const AGENTS: Pick<Case, 'full' | 'bare' | 'requests'> = {
  full: { agents: Object.keys(WORLD_AGENTS) },
  bare: { agents: SHOWN_AGENTS },
  requests: [
    ...listRequests('/agents', ['id', 'name', 'group', 'status', 'os.platform', 'version', 'dateAdd'], HIDDEN_AGENTS),
    ...listRequests('/agents/no_group', ['id'], HIDDEN_AGENTS),
    ...listRequests('/agents/outdated', ['id'], HIDDEN_AGENTS),
    ...['id', 'name', 'group', 'os.platform', 'node_name,version'].map(
      (fields) => `GET /agents/stats/distinct?fields=${fields}`,
    ),
    'GET /agents/stats/distinct?fields=os.name&q=id=002',
    ...[
      'group=db',
      'group=web',
      'name=manager1',
      'status=active',
      'status=never_connected',
      'older_than=1s',
      'ip=any',
      'node_name=node01',
    ].map((filter) => `GET /agents?${filter}`),
    ...['002', '901', '001,002', '001,901', '002,003,000'].flatMap((ids) => [
      `GET /agents?agents_list=${ids}`,
      `GET /agents/summary?agents_list=${ids}`,
      `PUT /agents/restart?agents_list=${ids}`,
      `PUT /agents/reconnect?agents_list=${ids}`,
      `DELETE /agents?agents_list=${ids}&status=all&older_than=9000d`,
      `GET /experimental/ciscat/results?agents_list=${ids}`,
      `GET /agents/upgrade_result?agents_list=${ids}&q=id=002`,
    ]),
    ...['000', '002', '005', '901'].flatMap((id) => [
      `GET /agents/${id}/key`,
      `GET /agents/${id}/group/is_sync`,
      `GET /agents/${id}/config/agent/client`,
      `GET /agents/${id}/stats/agent`,
      `DELETE /agents/${id}/group/web`,
      `DELETE /agents/${id}/group?groups_list=web`,
      `PUT /agents/${id}/restart`,
      `GET /syscheck/${id}`,
      `GET /syscheck/${id}/last_scan`,
      `DELETE /syscheck/${id}`,
      `GET /rootcheck/${id}`,
      `GET /rootcheck/${id}/last_scan`,
      `GET /ciscat/${id}/results`,
      `GET /sca/${id}`,
      `GET /sca/${id}/checks/demo`,
      `GET /syscollector/${id}/os`,
    ]),
    ...['/agents/summary', '/agents/summary/os', '/agents/summary/status', '/overview/agents'].map(
      (path) => `GET ${path}`,
    ),
    ...listRequests('/groups/web/agents', ['id', 'name'], HIDDEN_AGENTS),
    ...[
      '/agents/restart',
      '/agents/reconnect',
      '/agents/group/db/restart',
      '/agents/group/web/restart',
      '/rootcheck',
    ].map((path) => `PUT ${path}`),
  ],
};
const AGENT_ACTIONS =
  'agent:read,agent:delete,agent:restart,agent:reconnect,agent:modify_group,agent:upgrade,ciscat:read,sca:read,syscollector:read,syscheck:read,syscheck:clear,rootcheck:read,rootcheck:run';

const GROUP_ACTIONS = 'group:read,group:delete,group:update_config,group:modify_assignments';

const CASES: readonly Case[] = [
  {
    title: 'agents that no policy allows',
    policies: [
      policy('allow', AGENT_ACTIONS, 'agent:id:001', 'agent:group:mail'),
      policy('allow', GROUP_ACTIONS, 'group:id:web'),
    ],
    ...AGENTS,
  },
  {
    title: 'agents that a policy denies',
    policies: [
      policy('allow', AGENT_ACTIONS, 'agent:id:*'),
      policy(
        'deny',
        AGENT_ACTIONS,
        ...Object.keys(WORLD_AGENTS)
          .filter((id) => !SHOWN_AGENTS.includes(id))
          .map((id) => `agent:id:${id}`),
        'agent:id:901',
      ),
      policy('allow', GROUP_ACTIONS, 'group:id:web'),
    ],
    ...AGENTS,
  },
  {
    title: 'groups',
    policies: [policy('allow', GROUP_ACTIONS, 'group:id:web'), policy('allow', 'agent:read', 'agent:id:001')],
    full: { agents: ['001'], groups: WORLD_GROUPS },
    bare: { agents: ['001'], groups: ['web'] },
    requests: [
      ...listRequests('/groups', ['name', 'count', 'mergedSum'], ['db', 'mail', 'nowhere', '0']),
      ...['db', 'nowhere', 'web,db', 'web,nowhere'].flatMap((names) => [
        `GET /groups?groups_list=${names}`,
        ...(names.includes('web') ? [] : [`DELETE /groups?groups_list=${names}`]),
      ]),
      ...['db', 'nowhere'].flatMap((name) => [
        ...['agents', 'files', 'configuration', 'files/agent.conf', 'files/absent.txt'].map(
          (end) => `GET /groups/${name}/${end}`,
        ),
        `PUT /agents/001/group/${name}`,
        `DELETE /agents/001/group/${name}`,
        `DELETE /agents/group?agents_list=001&group_id=${name}`,
      ]),
      'GET /overview/agents',
    ],
  },
  {
    title: 'files of rules and decoders, and lists',
    policies: [
      policy('allow', 'rules:read,rules:delete', 'rule:file:one_rules.xml'),
      policy('allow', 'decoders:read,decoders:delete', 'decoder:file:one_decoders.xml'),
      policy('allow', 'lists:read,lists:delete', 'list:file:one'),
    ],
    full: { files: ['one', 'two'] },
    bare: { files: ['one'] },
    requests: [
      ...listRequests('/rules', ['id', 'level', 'filename', 'description'], ['two', '2', '100001', 'two_rules.xml']),
      ...listRequests('/rules/files', ['filename', 'relative_dirname'], ['two', 'two_rules.xml']),
      ...[
        'rule_ids=100001',
        'rule_ids=100000,100001',
        'level=2',
        'group=two',
        'pci_dss=1',
        'filename=two_rules.xml',
        'status=all',
      ].map((filter) => `GET /rules?${filter}`),
      ...['', '?search=two', '?sort=-', '?limit=1'].map((query) => `GET /rules/groups${query}`),
      ...['', '?search=1', '?offset=1'].map((query) => `GET /rules/requirement/pci_dss${query}`),
      ...listRequests('/decoders', ['filename', 'name', 'position'], ['two', 'two_decoders.xml']),
      ...listRequests('/decoders/files', ['filename'], ['two', 'two_decoders.xml']),
      ...['decoder_names=two', 'decoder_names=one,two', 'filename=two_decoders.xml'].map(
        (filter) => `GET /decoders?${filter}`,
      ),
      'GET /decoders/parents?search=two',
      ...listRequests('/lists', ['filename', 'relative_dirname'], ['two']),
      ...listRequests('/lists/files', ['filename'], ['two']),
      'GET /lists?filename=two',
      ...['/rules/files/two_rules.xml', '/decoders/files/two_decoders.xml', '/lists/files/two'].flatMap((path) => [
        `GET ${path}`,
        `GET ${path}?raw=true`,
        `DELETE ${path}`,
      ]),
    ],
  },
];

describe('what a policy hides is as if it were not there', () => {
  for (const { title, policies, full, bare, requests } of CASES) {
    it(`${title}: the same answers to ${requests.length} requests`, async () => {
      const [inFull, inBare] = [await answers(full, policies, requests), await answers(bare, policies, requests)];
      const told = requests.flatMap((request, index) =>
        inFull[index] === inBare[index]
          ? []
          : [`${request}\n  with:    ${inFull[index] ?? ''}\n  without: ${inBare[index] ?? ''}`],
      );
      expect(told.join('\n')).to.equal('');
      // The comparison is worth something: the requests are understood for the most part.
      const understood = inFull.filter((answer) => answer.startsWith('200 ')).length;
      expect(understood).to.be.greaterThan(requests.length / 3);
    });
  }
});

async function answers(
  options: Partial<WorldOptions>,
  policies: readonly ReferencePolicy[],
  requests: readonly string[],
): Promise<string[]> {
  const world = await PermissionWorld.start({
    mode: 'white',
    cluster: false,
    ...options,
    users: [{ name: 'viewer', policies }],
  });
  try {
    const token = await world.login('viewer');
    const result: string[] = [];
    for (const request of requests) {
      const [method = '', target = ''] = request.split(' ');
      const answer = await world.api.request(method, target, { headers: { authorization: `Bearer ${token}` } });
      result.push(`${answer.status} ${answer.text}`);
    }
    return result;
  } finally {
    await world.stop();
  }
}
