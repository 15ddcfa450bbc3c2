import { type FieldMapping, parseSource, RefusedDocument, StrictMapping } from './strict-mapping.js';

export type StatesRequest = {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly send: (status: number, answer: unknown) => void;
  readonly fail: (status: number, type: string, reason: string) => void;
};

type Document = Readonly<Record<string, unknown>>;
type Properties = Record<string, FieldMapping>;

class StateIndex {
  readonly uuid: string;
  readonly documents = new Map<string, Document>();
  /** What searches see. */
  searchable = new Map<string, Document>();
  mapping: StrictMapping;

  constructor(uuid: string, properties: Properties) {
    this.uuid = uuid;
    this.mapping = new StrictMapping(properties, true);
  }
}

const KNOWN_TYPES = 'keyword match_only_text text long unsigned_long integer short scaled_float boolean date ip'.split(
  ' ',
);
const PATH = /^\/(wazuh-states-[a-z0-9_.-]+)(?:\/(_settings|_mapping|_search|_delete_by_query))?(?:\?(.*))?$/;
/** Hits of one page, as servers give them at most. */
const MOST_HITS = 10_000;

/**
 * What a search engine does with indices of states: mappings are strict, and a search sees what was refreshed alone, which
 * happens when it is asked for, and not by itself.
 */
export class StrictStates {
  readonly indices = new Map<string, StateIndex>();
  readonly templates = new Map<string, unknown>();
  /** Answers of deletions by query with so many conflicts come first. */
  conflicts = 0;
  /** Answers with this status for the next requests that are no bulk ones. */
  readonly faults: number[] = [];
  readonly #without: readonly string[];
  readonly #violation: (text: string) => void;
  readonly #scrolls = new Map<string, string[]>();
  #made = 0;

  constructor(without: readonly string[], violation: (text: string) => void) {
    this.#without = without;
    this.#violation = violation;
  }

  /** Documents of an index by id. */
  documents(index: string): ReadonlyMap<string, Document> {
    return this.indices.get(index)?.documents ?? new Map<string, Document>();
  }

  refresh(name: string): void {
    const index = this.indices.get(name);
    if (index !== undefined) index.searchable = new Map(index.documents);
  }

  /** An action of a bulk request. @param source undefined: a deletion @returns its status, and what is said beside */
  write(name: string, id: string, source: string | undefined): [number, object] {
    const index = this.indices.get(name);
    if (index === undefined) {
      return [404, { error: { type: 'index_not_found_exception', reason: `no such index [${name}]` } }];
    }
    if (source === undefined) {
      return index.documents.delete(id) ? [200, { result: 'deleted' }] : [404, { result: 'not_found' }];
    }
    try {
      const document = parseSource(source);
      index.mapping.take(document);
      index.documents.set(id, document);
      return [201, { result: 'created' }];
    } catch (error) {
      if (!(error instanceof RefusedDocument)) throw error;
      return [400, { error: { type: error.type, reason: error.message } }];
    }
  }

  /** @returns whether it is about states */
  answer(request: StatesRequest): boolean {
    const { method, url, body, fail } = request;
    const isTemplate = /^\/_index_template\/wazuh-states-[a-z0-9_.-]+_template$/.test(url);
    const [, name, what = '', query = ''] = PATH.exec(url) ?? [];
    if (name === undefined && !isTemplate && !url.startsWith('/_search/scroll')) return false;
    const fault = this.faults.shift();
    if (fault !== undefined) {
      fail(fault, 'some_exception', 'not now');
    } else if (isTemplate && method === 'PUT') {
      this.#template(url, JSON.parse(body) as { template: { mappings: { properties: Properties } } }, request);
    } else if (name === undefined) {
      this.#scroll(method, JSON.parse(body) as { scroll_id: string }, request);
    } else {
      this.#onIndex(name, `${method} ${what}`, query, request);
    }
    return true;
  }

