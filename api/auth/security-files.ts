import type { Home } from '../../lib/home/home.js';
import { SECURITY_COPY } from '../../lib/security/security-backup.js';

/** Where users, permissions, and what proves who somebody is are kept; only svc-apid opens them. */
export type SecurityFiles = {
  /** The store, an LMDB environment. */
  readonly store: string;
  /** Where a restore makes a store, before it takes the place of one that cannot be used. LMDB takes a name with a dot for a file. */
  readonly unfinishedStore: string;
  /** The automatic copy of the store. */
  readonly copy: string;
  /** What there was before the latest restore. */
  readonly beforeRestore: string;
  readonly privateKey: string;
  readonly publicKey: string;
};

/** A file of `api/configuration/security`. */
export function securityFile(home: Home, name: string): string {
  return home.path('api', 'configuration', 'security', name);
}

export function securityFiles(home: Home): SecurityFiles {
  return {
    store: securityFile(home, 'rbac'),
    unfinishedStore: securityFile(home, 'rbac-restoring'),
    copy: home.path(SECURITY_COPY),
    beforeRestore: securityFile(home, 'rbac.before-restore.json'),
    privateKey: securityFile(home, 'private_key.pem'),
    publicKey: securityFile(home, 'public_key.pem'),
  };
}
