import type { DaemonName } from '../../product/daemon-names.js';
import type { ConfigWarning } from '../config-error.js';
import { isSectionName } from '../manager-config.js';
import { ownerOf } from './effect-table.js';

/** Who speaks of a file as a whole: a daemon that every home of its role has. */
const SPEAKERS: readonly DaemonName[] = ['svc-monitord', 'svc-agentd'];

/** The warnings one daemon logs of a configuration: several read the same sections, and each is to be said once. */
export function ownWarnings(warnings: readonly ConfigWarning[], daemon: DaemonName): readonly ConfigWarning[] {
  return warnings.filter(({ section }) =>
    isSectionName(section)
      ? ownerOf('server', section) === daemon || ownerOf('agent', section) === daemon
      : SPEAKERS.includes(daemon),
  );
}
