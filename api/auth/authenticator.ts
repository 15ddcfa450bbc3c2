import { ProblemError } from '../http/problem-error.js';
import { Permissions } from '../rbac/permissions.js';
import type { RevocationKey, User } from '../rbac/rbac-model.js';
import type { RbacStore } from '../rbac/rbac-store.js';
import { basicCredentials, parseAuthorization } from './authorization-header.js';
import type { PasswordClient, PasswordHasher } from './password-hasher.js';
import type { SecuritySettings } from './security-settings.js';
import type { TokenClaims, TokenService } from './token-service.js';

/** What whoever makes a request may do. */
export type CallerRights = { readonly permissions: Permissions };

/** Who makes a request, as proven by a token. */
export type Caller = CallerRights & { readonly user: User; readonly claims: TokenClaims };

/** Decides who a request comes from (rest-api.md 2). */
export class Authenticator {
  readonly #store: RbacStore;
  readonly #tokens: TokenService;
  readonly #hasher: PasswordHasher;
  readonly #settings: SecuritySettings;
  /** By the claims that the token service remembers. */
  readonly #known = new WeakMap<TokenClaims, { readonly version: number; readonly permissions: Permissions }>();

  constructor(store: RbacStore, tokens: TokenService, hasher: PasswordHasher, settings: SecuritySettings) {
    this.#store = store;
    this.#tokens = tokens;
    this.#hasher = hasher;
    this.#settings = settings;
  }

  /**
   * Name and password of HTTP Basic. Every failure looks alike and costs the same (rest-api.md 2.1).
   * @throws ProblemError 401; what `client.ready` throws
   */
  async login(authorization: string | undefined, client: PasswordClient): Promise<User> {
    const credentials = basicCredentials(parseAuthorization(authorization));
    const user = credentials === undefined ? undefined : this.#store.users.named(credentials.name);
    const valid = await this.#hasher.verify(credentials?.password ?? '', user?.passwordHash, client);
    if (!valid || user === undefined) throw ProblemError.unauthorized('Invalid credentials');
    return user;
  }

  /**
   * The bearer of a token (rest-api.md 2.3, 2.4).
   * @throws ProblemError 401
   */
  authenticate(authorization: string | undefined): Caller {
    const header = parseAuthorization(authorization);
    if (header === undefined) throw ProblemError.unauthorized('No authorization token provided');
    if (header.value === '') throw ProblemError.unauthorized('Invalid authorization header');
    if (header.scheme !== 'bearer') throw ProblemError.unauthorized('No authorization token provided');
    const claims = this.#tokens.verify(header.value);
    const user = claims === undefined ? undefined : this.#store.users.named(claims.sub);
    if (claims === undefined || user === undefined || this.#isOutdated(claims, user)) {
      throw ProblemError.unauthorized('Invalid token');
    }
    const settings = this.#settings.current();
    if (claims.exp - claims.nbf !== settings.tokenLifetimeSeconds || claims.rbac_mode !== settings.rbacMode) {
      throw ProblemError.unauthorized('Token expired');
    }
    return { user, claims, permissions: this.#permissions(claims) };
  }

  /** Those of a token are worked out once, and again when something in the store has changed. */
  #permissions(claims: TokenClaims): Permissions {
    const { version } = this.#store;
    const known = this.#known.get(claims);
    if (known?.version === version) return known.permissions;
    const permissions = new Permissions(claims.rbac_mode, this.#store.policiesOf(claims.rbac_roles));
    this.#known.set(claims, { version, permissions });
    return permissions;
  }

  /** Revoked, or issued for roles the user no longer has, or that are gone. */
  #isOutdated(claims: TokenClaims, user: User): boolean {
    if (!user.allowRunAs && !sameSet(user.roles, claims.rbac_roles)) return true;
    if (claims.rbac_roles.some((role) => this.#store.roles.get(role) === undefined)) return true;
    // Those of the token, too: with a context they are others than the user's.
    const roles = [...user.roles, ...claims.rbac_roles];
    const keys: RevocationKey[] = ['all', `user:${user.id}`, ...roles.map((role): RevocationKey => `role:${role}`)];
    if (claims.run_as) keys.push('run_as');
    return this.#store.isRevoked(keys, claims.revision);
  }
}

function sameSet(left: readonly number[], right: readonly number[]): boolean {
  const set = new Set(left);
  return set.size === new Set(right).size && right.every((id) => set.has(id));
}
