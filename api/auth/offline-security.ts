import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import type { OwnFlag, OwnFlagValues } from '../../lib/daemon/daemon-flags.js';
import type { DaemonTask } from '../../lib/daemon/daemon-spec.js';
import { removeTree } from '../../lib/files/remove-tree.js';
import { syncDirectoryNow } from '../../lib/files/sync-directory.js';
import type { Home } from '../../lib/home/home.js';
import { type RestoreReport, SECURITY_TASK_FLAG } from '../../lib/security/security-backup.js';
import { isNodeOfCluster } from '../manager/is-node-of-cluster.js';
import { RbacStore } from '../rbac/rbac-store.js';
import { RbacStoreError } from '../rbac/rbac-store-error.js';
import { summaryOf, writeSecurityBackup } from '../rbac/security-backup.js';
import { isUnusable, refuseToBeginAnew, withAdvice } from './damaged-store.js';
import { LocalDecisions } from './local-decisions.js';
import { currentBackup, readCheckedBackup, restoreSecurity } from './restore-security.js';
import { type SecurityFiles, securityFiles } from './security-files.js';
import { SecuritySettings } from './security-settings.js';
import { SigningKeys } from './signing-keys.js';

/** The flag of svc-apid. */
export const SECURITY_FLAG: OwnFlag = {
  flags: `${SECURITY_TASK_FLAG} <task>`,
  description:
    'for svc-control while no svc-apid runs: backup users to standard output, or restore them from standard input',
  parse: (text) => {
    if (text !== 'backup' && text !== 'restore') throw new Error('It is backup or restore.');
    return text;
  },
};

/**
 * What svc-control has svc-apid do while none runs: `backup` writes a backup to standard output, `restore` reads one from
 * standard input; both say as JSON what they did.
 */
export function securityTask(own: OwnFlagValues): DaemonTask | undefined {
  const task = own['securityTask'];
  if (task === undefined) return undefined;
  return async (home) => {
    const answer = task === 'restore' ? await restore(home, await text(process.stdin)) : await backup(home);
    process.stdout.write(JSON.stringify(answer));
  };
}

async function backup(home: Home) {
  const files = securityFiles(home);
  const store = await openExisting(files).catch((error: unknown) => {
    throw withAdvice(error, files);
  });
  try {
    const made = currentBackup(store, new SecuritySettings(home, SILENT), Date.now());
    return { text: writeSecurityBackup(made), summary: summaryOf(made) };
  } finally {
    await store.close();
  }
}

async function restore(home: Home, content: string): Promise<RestoreReport> {
  const backup = readCheckedBackup(content);
  const files = securityFiles(home);
  const settings = new SecuritySettings(home, SILENT);
  const keys = new SigningKeys(files.privateKey, files.publicKey);
  const putInto = async (store: RbacStore): Promise<RestoreReport> => {
    try {
      const decisions = new LocalDecisions({ store, settings, keys });
      return await restoreSecurity(backup, { files, store, settings, decisions, logger: SILENT, now: Date.now });
    } finally {
      await store.close();
    }
  };
  let existing: RbacStore;
  try {
    existing = await openExisting(files);
  } catch (error) {
    if (!isUnusable(error)) throw error;
    const report = await replaceStore(files, error.reason === 'new', putInto);
    return isNodeOfCluster(home) ? { ...report, warnings: [...report.warnings, CLUSTER_HOLDS] } : report;
  }
  if (isNodeOfCluster(home)) {
    await existing.close();
    throw new Error(DECIDE_WITH_CLUSTER);
  }
  return putInto(existing);
}

/** Makes a store beside the one that cannot be used, and then exchanges them: killed at any moment, no start begins anew. */
async function replaceStore(
  { store: directory, unfinishedStore }: SecurityFiles,
  isEmpty: boolean,
  putInto: (store: RbacStore) => Promise<RestoreReport>,
): Promise<RestoreReport> {
  removeTree(unfinishedStore);
  const report = await putInto(await RbacStore.open(unfinishedStore, () => Promise.resolve([])));
  const setAside = `${directory}-unusable-${new Date().toISOString().replace(/[:.]/g, '-')}`;
  renameSync(directory, setAside);
  renameSync(unfinishedStore, directory);
  syncDirectoryNow(dirname(directory));
  if (!isEmpty) return { ...report, setAside };
  removeTree(setAside);
  return report;
}

/** @throws RbacStoreError also when there is nobody in it */
function openExisting(files: SecurityFiles): Promise<RbacStore> {
  const { store } = files;
  return RbacStore.open(store, () => {
    refuseToBeginAnew(files);
    throw new RbacStoreError('new', `there are no users in ${store}: svc-apid makes the first ones at its first start`);
  });
}

const DECIDE_WITH_CLUSTER =
  'this manager is a node of a cluster, which decides about users: start it, svc-apid and svc-clusterd, and restore then; ' +
  'all nodes get what the backup holds';
const CLUSTER_HOLDS =
  'This manager is a node of a cluster: the users and permissions that the cluster has take the place of these when it starts.';

/** What happens is said in the answer. */
const SILENT = { info: () => {}, warn: () => {}, error: () => {} };
