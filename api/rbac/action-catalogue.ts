/** Kinds of resources that policies name (rest-api.md 5.3), and what each stands for. */
export const RESOURCES: Readonly<Record<string, string>> = {
  '*:*': 'Stands for actions that concern no resource',
  'agent:group': 'Agents, by a group that they are in, for example agent:group:web',
  'agent:id': 'Agents, by their id, for example agent:id:001',
  'group:id': 'Groups of agents, by their name, for example group:id:web',
  'node:id': 'Nodes of the cluster, by their name, for example node:id:node01',
  'decoder:file': 'Files of decoders, by their name, for example decoder:file:local_decoder.xml',
  'list:file': 'Lists, by the name of their file, for example list:file:blocked-hosts',
  'rule:file': 'Files of rules, by their name, for example rule:file:local_rules.xml',
  'policy:id': 'Policies, by their id, for example policy:id:100',
  'role:id': 'Roles, by their id, for example role:id:100',
  'user:id': 'Users of the API, by their id, for example user:id:100',
  'rule:id': 'Security rules, by their id, for example rule:id:100',
};

const AGENTS = ['agent:id', 'agent:group'];
const NONE = ['*:*'];
const GROUPS = ['group:id'];
const NODES = ['node:id'];
const DECODER_FILES = ['decoder:file'];
const LIST_FILES = ['list:file'];
const RULE_FILES = ['rule:file'];
const SECURITY = ['role:id', 'policy:id', 'user:id', 'rule:id'];

/** Actions that policies name (rest-api.md 5.4): what each allows, and the kinds of resources it is about. */
export const ACTIONS: Readonly<Record<string, readonly [description: string, resources: readonly string[]]>> = {
  'active-response:command': ['Have agents run a command', AGENTS],
  'agent:create': ['Register agents', NONE],
  'agent:delete': ['Remove agents', AGENTS],
  'agent:modify_group': ['Put agents into groups and take them out', AGENTS],
  'agent:read': ['See agents and what is known of them', AGENTS],
  'agent:reconnect': ['Have agents connect anew', AGENTS],
  'agent:restart': ['Restart agents', AGENTS],
  'agent:uninstall': ['See whether agents may be uninstalled', NONE],
  'agent:upgrade': ['Upgrade the software of agents', AGENTS],
  'alerts:read': ['See alerts of agents', AGENTS],
  'ciscat:read': ['See results of CIS-CAT scans', AGENTS],
  'cluster:read': ['See nodes of the cluster, their configuration and logs', NODES],
  'cluster:read_api_config': ['See the configuration of the API of each node', NODES],
  'cluster:restart': ['Restart nodes', NODES],
  'cluster:status': ['See whether there is a cluster', NONE],
  'cluster:update_config': ['Replace the configuration of nodes', NODES],
  'decoders:delete': ['Remove files of decoders', DECODER_FILES],
  'decoders:read': ['See decoders and their files', DECODER_FILES],
  'decoders:update': ['Write files of decoders', NONE],
  'event:ingest': ['Send events to be analysed', NONE],
  'group:create': ['Make groups of agents', NONE],
  'group:delete': ['Remove groups', GROUPS],
  'group:modify_assignments': ['Change which agents are in groups', GROUPS],
  'group:read': ['See groups, their agents and files', GROUPS],
  'group:update_config': ['Replace the configuration of groups', GROUPS],
  'lists:delete': ['Remove lists', LIST_FILES],
  'lists:read': ['See lists and their entries', LIST_FILES],
  'lists:update': ['Write lists', NONE],
  'logtest:run': ['Try log lines against decoders and rules', NONE],
  'manager:read': ['See the manager, its configuration, logs and statistics', NONE],
  'manager:read_api_config': ['See the configuration of the API', NONE],
  'manager:restart': ['Restart the manager, and have it read its rules anew', NONE],
  'manager:update_config': ['Replace the configuration of the manager', NONE],
  'mitre:read': ['See objects of ATT&CK', NONE],
  'rootcheck:clear': ['Forget findings of rootcheck', AGENTS],
  'rootcheck:read': ['See findings of rootcheck', AGENTS],
  'rootcheck:run': ['Start rootcheck on agents', AGENTS],
  'rules:delete': ['Remove files of rules', RULE_FILES],
  'rules:read': ['See rules and their files', RULE_FILES],
  'rules:update': ['Write files of rules', NONE],
  'sca:read': ['See results of configuration assessment', AGENTS],
  'security:create': ['Make roles, policies and security rules', NONE],
  'security:create_user': ['Make users', NONE],
  'security:delete': ['Remove users, roles, policies and security rules, and their links', SECURITY],
  'security:edit_run_as': ['Let users log in with a context, or not', NONE],
  'security:read': ['See users, roles, policies and security rules', SECURITY],
  'security:read_config': ['See the settings of tokens and permissions', NONE],
  'security:revoke': ['End all tokens', NONE],
  'security:update': ['Change users, roles, policies and security rules, and link them', SECURITY],
  'security:update_config': ['Change the settings of tokens and permissions', NONE],
  'syscheck:clear': ['Forget the files of agents', AGENTS],
  'syscheck:read': ['See the files of agents', AGENTS],
  'syscheck:run': ['Start a scan of files on agents', AGENTS],
  'syscollector:read': ['See the inventory of agents', AGENTS],
  'task:status': ['See how tasks of agents go', NONE],
};
