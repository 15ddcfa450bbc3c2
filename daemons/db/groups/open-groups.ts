import { clusterdContract } from '../../../lib/bus/contracts/clusterd.js';
import { RequestClient } from '../../../lib/bus/request-client.js';
import type { DaemonParts } from '../../../lib/daemon/daemon-parts.js';
import type { Home } from '../../../lib/home/home.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { Registry } from '../registry.js';
import type { GroupAuthority } from './group-authority.js';
import { LocalGroups } from './local-groups.js';
import { SharedGroups } from './shared-groups.js';

/** How often records are looked for that nobody needs any more. */
const TIDY_MS = 60_000;

export type OpenGroupsParts = {
  readonly home: Home;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Whether this manager is one node of several. */
  readonly clustered: boolean;
};

/** Groups of this manager by itself, or those that it has in common with the other nodes. */
export function openGroups({ home, logger, registry, clustered }: OpenGroupsParts, parts: DaemonParts): GroupAuthority {
  if (!clustered) return new LocalGroups(registry);
  const client = parts.use(new RequestClient({ contract: clusterdContract, path: home.socket('svc-clusterd') }));
  const groups = parts.use(new SharedGroups({ registry, client, logger }));
  groups.start();
  parts.every(TIDY_MS, () => void groups.tidy());
  return groups;
}
