import jwt from 'jsonwebtoken';
import * as z from 'zod';
import { API_TITLE, TOKEN_ISSUER } from '../product-names.js';
import type { SecurityConfiguration } from './security-settings.js';
import type { SigningKeyPair } from './signing-keys.js';

/** Verified tokens remembered, so that a client in a loop pays for one P-521 check only. */
const MAX_CACHED = 1000;
/** Longest token that is looked at; our own have some 600 characters. */
const MAX_TOKEN_LENGTH = 8192;

const CLAIMS = z.object({
  sub: z.string(),
  nbf: z.int(),
  exp: z.int(),
  run_as: z.boolean(),
  rbac_roles: z.array(z.int()),
  rbac_mode: z.enum(['white', 'black']),
  revision: z.int(),
  hash_auth_context: z.string().optional(),
});

/**
 * Claims of a token (rest-api.md 2.2). `revision` is the number of revocations there were when it was issued: what was
 * revoked later concerns it, whatever clocks said meanwhile (2.4).
 */
export type TokenClaims = z.infer<typeof CLAIMS>;

export type TokenSubject = {
  readonly name: string;
  readonly roles: readonly number[];
  /** Hash of the authorization context, of a login with one; see `contextHash`. */
  readonly contextHash?: string;
  /** `RbacStore.revision` at this moment. */
  readonly revision: number;
};

/** Issues and verifies JSON web tokens, ES512 (rest-api.md 2.2). */
export class TokenService {
  readonly #keys: { current(): SigningKeyPair };
  readonly #now: () => number;
  #cache = new Map<string, TokenClaims>();
  #cachedFor: SigningKeyPair | undefined;

  /** @param now epoch milliseconds */
  constructor(keys: { current(): SigningKeyPair }, now: () => number) {
    this.#keys = keys;
    this.#now = now;
  }

  issue(subject: TokenSubject, settings: SecurityConfiguration): string {
    const nbf = Math.floor(this.#now() / 1000);
    const claims = {
      iss: TOKEN_ISSUER,
      aud: API_TITLE,
      nbf,
      exp: nbf + settings.tokenLifetimeSeconds,
      sub: subject.name,
      run_as: subject.contextHash !== undefined,
      rbac_roles: [...subject.roles],
      rbac_mode: settings.rbacMode,
      revision: subject.revision,
      ...(subject.contextHash === undefined ? {} : { hash_auth_context: subject.contextHash }),
    };
    return jwt.sign(claims, this.#keys.current().privateKey, { algorithm: 'ES512', noTimestamp: true });
  }

  /** @returns the claims, or undefined when the token is malformed, not ours, expired or not valid yet */
  verify(token: string): TokenClaims | undefined {
    if (token.length > MAX_TOKEN_LENGTH) return undefined;
    const pair = this.#keys.current();
    if (pair !== this.#cachedFor) {
      this.#cache = new Map();
      this.#cachedFor = pair;
    }
    const now = Math.floor(this.#now() / 1000);
    const known = this.#cache.get(token);
    if (known !== undefined) {
      if (now < known.exp && now >= known.nbf) return known;
      this.#cache.delete(token);
      return undefined;
    }
    const claims = this.#check(token, pair, now);
    if (claims !== undefined) {
      if (this.#cache.size >= MAX_CACHED) this.#cache.clear();
      this.#cache.set(token, claims);
    }
    return claims;
  }

  #check(token: string, pair: SigningKeyPair, now: number): TokenClaims | undefined {
    try {
      const payload = jwt.verify(token, pair.publicKey, {
        algorithms: ['ES512'],
        audience: API_TITLE,
        issuer: TOKEN_ISSUER,
        clockTimestamp: now,
      });
      return CLAIMS.parse(payload);
    } catch {
      // The keys were read before: only the token is to blame. A payload that is no JSON throws a SyntaxError.
      return undefined;
    }
  }
}

/** User name of a token that may be expired or forged: good for log lines only (rest-api.md 1.7). */
export function unverifiedTokenUser(token: string): string | undefined {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  try {
    const payload = jwt.decode(token);
    return typeof payload === 'object' && typeof payload?.sub === 'string' ? payload.sub : undefined;
  } catch {
    return undefined;
  }
}
