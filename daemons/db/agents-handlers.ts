import { agentConnections } from './agent-connections.js';
import { agentQuestions } from './agent-questions.js';
import { agentRegistration } from './agent-registration.js';
import type { GroupAuthority } from './groups/group-authority.js';
import type { AgentHandlers, Now } from './handler-types.js';
import type { Registry } from './registry.js';

/** Answers of svc-db about agents. @param managerVersion `Wazuh v4.14.7` */
export function agentsHandlers(
  registry: Registry,
  authority: GroupAuthority,
  now: Now,
  managerVersion: string,
): AgentHandlers {
  return {
    ...agentQuestions(registry, now, managerVersion),
    ...agentRegistration(registry, authority),
    ...agentConnections(registry, now),
  };
}
