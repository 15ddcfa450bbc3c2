import * as z from 'zod';

/** Ids up to this one belong to objects that are built in (rest-api.md 2.5, 5.5): every home has them from the beginning. */
export const MAX_BUILT_IN_ID = 99;

const links = z.array(z.int());
/** A number of revocations: tokens that have a lower one are refused (rest-api.md 2.4); 0 refuses none. */
const revision = z.int().nonnegative();

/** `user/100`, by the user's id. */
export const userRecord = z.object({
  name: z.string(),
  allowRunAs: z.boolean(),
  passwordHash: z.string(),
  /** Ids of its roles, in their order. */
  roles: links,
  /** In the record itself, so that nothing comes between a new password and the end of the tokens. */
  revision,
});

/** `role/100`. */
export const roleRecord = z.object({ name: z.string(), policies: links, rules: links, revision });

/** `policy/100`. */
export const policyRecord = z.object({
  name: z.string(),
  policy: z.object({
    actions: z.array(z.string()),
    resources: z.array(z.string()),
    effect: z.enum(['allow', 'deny']),
  }),
});

/** `rule/100`: a security rule. */
export const ruleRecord = z.object({ name: z.string(), rule: z.record(z.string(), z.unknown()) });

/** `revocation/all`, `revocation/run_as`. */
export const revocationRecord = z.object({ revision });

/** `settings/security`, as `security.yaml` names them. */
export const securitySettingsRecord = z.object({
  auth_token_exp_timeout: z.int().min(1),
  rbac_mode: z.enum(['white', 'black']),
});

/** `tokens/key`: what signs tokens, PKCS#8 as PEM. */
export const tokenKeyRecord = z.object({ privateKey: z.string().min(1).max(4096) });

/** `numbers/given`: the highest ids there ever were, and how many revocations. */
export const numbersRecord = z.object({
  users: z.int(),
  roles: z.int(),
  policies: z.int(),
  rules: z.int(),
  revision,
});

export type GivenNumbers = z.output<typeof numbersRecord>;

/** What an `access` record is, by what stands before the `/` of its key. */
export const ACCESS_RECORDS = {
  user: userRecord,
  role: roleRecord,
  policy: policyRecord,
  rule: ruleRecord,
  revocation: revocationRecord,
  settings: securitySettingsRecord,
  tokens: tokenKeyRecord,
  numbers: numbersRecord,
} as const;
export type AccessRecordKind = keyof typeof ACCESS_RECORDS;
