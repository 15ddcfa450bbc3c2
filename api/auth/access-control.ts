import { type ClusterdClient, SharedRecords } from '../../lib/cluster/shared-records.js';
import type { DaemonParts } from '../../lib/daemon/daemon-parts.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import { ensureInitialPassword } from '../../lib/security/initial-password.js';
import type { ApiSettings } from '../api-settings.js';
import type { AccessDecisions } from '../rbac/access-decisions.js';
import { ADMINISTRATOR_ROLE, DEFAULT_USERS } from '../rbac/default-objects.js';
import type { User } from '../rbac/rbac-model.js';
import { type InitialUsers, RbacStore } from '../rbac/rbac-store.js';
import { SharedAccess, type SharedAccessParts } from '../rbac/shared/shared-access.js';
import { SharedDecisions } from '../rbac/shared/shared-decisions.js';
import { Authenticator } from './authenticator.js';
import { refuseToBeginAnew, withAdvice } from './damaged-store.js';
import { LocalDecisions } from './local-decisions.js';
import { PasswordHasher, type ScryptCost } from './password-hasher.js';
import { applyRestoredSettings } from './restored-settings.js';
import { SecurityCopy } from './security-copy.js';
import { securityFile, type SecurityFiles, securityFiles } from './security-files.js';
import { SecuritySettings } from './security-settings.js';
import { SigningKeys } from './signing-keys.js';
import { TokenService } from './token-service.js';

export type AccessControlOptions = {
  readonly home: Home;
  readonly logger: Logger;
  /** What is shared with the other nodes, on a node of a cluster. */
  readonly records?: ClusterdClient | undefined;
  /** In force now. */
  readonly settings: () => Pick<ApiSettings, 'authenticationPoolSize' | 'requestTimeoutMs'>;
  readonly passwordCost?: ScryptCost | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** Who may do what, and how they prove who they are. */
export type AccessControl = {
  readonly files: SecurityFiles;
  readonly store: RbacStore;
  /** How what is decided about all of this is made true. */
  readonly decisions: AccessDecisions;
  readonly copy: SecurityCopy;
  readonly settings: SecuritySettings;
  readonly tokens: TokenService;
  readonly hasher: PasswordHasher;
  readonly authenticator: Authenticator;
};

/**
 * Opens the store of users and their permissions, and makes keys and first passwords where they are missing.
 * @throws RbacStoreError, ApiConfigError or the file system's error
 */
export async function openAccessControl(options: AccessControlOptions, parts: DaemonParts): Promise<AccessControl> {
  const { home, logger, records, passwordCost, now } = options;
  const waitMs = () => options.settings().requestTimeoutMs;
  const files = securityFiles(home);
  const hasher = new PasswordHasher(options.settings().authenticationPoolSize, passwordCost);
  const store = parts.use(await openStore(files, () => builtInUsers(home, hasher, logger)));
  const keys = new SigningKeys(files.privateKey, files.publicKey);
  await keys.ensure();
  const settings = new SecuritySettings(home, logger);
  await applyRestoredSettings({ store, settings });
  const copy = parts.adopt(new SecurityCopy({ path: files.copy, store, settings, logger, now }), (one) => one.write());
  await copy.write();
  store.watch(() => copy.changed());
  settings.watch(() => copy.changed());
  const tokens = new TokenService(keys, now);
  const authenticator = new Authenticator(store, tokens, hasher, settings);
  const decisions =
    records === undefined
      ? new LocalDecisions({ store, settings, keys })
      : followCluster({ records, store, settings, keys, logger, waitMs }, parts);
  return { files, store, decisions, copy, settings, tokens, hasher, authenticator };
}

/** Follows what the cluster decides, and decides with it. */
function followCluster(
  { records, waitMs, ...view }: SharedAccessParts & { readonly records: ClusterdClient; readonly waitMs: () => number },
  parts: DaemonParts,
): AccessDecisions {
  const shared = parts.use(
    new SharedRecords({
      client: records,
      daemon: 'svc-apid',
      kinds: ['access'],
      owner: new SharedAccess(view),
      logger: view.logger,
    }),
  );
  shared.start();
  return new SharedDecisions({ shared, waitMs, ...view });
}

/** @throws RbacStoreError which says what to do; nobody becomes a user by it */
async function openStore(files: SecurityFiles, firstUsers: InitialUsers): Promise<RbacStore> {
  try {
    return await RbacStore.open(files.store, () => {
      refuseToBeginAnew(files);
      return firstUsers();
    });
  } catch (error) {
    throw withAdvice(error, files);
  }
}

async function builtInUsers(home: Home, hasher: PasswordHasher, logger: Logger): Promise<readonly User[]> {
  return Promise.all(
    DEFAULT_USERS.map(async ({ id, name, passwordFile }) => {
      const path = securityFile(home, passwordFile);
      const passwordHash = await hasher.hash(ensureInitialPassword(path), { address: 'start' });
      logger.info(`The first password of API user '${name}' is in ${path}`);
      return { id, name, allowRunAs: true, passwordHash, roles: [ADMINISTRATOR_ROLE] };
    }),
  );
}
