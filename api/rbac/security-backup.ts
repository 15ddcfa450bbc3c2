import { createHash } from 'node:crypto';
import * as z from 'zod';
import { securitySettingsRecord } from '../../lib/cluster/access-records.js';
import { isObject } from '../../lib/json/is-object.js';
import { productVersion } from '../../lib/product/version.js';
import type { BackupSummary, SecurityCounts } from '../../lib/security/security-backup.js';
import { laterPolicies, roleNow } from './later-built-in.js';
import {
  type Policy,
  policySchema,
  type Role,
  roleSchema,
  type SecurityRule,
  securityRuleSchema,
  type User,
  userSchema,
} from './rbac-model.js';

/** Layout of a backup. An older one is brought forward when it is read, a newer one is refused. */
const VERSION = 1;
const FORMAT = 'security-manager security backup';

/** All users, roles, policies and security rules. */
export type SecurityObjects = {
  readonly users: readonly User[];
  readonly roles: readonly Role[];
  readonly policies: readonly Policy[];
  readonly rules: readonly SecurityRule[];
};

/** What is in a backup. Keys that sign tokens, and revocations, are not. */
export type SecurityBackup = {
  /** When it was made, ISO 8601. */
  readonly made: string;
  readonly settings: z.infer<typeof securitySettingsRecord>;
  readonly objects: SecurityObjects;
};

/** A file that is no backup, was altered or cut off, or holds what the API would not take. */
export class SecurityBackupError extends Error {
  override readonly name = 'SecurityBackupError';
}

const contentSchema = z.object({
  made: z.iso.datetime(),
  settings: securitySettingsRecord,
  users: z.array(userSchema),
  roles: z.array(roleSchema),
  policies: z.array(policySchema),
  rules: z.array(securityRuleSchema),
});

/** How many of each kind. */
export function countObjects({ users, roles, policies, rules }: SecurityObjects): SecurityCounts {
  return { users: users.length, roles: roles.length, policies: policies.length, rules: rules.length };
}

/** What is told of a backup. */
export function summaryOf({ made, objects }: SecurityBackup): BackupSummary {
  return { made, counts: countObjects(objects) };
}

/** The backup as text: JSON with an object a line, and a checksum over all of it. */
export function writeSecurityBackup({ made, settings, objects }: SecurityBackup): string {
  const { users, roles, policies, rules } = objects;
  const content = { format: FORMAT, version: VERSION, product: productVersion(), made, settings };
  const document = { ...content, users, roles, policies, rules };
  const lines = [
    ...Object.entries(content).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`),
    ...Object.entries({ users, roles, policies, rules }).map(([name, list]) => `"${name}": ${listText(list)}`),
    `"sha256": "${checksum(document)}"`,
  ];
  return `{\n${lines.join(',\n')}\n}\n`;
}

/** @throws SecurityBackupError which says what is wrong with it, in one line */
export function readSecurityBackup(text: string): SecurityBackup {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw new SecurityBackupError('it is no backup of users and permissions, or was cut off');
  }
  if (!isObject(document) || document['format'] !== FORMAT) {
    throw new SecurityBackupError('it is no backup of users and permissions');
  }
  const { sha256, ...content } = document;
  const { version } = content;
  if (typeof version === 'number' && version > VERSION) {
    throw new SecurityBackupError(`it has version ${version}, this program knows ${VERSION}: a newer one has made it`);
  }
  if (version !== VERSION || sha256 !== checksum(content)) {
    throw new SecurityBackupError('it was altered or damaged: its checksum is another');
  }
  const parsed = contentSchema.safeParse(content);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new SecurityBackupError(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not what it should be'}`);
  }
  const { made, settings, users, roles, policies, rules } = parsed.data;
  const objects = {
    ...{ users, rules },
    roles: roles.map(roleNow),
    policies: [...policies, ...laterPolicies(policies)].sort((a, b) => a.id - b.id),
  };
  return { made, settings, objects };
}

/** Over the members in their order, however they are spaced. */
function checksum(content: object): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

function listText(list: readonly object[]): string {
  if (list.length === 0) return '[]';
  return `[\n${list.map((object) => `  ${JSON.stringify(object)}`).join(',\n')}\n]`;
}
