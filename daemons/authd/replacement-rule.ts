import { sameText } from './enrollment-request.js';

/** When an agent may be replaced by a new one (section `force`; agents-and-groups.md 2.5). Times are seconds. */
export type ForceRules = {
  readonly enabled: boolean;
  readonly key_mismatch: boolean;
  readonly disconnected_time: { readonly enabled: boolean; readonly seconds: number };
  /** 0 switches this test off. */
  readonly after_registration_time: number;
};

/** What is known of the agent in the way. Times are seconds since 1970. */
export type AgentFacts = {
  readonly status: 'never_connected' | 'pending' | 'active' | 'disconnected';
  /** 0 while it is not disconnected. */
  readonly disconnectedAt: number;
  readonly registeredAt: number;
};

/** The agent in the way. */
export type OldAgent = {
  readonly id: string;
  readonly name: string;
  /** `enrollmentKeyHash` of its key. */
  readonly keyHash: string;
};

/** Whether the agent may go, with the reason for the log. */
export type Verdict = { readonly replace: boolean; readonly reason: string };

/**
 * Decides whether an agent makes room for a new one with the same id, name or address. The first test that fails
 * decides; the reason is for the log only (agents-and-groups.md 2.5).
 *
 * @param facts undefined when svc-db could not say
 * @param sentHash SHA-1 of the key that the caller says it has
 * @param now seconds since 1970
 */
export function judgeReplacement(
  agent: OldAgent,
  facts: AgentFacts | undefined,
  rules: ForceRules,
  sentHash: string | undefined,
  now: number,
): Verdict {
  const { id, name } = agent;
  const keep = (reason: string): Verdict => ({ replace: false, reason });
  if (!rules.enabled) return keep(`Agent '${id}' won't be removed because the force option is disabled.`);
  if (facts === undefined) return keep(`Failed to get agent-info for agent '${id}'`);
  if (rules.disconnected_time.enabled && facts.status !== 'never_connected') {
    if (facts.disconnectedAt === 0) return keep(`Agent '${id}' can't be replaced since it is not disconnected.`);
    if (facts.status === 'disconnected' && now - facts.disconnectedAt < rules.disconnected_time.seconds) {
      return keep(`Agent '${id}' has not been disconnected long enough to be replaced.`);
    }
  }
  if (rules.after_registration_time > 0 && now - facts.registeredAt < rules.after_registration_time) {
    return keep(`Agent '${id}' doesn't comply with the registration time to be removed.`);
  }
  if (rules.key_mismatch && sentHash !== undefined && sameText(sentHash, agent.keyHash)) {
    return keep(`Agent '${id}' key already exists on the manager.`);
  }
  return { replace: true, reason: `Removing old agent '${name}' (id '${id}').` };
}
