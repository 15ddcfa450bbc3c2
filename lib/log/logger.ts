/**
 * What a part of a daemon needs to report. Message texts are those users see in `logs/manager.log`
 * (`YYYY/MM/DD hh:mm:ss NAME: LEVEL: message`, daemons-and-config.md 3.7); `fields` go to `logs/manager.json` only.
 */
export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
  critical(message: string, fields?: Record<string, unknown>): void;
  /**
   * A log for one kind of problem that may come again and again: it writes one line a minute at most and counts the rest.
   * @param now milliseconds of a clock that is not set; injected by tests
   */
  limited(now?: () => number): LimitedLogger;
}

/** Writes the first message at once, then one a minute at most with the number of those that it left out. */
export interface LimitedLogger {
  debug(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}
