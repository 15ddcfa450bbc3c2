import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import type { SecureContext } from 'node:tls';
import { describeError } from '../../../lib/log/describe-error.js';
import { AddressError, authorizationOf, parseAddress } from './download-address.js';
import { DownloadError } from './download-error.js';
import { CONNECT_TIMEOUT_MS, IDLE_TIMEOUT_MS, MAX_REDIRECTS, MAX_VALIDATOR_CHARS } from './download-limits.js';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const OK = 200;
const NOT_MODIFIED = 304;
const SECOND_MS = 1000;

/** What a server says of a file, to be asked with the next time. */
export type Validators = { readonly etag?: string; readonly lastModified?: string };

export type FetchOptions = {
  /** Largest file taken. */
  readonly maxBytes: number;
  /** Milliseconds a download may take as a whole, redirects included. */
  readonly timeoutMs: number;
  /** Whether certificates are verified. */
  readonly verify: boolean;
  /** Authorities beside the public ones. @throws DownloadError */
  readonly trust?: () => SecureContext | undefined;
  /** Milliseconds until a connection stands. */
  readonly connectMs?: number;
  /** Milliseconds a server may be silent. */
  readonly idleMs?: number;
};

export type FetchRequest = {
  readonly address: string;
  /** File that is made for the content; it must not exist. Of a failure nothing is left. */
  readonly target: string;
  /** Of the content that is here already, from the same address. */
  readonly validators?: Validators | undefined;
  readonly signal: AbortSignal;
};

export type FetchResult =
  | { readonly state: 'fetched'; readonly bytes: number; readonly sha256: string; readonly validators?: Validators }
  /** The server says that the content is the one the validators belong to. */
  | { readonly state: 'unchanged' };

/**
 * Fetches an address over HTTP or HTTPS into a file, safe on the disk, as the server has it: nothing is unpacked.
 * @throws DownloadError `server` for whatever the server or the way to it does, `file` for this host's disk, `cancelled`
 */
export async function fetchFile(options: FetchOptions, request: FetchRequest): Promise<FetchResult> {
  const stop = new AbortController();
  const cancel = (): void => {
    stop.abort(new DownloadError('cancelled', 'cancelled'));
  };
  const timer = setTimeout(() => {
    stop.abort(new DownloadError('server', `it took longer than ${seconds(options.timeoutMs)}`));
  }, options.timeoutMs);
  request.signal.addEventListener('abort', cancel, { once: true });
  if (request.signal.aborted) cancel();
  try {
    const { response, redirected } = await follow(options, request, stop);
    try {
      if (response.statusCode === NOT_MODIFIED) return { state: 'unchanged' };
      checkHead(response, options.maxBytes);
      const content = await store(response, request.target, options.maxBytes);
      // Behind a redirect there may be another file the next time.
      return { state: 'fetched', ...content, ...(redirected ? {} : { validators: validatorsOf(response.headers) }) };
    } finally {
      response.destroy();
    }
  } catch (error) {
    if (stop.signal.aborted) throw stop.signal.reason as DownloadError;
    if (error instanceof DownloadError) throw error;
    throw new DownloadError('server', describeFailure(error));
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener('abort', cancel);
  }
}

type Answer = { readonly response: http.IncomingMessage; readonly redirected: boolean };

async function follow(
  options: FetchOptions,
  { address, validators }: FetchRequest,
  stop: AbortController,
): Promise<Answer> {
  let { url, authorization } = target(address);
  for (let redirects = 0; ; redirects += 1) {
    const headers = {
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'security-manager',
      ...(authorization === undefined ? {} : { authorization }),
      ...(redirects > 0 || validators === undefined ? {} : conditions(validators)),
    };
    const response = await ask(options, url, headers, stop);
    const status = response.statusCode ?? 0;
    if (status === OK || (status === NOT_MODIFIED && redirects === 0 && validators !== undefined)) {
      return { response, redirected: redirects > 0 };
    }
    const { location } = response.headers;
    response.destroy();
    if (!REDIRECTS.has(status)) throw new DownloadError('server', `the server answered ${String(status)}`);
    if (redirects === MAX_REDIRECTS) throw new DownloadError('server', `more than ${String(MAX_REDIRECTS)} redirects`);
    if (location === undefined) {
      throw new DownloadError('server', `the server answered ${String(status)} without an address`);
    }
    const next = target(location, url);
    if (url.protocol === 'https:' && next.url.protocol === 'http:') {
      throw new DownloadError('server', 'the server redirects from https to http, which is not followed');
    }
    // A password is for the server it was written for.
    const kept = next.url.origin === url.origin ? authorization : undefined;
    authorization = next.authorization ?? kept;
    ({ url } = next);
  }
}

