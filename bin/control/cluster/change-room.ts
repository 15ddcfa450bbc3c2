import { resolve } from 'node:path';
import { DiscardPolicy } from '@nats-io/jetstream';
import { clusterSubjects } from '../../../lib/cluster/cluster-subjects.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { ControlOutput } from '../control-output.js';
import { readAdminFolder } from './admin-folder.js';
import { withStreams } from './admin-streams.js';
import { wholeNumber } from './whole-number.js';

const GIB = 1024 ** 3;
const MAX_GIB = 65_536;

/** Flags of `svc-control cluster room`. */
export type RoomFlags = { readonly of: string; readonly folder: string };

/**
 * `svc-control cluster room GIB`: how much each NATS server keeps of records, or of contents of files, at most; changed with the
 * administrator's credential.
 * @param text GiB, 1 to 65536
 * @throws Error with one clear line
 */
export async function changeRoom(
  output: ControlOutput,
  text: string,
  { of: what, folder }: RoomFlags,
): Promise<number> {
  const out = resolve(folder);
  const { streams, files } = clusterSubjects(readAdminFolder(out).plan.name);
  const plan = { records: streams.shared, files }[what];
  if (plan === undefined) throw new Error(`--of '${what}': records or files`);
  const gib = wholeNumber(text, 'GIB', MAX_GIB);
  return await withStreams(out, async (manager) => {
    const { config, state } = await manager.streams.info(plan.name).catch((error: unknown) => {
      throw new Error(`the stream ${plan.name}: ${describeError(error)}`, { cause: error });
    });
    if (state.bytes > gib * GIB) {
      throw new Error(`the ${what} take ${inGib(state.bytes)} GiB already: less does not hold them`);
    }
    try {
      // One that was made without a limit may drop the oldest: with a limit that would be what is in force.
      await manager.streams.update(plan.name, { ...config, max_bytes: gib * GIB, discard: DiscardPolicy.New });
    } catch (error) {
      throw new Error(`NATS does not give ${plan.name} ${gib} GiB: ${describeError(error)}`, { cause: error });
    }
    output.line(`${plan.name}  ${inGib(config.max_bytes)} -> ${gib} GiB, of which ${inGib(state.bytes)} are taken`);
    output.document({ error: 0, data: { stream: plan.name, bytes: state.bytes, max_bytes: gib * GIB } });
    return 0;
  });
}

function inGib(bytes: number): string {
  return bytes < 0 ? 'no limit' : String(Math.round((bytes / GIB) * 100) / 100);
}
