import { join, resolve } from 'node:path';
import { isErrno } from '../../../lib/files/is-errno.js';
import { removeTree } from '../../../lib/files/remove-tree.js';
import type { ControlOutput } from '../control-output.js';
import { readAdminFolder, updateAdminFolder } from './admin-folder.js';
import { checkMembers, type ClusterMember, type ClusterPlan, readMember } from './cluster-plan.js';
import { type Login, makeLogin } from './make-login.js';
import { type ClusterSecrets, updateMember, writeMember } from './member-files.js';
import { wholeNumber } from './whole-number.js';

/** Flags of `svc-control cluster add`. */
export type AddFlags = {
  readonly node?: readonly string[];
  readonly manager?: readonly string[];
  readonly server?: readonly string[];
  readonly port: string;
  readonly folder: string;
};

/**
 * `svc-control cluster add`: makes the files of further members, and writes anew what tells the others of them.
 * @throws Error with one clear line; nothing is changed then
 */
export async function addMembers(output: ControlOutput, flags: AddFlags, now: Date): Promise<number> {
  const out = resolve(flags.folder);
  const { plan, secrets } = readAdminFolder(out);
  const port = wholeNumber(flags.port, '--port', 65_535);
  const added: ClusterMember[] = [
    ...(flags.node ?? []).map((text) => readMember(text, port, { server: true, manager: true })),
    ...(flags.server ?? []).map((text) => readMember(text, port, { server: true, manager: false })),
    ...(flags.manager ?? []).map((text) => readMember(text, port, { server: false, manager: true })),
  ];
  if (added.length === 0) throw new Error('name whom to add: --node, --manager or --server');
  const members = [...plan.members, ...added];
  checkMembers(plan.name, members);
  if (plan.members.filter(({ server }) => server).length === 1 && added.some(({ server }) => server)) {
    // nats-server does not take the streams of a server that was alone into a cluster.
    throw new Error('one NATS server does not become several: make a new cluster with several, and join it');
  }
  const logins = new Map<string, Login>();
  for (const { name, manager } of added) if (manager) logins.set(name, await makeLogin());
  const keys = Object.fromEntries([...logins].map(([name, { publicKey }]) => [name, publicKey]));
  const next = { ...plan, members };
  const known: ClusterSecrets = withNodes(secrets, { ...secrets.logins.nodes, ...keys });
  for (const member of added) {
    try {
      await writeMember(out, member, { plan: next, secrets: known, seed: logins.get(member.name)?.seed, now });
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error;
      throw new Error(`'${join(out, member.name)}' is there already: remove it first`, { cause: error });
    }
  }
  for (const { name } of added) output.line(`${join(out, name)}  new`);
  return finish(output, out, next, known, plan.members);
}

/**
 * `svc-control cluster remove NAME`: takes a member out of what the others are told; its credential is worth nothing once the
 * NATS servers have their new files.
 * @throws Error with one clear line
 */
export function removeMember(output: ControlOutput, name: string, folder: string): number {
  const out = resolve(folder);
  const { plan, secrets } = readAdminFolder(out);
  const members = plan.members.filter((member) => member.name !== name);
  if (members.length === plan.members.length) throw new Error(`there is no member '${name}'`);
  const servers = (of: readonly ClusterMember[]) => of.filter(({ server }) => server).length;
  checkMembers(plan.name, members);
  if (servers(members) === 1 && servers(plan.members) > 1) {
    throw new Error('the last but one NATS server stays: one that is alone does not take over what several had');
  }
  const { [name]: _gone, ...nodes } = secrets.logins.nodes;
  const code = finish(output, out, { ...plan, members }, withNodes(secrets, nodes), members);
  removeTree(join(out, name));
  return code;
}

function withNodes(secrets: ClusterSecrets, nodes: Readonly<Record<string, string>>): ClusterSecrets {
  return { ...secrets, logins: { ...secrets.logins, nodes } };
}

function finish(
  output: ControlOutput,
  out: string,
  plan: ClusterPlan,
  secrets: ClusterSecrets,
  known: readonly ClusterMember[],
): number {
  const changed = known.flatMap((member) => updateMember(out, member, plan, secrets));
  updateAdminFolder(out, plan, secrets);
  for (const file of changed) output.line(`${join(out, file)}  changed`);
  output.line(
    'Next: copy each nats-server.conf to its host and reload that NATS server (systemctl reload nats-server),',
  );
  output.line('then "svc-control cluster join FOLDER" and a restart of each manager whose NATS servers have changed.');
  output.document({ error: 0, data: { folder: out, changed, members: plan.members.map(({ name }) => name) } });
  return 0;
}
