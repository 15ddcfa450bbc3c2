import { MAX_LINE_BYTES } from './line-splitter.js';
import { strftime } from './strftime.js';

/** What the tokens of an `out_format` stand for. */
export type OutputContext = {
  readonly location: string;
  readonly hostname: string;
  readonly hostAddress: () => string;
  readonly now: () => Date;
  /** Told of a message that is cut, with the bytes it had. */
  readonly cut: (bytes: number) => void;
};

type MessagePart = (message: Buffer) => Buffer;

/** `%b %e %T`: what `$(timestamp)` stands for without a format of its own. */
const DEFAULT_TIMESTAMP = '%b %e %T';

/**
 * Compiles an `out_format` (daemons-and-config.md 6.2): `$(log)`, `$(json_escaped_log)`, `$(base64_log)`, `$(location)`,
 * `$(timestamp <strftime>)`, `$(hostname)`, `$(host_ip)`. What is no token stays as it is written. A message has at most
 * `MAX_LINE_BYTES`.
 */
export function compileOutputFormat(format: string, context: OutputContext): (message: Buffer) => Buffer {
  const parts: MessagePart[] = [];
  let end = 0;
  for (const match of format.matchAll(/\$\(([^)]*)\)/g)) {
    const part = tokenPart(match[1] ?? '', context);
    if (part === undefined) {
      continue;
    }
    parts.push(fixed(format.slice(end, match.index)), part);
    end = match.index + match[0].length;
  }
  parts.push(fixed(format.slice(end)));
  return (message) => {
    const whole = Buffer.concat(parts.map((part) => part(message)));
    if (whole.length <= MAX_LINE_BYTES) {
      return whole;
    }
    context.cut(whole.length);
    return whole.subarray(0, MAX_LINE_BYTES);
  };
}

function fixed(text: string): MessagePart {
  const bytes = Buffer.from(text);
  return () => bytes;
}

function tokenPart(token: string, context: OutputContext): MessagePart | undefined {
  switch (token) {
    case 'log':
    case 'output':
      return (message) => message;
    case 'json_escaped_log':
      return (message) => Buffer.from(JSON.stringify(message.toString('utf8')).slice(1, -1));
    case 'base64_log':
      return (message) => Buffer.from(message.toString('base64'));
    case 'location':
    case 'command':
      return fixed(context.location);
    case 'hostname':
      return fixed(context.hostname);
    case 'host_ip':
      return () => Buffer.from(context.hostAddress());
    default: {
      const time = /^timestamp(?: (.*))?$/s.exec(token);
      return time === null ? undefined : () => Buffer.from(strftime(time[1] ?? DEFAULT_TIMESTAMP, context.now()));
    }
  }
}
