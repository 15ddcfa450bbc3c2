import { checkConfiguration, type ConfigurationCheck } from '../config/check-configuration.js';
import { type ConfigWarning, describeWarning } from '../config/config-error.js';
import { ownWarnings } from '../config/effects/own-warnings.js';
import type { Home } from '../home/home.js';
import type { HomeRole } from '../home/home-record.js';
import type { DaemonName } from '../product/daemon-names.js';
import { type CheckMessage, type CheckOutcome, failureMessages } from './run-check.js';

/**
 * What a daemon says with `-t` of the sections that are its own, also of those that have no effect yet: every section
 * of the main configuration has one daemon that speaks of it.
 */
export function checkOwnSections(daemon: DaemonName, home: Home, role: HomeRole): CheckOutcome {
  const check = checkConfiguration(home, role);
  const { failed, messages } = ownPart(check, daemon);
  const noEffect = check.noEffect.filter(({ owner }) => owner === daemon);
  return { failed, messages: [...messages, ...noEffect.map(warningMessage)] };
}

/** Mistakes and warnings of the sections of one daemon. */
export function ownPart({ mistakes, warnings }: ConfigurationCheck, daemon: DaemonName): CheckOutcome {
  const own = mistakes.filter(({ owner }) => owner === daemon);
  const errors = own.flatMap(({ error }) => failureMessages(error, 'error'));
  return { failed: own.length > 0, messages: [...errors, ...ownWarnings(warnings, daemon).map(warningMessage)] };
}

/** A warning as a check says it. */
export function warningMessage(warning: ConfigWarning): CheckMessage {
  return { level: warning.level ?? 'warning', text: describeWarning(warning) };
}
