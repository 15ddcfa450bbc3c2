import { isObject } from '../../../../lib/json/is-object.js';
import type { IndexerAnswer } from './indexer-client.js';

/** What came of one document of a bulk request (indexer.md 4.7). */
export type ItemOutcome =
  | { readonly kind: 'done' }
  /** To be sent again. */
  | { readonly kind: 'again'; readonly reason: string }
  /** This document is refused, however often it is sent. */
  | { readonly kind: 'refused'; readonly type: string; readonly reason: string };

/** Characters of a server's words that are shown. */
const SHOWN = 300;
const TOO_MANY_SHARDS = 'maximum shards open';

/** What an answer says went wrong, on one line: `400 mapper_parsing_exception: failed to parse field`. */
export function errorOf({ status, text }: IndexerAnswer): {
  readonly type: string;
  readonly reason: string;
  readonly shown: string;
} {
  const { type, reason } = errorMembers(memberOf(parse(text), 'error'));
  const said = [type, reason].filter((part) => part !== '').join(': ') || oneLine(text);
  return { type, reason, shown: oneLine(`${String(status)} ${said}`) };
}

/**
 * What an answer to a bulk request says of each document.
 * @param count documents that were sent
 * @throws Error when it is no such answer: then nobody knows, and all are sent again
 */
export function bulkOutcomes(text: string, count: number): ItemOutcome[] {
  const items = memberOf(parse(text), 'items');
  if (!Array.isArray(items) || items.length !== count) {
    throw new Error(`the answer is none to ${String(count)} documents: ${oneLine(text)}`);
  }
  return items.map((item: unknown) => {
    const action = isObject(item) ? Object.values(item)[0] : undefined;
    const status = memberOf(action, 'status');
    if (typeof status !== 'number') throw new Error(`the answer is none to a bulk request: ${oneLine(text)}`);
    return outcomeOf(status, memberOf(action, 'error'));
  });
}

function outcomeOf(status: number, error: unknown): ItemOutcome {
  // A document of this id is there: it came with a request whose answer did not. Or one that was to be deleted is not.
  const isNotThere = status === 404 && error === undefined;
  if ((status >= 200 && status < 300) || status === 409 || isNotThere) return { kind: 'done' };
  const { type, reason } = errorMembers(error);
  const shown = oneLine(`${String(status)} ${type}: ${reason}`);
  const isFull = type === 'validation_exception' && reason.includes(TOO_MANY_SHARDS);
  if (isFull) return { kind: 'again', reason: `${shown} (cluster.max_shards_per_node may have to be raised)` };
  // A document that is refused for what it holds has 400; 404 and 403 are the index's, and may pass.
  return status === 400 ? { kind: 'refused', type, reason: oneLine(reason) } : { kind: 'again', reason: shown };
}

function errorMembers(error: unknown): { readonly type: string; readonly reason: string } {
  if (typeof error === 'string') return { type: '', reason: error };
  const [type, reason, cause] = ['type', 'reason', 'caused_by'].map((name) => memberOf(error, name));
  const because = memberOf(cause, 'reason');
  return {
    type: typeof type === 'string' ? type : '',
    reason: [reason, because].filter((part) => typeof part === 'string').join(': '),
  };
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function oneLine(text: string): string {
  return text
    .replace(/[\u0000-\u001f\u007f]+/g, ' ')
    .trim()
    .slice(0, SHOWN);
}
