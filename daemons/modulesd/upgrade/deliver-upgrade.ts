import { compareReleases, parseRelease } from '../../../lib/agentlink/release-version.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import type { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import type { RequestClient } from '../../../lib/bus/request-client.js';
import type { Task } from '../tasks/task-record.js';
import { askAgent } from './ask-agent.js';
import { PackageFile } from './package-file.js';
import { FIRST_TELLING_RELEASE } from './plan-upgrade.js';
import { AgentUnreachableError, sendPackage, UpgradeStepError } from './send-package.js';
import { AGENT_FIELDS, upgradableAgent } from './upgradable-agent.js';
import type { Delivery, DeliveryOutcome } from './upgrade-runner.js';

export type DeliverUpgradeParts = {
  readonly db: Pick<RequestClient<typeof dbContract>, 'call'>;
  readonly remoted: Pick<RequestClient<typeof remotedContract>, 'call'>;
  /** The home's `var/upgrade`. */
  readonly folder: string;
  /** `chunk_size`, bytes, as of now. */
  readonly chunkBytes: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/**
 * Sends the package of a task in the form that the agent's version takes.
 * @throws AgentUnreachableError, UpgradeStepError, PackageError, BusError; the signal's reason
 */
export async function deliverUpgrade(
  { db, remoted, folder, chunkBytes, sleep }: DeliverUpgradeParts,
  { agent: id, work }: Task,
  { signal, installing }: Delivery,
): Promise<DeliveryOutcome> {
  const item = await agentItem(db, id, signal);
  if (item === undefined) throw new UpgradeStepError('the agent is not there any more');
  const agent = upgradableAgent(item);
  if (agent.status !== 'active') throw new AgentUnreachableError('the agent is not active');
  const tells = (version: string | undefined): boolean => {
    const release = version === undefined ? undefined : parseRelease(version);
    return release !== undefined && compareReleases(release, FIRST_TELLING_RELEASE) >= 0;
  };
  const takesJson = tells(agent.version);
  const file = await PackageFile.open(folder, work.path);
  try {
    await sendPackage({
      ask: (command, until) => askAgent(remoted, id, command, until),
      file,
      path: work.path,
      installer: work.installer,
      takesJson,
      chunkBytes: chunkBytes(),
      signal,
      sleep,
      installing,
    });
  } finally {
    file.close();
  }
  // What a package of somebody's own installs is not known: the agent's version is the best guess.
  return tells(work.version ?? agent.version) ? 'told' : 'silent';
}

/** @throws AgentUnreachableError when svc-db does not answer: it is asked again */
async function agentItem(
  db: DeliverUpgradeParts['db'],
  id: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const { items } = await db.call('agents.get', { ids: [id], select: AGENT_FIELDS }, { signal });
    return items[0];
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    throw new AgentUnreachableError(error.message, { cause: error });
  }
}
