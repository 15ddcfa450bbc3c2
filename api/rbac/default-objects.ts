import type { Policy, Role, SecurityRule } from './rbac-model.js';

type PolicyRow = readonly [id: number, name: string, actions: string, resources: string];

const NONE = '*:*:*';
const AGENTS = 'agent:id:*';

/** Built-in policies (rest-api.md 5.5). Ids and names are an interface: scripts link own roles to them. */
const POLICIES: readonly PolicyRow[] = [
  [1, 'agents_all_resourceless', 'agent:create, group:create, agent:uninstall', NONE],
  [
    2,
    'agents_all_agents',
    'agent:read, agent:delete, agent:modify_group, agent:reconnect, agent:restart, agent:upgrade',
    'agent:id:*, agent:group:*',
  ],
  [3, 'agents_all_groups', 'group:read, group:delete, group:update_config, group:modify_assignments', 'group:id:*'],
  [4, 'agents_read_agents', 'agent:read', 'agent:id:*, agent:group:*'],
  [5, 'agents_read_groups', 'group:read', 'group:id:*'],
  [6, 'agents_commands_agents', 'active-response:command', AGENTS],
  [
    7,
    'security_all_resourceless',
    'security:create, security:create_user, security:read_config, security:update_config, security:revoke, security:edit_run_as',
    NONE,
  ],
  [
    8,
    'security_all_security',
    'security:read, security:update, security:delete',
    'role:id:*, policy:id:*, user:id:*, rule:id:*',
  ],
  [9, 'users_all_resourceless', 'security:create_user, security:revoke, security:edit_run_as', NONE],
  [10, 'users_all_users', 'security:read, security:update, security:delete', 'user:id:*'],
  [11, 'users_modify_run_as_flag', 'security:edit_run_as', NONE],
  [12, 'ciscat_read_ciscat', 'ciscat:read', AGENTS],
  [13, 'decoders_read_decoders', 'decoders:read', 'decoder:file:*'],
  [14, 'decoders_all_files', 'decoders:read, decoders:delete', 'decoder:file:*'],
  [15, 'decoders_all_resourceless', 'decoders:update', NONE],
  [16, 'mitre_read_mitre', 'mitre:read', NONE],
  [17, 'lists_read_rules', 'lists:read', 'list:file:*'],
  [18, 'lists_all_rules', 'lists:read, lists:delete', 'list:file:*'],
  [19, 'lists_all_resourceless', 'lists:update', NONE],
  [20, 'rootcheck_read_rootcheck', 'rootcheck:read', AGENTS],
  [21, 'rootcheck_all_rootcheck', 'rootcheck:clear, rootcheck:read, rootcheck:run', AGENTS],
  [22, 'rules_read_rules', 'rules:read', 'rule:file:*'],
  [23, 'rules_all_files', 'rules:read, rules:delete', 'rule:file:*'],
  [24, 'rules_all_resourceless', 'rules:update', NONE],
  [25, 'sca_read_sca', 'sca:read', AGENTS],
  [26, 'syscheck_read_syscheck', 'syscheck:read', AGENTS],
  [27, 'syscheck_all_syscheck', 'syscheck:clear, syscheck:read, syscheck:run', AGENTS],
  [28, 'syscollector_read_syscollector', 'syscollector:read', AGENTS],
  [
    29,
    'cluster_all_resourceless',
    'cluster:status, manager:read, manager:read_api_config, manager:update_config, manager:restart',
    NONE,
  ],
  [
    30,
    'cluster_all_nodes',
    'cluster:read_api_config, cluster:read, cluster:restart, cluster:update_config',
    'node:id:*',
  ],
  [31, 'cluster_read_resourceless', 'cluster:status, manager:read, manager:read_api_config', NONE],
  [32, 'cluster_read_nodes', 'cluster:read_api_config, cluster:read, cluster:read_api_config', 'node:id:*'],
  [33, 'logtest_all_logtest', 'logtest:run', NONE],
  [34, 'task_status_task', 'task:status', NONE],
  [35, 'events_ingest_resourceless', 'event:ingest', NONE],
  [36, 'alerts_read_alerts', 'alerts:read', AGENTS],
];

/** Built-in policies, all of effect allow. */
export const DEFAULT_POLICIES: readonly Policy[] = POLICIES.map(([id, name, actions, resources]) => ({
  id,
  name,
  policy: { actions: actions.split(', '), resources: resources.split(', '), effect: 'allow' },
}));

const ADMINISTRATOR = [1, 2, 3, 6, 7, 8, 29, 30, 12, 14, 15, 18, 19, 21, 23, 24, 16, 25, 27, 28, 33, 34, 35, 36];

/** Id of the built-in role that may do everything. */
export const ADMINISTRATOR_ROLE = 1;

/** Built-in roles with their policies in order (rest-api.md 5.5). */
export const DEFAULT_ROLES: readonly Role[] = [
  { id: ADMINISTRATOR_ROLE, name: 'administrator', policies: ADMINISTRATOR, rules: [1, 2] },
  { id: 2, name: 'readonly', policies: [4, 5, 12, 31, 32, 13, 17, 20, 22, 16, 25, 26, 28, 36], rules: [] },
  { id: 3, name: 'users_admin', policies: [9, 10], rules: [] },
  { id: 4, name: 'agents_readonly', policies: [4, 5], rules: [] },
  { id: 5, name: 'agents_admin', policies: [1, 2, 3], rules: [] },
  { id: 6, name: 'cluster_readonly', policies: [31, 32], rules: [] },
  { id: 7, name: 'cluster_admin', policies: [29, 30], rules: [] },
];

/** Built-in security rules (rest-api.md 5.5). */
export const DEFAULT_SECURITY_RULES: readonly SecurityRule[] = [
  { id: 1, name: 'wui_elastic_admin', rule: { FIND: { username: 'elastic' } } },
  { id: 2, name: 'wui_opensearch_admin', rule: { FIND: { user_name: 'admin' } } },
];

/** Built-in users (rest-api.md 2.5): `admin`, and the name dashboards are configured with. */
export const DEFAULT_USERS = [
  { id: 1, name: 'admin', passwordFile: 'initial-admin-password' },
  { id: 2, name: 'wazuh-wui', passwordFile: 'initial-wui-password' },
] as const;
