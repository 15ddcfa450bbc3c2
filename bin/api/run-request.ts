import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { ProgressLine } from '../terminal/progress-line.js';
import type { ApiCaller } from './api-caller.js';
import type { ApiStreams } from './api-streams.js';
import { furtherPages, listOf, wholeList } from './pages.js';
import { type ApiRequest, checkQuery, queryParameters } from './request-line.js';
import { showFailures, showLines, showList, type ShowOptions, showOther } from './show-answer.js';
import { ApiUsageError } from './usage-error.js';

/** Items of a page, where nobody says another number. */
const PAGE = '500';
/** Largest body: that of a ruleset file that the API takes. */
const MAX_BODY_BYTES = 67_108_864;

export type RequestOptions = ShowOptions & {
  readonly body?: Buffer | string;
  /** All pages, also where `limit` is given, which is then the size of one. */
  readonly all: boolean;
};

/**
 * Sends a request and shows what is answered. Lists are fetched whole unless a limit is given.
 * @returns exit code: 0 done, 1 something of it could not be done
 * @throws what `ApiCaller.send` throws
 */
export async function runRequest(
  caller: ApiCaller,
  request: ApiRequest,
  { body, all, ...options }: RequestOptions,
  streams: ApiStreams,
): Promise<0 | 1> {
  const { operation, query } = request;
  const paged = operation.method === 'GET' && queryParameters(operation).some(({ name }) => name === 'offset');
  const whole = paged && (all || !query.has('limit'));
  const asked = whole && !query.has('limit') ? withParameter(request, 'limit', PAGE) : request;
  const answer = await caller.send(asked, body);
  const first = listOf(answer);
  if (first === undefined) return showOther(answer, options, streams);
  if (!whole) return showList(first, options, streams);
  const progress = new ProgressLine(streams.writeError, streams.errorsOnTerminal);
  const ask = (offset: number) => caller.send(withParameter(asked, 'offset', String(offset)));
  const pages = furtherPages(first, ask, Number(query.get('offset') ?? 0), progress);
  try {
    if (options.output === 'lines') {
      await showLines(first.data.affected_items, streams);
      for await (const page of pages) await showLines(page.data.affected_items, streams);
      return showFailures(first, streams);
    }
    const list = await wholeList(first, pages);
    progress.clear();
    return await showList(list, options, streams);
  } finally {
    progress.clear();
  }
}

/** The request with another value of a parameter. @throws ApiUsageError */
export function withParameter(request: ApiRequest, name: string, value: string): ApiRequest {
  const query = new Map([...request.query, [name, value]]);
  checkQuery(request.operation, query);
  return { ...request, query };
}

/**
 * A body as it is given: the text itself, `@FILE`, or `-` for the standard input.
 * @throws ApiUsageError for a file that cannot be read or is too large
 */
export async function readBody(given: string, input: AsyncIterable<Buffer>): Promise<Buffer | string> {
  if (given === '-') {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of input) {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) throw new ApiUsageError(`the body is larger than ${MAX_BODY_BYTES} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }
  return given.startsWith('@') ? readBodyFile(given.slice(1)) : given;
}

function readBodyFile(path: string): Buffer {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    throw new ApiUsageError(`the body cannot be read: ${(error as Error).message}`);
  }
  try {
    const stats = fstatSync(file);
    if (stats.isDirectory()) throw new ApiUsageError(`'${path}' is a directory`);
    if (stats.size > MAX_BODY_BYTES) throw new ApiUsageError(`'${path}' is larger than ${MAX_BODY_BYTES} bytes`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}
