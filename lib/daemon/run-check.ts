import { ConfigError, type ConfigPlace } from '../config/config-error.js';
import type { Home } from '../home/home.js';
import { describeError } from '../log/describe-error.js';
import { LimitedLog } from '../log/limited-log.js';
import type { Logger } from '../log/logger.js';
import type { DaemonName } from '../product/daemon-names.js';
import type { OwnFlagValues } from './daemon-flags.js';
import type { DaemonCheck } from './daemon-spec.js';
import { ReportedError } from './reported-error.js';

/** One thing a check says. */
export type CheckMessage = {
  readonly level: 'warning' | 'error' | 'critical';
  readonly text: string;
  /** Where, as far as the text does not say it. */
  readonly place?: ConfigPlace;
  /** Only closes what the messages before it say. */
  readonly closing?: true;
};

/** What a check of a configuration says. */
export type CheckOutcome = { readonly failed: boolean; readonly messages: readonly CheckMessage[] };

/** Makes the check of a daemon. @param debug told what is of interest to developers */
export function runCheck(
  check: DaemonCheck,
  name: DaemonName,
  home: Home,
  ownFlags: OwnFlagValues = {},
  debug: (text: string) => void = () => {},
): CheckOutcome {
  const messages: CheckMessage[] = [];
  const say = (level: CheckMessage['level']) => (text: string) => {
    messages.push({ level, text });
  };
  const logger: Logger = {
    debug,
    info: () => {},
    warn: say('warning'),
    error: say('error'),
    critical: say('critical'),
    limited: (now) => new LimitedLog((level, message) => logger[level](message), now),
  };
  try {
    check({ name, home, logger, ownFlags });
    return { failed: false, messages };
  } catch (error) {
    return { failed: true, messages: [...messages, ...failureMessages(error, 'error')] };
  }
}

/**
 * What is said of a failure. A configuration error takes two lines, as users of the reference know them
 * (daemons-and-config.md 14.2).
 * @param level of another error than one of the configuration
 */
export function failureMessages(error: unknown, level: 'error' | 'critical'): CheckMessage[] {
  if (error instanceof ConfigError) {
    const lines = error.logLines();
    const { file, line } = error;
    return [
      { level: 'error', text: lines.error, place: { file, line } },
      { level: 'critical', text: lines.critical, closing: true },
    ];
  }
  if (error instanceof ReportedError) return [{ level: 'critical', text: error.message, closing: true }];
  return [{ level, text: describeError(error) }];
}

/** Says it to a logger. @param fields beside the text */
export function logMessage(logger: Logger, { level, text }: CheckMessage, fields?: Record<string, unknown>): void {
  logger[level === 'warning' ? 'warn' : level](text, fields);
}

/** Each text once: several daemons read the same sections. */
export function withoutRepeats<M extends CheckMessage>(messages: readonly M[]): M[] {
  const seen = new Set<string>();
  return messages.filter(({ level, text }) => {
    const key = `${level} ${text}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