  #onIndex(name: string, what: string, query: string, { url, body, send, fail }: StatesRequest): void {
    const index = this.indices.get(name);
    const parsed = (): Record<string, unknown> => JSON.parse(body) as Record<string, unknown>;
    if (what === 'PUT ') {
      this.#make(name, parsed() as { mappings: { properties: Properties } }, send, fail);
    } else if (index === undefined) {
      fail(404, 'index_not_found_exception', `no such index [${name}]`);
    } else if (what === 'GET _settings') {
      send(200, { [name]: { settings: { index: { uuid: index.uuid } } } });
    } else if (what === 'GET _mapping') {
      send(200, { [name]: { mappings: { dynamic: 'strict', properties: index.mapping.properties } } });
    } else if (what === 'PUT _mapping') {
      merge(index.mapping.properties, parsed()['properties'] as Properties);
      send(200, { acknowledged: true });
    } else if (what === 'POST _search') {
      this.#search(index, query, parsed() as SearchBody, send);
    } else if (what === 'POST _delete_by_query' && query === 'conflicts=proceed&refresh=true') {
      this.#deleteByQuery(index, parsed() as SearchBody, send);
    } else {
      this.#violation(`${what} ${url}`);
      fail(405, 'method_not_allowed', url);
    }
  }

  #template(
    url: string,
    { template }: { readonly template: { readonly mappings: { readonly properties: Properties } } },
    { send, fail }: StatesRequest,
  ): void {
    const problem = this.#problem(template.mappings.properties);
    if (problem !== undefined) return fail(400, 'mapper_parsing_exception', problem);
    this.templates.set(url, template);
    send(200, { acknowledged: true });
  }

  #make(
    name: string,
    { mappings }: { readonly mappings: { readonly properties: Properties } },
    send: StatesRequest['send'],
    fail: StatesRequest['fail'],
  ): void {
    const problem = this.#problem(mappings.properties);
    if (this.indices.has(name)) return fail(400, 'resource_already_exists_exception', `index [${name}] already exists`);
    if (problem !== undefined) return fail(400, 'mapper_parsing_exception', problem);
    this.#made += 1;
    this.indices.set(name, new StateIndex(`uuid-${String(this.#made)}`, mappings.properties));
    send(200, { acknowledged: true });
  }

  #problem(properties: Properties): string | undefined {
    for (const [name, { type = '', properties: inner }] of Object.entries(properties)) {
      if (inner !== undefined) {
        const problem = this.#problem(inner);
        if (problem !== undefined) return problem;
      } else if (!KNOWN_TYPES.includes(type) || this.#without.includes(type)) {
        return `No handler for type [${type}] declared on field [${name}]`;
      }
    }
    return undefined;
  }

  #search(
    index: StateIndex,
    query: string,
    { size, aggs, query: wanted }: SearchBody,
    send: StatesRequest['send'],
  ): void {
    const found = [...index.searchable].filter(([, document]) => matches(document, wanted));
    if (aggs !== undefined) {
      const { size: most, after } = aggs.agents.composite;
      const ids = [...new Set(found.map(([, document]) => String(valueAt(document, 'agent.id'))))].sort();
      const page = ids.filter((id) => after === undefined || id > after.agent).slice(0, most);
      const last = page.at(-1);
      const buckets = page.map((agent) => ({ key: { agent }, doc_count: 1 }));
      send(200, {
        aggregations: { agents: { ...(last === undefined ? {} : { after_key: { agent: last } }), buckets } },
      });
      return;
    }
    if (size > MOST_HITS) this.#violation('Result window is too large');
    const all = found.map(([id]) => id);
    const scroll = query === 'scroll=1m' ? `scroll-${String(this.#scrolls.size)}` : undefined;
    if (scroll !== undefined) this.#scrolls.set(scroll, all.slice(size));
    send(200, { ...(scroll === undefined ? {} : { _scroll_id: scroll }), hits: { hits: hitsOf(all.slice(0, size)) } });
  }

  #scroll(method: string, { scroll_id: id }: { readonly scroll_id: string }, { send }: StatesRequest): void {
    const left = this.#scrolls.get(id) ?? [];
    if (method === 'DELETE') this.#scrolls.delete(id);
    else this.#scrolls.set(id, left.slice(MOST_HITS));
    send(200, { _scroll_id: id, hits: { hits: hitsOf(left.slice(0, MOST_HITS)) } });
  }

  #deleteByQuery(index: StateIndex, { query }: SearchBody, send: StatesRequest['send']): void {
    if (this.conflicts > 0) {
      this.conflicts -= 1;
      send(200, { deleted: 0, version_conflicts: 1, timed_out: false, failures: [] });
      return;
    }
    let deleted = 0;
    let conflicts = 0;
    for (const [id, document] of index.searchable) {
      if (!matches(document, query)) continue;
      // It has changed since the last refresh.
      if (index.documents.get(id) !== document) conflicts += 1;
      else if (index.documents.delete(id)) deleted += 1;
    }
    index.searchable = new Map(index.documents);
    send(200, { deleted, version_conflicts: conflicts, timed_out: false, failures: [] });
  }
}

type Query = {
  readonly match_all?: object;
  readonly bool?: { readonly filter: Query | readonly Query[] };
  readonly term?: Readonly<Record<string, string>>;
  readonly terms?: Readonly<Record<string, readonly string[]>>;
};
type SearchBody = {
  readonly size: number;
  readonly query: Query;
  readonly aggs?: {
    readonly agents: { readonly composite: { readonly size: number; readonly after?: { agent: string } } };
  };
};

function matches(document: Document, { bool, term, terms }: Query): boolean {
  if (bool !== undefined) return [bool.filter].flat().every((one) => matches(document, one as Query));
  const isOne = Object.entries(term ?? {}).every(([path, value]) => valueAt(document, path) === value);
  return (
    isOne && Object.entries(terms ?? {}).every(([path, values]) => values.includes(String(valueAt(document, path))))
  );
}

function valueAt(document: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], document);
}

function hitsOf(ids: readonly string[]): { readonly _id: string }[] {
  return ids.map((_id) => ({ _id }));
}

function merge(into: Properties, more: Properties): void {
  for (const [name, field] of Object.entries(more)) {
    const there = into[name];
    if (there?.properties !== undefined && field.properties !== undefined) merge(there.properties, field.properties);
    else into[name] ??= field;
  }
}
