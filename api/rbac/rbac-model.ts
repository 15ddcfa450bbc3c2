import * as z from 'zod';

/** What a policy says (rest-api.md 5.1). */
const policyBodySchema = z.object({
  actions: z.array(z.string()),
  resources: z.array(z.string()),
  effect: z.enum(['allow', 'deny']),
});
export type PolicyBody = z.infer<typeof policyBodySchema>;

/** Users, roles, policies and security rules as they are stored; lists of ids are ordered. */
export const userSchema = z.object({
  id: z.int(),
  name: z.string(),
  allowRunAs: z.boolean(),
  passwordHash: z.string(),
  roles: z.array(z.int()),
});
export type User = z.infer<typeof userSchema>;

export const roleSchema = z.object({
  id: z.int(),
  name: z.string(),
  policies: z.array(z.int()),
  rules: z.array(z.int()),
});
export type Role = z.infer<typeof roleSchema>;

export const policySchema = z.object({ id: z.int(), name: z.string(), policy: policyBodySchema });
export type Policy = z.infer<typeof policySchema>;

export const securityRuleSchema = z.object({ id: z.int(), name: z.string(), rule: z.record(z.string(), z.unknown()) });
export type SecurityRule = z.infer<typeof securityRuleSchema>;

/**
 * Tokens issued before this revocation are refused (rest-api.md 2.4). Revocations are counted, not timed: what came first
 * is known within a second, too, and when the clock is set back. Homes of older versions have times here, which concern
 * tokens that no version from now on takes.
 */
export const revocationSchema = z.object({ revision: z.int().nonnegative().default(0) });
export type Revocation = z.infer<typeof revocationSchema>;
