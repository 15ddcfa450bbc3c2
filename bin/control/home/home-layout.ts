/** Who owns something in an installed home: root, or the service user; the group is the service group in both cases. */
export type LayoutOwner = 'root' | 'service';

/** One directory of a home. */
export type LayoutDirectory = { readonly path: string; readonly owner: LayoutOwner; readonly mode: number };

function directories(owner: LayoutOwner, mode: number, ...paths: readonly string[]): LayoutDirectory[] {
  return paths.map((path) => ({ path, owner, mode }));
}

/**
 * Directories of every home, parents first (daemons-and-config.md 3.11). In the sticky ones the service user makes files of
 * its own and cannot replace those of root, which root obeys: configuration, and the state of root's own daemons.
 */
export const COMMON_DIRECTORIES: readonly LayoutDirectory[] = [
  ...directories('root', 0o750, '', 'bin', 'lib'),
  ...directories('root', 0o1770, 'etc'),
  ...directories('root', 0o770, 'etc/shared'),
  ...directories('root', 0o750, 'etc/rootcheck'),
  ...directories('service', 0o770, 'logs'),
  // Shared by both: the service user makes files of its own, and cannot take away or replace what is root's.
  ...directories('root', 0o1770, 'queue', 'queue/diff'),
  ...directories('service', 0o770, 'queue/alerts', 'queue/sockets', 'queue/rids'),
  // Stores of daemons that are root: nobody else puts anything there.
  ...directories('root', 0o700, 'queue/diff/file', 'queue/diff/tmp'),
  ...directories('root', 0o750, 'queue/fim', 'queue/fim/db', 'queue/syscollector', 'queue/syscollector/db'),
  ...directories('root', 0o750, 'queue/logcollector', 'queue/execd'),
  ...directories('root', 0o1770, 'var', 'var/run'),
  ...directories('root', 0o770, 'var/upgrade'),
  ...directories('root', 0o750, 'var/wodles'),
  ...directories('root', 0o700, 'var/control'),
  ...directories('root', 0o750, 'active-response', 'active-response/bin', 'wodles'),
  ...directories('root', 0o750, 'ruleset', 'ruleset/sca'),
  ...directories('root', 0o1770, 'tmp'),
];

/** Directories that only a manager has. */
export const SERVER_DIRECTORIES: readonly LayoutDirectory[] = [
  ...directories('root', 0o770, 'etc/decoders', 'etc/rules', 'etc/lists', 'etc/tests'),
  // What a manager logs in to NATS servers with.
  ...directories('root', 0o750, 'etc/cluster'),
  ...directories('service', 0o770, 'etc/shared/default'),
  ...directories('root', 0o750, 'ruleset/decoders', 'ruleset/rules', 'ruleset/lists', 'ruleset/mitre'),
  ...directories('service', 0o750, 'logs/alerts', 'logs/archives', 'logs/firewall', 'logs/manager', 'logs/api'),
  ...directories('service', 0o750, 'logs/cluster'),
  ...directories('service', 0o770, 'queue/cluster', 'queue/router'),
  ...directories('root', 0o750, 'queue/tasks'),
  ...directories('service', 0o750, 'queue/db', 'queue/fts', 'queue/agentless', 'queue/journal'),
  ...directories('service', 0o750, 'queue/responses', 'queue/outputs'),
  ...directories('service', 0o750, 'stats', 'stats/totals', 'stats/hourly-average', 'stats/weekly-average'),
  ...directories('root', 0o770, 'var/db', 'var/download'),
  ...directories('service', 0o770, 'var/multigroups'),
  ...directories('root', 0o750, 'backup'),
  ...directories('service', 0o750, 'backup/agents', 'backup/cluster', 'backup/db'),
  ...directories('root', 0o750, 'backup/shared', 'integrations', 'agentless'),
  ...directories('root', 0o750, 'api', 'api/configuration'),
  ...directories('service', 0o770, 'api/configuration/ssl', 'api/configuration/security'),
];

/** The record of the home: it comes first, and says as which user daemons run. */
export const HOME_RECORD = { to: 'etc/home.json', owner: 'root', mode: 0o640 } as const;

/** The main configuration of an installation that was taken over (product.md 10). */
export const TAKEN_OVER = { to: 'etc/ossec.conf', owner: 'root', mode: 0o640 } as const;

/** A file made from the product's own files. */
export type LayoutFile = {
  /** Path below the product's `etc/`. */
  readonly from: string;
  /** Path below the home. */
  readonly to: string;
  readonly owner: LayoutOwner;
  readonly mode: number;
};

/** Files every home gets. */
export const COMMON_FILES: readonly LayoutFile[] = [
  { from: 'internal_options.conf', to: 'etc/internal_options.conf', owner: 'root', mode: 0o640 },
  { from: 'local_internal_options.conf', to: 'etc/local_internal_options.conf', owner: 'root', mode: 0o640 },
  { from: 'rootcheck/rootkit_files.txt', to: 'etc/rootcheck/rootkit_files.txt', owner: 'root', mode: 0o640 },
  { from: 'rootcheck/rootkit_trojans.txt', to: 'etc/rootcheck/rootkit_trojans.txt', owner: 'root', mode: 0o640 },
];

/** Files of a manager. */
export const SERVER_FILES: readonly LayoutFile[] = [
  { from: 'manager.conf', to: 'etc/manager.conf', owner: 'root', mode: 0o640 },
  { from: 'local_rules.xml', to: 'etc/rules/local_rules.xml', owner: 'service', mode: 0o660 },
  { from: 'local_decoder.xml', to: 'etc/decoders/local_decoder.xml', owner: 'service', mode: 0o660 },
  { from: 'shared/default/agent.conf', to: 'etc/shared/default/agent.conf', owner: 'service', mode: 0o660 },
  // Agents of 4.x look for these among what their group shares with them.
  { from: 'rootcheck/rootkit_files.txt', to: 'etc/shared/default/rootkit_files.txt', owner: 'service', mode: 0o660 },
  {
    from: 'rootcheck/rootkit_trojans.txt',
    to: 'etc/shared/default/rootkit_trojans.txt',
    owner: 'service',
    mode: 0o660,
  },
  { from: 'shared/default/agent.conf', to: 'etc/shared/agent-template.conf', owner: 'service', mode: 0o660 },
  { from: 'api/api.yaml', to: 'api/configuration/api.yaml', owner: 'root', mode: 0o640 },
];

/** Files of an agent. */
export const AGENT_FILES: readonly LayoutFile[] = [
  { from: 'agent/manager.conf', to: 'etc/manager.conf', owner: 'root', mode: 0o640 },
];

/** Empty files a manager starts with. */
export const SERVER_EMPTY_FILES: readonly Omit<LayoutFile, 'from'>[] = [
  { to: 'etc/client.keys', owner: 'service', mode: 0o640 },
];

/**
 * Directories of the shipped ruleset by the role of the home, the same names in the product's `etc/ruleset` and the home's
 * `ruleset`. Every host is assessed by policies; managers alone have rules.
 */
export const RULESET_DIRECTORIES = {
  server: ['decoders', 'rules', 'lists', 'mitre', 'sca'],
  agent: ['sca'],
} as const;
