/** Levels of the manager log (daemons-and-config.md 3.7). */
export type LogLevel = 'debug' | 'info' | 'warning' | 'error' | 'critical';

/** Where in the code a line comes from; shown when debug is on. */
export type LogOrigin = {
  readonly pid: number;
  readonly file: string;
  readonly line: number;
  readonly routine: string;
};

/** Longest message of a line, in characters: a flood of huge outside texts must not fill the disk in a few lines. */
const MAX_MESSAGE_LENGTH = 16_384;

const two = (value: number) => (value < 10 ? `0${value}` : String(value));

/** `YYYY/MM/DD HH:MM:SS`, local time. */
export function formatLogTime(time: Date): string {
  return (
    `${time.getFullYear()}/${two(time.getMonth() + 1)}/${two(time.getDate())} ` +
    `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`
  );
}

/**
 * One printable line: control characters (a newline that outside text brings along would forge a log line) become
 * escapes, and what is over the limit is cut with a note of how much.
 */
export function sanitiseLogMessage(message: string): string {
  const cut =
    message.length <= MAX_MESSAGE_LENGTH
      ? message
      : `${message.slice(0, MAX_MESSAGE_LENGTH)}... (${message.length - MAX_MESSAGE_LENGTH} characters cut)`;
  return cut.replace(/[\x00-\x08\x0a-\x1f\x7f\u0085\u2028\u2029]/g, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\r') return '\\r';
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}

/** Plain form: `time tag: LEVEL: message`; with an origin `time tag[pid] file:line at routine(): LEVEL: message`. */
export function formatPlainLine(
  time: string,
  tag: string,
  level: LogLevel,
  message: string,
  origin: LogOrigin | undefined,
): string {
  const where =
    origin === undefined ? tag : `${tag}[${origin.pid}] ${origin.file}:${origin.line} at ${origin.routine}()`;
  return `${time} ${where}: ${level.toUpperCase()}: ${sanitiseLogMessage(message)}`;
}
