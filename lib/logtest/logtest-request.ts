import { toByteString } from '../engine/byte-string.js';
import { isObject } from '../json/is-object.js';
import { jsonErrorOffset } from './json-error-offset.js';

/** Length of a session's token, hexadecimal digits. */
export const TOKEN_LENGTH = 8;

export type LogtestReply = {
  readonly error: number;
  readonly message?: string;
  readonly data: Record<string, unknown>;
};

/** A request that is refused before any session is touched (rules-and-alerts.md 9.2). */
export class LogtestRequestError extends Error {
  override readonly name = 'LogtestRequestError';

  constructor(
    readonly error: number,
    message: string,
  ) {
    super(message);
  }

  /** Members in the order of the wire. */
  reply(): LogtestReply {
    return { message: this.message, error: this.error, data: {} };
  }
}

export type Severity = 'ERROR' | 'WARNING' | 'INFO';
export type Message = { readonly severity: Severity; readonly text: string };

export type ProcessRequest = {
  readonly kind: 'process';
  readonly location: string;
  /** The log line as a byte string; an object is given as compact JSON. */
  readonly event: string;
  readonly token: string | undefined;
  readonly debugRules: boolean;
  /** Asks for every step of the event's way; not in the reference. */
  readonly explain: boolean;
  /** Id of a rule: why did it not fire? Not in the reference. */
  readonly why: number | undefined;
  /** What was wrong with members that may be left out. */
  readonly warnings: readonly Message[];
};

export type RemoveRequest = { readonly kind: 'remove'; readonly token: string };

type RequestMembers = ReadonlyMap<string, unknown>;

/**
 * Reads a request as it comes over the local socket.
 * @throws LogtestRequestError in the order and with the texts of rules-and-alerts.md 9.2
 */
export function parseLogtestRequest(text: string): ProcessRequest | RemoveRequest {
  let request: unknown;
  try {
    request = JSON.parse(text);
  } catch {
    const offset = jsonErrorOffset(text);
    const around = text.slice(Math.max(0, offset - 10), Math.max(0, offset - 10) + 20);
    const position = Buffer.byteLength(text.slice(0, offset), 'utf8');
    throw new LogtestRequestError(1, `(7307): Error parsing JSON in position ${String(position)}, ... ${around} ...`);
  }
  const members = membersOf(request) ?? new Map<string, unknown>();
  const parameters = membersOf(required(members, 'parameters'));
  if (parameters === undefined) throw invalid('parameters');
  const command = required(members, 'command');
  if (typeof command !== 'string') throw invalid('command');
  if (command === 'log_processing') return readProcessRequest(parameters);
  if (command === 'remove_session') return readRemoveRequest(parameters);
  throw new LogtestRequestError(3, '(7306): Unable to process command');
}

/** Reads the parameters of `log_processing`. @throws LogtestRequestError */
export function readProcessRequest(parameters: RequestMembers): ProcessRequest {
  const location = requiredText(parameters, 'location');
  requiredText(parameters, 'log_format');
  const event = toByteString(eventText(required(parameters, 'event')));
  const warnings: Message[] = [];
  let token: string | undefined;
  const given = parameters.get('token');
  if (given !== undefined) {
    if (typeof given === 'string' && given.length === TOKEN_LENGTH) {
      token = given;
    } else {
      warnings.push(
        warning(`(7309): '${typeof given === 'string' ? given : JSON.stringify(given)}' is not a valid token`),
      );
    }
  }
  let debugRules = false;
  let explain = false;
  let why: number | undefined;
  const options = parameters.get('options');
  if (options !== undefined) {
    const optionMembers = membersOf(options);
    if (optionMembers === undefined) {
      warnings.push(warning("(7005): 'options' field must be a JSON object. The parameter will be ignored"));
    } else {
      const debug = optionMembers.get('rules_debug');
      if (typeof debug === 'boolean') {
        debugRules = debug;
      } else if (debug !== undefined) {
        warnings.push(warning("(7006): 'rules_debug' field must be a boolean. The parameter will be ignored"));
      }
      const explainOption = optionMembers.get('explain');
      if (typeof explainOption === 'boolean') {
        explain = explainOption;
      } else if (explainOption !== undefined) {
        warnings.push(warning("'explain' field must be a boolean. The parameter will be ignored"));
      }
      const rule = optionMembers.get('why');
      if (typeof rule === 'number' && Number.isSafeInteger(rule) && rule >= 0) {
        why = rule;
      } else if (rule !== undefined) {
        warnings.push(warning("'why' field must be the id of a rule. The parameter will be ignored"));
      }
    }
  }
  return { kind: 'process', location, event, token, debugRules, explain, why, warnings };
}

/** Reads the parameters of `remove_session`. @throws LogtestRequestError */
export function readRemoveRequest(parameters: RequestMembers): RemoveRequest {
  const token = parameters.get('token');
  if (typeof token !== 'string') {
    throw new LogtestRequestError(4, '(7316): Failure to remove session. token JSON field must be a string');
  }
  if (token.length !== TOKEN_LENGTH) throw new LogtestRequestError(4, `(7309): '${token}' is not a valid token`);
  return { kind: 'remove', token };
}

/** Own members of an object; undefined for anything else. A Map, so that no name means anything to JavaScript. */
export function membersOf(value: unknown): RequestMembers | undefined {
  if (!isObject(value)) return undefined;
  return new Map(Object.entries(value).filter(([, member]) => member !== undefined));
}

function required(members: RequestMembers, name: string): unknown {
  const value = members.get(name);
  if (value === undefined) throw new LogtestRequestError(2, `(7313): '${name}' JSON field not found`);
  return value;
}

function invalid(name: string): LogtestRequestError {
  return new LogtestRequestError(2, `(7317): '${name}' JSON field value is not valid`);
}

function requiredText(members: RequestMembers, name: string): string {
  const value = members.get(name);
  if (typeof value === 'string' && value !== '') return value;
  throw new LogtestRequestError(2, `(7308): '${name}' JSON field is required and must be a string`);
}

function eventText(event: unknown): string {
  if (typeof event === 'string' && event !== '') return event;
  if ((membersOf(event)?.size ?? 0) > 0) return JSON.stringify(event);
  throw invalid('event');
}

function warning(text: string): Message {
  return { severity: 'WARNING', text };
}
