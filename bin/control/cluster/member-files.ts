import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../../../lib/files/write-file-atomically.js';
import { type KeyAndCertificate, makeServerCertificate } from './cluster-certificates.js';
import { clientUrls, type ClusterMember, type ClusterPlan } from './cluster-plan.js';
import { natsServerConfig, SERVER_FILES, type ServerLogins } from './nats-server-config.js';
import { NODE_FILES, type NodeCluster } from './node-folder.js';
import { serviceDropIn } from './service-drop-in.js';

/** Only who made them reads these files: whoever copies them to a host says who reads them there. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const SERVER_CONFIG = 'nats-server.conf';

/** What all members have in common and nobody else may know. */
export type ClusterSecrets = {
  /** Of `<cluster><key>`. */
  readonly key: string;
  readonly authority: KeyAndCertificate;
  readonly logins: ServerLogins;
};

/**
 * Makes the folder of a new member.
 * @param seed of its NKey; undefined for one without a manager
 * @throws the file system's error, with EEXIST when it is there
 */
export async function writeMember(
  out: string,
  member: ClusterMember,
  parts: {
    readonly plan: ClusterPlan;
    readonly secrets: ClusterSecrets;
    readonly seed: string | undefined;
    readonly now: Date;
  },
): Promise<void> {
  const { plan, secrets, seed, now } = parts;
  const { authority } = secrets;
  const folder = join(out, member.name);
  makeFolder(folder);
  if (seed !== undefined) {
    writeNew(folder, {
      [NODE_FILES.ca]: authority.certificate,
      [NODE_FILES.credential]: `${seed}\n`,
      [NODE_FILES.cluster]: json(nodeCluster(plan, member, secrets.key)),
    });
  }
  if (!member.server) return;
  const made = await makeServerCertificate(authority, member, now);
  const server = join(folder, NODE_FILES.server);
  makeFolder(server);
  writeNew(server, {
    [SERVER_CONFIG]: natsServerConfig(plan, member, secrets.logins),
    [SERVER_FILES.certificate]: made.certificate,
    [SERVER_FILES.key]: made.key,
    [SERVER_FILES.ca]: authority.certificate,
    'nats-server.service.conf': serviceDropIn(plan, member),
  });
}

/**
 * Writes anew what of a member's files tells of the others, after members came or went. A folder that was removed once it
 * had been brought to its host is made again with these files alone.
 * @returns the files, relative to `out`
 */
export function updateMember(out: string, member: ClusterMember, plan: ClusterPlan, secrets: ClusterSecrets): string[] {
  const files = [
    ...(member.manager
      ? [[join(member.name, NODE_FILES.cluster), json(nodeCluster(plan, member, secrets.key))] as const]
      : []),
    ...(member.server
      ? [[join(member.name, NODE_FILES.server, SERVER_CONFIG), natsServerConfig(plan, member, secrets.logins)] as const]
      : []),
  ];
  for (const [file, text] of files) {
    mkdirSync(join(out, file, '..'), { recursive: true, mode: FOLDER_MODE });
    writeFileAtomically(join(out, file), text, { mode: FILE_MODE, durable: true });
  }
  return files.map(([file]) => file);
}

/** Files that must not be there yet. */
export function writeNew(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text, { mode: FILE_MODE, flag: 'wx' });
  }
}

/** For who makes it alone. @throws the file system's error, with EEXIST when it is there */
export function makeFolder(path: string): void {
  mkdirSync(path, { mode: FOLDER_MODE });
}

/** As files have it. */
export function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function nodeCluster(plan: ClusterPlan, { name }: ClusterMember, key: string): NodeCluster {
  return {
    version: 1,
    cluster: plan.name,
    node: name,
    key,
    urls: clientUrls(plan.members),
    nodes: plan.members.flatMap((member) => (member.manager ? [{ name: member.name, host: member.host }] : [])),
  };
}
