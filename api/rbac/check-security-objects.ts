import { isDeepStrictEqual } from 'node:util';
import { MAX_BUILT_IN_ID } from '../../lib/cluster/access-records.js';
import type { Operation } from '../../lib/contract/api-contract.js';
import { isPasswordHash } from '../auth/password-hasher.js';
import { SchemaChecker } from '../contract/schema-checker.js';
import { ApiError } from '../http/api-error.js';
import { canonicalText } from './canonical-text.js';
import {
  ADMINISTRATOR_ROLE,
  DEFAULT_POLICIES,
  DEFAULT_ROLES,
  DEFAULT_SECURITY_RULES,
  DEFAULT_USERS,
} from './default-objects.js';
import { MOST_OBJECTS } from './most-objects.js';
import type { Role, User } from './rbac-model.js';
import type { RbacObject } from './rbac-table.js';
import { readPolicy } from './read-policy.js';
import { SecurityBackupError, type SecurityObjects } from './security-backup.js';
import { SecurityRuleError } from './security-rule-error.js';
import { securityRuleTest } from './security-rule-test.js';

/** What the contract asks of the body that makes an object. */
type BodyCheck = (object: string, body: object) => void;

/**
 * Holds objects against all that the API asks of them when they are made, changed and linked (rest-api.md 6.9): what it
 * would refuse cannot come in by a backup. Built-in objects are those of this version, so that there is an administrator.
 * @param operations of the contract
 * @throws SecurityBackupError which names the first object that is not right
 */
export function checkSecurityObjects(objects: SecurityObjects, operations: readonly Operation[]): void {
  const { users, roles, policies, rules } = objects;
  checkKind('user', users);
  checkKind('role', roles);
  checkKind('policy', policies);
  checkKind('security rule', rules);
  checkBuiltIn(objects);

  const checker = new SchemaChecker('/');
  const body = (operation: string): BodyCheck => bodyCheck(checker, operations, operation);
  const userBody = body('postSecurityUsers');
  const roleIds = new Set(roles.map(({ id }) => id));
  for (const user of users) checkUser(user, userBody, roleIds);
  const roleBody = body('postSecurityRoles');
  const known = { policies: new Set(policies.map(({ id }) => id)), rules: new Set(rules.map(({ id }) => id)) };
  for (const role of roles) checkRole(role, roleBody, known);
  checkPolicies(policies, body('postSecurityPolicies'));
  checkRules(rules, body('postSecurityRules'));
}

function checkKind(kind: string, list: readonly RbacObject[]): void {
  if (list.length > MOST_OBJECTS) {
    throw new SecurityBackupError(`there are ${list.length} objects of the kind ${kind}, ${MOST_OBJECTS} is the limit`);
  }
  const ids = new Set<number>();
  const names = new Set<string>();
  for (const { id, name } of list) {
    if (id < 1) refuse(kind, { id, name }, 'its id is no id');
    if (ids.has(id)) refuse(kind, { id, name }, 'its id is there twice');
    if (names.has(name)) refuse(kind, { id, name }, 'its name is there twice');
    ids.add(id);
    names.add(name);
  }
}

function checkBuiltIn({ users, roles, policies, rules }: SecurityObjects): void {
  const sameBuiltIn = <T extends RbacObject>(kind: string, list: readonly T[], wanted: readonly T[]) => {
    const reserved = new Map(list.filter(({ id }) => id <= MAX_BUILT_IN_ID).map((object) => [object.id, object]));
    for (const object of wanted) {
      const there = reserved.get(object.id);
      if (there === undefined) refuse(kind, object, 'it is built in and is missing');
      if (!isDeepStrictEqual(there, object)) refuse(kind, there, 'it is built in and is another in this version');
      reserved.delete(object.id);
    }
    const [other] = reserved.values();
    if (other !== undefined) refuse(kind, other, `ids up to ${MAX_BUILT_IN_ID} are reserved`);
  };
  sameBuiltIn('policy', policies, DEFAULT_POLICIES);
  sameBuiltIn('security rule', rules, DEFAULT_SECURITY_RULES);
  // Own security rules may be linked to a built-in role; of a built-in user password and run_as may be changed.
  const linked = roles.find((role) => role.id > MAX_BUILT_IN_ID && role.rules.some((id) => id <= MAX_BUILT_IN_ID));
  if (linked !== undefined) refuse('role', linked, 'it is built in and is another in this version');
  sameBuiltIn(
    'role',
    roles.map((role) => ({ ...role, rules: role.rules.filter((id) => id <= MAX_BUILT_IN_ID) })),
    DEFAULT_ROLES,
  );
  sameBuiltIn(
    'user',
    users.filter(({ id }) => id <= MAX_BUILT_IN_ID).map(({ id, name, roles: linked }) => ({ id, name, roles: linked })),
    DEFAULT_USERS.map(({ id, name }) => ({ id, name, roles: [ADMINISTRATOR_ROLE] })),
  );
}

