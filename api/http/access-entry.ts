import { isObject } from '../../lib/json/is-object.js';
import { basicCredentials, parseAuthorization } from '../auth/authorization-header.js';
import { contextHash } from '../auth/context-hash.js';
import { unverifiedTokenUser } from '../auth/token-service.js';
import type { AccessEntry } from './api-log.js';
import type { RequestContext } from './request-context.js';

/** Longest JSON body that is logged. Stops a client from filling the disk with log lines. */
const MAX_LOGGED_BODY = 16_384;
/** Bodies that hold whole files, sent at each pause in typing: what they are about is logged, and how large they are. */
const FILES_OPERATION = 'putRulesTests';
/** Longest user name or path that is logged. */
const MAX_LOGGED_TEXT = 1024;
/** Paths of files that are logged of a request. */
const MAX_LOGGED_PATHS = 10;

/**
 * A request as the access log shows it, with secrets masked (rest-api.md 1.7).
 * @param hideEvents show the events of `/events` as a count only
 * @returns the entry, and whether the user name held control characters (they are escaped)
 */
export function accessEntry(
  context: RequestContext,
  authorization: string | undefined,
  outcome: { readonly status: number; readonly seconds: number },
  hideEvents: boolean,
): { readonly entry: AccessEntry; readonly suspiciousUser: boolean } {
  const name = userName(context, authorization);
  const user = printable(name);
  const maskKey = context.path.includes('/agents');
  const parameters: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [key, value] of context.query) parameters[key] = key === 'password' ? '****' : value;
  const entry = {
    user,
    address: context.address,
    method: context.method,
    path: printable(context.path),
    parameters,
    body: loggedBody(context, maskKey, hideEvents),
    contextHash: hashOf(context),
    ...outcome,
  };
  return { entry, suspiciousUser: user !== name };
}

function userName(context: RequestContext, authorization: string | undefined): string {
  const proven = context.caller?.user.name ?? context.loginUser?.name;
  if (proven !== undefined) return proven;
  const header = parseAuthorization(authorization);
  const claimed = header?.scheme === 'bearer' ? unverifiedTokenUser(header.value) : basicCredentials(header)?.name;
  return claimed === undefined || claimed === '' ? 'unknown_user' : claimed.slice(0, MAX_LOGGED_TEXT);
}

/** By which context somebody logs in, or has. */
function hashOf({ caller, loginUser, operation, json }: RequestContext): string | undefined {
  if (caller !== undefined) return caller.claims.hash_auth_context;
  const isRunAs = loginUser !== undefined && operation?.id === 'postSecurityUserAuthenticateRunAs';
  return isRunAs && isObject(json) ? contextHash(json) : undefined;
}

function loggedBody(context: RequestContext, maskKey: boolean, hideEvents: boolean): unknown {
  const { json } = context;
  if (json === undefined) return {};
  if (hideEvents && context.path === '/events' && isObject(json) && 'events' in json) {
    return { events: Array.isArray(json['events']) ? json['events'].length : 0 };
  }
  if (context.operation?.id === FILES_OPERATION) return loggedFiles(json, context.received.length);
  const masked: unknown = JSON.parse(
    JSON.stringify(json, (key, value: unknown) => (key === 'password' || (maskKey && key === 'key') ? '****' : value)),
  );
  const { length } = JSON.stringify(masked);
  return length > MAX_LOGGED_BODY ? { characters: length } : masked;
}

/** Paths without what is in the files. */
function loggedFiles(json: unknown, bytes: number): unknown {
  const files: unknown = isObject(json) ? json['files'] : undefined;
  const known: readonly unknown[] = Array.isArray(files) ? files : [];
  const paths = known.flatMap((file) =>
    isObject(file) && typeof file['path'] === 'string' ? [file['path'].slice(0, MAX_LOGGED_TEXT)] : [],
  );
  return { files: known.length, paths: paths.slice(0, MAX_LOGGED_PATHS), bytes };
}

/** Control characters as escapes, so that nobody writes log lines of their own. */
function printable(text: string): string {
  return text
    .slice(0, MAX_LOGGED_TEXT)
    .replace(
      /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g,
      (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
    );
}
