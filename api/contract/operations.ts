// Made from api/openapi.yaml by `npm run generate`: change that file, not this one.

import type { PermittedAgents } from '../rbac/permitted-agents.js';
import type { PermittedIds } from '../rbac/permitted-ids.js';

/** The bytes of an uploaded file; undefined when none were sent. */
export type Upload = Buffer | undefined;

/**
 * What each operation of the contract takes, by operation id: the checked parameters of query, path and header, with
 * the defaults filled in, the checked body, and what of the resources it is about the caller may use. Handlers get exactly this (`ApiRequest`).
 */
export type Operations = {
  /** GET /: Name, version and licence of the API. */
  getApiInfo: {
    readonly parameters: { readonly pretty: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** PUT /active-response: Run a response command on agents. */
  putActiveResponse: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: {
      readonly arguments?: readonly string[];
      readonly command: string;
      readonly alert?: { readonly data?: Readonly<Record<string, unknown>> };
    };
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** DELETE /agents: Delete agents. */
  deleteAgents: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly purge: boolean;
      readonly status: readonly ('all' | 'active' | 'pending' | 'never_connected' | 'disconnected')[];
      readonly older_than: string;
      readonly q?: string;
      readonly 'os.platform'?: string;
      readonly 'os.version'?: string;
      readonly 'os.name'?: string;
      readonly manager?: string;
      readonly version?: string;
      readonly group?: string;
      readonly node_name?: string;
      readonly name?: string;
      readonly ip?: string;
      readonly registerIP?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /agents: List agents. */
  getAgents: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
      readonly status?: readonly ('active' | 'pending' | 'never_connected' | 'disconnected')[];
      readonly q?: string;
      readonly older_than?: string;
      readonly 'os.platform'?: string;
      readonly 'os.version'?: string;
      readonly 'os.name'?: string;
      readonly manager?: string;
      readonly version?: string;
      readonly group?: string;
      readonly node_name?: string;
      readonly name?: string;
      readonly ip?: string;
      readonly registerIP?: string;
      readonly group_config_status?: 'synced' | 'not synced';
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** POST /agents: Register an agent. */
  postAgents: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: {
      readonly name: string;
      readonly ip?: string;
      readonly force?: {
        readonly enabled?: boolean;
        readonly disconnected_time?: { readonly enabled?: boolean; readonly value?: string };
        readonly after_registration_time?: string;
      };
    };
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /agents/{agent_id}/config/{component}/{configuration}: Active configuration of an agent. */
  getAgentsAgentIdConfigComponentConfiguration: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly component:
        | 'agent'
        | 'agentless'
        | 'analysis'
        | 'auth'
        | 'com'
        | 'csyslog'
        | 'integrator'
        | 'logcollector'
        | 'mail'
        | 'monitor'
        | 'request'
        | 'syscheck'
        | 'svc-db'
        | 'wmodules';
      readonly configuration:
        | 'client'
        | 'buffer'
        | 'labels'
        | 'internal'
        | 'anti_tampering'
        | 'agentless'
        | 'global'
        | 'active_response'
        | 'alerts'
        | 'command'
        | 'rules'
        | 'decoders'
        | 'auth'
        | 'logging'
        | 'reports'
        | 'active-response'
        | 'cluster'
        | 'csyslog'
        | 'integration'
        | 'localfile'
        | 'socket'
        | 'remote'
        | 'syscheck'
        | 'rootcheck'
        | 'wdb'
        | 'wmodules'
        | 'rule_test';
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /agents/{agent_id}/daemons/stats: Counters of the daemons about an agent. */
  getAgentsAgentIdDaemonsStats: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly daemons_list?: readonly ('svc-analysisd' | 'svc-remoted')[];
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** DELETE /agents/{agent_id}/group: Take an agent out of groups. */
  deleteAgentsAgentIdGroup: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents; readonly groups: PermittedIds };
  };

  /** GET /agents/{agent_id}/group/is_sync: Whether an agent has the configuration of its groups. */
  getAgentsAgentIdGroupIsSync: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** DELETE /agents/{agent_id}/group/{group_id}: Take an agent out of one group. */
  deleteAgentsAgentIdGroupGroupId: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly group_id: string };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents; readonly groups: PermittedIds };
  };

  /** PUT /agents/{agent_id}/group/{group_id}: Put an agent into a group. */
  putAgentsAgentIdGroupGroupId: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly group_id: string;
      readonly force_single_group?: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents; readonly groups: PermittedIds };
  };

  /** GET /agents/{agent_id}/key: Registration key of an agent. */
  getAgentsAgentIdKey: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** PUT /agents/{agent_id}/restart: Restart an agent. */
  putAgentsAgentIdRestart: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /agents/{agent_id}/stats/{component}: Counters of an agent's component. */
  getAgentsAgentIdStatsComponent: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly component: 'logcollector' | 'agent';
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** DELETE /agents/group: Take agents out of a group. */
  deleteAgentsGroup: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly group_id: string };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents; readonly groups: PermittedIds };
  };

  /** PUT /agents/group: Put agents into a group. */
  putAgentsGroup: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly group_id: string;
      readonly force_single_group?: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents; readonly groups: PermittedIds };
  };

  /** PUT /agents/group/{group_id}/restart: Restart the agents of a group. */
  putAgentsGroupGroupIdRestart: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly group_id: string };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** POST /agents/insert: Register an agent with a known id and key. */
  postAgentsInsert: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: {
      readonly id?: string;
      readonly key?: string;
      readonly name: string;
      readonly ip?: string;
      readonly force?: {
        readonly enabled?: boolean;
        readonly disconnected_time?: { readonly enabled?: boolean; readonly value?: string };
        readonly after_registration_time?: string;
      };
    };
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** POST /agents/insert/quick: Register an agent by name only. */
  postAgentsInsertQuick: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly agent_name: string };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /agents/no_group: List agents without a group. */
  getAgentsNoGroup: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
      readonly q?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** PUT /agents/node/{node_id}/restart: Restart the agents of a node. */
  putAgentsNodeNodeIdRestart: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly node_id: string };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds; readonly agents: PermittedAgents };
  };

  /** GET /agents/outdated: List agents of another version. */
  getAgentsOutdated: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly q?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** PUT /agents/reconnect: Make agents connect again. */
  putAgentsReconnect: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** PUT /agents/restart: Restart agents. */
  putAgentsRestart: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /agents/stats/distinct: Count agents by fields. */
  getAgentsStatsDistinct: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly fields?: readonly string[];
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly q?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /agents/summary: Agents in numbers. */
  getAgentsSummary: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /agents/summary/os: Systems of the agents. */
  getAgentsSummaryOs: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /agents/summary/status: Connection and configuration in numbers. */
  getAgentsSummaryStatus: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /agents/uninstall: Whether agents may be uninstalled. */
  getAgentsUninstall: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** PUT /agents/upgrade: Upgrade agents. */
  putAgentsUpgrade: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly wpk_repo?: string;
      readonly upgrade_version?: string;
      readonly use_http: boolean;
      readonly force: boolean;
      readonly package_type?: 'rpm' | 'deb';
      readonly q?: string;
      readonly 'os.platform'?: string;
      readonly 'os.version'?: string;
      readonly 'os.name'?: string;
      readonly manager?: string;
      readonly version?: string;
      readonly group?: string;
      readonly node_name?: string;
      readonly name?: string;
      readonly ip?: string;
      readonly registerIP?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** PUT /agents/upgrade_custom: Upgrade agents with a package of your own. */
  putAgentsUpgradeCustom: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly file_path: string;
      readonly installer?: string;
      readonly q?: string;
      readonly 'os.platform'?: string;
      readonly 'os.version'?: string;
      readonly 'os.name'?: string;
      readonly manager?: string;
      readonly version?: string;
      readonly group?: string;
      readonly node_name?: string;
      readonly name?: string;
      readonly ip?: string;
      readonly registerIP?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /agents/upgrade_result: How the last upgrade of agents went. */
  getAgentsUpgradeResult: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly q?: string;
      readonly 'os.platform'?: string;
      readonly 'os.version'?: string;
      readonly 'os.name'?: string;
      readonly manager?: string;
      readonly version?: string;
      readonly group?: string;
      readonly node_name?: string;
      readonly name?: string;
      readonly ip?: string;
      readonly registerIP?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /alerts: Search alerts. */
  getAlerts: {
    readonly parameters: {
      readonly from?: string;
      readonly to?: string;
      readonly agent_names?: readonly string[];
      readonly agent_groups?: readonly string[];
      readonly rule_ids?: readonly string[];
      readonly level?: string;
      readonly min_level?: number;
      readonly rule_groups?: readonly string[];
      readonly decoders?: readonly string[];
      readonly mitre_ids?: readonly string[];
      readonly location?: readonly string[];
      readonly srcip?: readonly string[];
      readonly dstip?: readonly string[];
      readonly srcuser?: readonly string[];
      readonly dstuser?: readonly string[];
      readonly search?: string;
      readonly q?: string;
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly select?: readonly string[];
      readonly limit: number;
      readonly order: 'desc' | 'asc';
      readonly cursor?: string;
      readonly count: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /alerts/{alert_id}: One alert. */
  getAlertsAlertId: {
    readonly parameters: { readonly alert_id: string; readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /alerts/histogram: Alerts over time. */
  getAlertsHistogram: {
    readonly parameters: {
      readonly from?: string;
      readonly to?: string;
      readonly agent_names?: readonly string[];
      readonly agent_groups?: readonly string[];
      readonly rule_ids?: readonly string[];
      readonly level?: string;
      readonly min_level?: number;
      readonly rule_groups?: readonly string[];
      readonly decoders?: readonly string[];
      readonly mitre_ids?: readonly string[];
      readonly location?: readonly string[];
      readonly srcip?: readonly string[];
      readonly dstip?: readonly string[];
      readonly srcuser?: readonly string[];
      readonly dstuser?: readonly string[];
      readonly search?: string;
      readonly q?: string;
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly interval?: string;
      readonly by?:
        | 'rule.id'
        | 'rule.level'
        | 'rule.groups'
        | 'rule.mitre.id'
        | 'rule.mitre.tactic'
        | 'rule.mitre.technique'
        | 'rule.pci_dss'
        | 'rule.gdpr'
        | 'rule.hipaa'
        | 'rule.nist_800_53'
        | 'rule.tsc'
        | 'agent.id'
        | 'agent.name'
        | 'agent.ip'
        | 'manager.name'
        | 'cluster.name'
        | 'cluster.node'
        | 'decoder.name'
        | 'location'
        | 'predecoder.program_name'
        | 'predecoder.hostname'
        | 'data.srcip'
        | 'data.dstip'
        | 'data.srcuser'
        | 'data.dstuser'
        | 'data.user'
        | 'syscheck.path'
        | 'syscheck.event'
        | 'data.win.system.eventID'
        | 'data.win.system.channel'
        | 'data.win.system.providerName';
      readonly series: number;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /alerts/top: Commonest values of alerts. */
  getAlertsTop: {
    readonly parameters: {
      readonly field:
        | 'rule.id'
        | 'rule.level'
        | 'rule.groups'
        | 'rule.mitre.id'
        | 'rule.mitre.tactic'
        | 'rule.mitre.technique'
        | 'rule.pci_dss'
        | 'rule.gdpr'
        | 'rule.hipaa'
        | 'rule.nist_800_53'
        | 'rule.tsc'
        | 'agent.id'
        | 'agent.name'
        | 'agent.ip'
        | 'manager.name'
        | 'cluster.name'
        | 'cluster.node'
        | 'decoder.name'
        | 'location'
        | 'predecoder.program_name'
        | 'predecoder.hostname'
        | 'data.srcip'
        | 'data.dstip'
        | 'data.srcuser'
        | 'data.dstuser'
        | 'data.user'
        | 'syscheck.path'
        | 'syscheck.event'
        | 'data.win.system.eventID'
        | 'data.win.system.channel'
        | 'data.win.system.providerName';
      readonly from?: string;
      readonly to?: string;
      readonly agent_names?: readonly string[];
      readonly agent_groups?: readonly string[];
      readonly rule_ids?: readonly string[];
      readonly level?: string;
      readonly min_level?: number;
      readonly rule_groups?: readonly string[];
      readonly decoders?: readonly string[];
      readonly mitre_ids?: readonly string[];
      readonly location?: readonly string[];
      readonly srcip?: readonly string[];
      readonly dstip?: readonly string[];
      readonly srcuser?: readonly string[];
      readonly dstuser?: readonly string[];
      readonly search?: string;
      readonly q?: string;
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly limit: number;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /alerts/stream: Alerts as they come. */
  getAlertsStream: {
    readonly parameters: {
      readonly agent_names?: readonly string[];
      readonly agent_groups?: readonly string[];
      readonly rule_ids?: readonly string[];
      readonly level?: string;
      readonly min_level?: number;
      readonly rule_groups?: readonly string[];
      readonly decoders?: readonly string[];
      readonly mitre_ids?: readonly string[];
      readonly location?: readonly string[];
      readonly srcip?: readonly string[];
      readonly dstip?: readonly string[];
      readonly srcuser?: readonly string[];
      readonly dstuser?: readonly string[];
      readonly search?: string;
      readonly q?: string;
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly 'Last-Event-ID'?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** DELETE /groups: Delete groups. */
  deleteGroups: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly groups: PermittedIds };
  };

  /** GET /groups: List groups. */
  getGroups: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly hash?:
        | 'md5'
        | 'sha1'
        | 'sha224'
        | 'sha256'
        | 'sha384'
        | 'sha512'
        | 'blake2b'
        | 'blake2s'
        | 'sha3_224'
        | 'sha3_256'
        | 'sha3_384'
        | 'sha3_512';
      readonly q?: string;
      readonly select?: readonly string[];
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly groups: PermittedIds };
  };

  /** POST /groups: Create a group. */
  postGroups: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: { readonly group_id: string };
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /groups/{group_id}/agents: List the agents of a group. */
  getGroupsGroupIdAgents: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly group_id: string;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
      readonly status?: readonly ('active' | 'pending' | 'never_connected' | 'disconnected')[];
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents; readonly groups: PermittedIds };
  };

  /** GET /groups/{group_id}/configuration: Shared configuration of a group. */
  getGroupsGroupIdConfiguration: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly group_id: string;
      readonly offset: number;
      readonly limit: number;
    };
    readonly body: undefined;
    readonly permitted: { readonly groups: PermittedIds };
  };

  /** PUT /groups/{group_id}/configuration: Replace the shared configuration of a group. */
  putGroupsGroupIdConfiguration: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly group_id: string };
    readonly body: Upload;
    readonly permitted: { readonly groups: PermittedIds };
  };

  /** PUT /groups/{group_id}/configuration/validation: Check a shared configuration without storing it. */
  putGroupsGroupIdConfigurationValidation: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly group_id: string };
    readonly body: Upload;
    readonly permitted: { readonly groups: PermittedIds };
  };

  /** GET /groups/{group_id}/files: List the shared files of a group. */
  getGroupsGroupIdFiles: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly group_id: string;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly hash?:
        | 'md5'
        | 'sha1'
        | 'sha224'
        | 'sha256'
        | 'sha384'
        | 'sha512'
        | 'blake2b'
        | 'blake2s'
        | 'sha3_224'
        | 'sha3_256'
        | 'sha3_384'
        | 'sha3_512';
      readonly q?: string;
      readonly select?: readonly string[];
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly groups: PermittedIds };
  };

  /** GET /groups/{group_id}/files/{file_name}: Read a shared file of a group. */
  getGroupsGroupIdFilesFileName: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly group_id: string;
      readonly file_name: string;
      readonly type?: readonly ('conf' | 'rootkit_files' | 'rootkit_trojans' | 'rcl')[];
      readonly raw?: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly groups: PermittedIds };
  };

  /** GET /cluster/local/info: This node in the cluster. */
  getClusterLocalInfo: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /cluster/local/config: Cluster settings of this node. */
  getClusterLocalConfig: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly secrets: boolean };
  };

  /** GET /cluster/nodes: List cluster nodes. */
  getClusterNodes: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly type?: 'worker' | 'master';
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** GET /cluster/healthcheck: State of the cluster. */
  getClusterHealthcheck: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** GET /cluster/status: Whether the cluster is on. */
  getClusterStatus: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /cluster/{node_id}/status: Daemons of a node. */
  getClusterNodeIdStatus: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly node_id: string };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** GET /cluster/{node_id}/info: Facts about a node. */
  getClusterNodeIdInfo: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly node_id: string };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** GET /cluster/{node_id}/configuration: Main configuration of a node. */
  getClusterNodeIdConfiguration: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly node_id: string;
      readonly raw?: boolean;
      readonly section?:
        | 'active-response'
        | 'agentless'
        | 'alerts'
        | 'auth'
        | 'client'
        | 'client_buffer'
        | 'cluster'
        | 'command'
        | 'email_alerts'
        | 'global'
        | 'integration'
        | 'journal'
        | 'analysis'
        | 'alert_store'
        | 'labels'
        | 'localfile'
        | 'logging'
        | 'remote'
        | 'reports'
        | 'rootcheck'
        | 'ruleset'
        | 'sca'
        | 'socket'
        | 'syscheck'
        | 'syslog_output'
        | 'vulnerability-detection'
        | 'indexer'
        | 'aws-s3'
        | 'azure-logs'
        | 'cis-cat'
        | 'docker-listener'
        | 'open-scap'
        | 'osquery'
        | 'syscollector';
      readonly field?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds; readonly secrets: boolean };
  };

  /** PUT /cluster/{node_id}/configuration: Replace the main configuration of a node. */
  putClusterNodeIdConfiguration: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly node_id: string };
    readonly body: Upload;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** GET /cluster/{node_id}/configuration/differences: Where the configuration of a node differs from the default. */
  getClusterNodeIdConfigurationDifferences: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly node_id: string;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds; readonly secrets: boolean };
  };

  /** GET /cluster/{node_id}/configuration/{component}/{configuration}: Configuration in force on a node. */
  getClusterNodeIdConfigurationComponentConfiguration: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly node_id: string;
      readonly component:
        | 'agent'
        | 'agentless'
        | 'analysis'
        | 'auth'
        | 'com'
        | 'csyslog'
        | 'integrator'
        | 'logcollector'
        | 'mail'
        | 'monitor'
        | 'request'
        | 'syscheck'
        | 'svc-db'
        | 'wmodules';
      readonly configuration:
        | 'client'
        | 'buffer'
        | 'labels'
        | 'internal'
        | 'anti_tampering'
        | 'agentless'
        | 'global'
        | 'active_response'
        | 'alerts'
        | 'command'
        | 'rules'
        | 'decoders'
        | 'auth'
        | 'logging'
        | 'reports'
        | 'active-response'
        | 'cluster'
        | 'csyslog'
        | 'integration'
        | 'localfile'
        | 'socket'
        | 'remote'
        | 'syscheck'
        | 'rootcheck'
        | 'wdb'
        | 'wmodules'
        | 'rule_test';
    };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** GET /cluster/{node_id}/daemons/stats: Counters of the daemons of a node. */
  getClusterNodeIdDaemonsStats: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly node_id: string;
      readonly daemons_list?: readonly ('svc-analysisd' | 'svc-remoted' | 'svc-db' | 'svc-monitord' | 'svc-execd')[];
    };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** GET /cluster/{node_id}/stats: Alerts and events of a day on a node. */
  getClusterNodeIdStats: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly node_id: string;
      readonly date?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** GET /cluster/{node_id}/stats/hourly: Average events of a node by hour of the day. */
  getClusterNodeIdStatsHourly: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly node_id: string };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** GET /cluster/{node_id}/stats/weekly: Average events of a node by weekday and hour. */
  getClusterNodeIdStatsWeekly: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly node_id: string };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** GET /cluster/{node_id}/stats/analysisd: Counters of the analysis daemon of a node, old form. */
  getClusterNodeIdStatsAnalysisd: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly node_id: string };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** GET /cluster/{node_id}/stats/remoted: Counters of the agent daemon of a node, old form. */
  getClusterNodeIdStatsRemoted: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly node_id: string };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** GET /cluster/{node_id}/logs: Log of a node. */
  getClusterNodeIdLogs: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly node_id: string;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly tag?: string;
      readonly level?: 'critical' | 'debug' | 'debug2' | 'error' | 'info' | 'warning';
      readonly q?: string;
      readonly select?: readonly string[];
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** GET /cluster/{node_id}/logs/summary: Log of a node in numbers. */
  getClusterNodeIdLogsSummary: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly node_id: string };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** GET /cluster/api/config: API configuration of nodes. */
  getClusterApiConfig: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** PUT /cluster/restart: Restart nodes. */
  putClusterRestart: {
    readonly parameters: { readonly pretty: boolean };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** PUT /cluster/analysisd/reload: Reload the ruleset of nodes. */
  putClusterAnalysisdReload: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** GET /cluster/configuration/validation: Check the configuration of nodes. */
  getClusterConfigurationValidation: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** GET /cluster/ruleset/synchronization: Whether nodes have the ruleset of the master. */
  getClusterRulesetSynchronization: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly nodes: PermittedIds };
  };

  /** GET /lists: List lookup lists with their entries. */
  getLists: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
      readonly relative_dirname?: string;
      readonly filename?: readonly string[];
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** GET /lists/files/{filename}: Read a lookup list. */
  getListsFilesFilename: {
    readonly parameters: {
      readonly filename: string;
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly raw?: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** PUT /lists/files/{filename}: Write a lookup list. */
  putListsFilesFilename: {
    readonly parameters: {
      readonly filename: string;
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly overwrite: boolean;
    };
    readonly body: Upload;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** DELETE /lists/files/{filename}: Delete a lookup list. */
  deleteListsFilesFilename: {
    readonly parameters: { readonly filename: string; readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** GET /lists/files: List lookup list files. */
  getListsFiles: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly relative_dirname?: string;
      readonly filename?: readonly string[];
    };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** PUT /logtest: Test one log line. */
  putLogtest: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: {
      readonly token?: string;
      readonly log_format: string;
      readonly location: string;
      readonly event: string;
      readonly options?: { readonly explain?: boolean; readonly why?: number };
    };
    readonly permitted: { readonly whole: boolean };
  };

  /** DELETE /logtest/sessions/{token}: Close a test session. */
  deleteLogtestSessionsToken: {
    readonly parameters: { readonly token: string; readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /manager/status: State of the daemons. */
  getManagerStatus: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /manager/info: About the manager. */
  getManagerInfo: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /manager/configuration: Main configuration. */
  getManagerConfiguration: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly raw?: boolean;
      readonly section?:
        | 'active-response'
        | 'agentless'
        | 'alerts'
        | 'auth'
        | 'client'
        | 'client_buffer'
        | 'cluster'
        | 'command'
        | 'email_alerts'
        | 'global'
        | 'integration'
        | 'journal'
        | 'analysis'
        | 'alert_store'
        | 'labels'
        | 'localfile'
        | 'logging'
        | 'remote'
        | 'reports'
        | 'rootcheck'
        | 'ruleset'
        | 'sca'
        | 'socket'
        | 'syscheck'
        | 'syslog_output'
        | 'vulnerability-detection'
        | 'indexer'
        | 'aws-s3'
        | 'azure-logs'
        | 'cis-cat'
        | 'docker-listener'
        | 'open-scap'
        | 'osquery'
        | 'syscollector';
      readonly field?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly secrets: boolean };
  };

  /** PUT /manager/configuration: Replace the main configuration. */
  putManagerConfiguration: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: Upload;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /manager/daemons/stats: Counters of the daemons. */
  getManagerDaemonsStats: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly daemons_list?: readonly ('svc-analysisd' | 'svc-remoted' | 'svc-db' | 'svc-monitord' | 'svc-execd')[];
    };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /manager/stats: Alerts and events of a day. */
  getManagerStats: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly date?: string };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /manager/stats/hourly: Average events by hour of the day. */
  getManagerStatsHourly: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /manager/stats/weekly: Average events by weekday and hour. */
  getManagerStatsWeekly: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /manager/stats/analysisd: Counters of the analysis daemon, old form. */
  getManagerStatsAnalysisd: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /manager/stats/remoted: Counters of the agent daemon, old form. */
  getManagerStatsRemoted: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /manager/logs: Manager log. */
  getManagerLogs: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly tag?: string;
      readonly level?: 'critical' | 'debug' | 'debug2' | 'error' | 'info' | 'warning';
      readonly q?: string;
      readonly select?: readonly string[];
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /manager/logs/summary: Manager log in numbers. */
  getManagerLogsSummary: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /manager/api/config: API configuration. */
  getManagerApiConfig: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** PUT /manager/analysisd/reload: Reload the ruleset. */
  putManagerAnalysisdReload: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** PUT /manager/restart: Restart the manager. */
  putManagerRestart: {
    readonly parameters: { readonly pretty: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /manager/configuration/validation: Check the configuration. */
  getManagerConfigurationValidation: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /manager/configuration/differences: Where the configuration differs from the default. */
  getManagerConfigurationDifferences: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly secrets: boolean };
  };

  /** GET /manager/configuration/{component}/{configuration}: Active configuration of the manager. */
  getManagerConfigurationComponentConfiguration: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly component:
        | 'agent'
        | 'agentless'
        | 'analysis'
        | 'auth'
        | 'com'
        | 'csyslog'
        | 'integrator'
        | 'logcollector'
        | 'mail'
        | 'monitor'
        | 'request'
        | 'syscheck'
        | 'svc-db'
        | 'wmodules';
      readonly configuration:
        | 'client'
        | 'buffer'
        | 'labels'
        | 'internal'
        | 'anti_tampering'
        | 'agentless'
        | 'global'
        | 'active_response'
        | 'alerts'
        | 'command'
        | 'rules'
        | 'decoders'
        | 'auth'
        | 'logging'
        | 'reports'
        | 'active-response'
        | 'cluster'
        | 'csyslog'
        | 'integration'
        | 'localfile'
        | 'socket'
        | 'remote'
        | 'syscheck'
        | 'rootcheck'
        | 'wdb'
        | 'wmodules'
        | 'rule_test';
    };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /manager/version/check: Newer versions. */
  getManagerVersionCheck: {
    readonly parameters: { readonly pretty: boolean; readonly force_query: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /mitre/groups: List ATT&CK groups. */
  getMitreGroups: {
    readonly parameters: {
      readonly group_ids?: readonly string[];
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /mitre/metadata: Edition of the ATT&CK data. */
  getMitreMetadata: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /mitre/mitigations: List ATT&CK mitigations. */
  getMitreMitigations: {
    readonly parameters: {
      readonly mitigation_ids?: readonly string[];
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /mitre/references: List references of ATT&CK objects. */
  getMitreReferences: {
    readonly parameters: {
      readonly reference_ids?: readonly string[];
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly q?: string;
    };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /mitre/software: List ATT&CK software. */
  getMitreSoftware: {
    readonly parameters: {
      readonly software_ids?: readonly string[];
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /mitre/tactics: List ATT&CK tactics. */
  getMitreTactics: {
    readonly parameters: {
      readonly tactic_ids?: readonly string[];
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /mitre/techniques: List ATT&CK techniques. */
  getMitreTechniques: {
    readonly parameters: {
      readonly technique_ids?: readonly string[];
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /rules: List rules. */
  getRules: {
    readonly parameters: {
      readonly rule_ids?: readonly number[];
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
      readonly q?: string;
      readonly status?: 'enabled' | 'disabled' | 'all';
      readonly group?: string;
      readonly level?: string;
      readonly filename?: readonly string[];
      readonly relative_dirname?: string;
      readonly pci_dss?: string;
      readonly gdpr?: string;
      readonly gpg13?: string;
      readonly hipaa?: string;
      readonly 'nist-800-53'?: string;
      readonly tsc?: string;
      readonly mitre?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** GET /rules/groups: List rule groups. */
  getRulesGroups: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** GET /rules/requirement/{requirement}: List tags of a compliance requirement. */
  getRulesRequirementRequirement: {
    readonly parameters: {
      readonly requirement: 'pci_dss' | 'gdpr' | 'hipaa' | 'nist-800-53' | 'gpg13' | 'tsc' | 'mitre';
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** GET /rules/files: List rule files. */
  getRulesFiles: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly relative_dirname?: string;
      readonly filename?: readonly string[];
      readonly status?: 'enabled' | 'disabled' | 'all';
      readonly q?: string;
      readonly select?: readonly string[];
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** GET /rules/files/{filename}: Read a rule file. */
  getRulesFilesFilename: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly filename: string;
      readonly raw?: boolean;
      readonly relative_dirname?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** PUT /rules/files/{filename}: Write a rule file. */
  putRulesFilesFilename: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly filename: string;
      readonly overwrite: boolean;
      readonly relative_dirname?: string;
    };
    readonly body: Upload;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** DELETE /rules/files/{filename}: Delete a rule file. */
  deleteRulesFilesFilename: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly filename: string;
      readonly relative_dirname?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** PUT /rules/tests: Check the ruleset, and run its tests. */
  putRulesTests: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: {
      readonly files?: readonly { readonly path: string; readonly content?: string }[];
      readonly tests?: 'own' | 'all' | 'none';
    };
    readonly permitted: { readonly whole: boolean };
  };

  /** GET /rules/tests/files: List files of tests. */
  getRulesTestsFiles: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** GET /rules/tests/files/{filename}: Read a file of tests. */
  getRulesTestsFilesFilename: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly filename: string };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** PUT /rules/tests/files/{filename}: Write a file of tests. */
  putRulesTestsFilesFilename: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly filename: string;
      readonly overwrite: boolean;
    };
    readonly body: Upload;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** DELETE /rules/tests/files/{filename}: Delete a file of tests. */
  deleteRulesTestsFilesFilename: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly filename: string };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** GET /sca/{agent_id}: Configuration assessments of an agent. */
  getScaAgentId: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly name?: string;
      readonly description?: string;
      readonly references?: string;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /sca/{agent_id}/checks/{policy_id}: Checks of a policy on an agent. */
  getScaAgentIdChecksPolicyId: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly policy_id: string;
      readonly title?: string;
      readonly description?: string;
      readonly rationale?: string;
      readonly remediation?: string;
      readonly command?: string;
      readonly reason?: string;
      readonly file?: string;
      readonly process?: string;
      readonly directory?: string;
      readonly registry?: string;
      readonly references?: string;
      readonly result?: string;
      readonly condition?: string;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** PUT /syscheck: Start an integrity scan. */
  putSyscheck: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /syscheck/{agent_id}: Integrity records of an agent. */
  getSyscheckAgentId: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly file?: string;
      readonly arch?: '[x32]' | '[x64]';
      readonly 'value.name'?: string;
      readonly 'value.type'?: string;
      readonly type?: 'file' | 'registry_key' | 'registry_value';
      readonly summary: boolean;
      readonly md5?: string;
      readonly sha1?: string;
      readonly sha256?: string;
      readonly hash?: string;
      readonly distinct: boolean;
      readonly q?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** DELETE /syscheck/{agent_id}: Forget the integrity records of an agent. */
  deleteSyscheckAgentId: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /syscheck/{agent_id}/last_scan: Last integrity scan of an agent. */
  getSyscheckAgentIdLastScan: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** PUT /rootcheck: Start a rootcheck scan. */
  putRootcheck: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /rootcheck/{agent_id}: Rootcheck findings of an agent. */
  getRootcheckAgentId: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly status: string;
      readonly pci_dss?: string;
      readonly cis?: string;
      readonly distinct: boolean;
      readonly q?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** DELETE /rootcheck/{agent_id}: Forget the rootcheck findings of an agent. */
  deleteRootcheckAgentId: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /rootcheck/{agent_id}/last_scan: Last rootcheck scan of an agent. */
  getRootcheckAgentIdLastScan: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /decoders: List decoders. */
  getDecoders: {
    readonly parameters: {
      readonly decoder_names?: readonly string[];
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
      readonly q?: string;
      readonly filename?: readonly string[];
      readonly relative_dirname?: string;
      readonly status?: 'enabled' | 'disabled' | 'all';
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** GET /decoders/files: List decoder files. */
  getDecodersFiles: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly filename?: readonly string[];
      readonly relative_dirname?: string;
      readonly status?: 'enabled' | 'disabled' | 'all';
      readonly q?: string;
      readonly select?: readonly string[];
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** GET /decoders/files/{filename}: Read a decoder file. */
  getDecodersFilesFilename: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly filename: string;
      readonly raw?: boolean;
      readonly relative_dirname?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** PUT /decoders/files/{filename}: Write a decoder file. */
  putDecodersFilesFilename: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly filename: string;
      readonly overwrite: boolean;
      readonly relative_dirname?: string;
    };
    readonly body: Upload;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** DELETE /decoders/files/{filename}: Delete a decoder file. */
  deleteDecodersFilesFilename: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly filename: string;
      readonly relative_dirname?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** GET /decoders/parents: List decoders that have no parent. */
  getDecodersParents: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly files: PermittedIds };
  };

  /** POST /events: Send events for analysis. */
  postEvents: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly 'Idempotency-Key'?: string;
    };
    readonly body: { readonly events: readonly string[] };
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /syscollector/{agent_id}/hardware: Hardware of an agent. */
  getSyscollectorAgentIdHardware: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly select?: readonly string[];
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /syscollector/{agent_id}/hotfixes: Hotfixes of an agent. */
  getSyscollectorAgentIdHotfixes: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly hotfix?: string;
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /syscollector/{agent_id}/netaddr: Network addresses of an agent. */
  getSyscollectorAgentIdNetaddr: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly iface?: string;
      readonly proto?: string;
      readonly address?: string;
      readonly broadcast?: string;
      readonly netmask?: string;
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /syscollector/{agent_id}/netiface: Network interfaces of an agent. */
  getSyscollectorAgentIdNetiface: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly name?: string;
      readonly adapter?: string;
      readonly type?: string;
      readonly state?: string;
      readonly mtu?: number;
      readonly 'tx.packets'?: number;
      readonly 'rx.packets'?: number;
      readonly 'tx.bytes'?: number;
      readonly 'rx.bytes'?: number;
      readonly 'tx.errors'?: number;
      readonly 'rx.errors'?: number;
      readonly 'tx.dropped'?: number;
      readonly 'rx.dropped'?: number;
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /syscollector/{agent_id}/netproto: Routing of an agent. */
  getSyscollectorAgentIdNetproto: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly iface?: string;
      readonly type?: string;
      readonly gateway?: string;
      readonly dhcp?: 'enabled' | 'disabled' | 'unknown' | 'BOOTP';
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /syscollector/{agent_id}/os: Operating system of an agent. */
  getSyscollectorAgentIdOs: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly select?: readonly string[];
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /syscollector/{agent_id}/packages: Packages of an agent. */
  getSyscollectorAgentIdPackages: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly vendor?: string;
      readonly name?: string;
      readonly architecture?: string;
      readonly format?: string;
      readonly version?: string;
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /syscollector/{agent_id}/ports: Ports of an agent. */
  getSyscollectorAgentIdPorts: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly pid?: string;
      readonly protocol?: string;
      readonly 'local.ip'?: string;
      readonly 'local.port'?: string;
      readonly 'remote.ip'?: string;
      readonly tx_queue?: string;
      readonly state?: string;
      readonly process?: string;
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /syscollector/{agent_id}/processes: Processes of an agent. */
  getSyscollectorAgentIdProcesses: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly pid?: string;
      readonly state?: string;
      readonly ppid?: string;
      readonly egroup?: string;
      readonly euser?: string;
      readonly fgroup?: string;
      readonly name?: string;
      readonly nlwp?: string;
      readonly pgrp?: string;
      readonly priority?: string;
      readonly rgroup?: string;
      readonly ruser?: string;
      readonly sgroup?: string;
      readonly suser?: string;
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /syscollector/{agent_id}/users: Accounts of an agent. */
  getSyscollectorAgentIdUsers: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /syscollector/{agent_id}/groups: Account groups of an agent. */
  getSyscollectorAgentIdGroups: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /syscollector/{agent_id}/browser_extensions: Browser extensions of an agent. */
  getSyscollectorAgentIdBrowserExtensions: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /syscollector/{agent_id}/services: Services of an agent. */
  getSyscollectorAgentIdServices: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /ciscat/{agent_id}/results: CIS-CAT results of an agent. */
  getCiscatAgentIdResults: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
      readonly benchmark?: string;
      readonly profile?: string;
      readonly pass?: number;
      readonly fail?: number;
      readonly error?: number;
      readonly notchecked?: number;
      readonly unknown?: number;
      readonly score?: number;
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** DELETE /experimental/rootcheck: Forget what rootcheck found on agents. */
  deleteExperimentalRootcheck: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** DELETE /experimental/syscheck: Forget the files of agents. */
  deleteExperimentalSyscheck: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /experimental/syscollector/hardware: Hardware of agents. */
  getExperimentalSyscollectorHardware: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
      readonly 'ram.free'?: number;
      readonly 'ram.total'?: number;
      readonly 'cpu.cores'?: number;
      readonly 'cpu.mhz'?: string;
      readonly 'cpu.name'?: string;
      readonly board_serial?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /experimental/syscollector/hotfixes: Hotfixes of agents. */
  getExperimentalSyscollectorHotfixes: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
      readonly hotfix?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /experimental/syscollector/netaddr: Network addresses of agents. */
  getExperimentalSyscollectorNetaddr: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
      readonly iface?: string;
      readonly proto?: string;
      readonly address?: string;
      readonly broadcast?: string;
      readonly netmask?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /experimental/syscollector/netiface: Network interfaces of agents. */
  getExperimentalSyscollectorNetiface: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
      readonly name?: string;
      readonly adapter?: string;
      readonly type?: string;
      readonly state?: string;
      readonly mtu?: number;
      readonly 'tx.packets'?: number;
      readonly 'rx.packets'?: number;
      readonly 'tx.bytes'?: number;
      readonly 'rx.bytes'?: number;
      readonly 'tx.errors'?: number;
      readonly 'rx.errors'?: number;
      readonly 'tx.dropped'?: number;
      readonly 'rx.dropped'?: number;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /experimental/syscollector/netproto: Network routes of agents. */
  getExperimentalSyscollectorNetproto: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
      readonly iface?: string;
      readonly type?: string;
      readonly gateway?: string;
      readonly dhcp?: 'enabled' | 'disabled' | 'unknown' | 'BOOTP';
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /experimental/syscollector/os: Operating systems of agents. */
  getExperimentalSyscollectorOs: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
      readonly 'os.name'?: string;
      readonly 'os.version'?: string;
      readonly architecture?: string;
      readonly version?: string;
      readonly release?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /experimental/syscollector/packages: Packages of agents. */
  getExperimentalSyscollectorPackages: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
      readonly vendor?: string;
      readonly name?: string;
      readonly architecture?: string;
      readonly format?: string;
      readonly version?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /experimental/syscollector/ports: Open ports of agents. */
  getExperimentalSyscollectorPorts: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
      readonly pid?: string;
      readonly protocol?: string;
      readonly 'local.ip'?: string;
      readonly 'local.port'?: string;
      readonly 'remote.ip'?: string;
      readonly tx_queue?: string;
      readonly state?: string;
      readonly process?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /experimental/syscollector/processes: Processes of agents. */
  getExperimentalSyscollectorProcesses: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
      readonly pid?: string;
      readonly state?: string;
      readonly ppid?: string;
      readonly egroup?: string;
      readonly euser?: string;
      readonly fgroup?: string;
      readonly name?: string;
      readonly nlwp?: string;
      readonly pgrp?: string;
      readonly priority?: string;
      readonly rgroup?: string;
      readonly ruser?: string;
      readonly sgroup?: string;
      readonly suser?: string;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** GET /experimental/ciscat/results: CIS-CAT results of agents. */
  getExperimentalCiscatResults: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly search?: string;
      readonly benchmark?: string;
      readonly profile?: string;
      readonly pass?: number;
      readonly fail?: number;
      readonly error?: number;
      readonly notchecked?: number;
      readonly unknown?: number;
      readonly score?: number;
    };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents };
  };

  /** POST /security/user/authenticate: Log in. */
  postSecurityUserAuthenticate: {
    readonly parameters: { readonly raw?: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /security/user/authenticate: Log in, old form. */
  getSecurityUserAuthenticate: {
    readonly parameters: { readonly raw?: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** DELETE /security/user/authenticate: Log out. */
  deleteSecurityUserAuthenticate: {
    readonly parameters: Readonly<Record<never, never>>;
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** POST /security/user/authenticate/run_as: Log in on behalf of someone. */
  postSecurityUserAuthenticateRunAs: {
    readonly parameters: { readonly raw?: boolean };
    readonly body: Readonly<Record<string, unknown>>;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /security/users/me: The current user. */
  getSecurityUsersMe: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /security/users/me/policies: What the current user may do. */
  getSecurityUsersMePolicies: {
    readonly parameters: { readonly pretty: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** PUT /security/user/revoke: End every token. */
  putSecurityUserRevoke: {
    readonly parameters: Readonly<Record<never, never>>;
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** PUT /security/users/{user_id}/run_as: Allow or forbid login with a context. */
  putSecurityUsersUserIdRunAs: {
    readonly parameters: {
      readonly user_id: string;
      readonly allow_run_as: boolean;
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
    };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /security/actions: List actions. */
  getSecurityActions: {
    readonly parameters: { readonly endpoint?: string; readonly pretty: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /security/resources: List resource kinds. */
  getSecurityResources: {
    readonly parameters: {
      readonly resource?:
        | '*:*'
        | 'agent:group'
        | 'agent:id'
        | 'group:id'
        | 'node:id'
        | 'decoder:file'
        | 'list:file'
        | 'rule:file'
        | 'policy:id'
        | 'role:id'
        | 'user:id';
      readonly pretty: boolean;
    };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /security/users: List users. */
  getSecurityUsers: {
    readonly parameters: {
      readonly limit: number;
      readonly offset: number;
      readonly pretty: boolean;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly wait_for_complete: boolean;
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly users: PermittedIds };
  };

  /** POST /security/users: Create a user. */
  postSecurityUsers: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: { readonly username: string; readonly password: string };
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** DELETE /security/users: Delete users. */
  deleteSecurityUsers: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly users: PermittedIds };
  };

  /** PUT /security/users/{user_id}: Change a password. */
  putSecurityUsersUserId: {
    readonly parameters: { readonly user_id: string; readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: { readonly password?: string };
    readonly permitted: { readonly users: PermittedIds };
  };

  /** GET /security/roles: List roles. */
  getSecurityRoles: {
    readonly parameters: {
      readonly limit: number;
      readonly offset: number;
      readonly pretty: boolean;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly wait_for_complete: boolean;
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly roles: PermittedIds };
  };

  /** POST /security/roles: Create a role. */
  postSecurityRoles: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: { readonly name: string };
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** DELETE /security/roles: Delete roles. */
  deleteSecurityRoles: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly roles: PermittedIds };
  };

  /** PUT /security/roles/{role_id}: Rename a role. */
  putSecurityRolesRoleId: {
    readonly parameters: { readonly role_id: string; readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: { readonly name?: string };
    readonly permitted: { readonly roles: PermittedIds };
  };

  /** GET /security/rules: List security rules. */
  getSecurityRules: {
    readonly parameters: {
      readonly limit: number;
      readonly offset: number;
      readonly pretty: boolean;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly wait_for_complete: boolean;
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly rules: PermittedIds };
  };

  /** POST /security/rules: Create a security rule. */
  postSecurityRules: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: { readonly name: string; readonly rule: Readonly<Record<string, unknown>> };
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** DELETE /security/rules: Delete security rules. */
  deleteSecurityRules: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly rules: PermittedIds };
  };

  /** PUT /security/rules/{rule_id}: Change a security rule. */
  putSecurityRulesRuleId: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean; readonly rule_id: string };
    readonly body: { readonly name?: string; readonly rule?: Readonly<Record<string, unknown>> };
    readonly permitted: { readonly rules: PermittedIds };
  };

  /** GET /security/policies: List policies. */
  getSecurityPolicies: {
    readonly parameters: {
      readonly limit: number;
      readonly offset: number;
      readonly pretty: boolean;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly sort?: string;
      readonly wait_for_complete: boolean;
      readonly q?: string;
      readonly distinct: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly policies: PermittedIds };
  };

  /** POST /security/policies: Create a policy. */
  postSecurityPolicies: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: {
      readonly name: string;
      readonly policy: {
        readonly actions: readonly string[];
        readonly resources: readonly string[];
        readonly effect: string;
      };
    };
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** DELETE /security/policies: Delete policies. */
  deleteSecurityPolicies: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly policies: PermittedIds };
  };

  /** PUT /security/policies/{policy_id}: Change a policy. */
  putSecurityPoliciesPolicyId: {
    readonly parameters: { readonly policy_id: string; readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: {
      readonly name?: string;
      readonly policy?: {
        readonly actions: readonly string[];
        readonly resources: readonly string[];
        readonly effect: string;
      };
    };
    readonly permitted: { readonly policies: PermittedIds };
  };

  /** POST /security/users/{user_id}/roles: Give roles to a user. */
  postSecurityUsersUserIdRoles: {
    readonly parameters: {
      readonly user_id: string;
      readonly position?: number;
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly users: PermittedIds; readonly roles: PermittedIds };
  };

  /** DELETE /security/users/{user_id}/roles: Take roles from a user. */
  deleteSecurityUsersUserIdRoles: {
    readonly parameters: { readonly user_id: string; readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly users: PermittedIds; readonly roles: PermittedIds };
  };

  /** POST /security/roles/{role_id}/policies: Give policies to a role. */
  postSecurityRolesRoleIdPolicies: {
    readonly parameters: {
      readonly role_id: string;
      readonly position?: number;
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
    };
    readonly body: undefined;
    readonly permitted: { readonly roles: PermittedIds; readonly policies: PermittedIds };
  };

  /** DELETE /security/roles/{role_id}/policies: Take policies from a role. */
  deleteSecurityRolesRoleIdPolicies: {
    readonly parameters: { readonly role_id: string; readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly roles: PermittedIds; readonly policies: PermittedIds };
  };

  /** POST /security/roles/{role_id}/rules: Give security rules to a role. */
  postSecurityRolesRoleIdRules: {
    readonly parameters: { readonly role_id: string; readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly roles: PermittedIds; readonly rules: PermittedIds };
  };

  /** DELETE /security/roles/{role_id}/rules: Take security rules from a role. */
  deleteSecurityRolesRoleIdRules: {
    readonly parameters: { readonly role_id: string; readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly roles: PermittedIds; readonly rules: PermittedIds };
  };

  /** GET /overview/agents: Agents at a glance. */
  getOverviewAgents: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: { readonly agents: PermittedAgents; readonly groups: PermittedIds };
  };

  /** GET /security/config: Security settings. */
  getSecurityConfig: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** PUT /security/config: Change security settings. */
  putSecurityConfig: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: { readonly auth_token_exp_timeout?: number; readonly rbac_mode?: 'white' | 'black' };
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** DELETE /security/config: Reset security settings. */
  deleteSecurityConfig: {
    readonly parameters: { readonly pretty: boolean; readonly wait_for_complete: boolean };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };

  /** GET /tasks/status: How tasks go. */
  getTasksStatus: {
    readonly parameters: {
      readonly pretty: boolean;
      readonly wait_for_complete: boolean;
      readonly offset: number;
      readonly limit: number;
      readonly sort?: string;
      readonly search?: string;
      readonly select?: readonly string[];
      readonly q?: string;
      readonly agents_list?: readonly string[];
      readonly tasks_list?: readonly string[];
      readonly command?: string;
      readonly node?: string;
      readonly module?: string;
      readonly status?: string;
    };
    readonly body: undefined;
    readonly permitted: Readonly<Record<never, never>>;
  };
};

export type OperationId = keyof Operations;