function checkUser(user: User, body: BodyCheck, roles: ReadonlySet<number>): void {
  if (user.id > MAX_BUILT_IN_ID) body(nameOf('user', user), { username: user.name, password: 'not-looked-at' });
  if (!isPasswordHash(user.passwordHash)) refuse('user', user, 'it has no password hash that this version makes');
  checkLinks('user', user, 'role', user.roles, roles);
}

function checkRole(
  role: Role,
  body: BodyCheck,
  known: { readonly policies: ReadonlySet<number>; readonly rules: ReadonlySet<number> },
): void {
  if (role.id > MAX_BUILT_IN_ID) body(nameOf('role', role), { name: role.name });
  checkLinks('role', role, 'policy', role.policies, known.policies);
  checkLinks('role', role, 'security rule', role.rules, known.rules);
}

function checkLinks(
  kind: string,
  object: RbacObject,
  target: string,
  ids: readonly number[],
  known: ReadonlySet<number>,
): void {
  if (new Set(ids).size < ids.length) refuse(kind, object, `it has a ${target} twice`);
  const missing = ids.find((id) => !known.has(id));
  if (missing !== undefined) refuse(kind, object, `its ${target} ${missing} is missing`);
}

function checkPolicies(policies: SecurityObjects['policies'], body: BodyCheck): void {
  const said = new Set<string>();
  for (const { id, name, policy } of policies) {
    const object = { id, name };
    if (id > MAX_BUILT_IN_ID) {
      body(nameOf('policy', object), { name, policy });
      try {
        const read = readPolicy(policy);
        if (!isDeepStrictEqual(read, policy)) refuse('policy', object, 'it is not as the API would store it');
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        refuse('policy', object, error.message);
      }
      if (said.has(JSON.stringify(policy))) refuse('policy', object, 'another says the same');
    }
    said.add(JSON.stringify(policy));
  }
}

function checkRules(rules: SecurityObjects['rules'], body: BodyCheck): void {
  const said = new Set<string>();
  for (const { id, name, rule } of rules) {
    const object = { id, name };
    if (id > MAX_BUILT_IN_ID) {
      body(nameOf('security rule', object), { name, rule });
      try {
        securityRuleTest(rule);
      } catch (error) {
        if (!(error instanceof SecurityRuleError)) throw error;
        refuse('security rule', object, error.message);
      }
    }
    const text = canonicalText(rule);
    if (id > MAX_BUILT_IN_ID && said.has(text)) refuse('security rule', object, 'another says the same');
    said.add(text);
  }
}

function bodyCheck(checker: SchemaChecker, operations: readonly Operation[], id: string): BodyCheck {
  const schema = operations.find((operation) => operation.id === id)?.body?.json;
  if (schema === undefined) throw new Error(`the contract has no body of ${id}`);
  return (object, body) => {
    const violation = checker.check(schema, body);
    if (violation !== undefined) throw new SecurityBackupError(`${object}: ${violation.reason}`);
  };
}

function nameOf(kind: string, { id, name }: RbacObject): string {
  return `${kind} ${id} (${JSON.stringify(name)})`;
}

function refuse(kind: string, object: RbacObject, reason: string): never {
  throw new SecurityBackupError(`${nameOf(kind, object)}: ${reason}`);
}
