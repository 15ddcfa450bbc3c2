import { randomBytes, randomInt } from 'node:crypto';
import { writeAdminFolder } from './admin-folder.js';
import { makeClusterAuthority } from './cluster-certificates.js';
import type { ClusterPlan } from './cluster-plan.js';
import { type Login, makeLogin } from './make-login.js';
import { type ClusterSecrets, makeFolder, writeMember } from './member-files.js';

/** Letters and digits: the form of `<cluster><key>`. */
const KEY_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const KEY_LENGTH = 32;
const ROUTE_PASSWORD_BYTES = 24;

/**
 * Makes everything that a new cluster needs below a folder: one folder a member, and `admin` for what no member is to have.
 * @param out made here; must not be there yet
 * @throws Error, the file system's with EEXIST
 */
export async function writeCluster(plan: ClusterPlan, out: string, now: Date): Promise<void> {
  const authority = await makeClusterAuthority(plan.name, now);
  const [admin, system] = [await makeLogin(), await makeLogin()];
  const nodes = new Map<string, Login>();
  for (const { name, manager } of plan.members) if (manager) nodes.set(name, await makeLogin());
  const secrets: ClusterSecrets = {
    key: Array.from({ length: KEY_LENGTH }, () => KEY_LETTERS[randomInt(KEY_LETTERS.length)]).join(''),
    authority,
    logins: {
      nodes: Object.fromEntries([...nodes].map(([name, { publicKey }]) => [name, publicKey])),
      admin: admin.publicKey,
      system: system.publicKey,
      routePassword: randomBytes(ROUTE_PASSWORD_BYTES).toString('hex'),
    },
  };
  makeFolder(out);
  await Promise.all(
    plan.members.map((member) => writeMember(out, member, { plan, secrets, seed: nodes.get(member.name)?.seed, now })),
  );
  writeAdminFolder(out, plan, secrets, { admin, system });
}
