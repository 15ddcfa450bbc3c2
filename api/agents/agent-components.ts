import { ApiError } from '../http/api-error.js';
import { pythonSet } from '../http/python-text.js';

/** Configurations that each part of a manager or an agent can be asked for (rest-api.md 6.4). */
const COMPONENT_CONFIGURATIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ['agent', ['client', 'buffer', 'labels', 'internal', 'anti_tampering']],
  ['agentless', ['agentless']],
  ['analysis', ['global', 'active_response', 'alerts', 'command', 'rules', 'decoders', 'internal', 'rule_test']],
  ['auth', ['auth']],
  ['com', ['active-response', 'logging', 'internal', 'cluster']],
  ['csyslog', ['csyslog']],
  ['integrator', ['integration']],
  ['logcollector', ['localfile', 'socket', 'internal']],
  ['mail', ['global', 'alerts', 'internal']],
  ['monitor', ['global', 'internal', 'reports']],
  ['request', ['global', 'remote', 'internal']],
  ['syscheck', ['syscheck', 'rootcheck', 'internal']],
  ['svc-db', ['wdb', 'internal']],
  ['wmodules', ['wmodules']],
]);

/** @throws ApiError 1128 when the part does not have this configuration */
export function requireConfiguration(component: string, configuration: string): void {
  const valid = COMPONENT_CONFIGURATIONS.get(component) ?? [];
  if (valid.includes(configuration)) return;
  throw new ApiError(1128, { extra: `Valid configuration values for '${component}': ${pythonSet(valid)}` });
}
