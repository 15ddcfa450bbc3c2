import { type FailedItem, Failure, readFailure } from './failure.js';
import type { Session } from './session.js';

/** Parameters of a request; what is undefined or empty is left out, lists are joined by commas. */
export type Parameters = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** A list of the API (rest-api.md 3.1). */
export type List<T> = {
  readonly affected_items: readonly T[];
  readonly total_affected_items: number;
  readonly failed_items: readonly FailedItem[];
  readonly total_failed_items: number;
};

/** The only item of a list that was asked for one. @throws Failure with the reason why it is not there */
export function onlyItem<T>({ affected_items: [item], failed_items: [failed] }: List<T>): T | undefined {
  if (item === undefined && failed !== undefined) throw failureOf(failed, [failed]);
  return item;
}

function failureOf({ error: { message, code, remediation } }: FailedItem, failed: readonly FailedItem[]): Failure {
  return new Failure(message, { status: 200, code, remediation, failed });
}

type Sending = {
  readonly params?: Parameters | undefined;
  readonly json?: unknown;
  /** A file, as it is. */
  readonly octets?: string | undefined;
  readonly xml?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Asks the API that this page came from, in the name of who is logged in. */
export class ApiClient {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * The `data` of an answer.
   * @throws Failure; after a 401 the session is over
   */
  async get<T>(path: string, params: Parameters = {}, signal?: AbortSignal): Promise<T> {
    const answer = JSON.parse(await this.#text('GET', path, { params, signal })) as { data: T };
    return answer.data;
  }

  list<T>(path: string, params: Parameters = {}, signal?: AbortSignal): Promise<List<T>> {
    return this.get<List<T>>(path, params, signal);
  }

  /** A file as it is. */
  text(path: string, params: Parameters = {}, signal?: AbortSignal): Promise<string> {
    return this.#text('GET', path, { params, signal });
  }

  /**
   * Changes something.
   * @throws Failure, also when the answer is 200 and nothing of what was asked for could be done
   */
  async send<T = unknown>(method: 'POST' | 'PUT' | 'DELETE', path: string, sending: Sending = {}): Promise<List<T>> {
    const answer = JSON.parse(await this.#text(method, path, sending)) as { data?: Partial<List<T>>; message?: string };
    const data: List<T> = {
      affected_items: [],
      total_affected_items: 0,
      failed_items: [],
      total_failed_items: 0,
      ...answer.data,
    };
    const [failed] = data.failed_items;
    if (failed !== undefined && data.affected_items.length === 0) throw failureOf(failed, data.failed_items);
    return data;
  }

  /** What has another form than lists: `data` of an answer to a change. @throws Failure */
  async exchange<T>(method: 'POST' | 'PUT' | 'DELETE', path: string, sending: Sending = {}): Promise<T> {
    return (JSON.parse(await this.#text(method, path, sending)) as { data: T }).data;
  }

  /** The answer itself, to be read as it comes. @throws Failure */
  async open(
    path: string,
    params: Parameters,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Response> {
    return this.#fetch('GET', path, { params, signal }, headers);
  }

  async #text(method: string, path: string, sending: Sending): Promise<string> {
    const answer = await this.#fetch(method, path, sending, {});
    try {
      return await answer.text();
    } catch (error) {
      throw lost(error);
    }
  }

  async #fetch(
    method: string,
    path: string,
    { params = {}, json, octets, xml, signal }: Sending,
    headers: Record<string, string>,
  ): Promise<Response> {
    const { authorization } = this.#session;
    if (authorization === undefined) throw new Failure('You are not logged in.', { status: 401 });
    const options: RequestInit = { method, headers: { ...headers, authorization }, signal: signal ?? null };
    const body = octets ?? xml ?? (json === undefined ? undefined : JSON.stringify(json));
    if (body !== undefined) {
      options.body = body;
      options.headers = { ...options.headers, 'content-type': typeOf(octets, xml) };
    }
    let answer: Response;
    try {
      answer = await fetch(path + queryOf(params), options);
    } catch (error) {
      throw lost(error);
    }
    if (answer.ok) return answer;
    // An answer to a token that somebody has replaced since then says nothing of the one in use.
    if (answer.status === 401 && this.#session.authorization === authorization) this.#session.end();
    throw readFailure(answer.status, await answer.text().catch(() => ''));
  }
}

function typeOf(octets: string | undefined, xml: string | undefined): string {
  if (octets !== undefined) return 'application/octet-stream';
  return xml === undefined ? 'application/json' : 'application/xml';
}

/** `?a=b`, or nothing. */
function queryOf(params: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    const text = Array.isArray(value) ? value.join(',') : String(value ?? '');
    if (text !== '') query.set(name, text);
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}

/** One that was broken off on purpose stays what it is. */
function lost(error: unknown): unknown {
  if (error instanceof DOMException && error.name === 'AbortError') return error;
  return new Failure('The server cannot be reached.', { status: 0 });
}
