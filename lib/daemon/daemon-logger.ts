import { type Logger as PinoLogger, pino } from 'pino';
import type { Home } from '../home/home.js';
import { LimitedLog } from '../log/limited-log.js';
import { LogFile } from '../log/log-file.js';
import { formatLogTime, formatPlainLine, type LogLevel, sanitiseLogMessage } from '../log/log-line.js';
import { callerOrigin } from '../log/log-origin.js';
import type { LimitedLogger, Logger } from '../log/logger.js';

/** Verbosity: 0 = info and worse, 1 and 2 = debug lines with their origin (`-d`, `-dd`). */
export type DebugLevel = 0 | 1 | 2;

/** Where lines go. */
export type LogTargets = {
  /** `logs/manager.log` */
  readonly plain: boolean;
  /** `logs/manager.json` */
  readonly json: boolean;
  /** Standard error, in plain form (`-f`). */
  readonly stderr: boolean;
};

/** What the two log files of a home and standard error share between the loggers of one process. */
export class LogOutput {
  readonly #plain: LogFile;
  readonly #json: LogFile;
  readonly #clock: () => Date;
  #targets: LogTargets;
  debugLevel: DebugLevel;

  /**
   * @param owner of log files created here
   * @param clock injected by tests
   */
  constructor(
    home: Home,
    targets: LogTargets,
    debugLevel: DebugLevel,
    owner?: { readonly uid: number; readonly gid: number },
    clock: () => Date = () => new Date(),
  ) {
    const lost = (count: number, reason: string) => `${count} log lines could not be written: ${reason}`;
    this.#plain = new LogFile(
      home.path('logs', 'manager.log'),
      (count, reason) => formatPlainLine(formatLogTime(clock()), 'logging', 'warning', lost(count, reason), undefined),
      owner,
    );
    this.#json = new LogFile(
      home.path('logs', 'manager.json'),
      (count, reason) =>
        JSON.stringify({
          timestamp: formatLogTime(clock()),
          tag: 'logging',
          level: 'warning',
          description: lost(count, reason),
        }),
      owner,
    );
    this.#targets = targets;
    this.debugLevel = debugLevel;
    this.#clock = clock;
  }

  get targets(): LogTargets {
    return this.#targets;
  }

  /** Changes where lines go from now on (`<logging><log_format>`). */
  set targets(targets: LogTargets) {
    this.#targets = targets;
  }

  /** Opens the files in use. @throws the file system's error when one cannot be written */
  open(): void {
    if (this.#targets.plain) this.#plain.open();
    if (this.#targets.json) this.#json.open();
  }

  now(): Date {
    return this.#clock();
  }

  writePlain(line: string): void {
    if (this.#targets.plain) this.#plain.append(line);
    if (this.#targets.stderr) process.stderr.write(`${line}\n`);
  }

  writeJson(line: string): void {
    if (this.#targets.json) this.#json.append(line);
  }

  close(): void {
    this.#plain.close();
    this.#json.close();
  }
}

/** Members of a JSON line that fields may not replace. */
const RESERVED = new Set(['timestamp', 'tag', 'pid', 'file', 'line', 'routine', 'level', 'description']);

/** Values of fields with these names never reach a log, however deep. */
const SECRET_FIELDS = ['password', 'token', 'authorization', 'key', 'secret'];

/**
 * The logger of a daemon: the same line in plain form to `logs/manager.log` and, made by pino, in JSON form to
 * `logs/manager.json` (daemons-and-config.md 3.7).
 */
export class DaemonLogger implements Logger {
  readonly tag: string;
  readonly #output: LogOutput;
  readonly #pino: PinoLogger;
  #time = '';

  /** @param tag name at the head of a line: the daemon's, or `<daemon>:<module>` */
  constructor(output: LogOutput, tag: string) {
    this.tag = tag;
    this.#output = output;
    this.#pino = pino(
      {
        level: 'trace',
        base: { tag },
        // The order of members is the format's: timestamp, tag, level, description. pino begins a line with what
        // `formatters.level` returns and goes on with `timestamp`, so the first is left empty and the level comes
        // with the members of the line.
        formatters: { level: () => ({}) },
        timestamp: () => `"timestamp":"${this.#time}"`,
        serializers: { err: pino.stdSerializers.err, error: pino.stdSerializers.err },
        redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`]), censor: '***' },
      },
      { write: (line: string) => this.#output.writeJson(line.trimEnd()) },
    );
  }

  /** A logger of the same process with another tag. */
  tagged(tag: string): DaemonLogger {
    return new DaemonLogger(this.#output, tag);
  }

  debug(message: string, fields?: Record<string, unknown>): void {
    if (this.#output.debugLevel > 0) this.#log('debug', message, fields);
  }

  info(message: string, fields?: Record<string, unknown>): void {
    this.#log('info', message, fields);
  }

  warn(message: string, fields?: Record<string, unknown>): void {
    this.#log('warning', message, fields);
  }

  error(message: string, fields?: Record<string, unknown>): void {
    this.#log('error', message, fields);
  }

  critical(message: string, fields?: Record<string, unknown>): void {
    this.#log('critical', message, fields);
  }

  limited(now?: () => number): LimitedLogger {
    return new LimitedLog((level, message) => {
      if (level === 'debug' && this.#output.debugLevel === 0) return;
      // Two methods of the limited log lie between this function and the caller.
      this.#log(level === 'warn' ? 'warning' : level, message, undefined, 2);
    }, now);
  }

  /** @param between frames between the function that called this method and the caller of the logger */
  #log(level: LogLevel, message: string, fields: Record<string, unknown> | undefined, between = 0): void {
    this.#time = formatLogTime(this.#output.now());
    // Frames of the logger itself: this method and the public one that called it.
    const origin = this.#output.debugLevel > 0 ? callerOrigin(2 + between) : undefined;
    this.#output.writePlain(formatPlainLine(this.#time, this.tag, level, message, origin));
    if (!this.#output.targets.json) return;
    const members: Record<string, unknown> = { ...origin, level, description: sanitiseLogMessage(message) };
    for (const [name, value] of Object.entries(fields ?? {})) {
      if (!RESERVED.has(name) && name !== '__proto__') members[name] = value;
    }
    this.#pino.info(members);
  }
}
