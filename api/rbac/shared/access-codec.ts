import { createPrivateKey, createPublicKey } from 'node:crypto';
import {
  ACCESS_RECORDS,
  type AccessRecordKind,
  type GivenNumbers,
  numbersRecord,
  policyRecord,
  revocationRecord,
  roleRecord,
  ruleRecord,
  securitySettingsRecord,
  tokenKeyRecord,
  userRecord,
} from '../../../lib/cluster/access-records.js';
import type { RecordChange, SharedRecord } from '../../../lib/cluster/shared-records.js';
import type { TokenKeyPair } from '../../../lib/security/token-keys.js';
import type { SecurityConfiguration } from '../../auth/security-settings.js';
import { type ObjectChange, type ObjectKind, putObject, removeObject } from '../access-decisions.js';

/** What records say, in the terms of the store. */
export type AccessNews = {
  readonly objects: ObjectChange[];
  /** Revisions by `RevocationKey`; undefined is one that is gone. */
  readonly revocations: Map<string, number | undefined>;
  numbers?: GivenNumbers;
  settings?: SecurityConfiguration;
  tokenKeys?: TokenKeyPair;
};

const NUMBERS_KEY = 'numbers/given';
const SETTINGS_KEY = 'settings/security';
const TOKEN_KEY = 'tokens/key';

/** By the kind of record. */
const OBJECT_KINDS: Readonly<Partial<Record<AccessRecordKind, ObjectKind>>> = {
  user: 'users',
  role: 'roles',
  policy: 'policies',
  rule: 'rules',
};
const RECORD_KIND_OF: Readonly<Record<ObjectKind, AccessRecordKind>> = {
  users: 'user',
  roles: 'role',
  policies: 'policy',
  rules: 'rule',
};

/** An object as a record. @param revision of a user or a role: tokens that have a lower one are refused */
export function objectRecord({ kind, id, object }: ObjectChange, revision: number): RecordChange {
  const key = `${RECORD_KIND_OF[kind]}/${id}`;
  if (object === undefined) return change(key, null);
  const { id: _inKey, ...value } = object;
  return change(key, kind === 'users' || kind === 'roles' ? { ...value, revision } : value);
}

export function revocationRecordOf(key: 'all' | 'run_as', revision: number): RecordChange {
  return change(`revocation/${key}`, { revision });
}

export function numbersRecordOf(numbers: GivenNumbers): RecordChange {
  return change(NUMBERS_KEY, numbers);
}

export function settingsRecordOf({ tokenLifetimeSeconds, rbacMode }: SecurityConfiguration): RecordChange {
  return change(SETTINGS_KEY, { auth_token_exp_timeout: tokenLifetimeSeconds, rbac_mode: rbacMode });
}

export function tokenKeyRecordOf({ privateKey }: TokenKeyPair): RecordChange {
  return change(TOKEN_KEY, { privateKey });
}

/**
 * What records of `access` say, in their order. Those of a kind that this version does not know are left alone.
 * @throws Error for one that is not what it should be: a policy that is not understood may be one that denies
 */
export function readAccessRecords(records: readonly Omit<SharedRecord, 'revision'>[]): AccessNews {
  const news: AccessNews = { objects: [], revocations: new Map() };
  for (const { kind, key, value } of records) {
    if (kind !== 'access') continue;
    const [prefix = '', rest = ''] = key.split('/');
    if (!isRecordKind(prefix)) continue;
    try {
      readRecord(news, prefix, rest, value ?? null);
    } catch (error) {
      throw new Error(`the record ${key} of users and permissions is not what it should be`, { cause: error });
    }
  }
  return news;
}

function readRecord(news: AccessNews, prefix: AccessRecordKind, rest: string, value: unknown): void {
  const objects = OBJECT_KINDS[prefix];
  if (objects !== undefined) {
    readObject(news, objects, Number(rest), value);
  } else if (prefix === 'revocation') {
    news.revocations.set(rest, value === null ? undefined : revocationRecord.parse(value).revision);
  } else if (value === null) {
    // Settings, key and numbers are never taken away: what is in force stays.
  } else if (prefix === 'numbers') {
    news.numbers = numbersRecord.parse(value);
  } else if (prefix === 'settings') {
    const { auth_token_exp_timeout: tokenLifetimeSeconds, rbac_mode: rbacMode } = securitySettingsRecord.parse(value);
    news.settings = { tokenLifetimeSeconds, rbacMode };
  } else if (prefix === 'tokens') {
    news.tokenKeys = pairOf(tokenKeyRecord.parse(value).privateKey);
  }
}

function readObject({ objects, revocations }: AccessNews, kind: ObjectKind, id: number, value: unknown): void {
  if (!Number.isSafeInteger(id) || id < 1) throw new Error('its id is no id');
  const revoke = (key: string, revision: number): void => {
    revocations.set(key, revision === 0 ? undefined : revision);
  };
  if (value === null) {
    objects.push(removeObject(kind, id));
    if (kind === 'users') revoke(`user:${id}`, 0);
    if (kind === 'roles') revoke(`role:${id}`, 0);
  } else if (kind === 'users') {
    const { revision, ...user } = userRecord.parse(value);
    objects.push(putObject('users', { id, ...user }));
    revoke(`user:${id}`, revision);
  } else if (kind === 'roles') {
    const { revision, ...role } = roleRecord.parse(value);
    objects.push(putObject('roles', { id, ...role }));
    revoke(`role:${id}`, revision);
  } else if (kind === 'policies') {
    objects.push(putObject('policies', { id, ...policyRecord.parse(value) }));
  } else {
    objects.push(putObject('rules', { id, ...ruleRecord.parse(value) }));
  }
}

/** @throws Error for what is no key */
function pairOf(privateKey: string): TokenKeyPair {
  const publicKey = createPublicKey(createPrivateKey(privateKey)).export({ type: 'spki', format: 'pem' }).toString();
  return { privateKey, publicKey };
}

function isRecordKind(text: string): text is AccessRecordKind {
  return Object.hasOwn(ACCESS_RECORDS, text);
}

function change(key: string, value: unknown): RecordChange {
  return { kind: 'access', key, value };
}
