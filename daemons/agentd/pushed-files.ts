import { buildEventPayload } from '../../lib/agentlink/event-payload.js';
import { QUEUE_IDS } from '../../lib/events/queue-ids.js';
import type { AgentdContext } from './agentd-context.js';
import type { ManagerLink } from './manager-link.js';
import type { HostReload } from './shared/host-reload.js';
import { useSharedConfiguration } from './shared/shared-configuration.js';
import { SharedUpdates } from './shared/shared-updates.js';

const SECOND_MS = 1000;

/** The files that the manager pushes: they are unpacked and used, and the manager is told (agents-and-groups.md 6.9). */
export function pushedFiles(
  { home, logger, prepared, problems, reload }: AgentdContext,
  others: HostReload,
  link: () => ManagerLink,
): SharedUpdates {
  const report = (text: string): void => {
    link().notify(buildEventPayload(QUEUE_IDS.log, 'wazuh-agent', text));
  };
  let toldAt = -Infinity;
  let telling: NodeJS.Timeout | undefined;
  const keepalive = (): void => {
    // A manager that pushes again and again gets no more than one a second beside the usual ones.
    clearTimeout(telling);
    telling = setTimeout(
      () => {
        toldAt = performance.now();
        link().session?.keepalive();
      },
      Math.max(0, toldAt + SECOND_MS - performance.now()),
    ).unref();
  };
  return new SharedUpdates({
    folder: prepared.folder,
    logger,
    report,
    installed: () =>
      useSharedConfiguration({
        home,
        logger,
        report,
        reload,
        reloadOthers: () => void others.request(),
        keepalive,
        setProblem: problems.of('shared'),
      }),
  });
}
