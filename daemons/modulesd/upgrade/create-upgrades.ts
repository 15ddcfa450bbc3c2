import { join } from 'node:path';
import { compareReleases, parseRelease, type ReleaseVersion } from '../../../lib/agentlink/release-version.js';
import { BusError } from '../../../lib/bus/bus-error.js';
import type { CallResult, HandlerParams } from '../../../lib/bus/contract.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import { MAX_AGENTS_PER_PAGE } from '../../../lib/bus/contracts/db-agents.js';
import type { modulesdContract } from '../../../lib/bus/contracts/modulesd.js';
import type { RequestClient } from '../../../lib/bus/request-client.js';
import { StoreError } from '../../../lib/store/store-error.js';
import { isUnfinished, type Task, type TaskRecord, UPGRADE_MODULE } from '../tasks/task-record.js';
import { type TaskStore, TooManyTasksError } from '../tasks/task-store.js';
import { PACKAGE_FOLDER, PackageError, PackageFile } from './package-file.js';
import { packagePath } from './package-path.js';
import { isRefusal, type PlanParts, planUpgrade, type UpgradeRefusal } from './plan-upgrade.js';
import { AGENT_FIELDS, type UpgradableAgent, upgradableAgent } from './upgradable-agent.js';

export type CreateUpgradesParts = {
  readonly tasks: TaskStore;
  readonly db: Pick<RequestClient<typeof dbContract>, 'call'>;
  /** Root of the home. */
  readonly root: string;
  readonly managerVersion: ReleaseVersion;
  readonly node: () => string;
  /** Epoch seconds. */
  readonly now: () => number;
};

type Wanted = HandlerParams<typeof modulesdContract, 'upgrades.create'>;
type Created = CallResult<typeof modulesdContract, 'upgrades.create'>;

/**
 * Makes a task for each agent that can be upgraded. One call after the other: an agent has one unfinished task at most.
 * @returns what the caller is told, and the tasks
 * @throws BusError as the contract says
 */
export async function createUpgrades(
  parts: CreateUpgradesParts,
  { agents, package: asked }: Wanted,
): Promise<{ readonly created: Created; readonly tasks: readonly Task[] }> {
  const { tasks, managerVersion, now, node } = parts;
  const wanted = await requirePackage(parts, asked);
  const plan: PlanParts = { wanted, managerVersion, hasPackage: packageSearch(folderOf(parts.root)) };
  const known = await knownAgents(parts.db, agents);
  const failed: Created['failed'] = [];
  const records: TaskRecord[] = [];
  for (const id of new Set(agents)) {
    const agent = known.get(id);
    const planned = agent === undefined ? UNKNOWN : await planUpgrade(agent, plan);
    const last = tasks.lastOf(id);
    if (isRefusal(planned)) {
      failed.push({ agent: id, ...planned });
    } else if (last !== undefined && isUnfinished(last)) {
      failed.push({ agent: id, ...UNDER_WAY });
    } else {
      const command = wanted.kind === 'file' ? ('upgrade_custom' as const) : ('upgrade' as const);
      const times = { created: now(), updated: now() };
      const work = { ...planned, phase: 'sending' as const, attempts: 0 };
      records.push({
        ...times,
        agent: id,
        node: node(),
        module: UPGRADE_MODULE,
        command,
        status: 'Pending',
        error: '',
        work,
      });
    }
  }
  const made = await added(tasks, records);
  return { created: { tasks: made.map(({ agent, id }) => ({ agent, id })), failed }, tasks: made };
}

const UNKNOWN: UpgradeRefusal = { code: 1816, message: 'The agent is not known' };
const UNDER_WAY: UpgradeRefusal = { code: 1820, message: 'The agent is being upgraded already' };

/**
 * What holds for all agents alike.
 * @returns what is wanted, a package that was named with its path below `var/upgrade`
 * @throws BusError `version_too_high`, `no_package`
 */
async function requirePackage(
  { root, managerVersion }: CreateUpgradesParts,
  wanted: Wanted['package'],
): Promise<Wanted['package']> {
  if (wanted.kind === 'release') {
    const version = wanted.version === undefined ? managerVersion : parseRelease(wanted.version);
    if (version !== undefined && !wanted.force && compareReleases(version, managerVersion) > 0) {
      throw new BusError('version_too_high', "A version above the manager's needs the force flag");
    }
    return wanted;
  }
  try {
    const path = packagePath(root, wanted.path);
    (await PackageFile.open(folderOf(root), path)).close();
    return { ...wanted, path };
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    throw new BusError('no_package', error.message, { cause: error });
  }
}

function folderOf(root: string): string {
  return join(root, PACKAGE_FOLDER);
}

/** Looks once for each name. A package that is there and cannot be sent is found: its task says what is wrong with it. */
function packageSearch(folder: string): (name: string) => Promise<boolean> {
  const found = new Map<string, boolean>();
  return async (name) => {
    const before = found.get(name);
    if (before !== undefined) return before;
    let isThere = true;
    try {
      (await PackageFile.open(folder, name)).close();
    } catch (error) {
      if (!(error instanceof PackageError)) throw error;
      isThere = !error.absent;
    }
    found.set(name, isThere);
    return isThere;
  };
}

async function knownAgents(
  db: CreateUpgradesParts['db'],
  ids: readonly string[],
): Promise<ReadonlyMap<string, UpgradableAgent>> {
  const known = new Map<string, UpgradableAgent>();
  for (let at = 0; at < ids.length; at += MAX_AGENTS_PER_PAGE) {
    const page = { ids: ids.slice(at, at + MAX_AGENTS_PER_PAGE), select: AGENT_FIELDS };
    const { items } = await db.call('agents.get', page);
    for (const item of items) {
      const agent = upgradableAgent(item);
      known.set(agent.id, agent);
    }
  }
  return known;
}

async function added(tasks: TaskStore, records: readonly TaskRecord[]): Promise<readonly Task[]> {
  try {
    return await tasks.add(records);
  } catch (error) {
    if (error instanceof TooManyTasksError) throw new BusError('too_many_tasks', error.message, { cause: error });
    if (error instanceof StoreError && error.code === 'full') {
      throw new BusError('disk_full', error.message, { cause: error });
    }
    throw error;
  }
}
