import * as z from 'zod';
import { policyRecord, roleRecord, ruleRecord, userRecord } from '../../lib/cluster/access-records.js';

/**
 * Users, roles, policies and security rules as they are stored: what their records in a cluster have, with the id and without
 * the revocation, which is stored by itself. Lists of ids are ordered.
 */
export const userSchema = z.object({ id: z.int(), ...userRecord.omit({ revision: true }).shape });
export type User = z.infer<typeof userSchema>;

export const roleSchema = z.object({ id: z.int(), ...roleRecord.omit({ revision: true }).shape });
export type Role = z.infer<typeof roleSchema>;

export const policySchema = z.object({ id: z.int(), ...policyRecord.shape });
export type Policy = z.infer<typeof policySchema>;
/** What a policy says (rest-api.md 5.1). */
export type PolicyBody = Policy['policy'];

export const securityRuleSchema = z.object({ id: z.int(), ...ruleRecord.shape });
export type SecurityRule = z.infer<typeof securityRuleSchema>;

/**
 * Tokens issued before this revocation are refused (rest-api.md 2.4). Revocations are counted, not timed: what came first
 * is known within a second, too, and when the clock is set back. Homes of older versions have times here, which concern
 * tokens that no version from now on takes.
 */
export const revocationSchema = z.object({ revision: z.int().nonnegative().default(0) });
export type Revocation = z.infer<typeof revocationSchema>;

/** What a token was revoked by: a user, a role, all tokens that were issued with a context, or all tokens. */
export type RevocationKey = `user:${number}` | `role:${number}` | 'run_as' | 'all';
