import { checkConfiguration } from '../../lib/config/check-configuration.js';
import { logConfigWarnings } from '../../lib/config/config-error.js';
import type { DaemonCatalogue } from '../../lib/control/daemon-catalogue.js';
import { failureMessages, logMessage, withoutRepeats } from '../../lib/daemon/run-check.js';
import type { Home } from '../../lib/home/home.js';
import type { HomeRecord } from '../../lib/home/home-record.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import type { DaemonName } from '../../lib/product/daemon-names.js';

/** A home and its daemons. */
type Configured = { readonly home: Home; readonly record: HomeRecord; readonly catalogue: DaemonCatalogue };

/** Says what the configuration asks for and what is not done: here, once, and not in each daemon that reads it. */
export function logNoEffect(
  { home, record, catalogue }: Configured,
  daemons: readonly DaemonName[],
  logger: Logger,
): void {
  try {
    const { noEffect } = checkConfiguration(home, record.role);
    logConfigWarnings(
      noEffect.filter(({ owner }) => daemons.includes(owner) || catalogue.program(owner) === undefined),
      logger,
    );
  } catch (error) {
    logger.error(`The configuration could not be looked through: ${describeError(error)}`);
  }
}

/**
 * Says what is wrong with the main configuration: here, once, before every daemon that reads it does.
 * @param consequence what therefore does not happen, a sentence
 * @returns whether something is
 */
export function logMistakes({ home, record, catalogue }: Configured, consequence: string, logger: Logger): boolean {
  // Daemons without checks of their own (those of tests) read other files.
  if (catalogue.settingsModule === undefined) return false;
  const { mistakes } = checkConfiguration(home, record.role);
  if (mistakes.length === 0) return false;
  const messages = mistakes.flatMap(({ error }) => failureMessages(error, 'error'));
  for (const message of withoutRepeats(messages)) logMessage(logger, message);
  logger.error(consequence);
  return true;
}
