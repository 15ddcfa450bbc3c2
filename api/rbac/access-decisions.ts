import type { TokenKeyPair } from '../../lib/security/token-keys.js';
import type { SecurityChange } from '../auth/security-settings.js';
import type { Policy, RevocationKey, Role, SecurityRule, User } from './rbac-model.js';
import type { SecurityBackup } from './security-backup.js';

/** Objects of access control by kind. */
export type AccessObjects = {
  readonly users: User;
  readonly roles: Role;
  readonly policies: Policy;
  readonly rules: SecurityRule;
};
export type ObjectKind = keyof AccessObjects;

/** An object as it is to be; undefined is one that is to go. */
export type ObjectChange = {
  readonly [K in ObjectKind]: {
    readonly kind: K;
    readonly id: number;
    readonly object: AccessObjects[K] | undefined;
  };
}[ObjectKind];

/** What a decision about access comes to. */
export type AccessDecision<T> = {
  /** No object is left that refers to one that goes. */
  readonly changes?: readonly ObjectChange[];
  /** Whose tokens end. */
  readonly revoked?: readonly RevocationKey[];
  /** What is undefined in them gets its default. */
  readonly settings?: SecurityChange;
  /** Instead of those in force: every token ends. */
  readonly tokenKeys?: TokenKeyPair;
  readonly result: T;
};

/**
 * How decisions about users, roles, policies, rules, tokens and their settings are made true: by this manager alone, or by a
 * cluster. Who decides knows of neither.
 */
export interface AccessDecisions {
  /**
   * Decides on what is in force, and has it made; resolves when it is in force here and on the disk.
   * @param decide called again when others changed something meanwhile: then part of what it had decided may have been made
   * @throws what `decide` throws; SettingsNotWrittenError; StoreError; ProblemError 503 when the cluster takes no change
   */
  change<T>(decide: () => AccessDecision<T>): Promise<T>;
  /**
   * Has what a backup holds instead of what there is, and ends all tokens.
   * @returns what is left to be mended
   */
  replace(backup: SecurityBackup, tokenKeys: TokenKeyPair): Promise<string[]>;
}

/** An object that is made, or made another. */
export function putObject<K extends ObjectKind>(kind: K, object: AccessObjects[K]): ObjectChange {
  // The compiler does not see that kind and object belong together.
  return { kind, id: object.id, object } as ObjectChange;
}

/** An object that goes. */
export function removeObject(kind: ObjectKind, id: number): ObjectChange {
  return { kind, id, object: undefined } as ObjectChange;
}
