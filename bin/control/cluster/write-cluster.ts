import { randomBytes, randomInt } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type KeyAndCertificate, makeClusterAuthority, makeServerCertificate } from './cluster-certificates.js';
import { ADMIN_FOLDER, clientUrls, type ClusterMember, type ClusterPlan } from './cluster-plan.js';
import { makeLogin } from './make-login.js';
import { natsServerConfig, SERVER_FILES, type ServerLogins } from './nats-server-config.js';
import { NODE_FILES, type NodeCluster } from './node-folder.js';
import { serviceDropIn } from './service-drop-in.js';

/** Only who made them reads these files: whoever copies them to a host says who reads them there. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Letters and digits: the form of `<cluster><key>`. */
const KEY_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const KEY_LENGTH = 32;
const ROUTE_PASSWORD_BYTES = 24;

/** What is in the administrator's folder. */
const ADMIN_FILES = {
  cluster: 'cluster.json',
  ca: 'ca.pem',
  caKey: 'ca-key.pem',
  admin: 'admin.nk',
  system: 'system.nk',
};

/**
 * Makes everything that a new cluster needs below a folder: one folder a member, and `admin` for what no member is to have.
 * @param out made here; must not be there yet
 * @throws Error, the file system's with EEXIST
 */
export async function writeCluster(plan: ClusterPlan, out: string, now: Date): Promise<void> {
  const authority = await makeClusterAuthority(plan.name, now);
  const [admin, system] = [await makeLogin(), await makeLogin()];
  const nodes = new Map<string, { readonly seed: string; readonly publicKey: string }>();
  for (const { name, manager } of plan.members) if (manager) nodes.set(name, await makeLogin());
  const logins: ServerLogins = {
    nodes: Object.fromEntries([...nodes].map(([name, { publicKey }]) => [name, publicKey])),
    admin: admin.publicKey,
    system: system.publicKey,
    routePassword: randomBytes(ROUTE_PASSWORD_BYTES).toString('hex'),
  };
  const key = Array.from({ length: KEY_LENGTH }, () => KEY_LETTERS[randomInt(KEY_LETTERS.length)]).join('');
  makeFolder(out);
  await Promise.all(
    plan.members.map(async (member) => {
      const folder = join(out, member.name);
      makeFolder(folder);
      const seed = nodes.get(member.name)?.seed;
      if (seed !== undefined) writeManagerFiles(folder, plan, member, { key, seed, ca: authority.certificate });
      if (member.server) {
        await writeServerFiles(join(folder, NODE_FILES.server), plan, member, { logins, authority, now });
      }
    }),
  );
  writeFolder(join(out, ADMIN_FOLDER), {
    [ADMIN_FILES.ca]: authority.certificate,
    [ADMIN_FILES.caKey]: authority.key,
    [ADMIN_FILES.admin]: `${admin.seed}\n`,
    [ADMIN_FILES.system]: `${system.seed}\n`,
    [ADMIN_FILES.cluster]: json({
      version: 1,
      cluster: plan.name,
      key,
      storeBytes: plan.storeBytes,
      members: plan.members,
      logins,
    }),
  });
}

/** What the manager of a member gets. */
function writeManagerFiles(
  folder: string,
  plan: ClusterPlan,
  { name }: ClusterMember,
  secrets: { readonly key: string; readonly seed: string; readonly ca: string },
): void {
  const cluster: NodeCluster = {
    version: 1,
    cluster: plan.name,
    node: name,
    key: secrets.key,
    urls: clientUrls(plan.members),
    nodes: plan.members.flatMap((member) => (member.manager ? [{ name: member.name, host: member.host }] : [])),
  };
  writeFiles(folder, {
    [NODE_FILES.ca]: secrets.ca,
    [NODE_FILES.credential]: `${secrets.seed}\n`,
    [NODE_FILES.cluster]: json(cluster),
  });
}

async function writeServerFiles(
  folder: string,
  plan: ClusterPlan,
  member: ClusterMember,
  parts: { readonly logins: ServerLogins; readonly authority: KeyAndCertificate; readonly now: Date },
): Promise<void> {
  const made = await makeServerCertificate(parts.authority, member, parts.now);
  writeFolder(folder, {
    'nats-server.conf': natsServerConfig(plan, member, parts.logins),
    [SERVER_FILES.certificate]: made.certificate,
    [SERVER_FILES.key]: made.key,
    [SERVER_FILES.ca]: parts.authority.certificate,
    'nats-server.service.conf': serviceDropIn(plan, member),
  });
}

function writeFolder(folder: string, files: Readonly<Record<string, string>>): void {
  makeFolder(folder);
  writeFiles(folder, files);
}

function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text, { mode: FILE_MODE, flag: 'wx' });
  }
}

function makeFolder(path: string): void {
  mkdirSync(path, { mode: FOLDER_MODE });
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
