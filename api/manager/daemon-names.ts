import type { ApiSettings } from '../api-settings.js';

/**
 * A daemon, or a tag of the log, as answers name it. Existing dashboards wait for the names of the reference (dashboard.md 4); what they send
 * in parameters stands for ours either way (rest-api.md 8.2).
 */
export function shownDaemon(name: string, names: ApiSettings['daemonNames']): string {
  return names === 'wazuh' ? name.replace(/^svc-/, 'wazuh-') : name;
}
