import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { JOINED_FILE, LEFT_FILE } from '../../../lib/cluster/left-cluster.js';
import { loadManagerConfig } from '../../../lib/config/load-manager-config.js';
import { checkDaemons, checkingUser, problemTexts } from '../../../lib/control/check-daemons.js';
import { startOrder } from '../../../lib/control/daemon-catalogue.js';
import { changeConfiguration } from '../../../lib/control/replace-configuration.js';
import { wantedDaemons } from '../../../lib/control/wanted-daemons.js';
import { RunFiles } from '../../../lib/daemon/run-files.js';
import { ifPresentSync } from '../../../lib/files/if-present.js';
import { openRealDirectory } from '../../../lib/files/open-real-directory.js';
import { removeTree } from '../../../lib/files/remove-tree.js';
import { writeFileAtomically } from '../../../lib/files/write-file-atomically.js';
import { checkTrustedDirectory } from '../../../lib/home/trusted-file.js';
import { withScriptLock } from '../home/script-lock.js';
import type { Suite } from '../suite-commands.js';
import { liveProcess } from '../supervisor/live-process.js';
import { CA_FILE, CLUSTER_FOLDER, CREDENTIAL_FILE, withCluster, withoutCluster } from './cluster-block.js';
import { type NodeFolder, readNodeFolder } from './node-folder.js';

const FOLDER_MODE = 0o750;
/** svc-clusterd, which is the service user, reads them as one of the group. */
const FILE_MODE = 0o640;

/**
 * `svc-control cluster join FOLDER`: puts what `cluster init` made for this manager into the home, writes `<cluster>` and has all
 * daemons check the configuration. What is refused leaves everything as it was.
 * @throws Error with one clear line
 */
export async function joinCluster(suite: Suite, folder: string): Promise<number> {
  const { output } = suite;
  requireManager(suite);
  const node = readNodeFolder(folder);
  const { cluster, node: name } = node.cluster;
  const isNew = refuseOtherCluster(suite, node);
  const file = await withScriptLock(suite.home, async () => {
    if (isNew) forgetLeftCluster(suite);
    const restore = putFiles(suite, node);
    try {
      const changed = await change(suite, (text, config) => withCluster(text, config, node.cluster));
      removeTree(suite.home.path(LEFT_FILE));
      return changed;
    } catch (error) {
      restore();
      throw error;
    }
  });
  output.line(`${file}: this manager is '${name}' of the cluster '${cluster}' from its next start on.`);
  output.line(`Certificate and credential: ${CA_FILE}, ${CREDENTIAL_FILE}`);
  output.line('Next: svc-control restart, then svc-control cluster status');
  output.document({ error: 0, data: { cluster, node: name, configuration: file, restart_needed: true } });
  return 0;
}

/**
 * `svc-control cluster leave`: switches the cluster off. What this manager has stays with it.
 * @throws Error with one clear line
 */
export async function leaveCluster(suite: Suite): Promise<number> {
  const { output } = suite;
  requireManager(suite);
  const file = await withScriptLock(suite.home, () =>
    change(suite, (text, config) => {
      const left = withoutCluster(text, config);
      if (left === undefined) throw new Error('this manager is in no cluster');
      return left;
    }),
  );
  markLeft(suite);
  output.line(`${file}: this manager is by itself from its next start on. Agents, groups, rules and users stay.`);
  output.line(`Its certificate and credential stay in ${CLUSTER_FOLDER}; "cluster join FOLDER" takes it back.`);
  output.line('Next: svc-control restart');
  output.document({ error: 0, data: { configuration: file, restart_needed: true } });
  return 0;
}

/**
 * Who has left comes back by `join` alone: what was done meanwhile is to be brought, and a `<disabled>` that is changed by hand would
 * take it for what the cluster has removed.
 */
function markLeft({ home }: Suite): void {
  if (!existsSync(home.path(CLUSTER_FOLDER))) return;
  checkTrustedDirectory(home, CLUSTER_FOLDER);
  writeFileAtomically(home.path(LEFT_FILE), '', { mode: FILE_MODE, durable: true });
}

function requireManager({ home, record }: Suite): void {
  if (record.role !== 'server') throw new Error(`a cluster is one of managers, and '${home.root}' is none`);
}

/**
 * Two clusters have agents with the same ids: who goes from one to the other leaves first, and decides what to take along.
 * @returns whether this manager was by itself
 */
function refuseOtherCluster({ home }: Suite, { cluster }: NodeFolder): boolean {
  const { cluster: now } = loadManagerConfig(home, ['cluster']);
  if (now === undefined || now.disabled) return true;
  if (now.name === cluster.cluster) return false;
  throw new Error(`this manager is in the cluster '${now.name}': "svc-control cluster leave" comes first`);
}

/**
 * Takes away the copy of the records of a cluster that was left: with it this manager would be taken for one that has brought
 * what it has already, and what is not in the cluster would be lost.
 */
function forgetLeftCluster({ home }: Suite): void {
  if (liveProcess(new RunFiles(home, 'svc-clusterd')) !== undefined) {
    throw new Error(
      'svc-clusterd of the cluster that was left still runs: "svc-control stop svc-clusterd" comes first',
    );
  }
  const copy = home.path('queue', 'cluster');
  const directory = ifPresentSync(() => openRealDirectory(copy));
  if (directory === undefined) return;
  // The service user owns the folder and may have put a link in its place: what is removed is below what was opened.
  try {
    const opened = `/proc/self/fd/${directory}`;
    for (const name of readdirSync(opened)) removeTree(`${opened}/${name}`);
  } finally {
    closeSync(directory);
  }
}

/** @returns what puts back what was there */
function putFiles({ home, record }: Suite, { ca, credential }: NodeFolder): () => void {
  const isRoot = process.geteuid?.() === 0;
  const owner = isRoot && record.gid !== undefined ? { owner: { uid: 0, gid: record.gid } } : {};
  const folder = home.path(CLUSTER_FOLDER);
  if (!existsSync(folder)) mkdirSync(folder, { mode: FOLDER_MODE });
  // The service user may have put a link there, or a folder of its own.
  checkTrustedDirectory(home, CLUSTER_FOLDER);
  if (!lstatSync(folder).isDirectory()) throw new Error(`'${folder}' is not a directory`);
  const files = [
    [home.path(CA_FILE), ca],
    [home.path(CREDENTIAL_FILE), `${credential}\n`],
    [home.path(JOINED_FILE), `${randomUUID()}\n`],
  ] as const;
  const before = files.map(([path]) => (existsSync(path) ? readFileSync(path) : undefined));
  const write = (path: string, content: string | Buffer) => {
    writeFileAtomically(path, content, { mode: FILE_MODE, durable: true, ...owner });
  };
  for (const [path, content] of files) write(path, content);
  return () => {
    for (const [at, [path]] of files.entries()) {
      const content = before[at];
      if (content === undefined) removeTree(path);
      else write(path, content);
    }
  };
}

/** @returns the file that was changed */
async function change(suite: Suite, edit: (text: string, file: string) => string): Promise<string> {
  const { home, record, catalogue } = suite;
  const check = async (): Promise<readonly string[]> => {
    const daemons = [...wantedDaemons(home, catalogue, startOrder(record.role))];
    return problemTexts((await checkDaemons(home, catalogue, daemons, 'all', checkingUser(home, record))).failures);
  };
  return changeConfiguration({ home, gid: record.gid, check }, edit);
}
