import { agentConnections } from './agent-connections.js';
import { agentQuestions } from './agent-questions.js';
import { agentRegistration } from './agent-registration.js';
import type { GroupAuthority } from './groups/group-authority.js';
import type { AgentHandlers, Now } from './handler-types.js';
import type { Owners } from './presence/owners.js';
import type { Registry } from './registry.js';

/**
 * Answers of svc-db about agents.
 * @param managerVersion `Wazuh v4.14.7`
 * @param owners which agents are this node's, in a cluster
 */
export function agentsHandlers(
  registry: Registry,
  authority: GroupAuthority,
  now: Now,
  managerVersion: string,
  owners?: Owners,
): AgentHandlers {
  return {
    ...agentQuestions(registry, now, managerVersion),
    ...agentRegistration(registry, authority),
    ...agentConnections(registry, now, owners),
  };
}
