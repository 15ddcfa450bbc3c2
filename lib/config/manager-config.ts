import type { ConfigWarning } from './config-error.js';
import { type Field, ignored, unread, type Values } from './field.js';
import { ACTIVE_RESPONSE, type ActiveResponsesConfig, COMMAND } from './sections/active-response.js';
import { AGENTLESS, ANTI_TAMPERING, CLIENT, CLIENT_BUFFER, WDB } from './sections/agent.js';
import { ALERT_STORE } from './sections/alert-store.js';
import { ANALYSIS } from './sections/analysis.js';
import { CLUSTER } from './sections/cluster.js';
import { ALERTS, GLOBAL, LOGGING } from './sections/global.js';
import { JOURNAL } from './sections/journal.js';
import { LOCALFILE, SOCKET } from './sections/localfile.js';
import { AGENT_UPGRADE, INDEXER, SCA, TASK_MANAGER, VULNERABILITY_DETECTION, WODLE } from './sections/modules.js';
import { EMAIL_ALERTS, INTEGRATION, LABELS, REPORTS, SYSLOG_OUTPUT } from './sections/outputs.js';
import { AUTH, type AuthConfig, REMOTE } from './sections/remote.js';
import { RULE_TEST, RULESET } from './sections/ruleset.js';
import { ROOTCHECK, SYSCHECK } from './sections/syscheck.js';

/** Every section accepted under the root (daemons-and-config.md 1.1; `journal`, `analysis` and `alert_store` are ours), by the name users write. */
export const SECTIONS = {
  global: GLOBAL,
  alerts: ALERTS,
  ruleset: RULESET,
  rule_test: RULE_TEST,
  logging: LOGGING,
  journal: JOURNAL,
  analysis: ANALYSIS,
  alert_store: ALERT_STORE,
  remote: REMOTE,
  auth: AUTH,
  localfile: LOCALFILE,
  socket: SOCKET,
  syscheck: SYSCHECK,
  rootcheck: ROOTCHECK,
  sca: SCA,
  wodle: WODLE,
  command: COMMAND,
  'active-response': ACTIVE_RESPONSE,
  cluster: CLUSTER,
  labels: LABELS,
  integration: INTEGRATION,
  syslog_output: SYSLOG_OUTPUT,
  email_alerts: EMAIL_ALERTS,
  reports: REPORTS,
  client: CLIENT,
  client_buffer: CLIENT_BUFFER,
  anti_tampering: ANTI_TAMPERING,
  wdb: WDB,
  agentless: AGENTLESS,
  'vulnerability-detection': VULNERABILITY_DETECTION,
  indexer: INDEXER,
  'agent-upgrade': AGENT_UPGRADE,
  'task-manager': TASK_MANAGER,
  'fluent-forward': unread(),
  'gcp-pubsub': unread(),
  'gcp-bucket': unread(),
  github: unread(),
  office365: unread(),
  'ms-graph': unread(),
  database_output: ignored(),
  'vulnerability-detector': ignored(),
} satisfies Record<string, Field<unknown>>;

/** Name of a section. */
export type SectionName = keyof typeof SECTIONS;
/** All of them. */
export const SECTION_NAMES = Object.keys(SECTIONS) as readonly SectionName[];

/** Whether a name is that of a section. */
export function isSectionName(name: string): name is SectionName {
  // Names come from outside: `constructor` is none.
  return Object.hasOwn(SECTIONS, name);
}

/** What the blocks of each section are read to, before sections are put in relation. */
export type RawSections = Values<typeof SECTIONS>;

/** All sections as the daemons use them: values with defaults, in the units the fields say. */
export type ManagerSections = Omit<RawSections, 'auth' | 'active-response'> & {
  readonly auth: AuthConfig | undefined;
  readonly 'active-response': ActiveResponsesConfig;
};

/** The main configuration, or the sections of it that were asked for. */
export type ManagerConfig<S extends SectionName = SectionName> = {
  /** File it came from, relative to the home. */
  readonly file: string;
  /** To be logged by the daemon that asked: those of its sections and of the file as a whole. */
  readonly warnings: readonly ConfigWarning[];
} & Pick<ManagerSections, S>;
