import { checkConfiguration, type ConfigurationCheck } from '../config/check-configuration.js';
import { describeWarning } from '../config/config-error.js';
import type { DaemonName } from '../product/daemon-names.js';
import type { Home } from './home.js';
import type { HomeRole } from './home-record.js';
import { type CheckMessage, type CheckOutcome, failureMessages } from './run-check.js';

/**
 * What a daemon says with `-t` of the sections that are its own, also of those that have no effect yet: every section
 * of the main configuration has one daemon that speaks of it.
 */
export function checkOwnSections(daemon: DaemonName, home: Home, role: HomeRole): CheckOutcome {
  const check = checkConfiguration(home, role);
  return ownPart(check, daemon);
}

/** The part of one daemon in what there is to say about the main configuration. */
export function ownPart({ mistakes, noEffect }: ConfigurationCheck, daemon: DaemonName): CheckOutcome {
  const own = mistakes.filter(({ owner }) => owner === daemon);
  const messages: CheckMessage[] = own.flatMap(({ error }) => failureMessages(error, 'error'));
  for (const warning of noEffect) {
    if (warning.owner === daemon) messages.push({ level: 'warning', text: describeWarning(warning) });
  }
  return { failed: own.length > 0, messages };
}
