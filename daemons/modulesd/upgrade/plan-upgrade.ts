import { MANAGER_ID } from '../../../lib/agentlink/agent-identity.js';
import { isOssecVersion } from '../../../lib/agentlink/agent-version.js';
import {
  compareReleases,
  parseRelease,
  releaseText,
  type ReleaseVersion,
} from '../../../lib/agentlink/release-version.js';
import type { WantedPackage } from '../../../lib/bus/contracts/modulesd.js';
import { PACKAGE_FOLDER } from './package-file.js';
import { packageNames } from './package-names.js';
import { isWindows, type UpgradableAgent } from './upgradable-agent.js';

/** Why an agent is not upgraded, in the codes of the API (rest-api.md 6.2). */
export type UpgradeRefusal = { readonly code: number; readonly message: string };

/** What is to be sent to an agent. */
export type UpgradePlan = { readonly path: string; readonly installer: string; readonly version?: string };

/** The first release that can be upgraded from afar. */
const FIRST_RELEASE: ReleaseVersion = [3, 0, 0];
/** The first release that takes JSON and tells how its upgrade went. */
export const FIRST_TELLING_RELEASE: ReleaseVersion = [4, 1, 0];

export type PlanParts = {
  readonly wanted: WantedPackage;
  /** The manager's, which agents get when no version was asked for. */
  readonly managerVersion: ReleaseVersion;
  /** Whether there is a package of this name. */
  readonly hasPackage: (name: string) => boolean | Promise<boolean>;
};

/** What an agent is sent, or why it is not upgraded. */
export async function planUpgrade(agent: UpgradableAgent, parts: PlanParts): Promise<UpgradePlan | UpgradeRefusal> {
  const { wanted } = parts;
  const installer = isWindows(agent) ? 'upgrade.bat' : 'upgrade.sh';
  if (agent.id === MANAGER_ID) return refusal(1817, 'Action not available for Manager (agent 000)');
  if (agent.status !== 'active') return refusal(1818, 'The agent is not active');
  const release = agent.version === undefined ? undefined : parseRelease(agent.version);
  const isOld =
    release === undefined || isOssecVersion(agent.version ?? '') || compareReleases(release, FIRST_RELEASE) < 0;
  if (isOld) return refusal(1821, 'This version of the agent cannot be upgraded from the manager');
  if (wanted.kind === 'file') return { path: wanted.path, installer: wanted.installer ?? installer };

  const target = wanted.version === undefined ? parts.managerVersion : parseRelease(wanted.version);
  if (target === undefined) return refusal(1825, `'${wanted.version ?? ''}' is no version`);
  const version = releaseText(target);
  const names = packageNames(agent, version, wanted.packageType);
  if (names === undefined) {
    return refusal(
      1819,
      `There are no packages for ${agent.platform ?? 'an unknown system'} (${agent.arch ?? 'no'} architecture)`,
    );
  }
  if (!wanted.force && compareReleases(release, target) >= 0) {
    return refusal(1822, 'The agent has this version already, or a higher one');
  }
  for (const name of names) if (await parts.hasPackage(name)) return { path: name, installer, version };
  return refusal(
    1825,
    `There is no package of this version: put ${names[0] ?? ''} into ${PACKAGE_FOLDER} of the manager`,
  );
}

/** Whether it is why nothing is sent. */
export function isRefusal(plan: UpgradePlan | UpgradeRefusal): plan is UpgradeRefusal {
  return 'code' in plan;
}

function refusal(code: number, message: string): UpgradeRefusal {
  return { code, message };
}
