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
}
