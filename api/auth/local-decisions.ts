import { describeError } from '../../lib/log/describe-error.js';
import type { TokenKeyPair } from '../../lib/security/token-keys.js';
import type { AccessDecision, AccessDecisions } from '../rbac/access-decisions.js';
import type { RbacStore } from '../rbac/rbac-store.js';
import type { SecurityBackup } from '../rbac/security-backup.js';
import { applyRestoredSettings } from './restored-settings.js';
import type { SecuritySettings } from './security-settings.js';
import type { SigningKeys } from './signing-keys.js';

export type LocalDecisionsParts = {
  readonly store: RbacStore;
  readonly settings: Pick<SecuritySettings, 'replace'>;
  readonly keys: Pick<SigningKeys, 'take'>;
};

/** Decisions of a manager that is alone: its store is all there is, and what is decided is in its memory in the same turn. */
export class LocalDecisions implements AccessDecisions {
  readonly #parts: LocalDecisionsParts;

  constructor(parts: LocalDecisionsParts) {
    this.#parts = parts;
  }

  async change<T>(decide: () => AccessDecision<T>): Promise<T> {
    const { store, settings, keys } = this.#parts;
    const { changes, revoked, settings: newSettings, tokenKeys, result } = decide();
    if (newSettings !== undefined) settings.replace(newSettings);
    if (tokenKeys !== undefined) keys.take(tokenKeys);
    if (changes !== undefined || revoked !== undefined) await store.commit(store.pending(changes ?? []), revoked);
    return result;
  }

  /**
   * In one transaction: killed at any moment it leaves the state before, or that of the backup. The keys of tokens change
   * first, and settings that were not written to their file are at the next start.
   */
  async replace({ objects, settings }: SecurityBackup, tokenKeys: TokenKeyPair): Promise<string[]> {
    const { store, keys } = this.#parts;
    keys.take(tokenKeys);
    await store.replace(objects, settings);
    try {
      await applyRestoredSettings(this.#parts);
      return [];
    } catch (error) {
      return [`The settings of tokens could not be written, the next start tries again: ${describeError(error)}`];
    }
  }
}
