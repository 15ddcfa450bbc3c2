import { join, resolve } from 'node:path';
import { isErrno } from '../../../lib/files/is-errno.js';
import type { ControlOutput } from '../control-output.js';
import { ADMIN_FOLDER, checkMembers, type ClusterMember, type ClusterPlan, readMember } from './cluster-plan.js';
import { wholeNumber } from './whole-number.js';
import { writeCluster } from './write-cluster.js';

/** Flags of `svc-control cluster init`. */
export type InitFlags = {
  readonly name: string;
  readonly node?: readonly string[];
  readonly manager?: readonly string[];
  readonly server?: readonly string[];
  readonly port: string;
  readonly storeGib: string;
  readonly serverFolder: string;
  readonly storeFolder: string;
  readonly out: string;
};

/** Stands for the name of a member, where several servers are on one host. */
const NAME = '{name}';

const GIB = 1024 ** 3;
const MAX_GIB = 65_536;
/** What managers keep there at most without being told otherwise: records, alerts and contents of files. */
const LEAST_GIB = 8;

/**
 * `svc-control cluster init`: makes all files of a new cluster in a folder, from where they are brought to the hosts.
 * @throws Error with one clear line
 */
export async function initCluster(output: ControlOutput, flags: InitFlags, now: Date): Promise<number> {
  const plan = readPlan(flags);
  const out = resolve(flags.out);
  try {
    await writeCluster(plan, out, now);
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
    throw new Error(`'${out}' is there already: name another folder with --out, or remove it`, { cause: error });
  }
  for (const { name, server, manager } of plan.members) {
    const folder = join(out, name);
    output.line(`${folder}${server ? `  NATS server: ${join(folder, 'server')}` : ''}${manager ? '  manager' : ''}`);
  }
  output.line(`${join(out, ADMIN_FOLDER)}  keep it away from all of these hosts: it changes streams and adds servers`);
  for (const line of advice(plan.members)) output.line(line);
  output.line(
    'Next, on each host: copy its folder there, start its NATS server, then "svc-control cluster join FOLDER".',
  );
  output.document({
    error: 0,
    data: { folder: out, members: plan.members.map(({ name, server, manager }) => ({ name, server, manager })) },
  });
  return 0;
}

function readPlan(flags: InitFlags): ClusterPlan {
  const port = wholeNumber(flags.port, '--port', 65_535);
  const members: ClusterMember[] = [
    ...(flags.node ?? []).map((text) => readMember(text, port, { server: true, manager: true })),
    ...(flags.server ?? []).map((text) => readMember(text, port, { server: true, manager: false })),
    ...(flags.manager ?? []).map((text) => readMember(text, port, { server: false, manager: true })),
  ];
  checkMembers(flags.name, members);
  for (const [option, path] of [
    ['--server-folder', flags.serverFolder],
    ['--store-folder', flags.storeFolder],
  ] as const) {
    // What systemd's unit and the configuration of a NATS server can name without quoting.
    if (!/^(\/[\w.+-]+)+$/.test(path.replaceAll(NAME, 'x'))) {
      throw new Error(`${option} '${path}': an absolute path of plain names`);
    }
  }
  return {
    name: flags.name,
    members,
    serverFolder: ({ name }) => flags.serverFolder.replaceAll(NAME, name),
    storeFolder: ({ name }) => flags.storeFolder.replaceAll(NAME, name),
    storeBytes: wholeNumber(flags.storeGib, '--store-gib', MAX_GIB, LEAST_GIB) * GIB,
  };
}

/** What the number of servers means (docs/cluster.md). */
function advice(members: readonly ClusterMember[]): string[] {
  const servers = members.filter(({ server }) => server).length;
  if (servers % 2 === 1 && servers > 1) return [];
  return servers === 1
    ? ['One NATS server: while it is away, nothing that managers have in common can be changed.']
    : [`${servers} NATS servers stand no more losses than ${servers - 1}: add one on any host with --server.`];
}