/**
 * An address without the user in it, and the header made of that.
 * @throws DownloadError for an address that is not fetched
 */
function target(text: string, base?: URL): { readonly url: URL; readonly authorization: string | undefined } {
  try {
    const url = parseAddress(text, base);
    const authorization = authorizationOf(url);
    url.username = '';
    url.password = '';
    return { url, authorization };
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw new DownloadError('server', base === undefined ? error.message : `redirected: ${error.message}`);
  }
}

function ask(
  { verify, trust, connectMs = CONNECT_TIMEOUT_MS, idleMs = IDLE_TIMEOUT_MS }: FetchOptions,
  url: URL,
  headers: http.OutgoingHttpHeaders,
  stop: AbortController,
): Promise<http.IncomingMessage> {
  const secure = url.protocol === 'https:';
  const secureContext = secure && verify ? trust?.() : undefined;
  const settings: https.RequestOptions = {
    headers,
    // A connection of its own: nothing stays open between two downloads.
    agent: false,
    signal: stop.signal,
    ...(secure ? { rejectUnauthorized: verify, ...(secureContext === undefined ? {} : { secureContext }) } : {}),
  };
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => (): void => {
      stop.abort(new DownloadError('server', reason));
    };
    const connecting = setTimeout(fail(`no connection within ${seconds(connectMs)}`), connectMs);
    const request = (secure ? https : http).request(url, settings);
    request.once('socket', (socket) => {
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        clearTimeout(connecting);
        request.setTimeout(idleMs, fail(`the server was silent for ${seconds(idleMs)}`));
      });
    });
    request.once('response', (response) => {
      // Destroyed by a time-out or here, it must not end the process with an error nobody waits for.
      response.on('error', () => {});
      resolve(response);
    });
    request.once('close', () => {
      clearTimeout(connecting);
    });
    request.on('error', reject);
    request.end();
  });
}

/** @throws DownloadError for an answer that is not to be read */
function checkHead({ headers }: http.IncomingMessage, maxBytes: number): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    throw new DownloadError('server', `the server sends the content encoded as '${encoding.slice(0, 40)}'`);
  }
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

function tooLarge(maxBytes: number): DownloadError {
  return new DownloadError('server', `the file is larger than ${String(maxBytes)} bytes`);
}

async function store(
  response: http.IncomingMessage,
  target: string,
  maxBytes: number,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const file = await onDisk(open(target, 'wx', 0o660));
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    // No piece is read before the one before it is written: memory holds one, however large the file is.
    for await (const piece of response as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      hash.update(piece);
      await onDisk(file.appendFile(piece));
    }
    if (!response.complete) throw new DownloadError('server', 'the server ended before the file did');
    await onDisk(settle(file));
  } catch (error) {
    await file.close().catch(() => {});
    await rm(target, { force: true });
    throw error;
  }
  await onDisk(file.close());
  return { bytes, sha256: hash.digest('hex') };
}

async function settle(file: FileHandle): Promise<void> {
  await file.chmod(0o660);
  await file.sync();
}

/** Tells what this host's disk does from what the server does. @throws DownloadError `file` */
async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new DownloadError('file', describeError(error));
  }
}

function conditions({ etag, lastModified }: Validators): http.OutgoingHttpHeaders {
  return {
    ...(etag === undefined ? {} : { 'if-none-match': etag }),
    ...(lastModified === undefined ? {} : { 'if-modified-since': lastModified }),
  };
}

function validatorsOf({ etag, 'last-modified': lastModified }: http.IncomingHttpHeaders): Validators {
  return {
    ...(etag === undefined || etag.length > MAX_VALIDATOR_CHARS ? {} : { etag }),
    ...(lastModified === undefined || lastModified.length > MAX_VALIDATOR_CHARS ? {} : { lastModified }),
  };
}

/** An error of the network in words. Several addresses of one name fail as one error without a text. */
function describeFailure(error: unknown): string {
  const one = error instanceof AggregateError ? (error.errors as unknown[])[0] : error;
  return describeError(one);
}

function seconds(milliseconds: number): string {
  return `${String(milliseconds / SECOND_MS)} s`;
}
