import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { writeFileAtomically } from '../../../lib/files/write-file-atomically.js';
import { describeError } from '../../../lib/log/describe-error.js';
import { ADMIN_FOLDER, type ClusterPlan } from './cluster-plan.js';
import type { Login } from './make-login.js';
import { type ClusterSecrets, json, makeFolder, writeNew } from './member-files.js';

/** What is in the administrator's folder. */
const FILES = {
  cluster: 'cluster.json',
  ca: 'ca.pem',
  caKey: 'ca-key.pem',
  admin: 'admin.nk',
  system: 'system.nk',
} as const;

const port = z.number().int().min(1).max(65_535);
const member = z.strictObject({
  name: z.string(),
  host: z.string(),
  port,
  routePort: port,
  monitorPort: port,
  server: z.boolean(),
  manager: z.boolean(),
  serverFolder: z.string(),
  storeFolder: z.string(),
});
const stateSchema = z.strictObject({
  version: z.literal(1),
  cluster: z.string(),
  key: z.string(),
  storeBytes: z.number().int(),
  members: z.array(member),
  logins: z.strictObject({
    nodes: z.record(z.string(), z.string()),
    admin: z.string(),
    system: z.string(),
    routePassword: z.string(),
  }),
});

/** Makes the folder of what no member is to have. @param out of the cluster */
export function writeAdminFolder(
  out: string,
  plan: ClusterPlan,
  secrets: ClusterSecrets,
  logins: { readonly admin: Login; readonly system: Login },
): void {
  const folder = join(out, ADMIN_FOLDER);
  makeFolder(folder);
  writeNew(folder, {
    [FILES.ca]: secrets.authority.certificate,
    [FILES.caKey]: secrets.authority.key,
    [FILES.admin]: `${logins.admin.seed}\n`,
    [FILES.system]: `${logins.system.seed}\n`,
    [FILES.cluster]: state(plan, secrets),
  });
}

/** Keeps who the members are now. */
export function updateAdminFolder(out: string, plan: ClusterPlan, secrets: ClusterSecrets): void {
  const path = join(out, ADMIN_FOLDER, FILES.cluster);
  writeFileAtomically(path, state(plan, secrets), { mode: 0o600, durable: true });
}

/** The cluster whose files lie in a folder. @throws Error that names the file */
export function readAdminFolder(out: string): { readonly plan: ClusterPlan; readonly secrets: ClusterSecrets } {
  const { members, logins, key, cluster, storeBytes } = readState(out);
  const folders = new Map(members.map((one) => [one.name, one]));
  const [first] = members;
  return {
    plan: {
      name: cluster,
      members: members.map(({ serverFolder: _server, storeFolder: _store, ...one }) => one),
      // New members have theirs where the others have.
      serverFolder: ({ name }) => (folders.get(name) ?? first)?.serverFolder ?? '',
      storeFolder: ({ name }) => (folders.get(name) ?? first)?.storeFolder ?? '',
      storeBytes,
    },
    secrets: {
      key,
      logins,
      authority: { key: adminFile(out, 'caKey'), certificate: adminFile(out, 'ca') },
    },
  };
}

/** One of the administrator's files. @throws Error that names it */
export function adminFile(out: string, file: keyof typeof FILES): string {
  const path = join(out, ADMIN_FOLDER, FILES[file]);
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const hint = '--folder names the one that svc-control cluster init made';
    throw new Error(`'${path}' cannot be read: ${describeError(error)} (${hint})`, { cause: error });
  }
}

function readState(out: string): z.output<typeof stateSchema> {
  const text = adminFile(out, 'cluster');
  try {
    return stateSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new Error(`'${join(out, ADMIN_FOLDER, FILES.cluster)}' is not what svc-control cluster init wrote`, {
      cause: error,
    });
  }
}

function state(plan: ClusterPlan, { key, logins }: ClusterSecrets): string {
  const value: z.input<typeof stateSchema> = {
    version: 1,
    cluster: plan.name,
    key,
    storeBytes: plan.storeBytes,
    members: plan.members.map((one) => ({
      ...one,
      serverFolder: plan.serverFolder(one),
      storeFolder: plan.storeFolder(one),
    })),
    logins,
  };
  return json(value);
}
