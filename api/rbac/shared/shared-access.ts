import type { RecordChange, RecordsOwner, SharedRecord } from '../../../lib/cluster/shared-records.js';
import type { Logger } from '../../../lib/log/logger.js';
import { makeTokenKeyPair } from '../../../lib/security/token-keys.js';
import type { SecuritySettings } from '../../auth/security-settings.js';
import type { SigningKeys } from '../../auth/signing-keys.js';
import { putObject } from '../access-decisions.js';
import { laterPolicies, roleNow } from '../later-built-in.js';
import type { Policy, Role } from '../rbac-model.js';
import type { RbacStore } from '../rbac-store.js';
import { type AccessNews, readAccessRecords } from './access-codec.js';
import { type AccessSeed, accessSeed, type OwnAccess } from './access-seed.js';
import { saySeed } from './say-seed.js';

export type SharedAccessParts = {
  readonly store: RbacStore;
  readonly settings: SecuritySettings;
  readonly keys: SigningKeys;
  readonly logger: Logger;
};

/**
 * Users, roles, policies, rules, revocations, the settings and the key of tokens, as the records of a cluster say: this
 * manager's store and files are a view of them. What is told is in force in memory at once, whatever becomes of the disk: a full
 * one keeps nobody's token alive.
 */
export class SharedAccess implements RecordsOwner {
  readonly #parts: SharedAccessParts;
  /** What was brought, until it is in force. */
  #seed: { readonly seed: AccessSeed; readonly own: OwnAccess; readonly there: AccessNews } | undefined;

  constructor(parts: SharedAccessParts) {
    this.#parts = parts;
  }

  async seed(records: readonly SharedRecord[]): Promise<readonly RecordChange[]> {
    const fresh = await makeTokenKeyPair();
    const own = this.#own();
    const there = readAccessRecords(records);
    const seed = accessSeed(own, there, fresh);
    // What was brought by a try that somebody came between is there now: the first try knows it.
    this.#seed ??= { seed, own, there };
    return seed.changes;
  }

  async load(records: readonly SharedRecord[]): Promise<void> {
    const news = withRolesNow(readAccessRecords(records));
    const policies = news.objects.flatMap(({ kind, object }) =>
      kind === 'policies' && object ? [object as Policy] : [],
    );
    // Those of an earlier version lack what is built in since then; without any there is nobody yet.
    const later = policies.length === 0 ? [] : laterPolicies(policies).map((policy) => putObject('policies', policy));
    await this.#inForce(news, this.#parts.store.followAll({ ...news, objects: [...news.objects, ...later] }));
    if (this.#seed !== undefined) saySeed(this.#seed, news, this.#parts.logger);
    this.#seed = undefined;
  }

  async apply(changes: readonly SharedRecord[]): Promise<void> {
    const news = withRolesNow(readAccessRecords(changes));
    await this.#inForce(news, this.#parts.store.follow(news));
  }

  /** @param stored the objects are in memory, and on their way to the disk */
  async #inForce({ settings, tokenKeys }: AccessNews, stored: Promise<void>): Promise<void> {
    const parts = this.#parts;
    // Each is in memory when this line is through.
    const files = [
      settings === undefined ? undefined : attempt(() => parts.settings.hold(settings)),
      tokenKeys === undefined ? undefined : attempt(() => parts.keys.hold(tokenKeys)),
    ];
    await stored;
    for (const failure of files) if (failure !== undefined) throw failure;
  }

  #own(): OwnAccess {
    const { store, settings, keys } = this.#parts;
    return {
      objects: store.objects(),
      revocations: store.revocations,
      revision: store.revision,
      settings: settings.current(),
      tokenKeys: keys.pem(),
    };
  }
}

/** Nodes of an earlier version write built-in roles as they know them. */
function withRolesNow(news: AccessNews): AccessNews {
  const objects = news.objects.map((change) =>
    change.kind === 'roles' && change.object !== undefined
      ? putObject('roles', roleNow(change.object as Role))
      : change,
  );
  return { ...news, objects };
}

function attempt(work: () => void): Error | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
