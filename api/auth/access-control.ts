import type { DaemonParts } from '../../lib/daemon/daemon-parts.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import { ensureInitialPassword } from '../../lib/security/initial-password.js';
import { ADMINISTRATOR_ROLE, DEFAULT_USERS } from '../rbac/default-objects.js';
import type { User } from '../rbac/rbac-model.js';
import { RbacStore } from '../rbac/rbac-store.js';
import { Authenticator } from './authenticator.js';
import { PasswordHasher, type ScryptCost } from './password-hasher.js';
import { SecuritySettings } from './security-settings.js';
import { SigningKeys } from './signing-keys.js';
import { TokenService } from './token-service.js';

export type AccessControlOptions = {
  readonly home: Home;
  readonly logger: Logger;
  /** Password checks at once. */
  readonly passwordChecks: number;
  readonly passwordCost?: ScryptCost | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** Who may do what, and how they prove who they are. */
export type AccessControl = {
  readonly store: RbacStore;
  readonly keys: SigningKeys;
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
  const { home, logger, passwordChecks, passwordCost, now } = options;
  const file = (name: string) => home.path('api', 'configuration', 'security', name);
  const hasher = new PasswordHasher(passwordChecks, passwordCost);
  const store = parts.use(await RbacStore.open(file('rbac'), () => builtInUsers(file, hasher, logger)));
  const keys = new SigningKeys(file('private_key.pem'), file('public_key.pem'));
  await keys.ensure();
  const settings = new SecuritySettings(home, logger);
  const tokens = new TokenService(keys, now);
  const authenticator = new Authenticator(store, tokens, hasher, settings);
  return { store, keys, settings, tokens, hasher, authenticator };
}

async function builtInUsers(
  file: (name: string) => string,
  hasher: PasswordHasher,
  logger: Logger,
): Promise<readonly User[]> {
  return Promise.all(
    DEFAULT_USERS.map(async ({ id, name, passwordFile }) => {
      const path = file(passwordFile);
      const passwordHash = await hasher.hash(ensureInitialPassword(path), { address: 'start' });
      logger.info(`The first password of API user '${name}' is in ${path}`);
      return { id, name, allowRunAs: true, passwordHash, roles: [ADMINISTRATOR_ROLE] };
    }),
  );
}
