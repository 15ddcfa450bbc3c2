import {
  type AsksNothing,
  each,
  inside,
  never,
  part,
  saying,
  section,
  type SectionEffects,
  without,
  works,
} from './effect.js';

const OWN_ADDRESS = 'the address of each connection is told';
const saysZero: AsksNothing = saying('0', '0s');

/** Sections of an agent (agents-and-groups.md 5). */
export const AGENT_EFFECTS = {
  client: section('svc-agentd', {
    server: inside({
      ...each(works, 'address', 'port', 'protocol', 'max_retries', 'retry_interval'),
      interface_index: never(OWN_ADDRESS),
    }),
    ...each(works, 'config-profile', 'notify_time', 'time-reconnect', 'force_reconnect_interval', 'crypto_method'),
    // The agent reloads whatever it says (product.md 10).
    auto_restart: part,
    ip_update_interval: never(OWN_ADDRESS, saysZero),
    local_ip: never('the system chooses the address of each connection'),
    enrollment: inside({
      ...each(works, 'enabled', 'manager_address', 'port', 'agent_name', 'groups', 'agent_address', 'ssl_cipher'),
      ...each(works, 'server_ca_path', 'agent_certificate_path', 'agent_key_path', 'authorization_pass_path'),
      ...each(works, 'auto_method', 'delay_after_enrollment', 'use_source_ip'),
      interface_index: never(OWN_ADDRESS),
    }),
  }),
  client_buffer: section('svc-agentd', each(works, 'disabled', 'queue_size', 'events_per_second')),
  anti_tampering: section('svc-agentd', { package_uninstallation: never('the package is not guarded', saying('no')) }),
  labels: section('svc-agentd', each(works, 'label')),
} satisfies Readonly<Record<string, SectionEffects>>;

/** A section of an agent in the configuration of a manager. */
export function onManager({ elements }: SectionEffects): SectionEffects {
  return without('svc-monitord', never('it concerns agents'), elements === 'any' ? 'any' : Object.keys(elements));
}

/** A section of a manager in the configuration of an agent. */
export function onAgent({ elements }: SectionEffects): SectionEffects {
  return without('svc-agentd', never('it concerns managers'), elements === 'any' ? 'any' : Object.keys(elements));
}
