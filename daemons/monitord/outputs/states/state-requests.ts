import { isObject } from '../../../../lib/json/is-object.js';
import { errorOf } from '../indexer/indexer-answers.js';
import type { IndexerAnswer } from '../indexer/indexer-client.js';
import type { IndexerConnection } from '../indexer/indexer-connection.js';

/** Milliseconds for a request that goes over an index (indexer.md 4.3). */
const BY_QUERY_MS = 600_000;
/** Hits of one page; servers give no more. */
const PAGE = 10_000;
/** Agents of one page of a count. */
const AGENTS_PAGE = 1000;
/** How long a server keeps a search open for its next page. */
const SCROLL = '1m';
/** Deletions by query that do not see all there is end at some time: the next try goes on. */
const MOST_TRIES = 10;

/** What is asked of indices of states beside bulk requests. */
export class StateRequests {
  readonly #ask: IndexerConnection['ask'];
  /** Of the documents of this node; none: all are. */
  readonly #ours: readonly object[];

  /** @param node name of this node in a cluster, whose nodes share indices */
  constructor(ask: IndexerConnection['ask'], node: string | undefined) {
    this.#ask = ask;
    this.#ours = node === undefined ? [] : [{ term: { 'wazuh.cluster.node': node } }];
  }

  /** Agents that have documents of this node in an index; refreshed documents alone are seen. @throws Error */
  async agents(index: string, signal: AbortSignal): Promise<Set<string>> {
    const found = new Set<string>();
    const sources = [{ agent: { terms: { field: 'agent.id' } } }];
    for (let after: unknown; ;) {
      const composite = { size: AGENTS_PAGE, sources, ...(after === undefined ? {} : { after }) };
      const body = { size: 0, query: this.#query(), aggs: { agents: { composite } } };
      const answer = await this.#search(`/${index}/_search`, body, signal);
      const { aggregations } = answer;
      const page = isObject(aggregations) ? aggregations['agents'] : undefined;
      const buckets: unknown = isObject(page) ? page['buckets'] : undefined;
      if (!isObject(page) || !Array.isArray(buckets)) throw new Error('the answer to a count of agents cannot be read');
      for (const bucket of buckets as unknown[]) {
        const key = isObject(bucket) ? bucket['key'] : undefined;
        const id = isObject(key) ? key['agent'] : undefined;
        if (typeof id === 'string') found.add(id);
      }
      after = page['after_key'];
      if (after === undefined || buckets.length === 0) return found;
    }
  }

  /** Ids of the documents that an agent has in an index. @throws Error */
  async ids(index: string, agent: string, signal: AbortSignal): Promise<string[]> {
    const body = { size: PAGE, _source: false, query: this.#query({ term: { 'agent.id': agent } }) };
    const all = idsOf(await this.#search(`/${index}/_search`, body, signal));
    if (all.length < PAGE) return all;
    const ids: string[] = [];
    let page = await this.#search(`/${index}/_search?scroll=${SCROLL}`, { ...body, sort: ['_doc'] }, signal);
    for (;;) {
      const some = idsOf(page);
      const { _scroll_id: scroll } = page;
      ids.push(...some);
      if (some.length < PAGE) {
        // What is left open closes by itself.
        await this.#ask({
          method: 'DELETE',
          path: '/_search/scroll',
          body: JSON.stringify({ scroll_id: scroll }),
          signal,
        });
        return ids;
      }
      page = await this.#search('/_search/scroll', { scroll: SCROLL, scroll_id: scroll }, signal);
    }
  }

  /** Deletes all documents of agents in an index; they must be refreshed. @throws Error: it is to be tried again */
  async deleteAgents(index: string, agents: readonly string[], signal: AbortSignal): Promise<number> {
    const path = `/${index}/_delete_by_query?conflicts=proceed&refresh=true`;
    const body = { query: { bool: { filter: { terms: { 'agent.id': agents } } } } };
    let deleted = 0;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const answer = await this.#search(path, body, signal);
      deleted += Number(answer['deleted'] ?? 0);
      const failures: unknown = answer['failures'];
      const isWhole = Array.isArray(failures) && failures.length === 0 && answer['timed_out'] !== true;
      if (isWhole && Number(answer['version_conflicts'] ?? 0) === 0) return deleted;
    }
    throw new Error(`documents of agents in '${index}' could not be deleted`);
  }

  #query(more?: object): object {
    const filter = [...this.#ours, ...(more === undefined ? [] : [more])];
    return filter.length === 0 ? { match_all: {} } : { bool: { filter } };
  }

  async #search(path: string, body: object, signal: AbortSignal): Promise<Record<string, unknown>> {
    const text = JSON.stringify(body);
    return objectOf(await this.#ask({ method: 'POST', path, body: text, timeoutMs: BY_QUERY_MS, signal }), path);
  }
}

/** What an answer says. @throws Error when it is a failure, or no object */
export function objectOf(answer: IndexerAnswer, path: string): Record<string, unknown> {
  if (answer.status < 200 || answer.status > 299) throw new Error(`'${path}' was answered ${errorOf(answer).shown}`);
  const value = parsed(answer.text);
  if (!isObject(value)) throw new Error(`the answer to '${path}' cannot be read`);
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function idsOf({ hits }: Record<string, unknown>): string[] {
  const found: unknown = isObject(hits) ? hits['hits'] : undefined;
  if (!Array.isArray(found)) throw new Error('the answer to a search cannot be read');
  return found.flatMap((hit: unknown) => (isObject(hit) && typeof hit['_id'] === 'string' ? [hit['_id']] : []));
}
