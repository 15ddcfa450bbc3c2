import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { isObject } from '../../../lib/json/is-object.js';
import type { TestCertificate } from '../tls/test-certificates.js';
import { type FieldMapping, parseSource, RefusedDocument, StrictMapping } from './strict-mapping.js';
import { StrictStates } from './strict-states.js';

type Index = { readonly mapping: StrictMapping; readonly documents: Map<string, Record<string, unknown>> };

/** How a bulk request is answered instead of properly; a number is a status, `items` statuses of its documents in turn. */
export type BulkFault =
  | number
  | 'hang'
  | 'close'
  | 'garbage'
  /** It is carried out, and the answer does not come. */
  | 'close_after'
  | { readonly items: readonly number[] };

export type StrictIndexerOptions = {
  readonly tls?: TestCertificate & { readonly clientCa?: string };
  readonly account?: { readonly username: string; readonly password: string };
  readonly maxBytes?: number;
  readonly geoip?: boolean;
  /** Types that it does not know. */
  readonly without?: readonly string[];
};

const FIELD_TYPES = new Set(['keyword', 'text', 'long', 'integer', 'double', 'boolean', 'ip', 'geo_point', 'date']);
/** Characters that names of indices may not have. */
const BAD_INDEX = /[A-Z\\/*?"<>| ,#:]|^[-_+.]/;

/**
 * A search engine on the loopback that takes nothing but what the public bulk protocol says: NDJSON with a line end at its
 * end, actions of one member, valid names, documents that fit the template.
 */
export class StrictIndexer {
  readonly indices = new Map<string, Index>();
  readonly templates = new Map<string, Record<string, unknown>>();
  /** Indices of states. */
  readonly states: StrictStates;
  readonly pipelines = new Map<string, Record<string, unknown>>();
  /** Documents of each bulk request, and what was asked with it. */
  readonly bulks: { readonly count: number; readonly bytes: number; readonly path: string }[] = [];
  /** What was wrong with requests: a client that keeps to the protocol leaves it empty. */
  readonly violations: string[] = [];
  /** The next bulk requests are answered with these, one each. */
  readonly faults: BulkFault[] = [];
  /** So many bulk requests are carried out before the faults begin. */
  afterBulks = 0;
  health: string | number = 'green';
  requests = 0;
  #options: StrictIndexerOptions;
  #server: http.Server | https.Server | undefined;
  #port = 0;

  constructor(options: StrictIndexerOptions = {}) {
    this.#options = options;
    this.states = new StrictStates(options.without ?? [], (violation) => this.violations.push(violation));
  }

  async start(): Promise<void> {
    const { tls } = this.#options;
    const handle = (request: IncomingMessage, response: ServerResponse): void => {
      this.requests += 1;
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => this.#answer(request, Buffer.concat(chunks), response));
      request.on('error', () => {});
    };
    const server =
      tls === undefined
        ? http.createServer(handle)
        : https.createServer(
            {
              key: tls.key,
              cert: tls.cert,
              ...(tls.clientCa === undefined ? {} : { ca: tls.clientCa, requestCert: true, rejectUnauthorized: true }),
            },
            handle,
          );
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  /** It can be started again at the same port. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }

  get url(): string {
    return `http${this.#options.tls === undefined ? '' : 's'}://127.0.0.1:${String(this.#port)}`;
  }

  /** Documents of all indices of a stream, by id. */
  documents(prefix = 'wazuh-alerts-4.x-'): Map<string, Record<string, unknown>> {
    return new Map(
      [...this.indices].filter(([name]) => name.startsWith(prefix)).flatMap(([, { documents }]) => [...documents]),
    );
  }

  #answer({ method = '', url = '', headers }: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const send = (status: number, answer: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer));
    };
    const fail = (status: number, type: string, reason: string): void => {
      send(status, { error: { root_cause: [{ type, reason }], type, reason }, status });
    };
    const { account } = this.#options;
    const wanted = account && `Basic ${Buffer.from(`${account.username}:${account.password}`).toString('base64')}`;
    if (headers.authorization !== wanted) {
      response.writeHead(401, { 'content-type': 'text/plain' });
      response.end('Unauthorized');
      return;
    }
    if (method === 'GET' && url === '/_cat/health?format=json') {
      if (typeof this.health === 'number') {
        fail(this.health, 'security_exception', 'no permissions for [cluster:monitor/health]');
      } else {
        send(200, [{ cluster: 'test', status: this.health }]);
      }
      return;
    }
    if (this.states.answer({ method, url, body: body.toString(), send, fail })) return;
    const [, kind, name] =
      /^\/(_template|_ingest\/pipeline|_bulk)(?:\/([\w-]+))?(?:\?pipeline=([\w-]+)|\?refresh=true)?$/.exec(url) ?? [];
    if (kind === '_template' && name !== undefined) {
      this.#template(method, name, body, send, fail);
    } else if (kind === '_ingest/pipeline' && name !== undefined && method === 'PUT') {
      this.#pipeline(name, body, send, fail);
    } else if (kind === '_bulk' && method === 'POST') {
      this.#bulk(url, headers, body, response, send, fail);
    } else {
      this.violations.push(`${method} ${url}`);
      fail(405, 'method_not_allowed', `${method} ${url}`);
    }
  }

  #template(method: string, name: string, body: Buffer, send: Send, fail: Fail): void {
    const known = this.templates.get(name);
    if (method === 'GET') {
      if (known === undefined) send(404, {});
      else send(200, { [name]: known });
      return;
    }
    const template = JSON.parse(body.toString()) as Record<string, unknown>;
    const problem = templateProblem(template);
    if (problem !== undefined) {
      this.violations.push(`template: ${problem}`);
      fail(400, 'mapper_parsing_exception', problem);
      return;
    }
    this.templates.set(name, template);
    send(200, { acknowledged: true });
  }

  #pipeline(name: string, body: Buffer, send: Send, fail: Fail): void {
    if (this.#options.geoip !== true) {
      fail(400, 'parse_exception', 'No processor type exists with name [geoip]');
      return;
    }
    this.pipelines.set(name, JSON.parse(body.toString()) as Record<string, unknown>);
    send(200, { acknowledged: true });
  }

  #bulk(
    url: string,
    headers: IncomingMessage['headers'],
    body: Buffer,
    response: ServerResponse,
    send: Send,
    fail: Fail,
  ): void {
    const { maxBytes = Infinity } = this.#options;
    if (body.length > maxBytes) {
      response.writeHead(413);
      response.end();
      return;
    }
    const fault = this.bulks.length < this.afterBulks ? undefined : this.faults.shift();
    if (fault === 'hang') return;
    if (fault === 'close') {
      response.destroy();
      return;
    }
    if (fault === 'garbage') {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<html>a proxy says hello</html>');
      return;
    }
    if (typeof fault === 'number') {
      fail(fault, fault === 429 ? 'es_rejected_execution_exception' : 'some_exception', 'not now');
      return;
    }
    const problem = bulkProblem(headers, body);
    const pipeline = /\?pipeline=(.*)$/.exec(url)?.[1];
    if (problem !== undefined || (pipeline !== undefined && !this.pipelines.has(pipeline))) {
      this.violations.push(problem ?? `pipeline with id [${String(pipeline)}] does not exist`);
      fail(400, 'illegal_argument_exception', problem ?? 'no such pipeline');
      return;
    }
    const actions = actionsOf(body.toString().split('\n').slice(0, -1));
    this.bulks.push({ count: actions.length, bytes: body.length, path: url });
    const statuses = typeof fault === 'object' ? [...fault.items] : [];
    const items = actions.map(({ line, source }) => this.#item(line, source, statuses.shift()));
    if (url.endsWith('?refresh=true')) {
      for (const { line } of actions) this.states.refresh(targetOf(line).index);
    }
    if (fault === 'close_after') response.destroy();
    else send(200, { took: 1, errors: items.some((item) => JSON.stringify(item).includes('"error"')), items });
  }

  #item(action: string, source: string | undefined, status: number | undefined): unknown {
    const { kind, index, id } = targetOf(action);
    const item = (code: number, more: object): unknown => ({
      [kind]: { _index: index, _id: id, status: code, ...more },
    });
    if (status !== undefined && status >= 400) {
      return item(status, { error: { type: 'es_rejected_execution_exception', reason: 'the queue is full' } });
    }
    if (BAD_INDEX.test(index)) {
      this.violations.push(`index ${index}`);
      return item(400, { error: { type: 'invalid_index_name_exception', reason: `Invalid index name [${index}]` } });
    }
    if (kind !== 'create') return item(...this.states.write(index, id, source));
    const found = this.indices.get(index) ?? this.#make(index);
    if (kind === 'create' && found.documents.has(id)) {
      const reason = `[${id}]: version conflict, document already exists`;
      return item(409, { error: { type: 'version_conflict_engine_exception', reason } });
    }
    let document: Record<string, unknown>;
    try {
      document = parseSource(source ?? '');
      found.mapping.take(document);
    } catch (error) {
      if (!(error instanceof RefusedDocument)) throw error;
      return item(400, { error: { type: error.type, reason: error.message } });
    }
    found.documents.set(id, document);
    return item(201, { result: 'created', _version: 1 });
  }

  #make(name: string): Index {
    const template = [...this.templates.values()].find((candidate) =>
      (candidate['index_patterns'] as string[]).some((pattern) => name.startsWith(pattern.replace(/\*$/, ''))),
    );
    const mappings = template?.['mappings'] as { properties?: Record<string, FieldMapping> } | undefined;
    const index = { mapping: new StrictMapping(mappings?.properties ?? {}), documents: new Map() };
    this.indices.set(name, index);
    return index;
  }
}

function targetOf(action: string): { readonly kind: string; readonly index: string; readonly id: string } {
  const [[kind, { _index: index, _id: id }]] = Object.entries(
    JSON.parse(action) as Record<string, { _index: string; _id: string }>,
  ) as [[string, { _index: string; _id: string }]];
  return { kind, index, id };
}

/** Lines of actions, each with its document where it has one. */
function actionsOf(lines: readonly string[]): { readonly line: string; readonly source: string | undefined }[] {
  const actions: { line: string; source: string | undefined }[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const hasSource = !line.startsWith('{"delete"');
    if (hasSource) at += 1;
    actions.push({ line, source: hasSource ? (lines[at] ?? '') : undefined });
  }
  return actions;
}

type Send = (status: number, answer: unknown) => void;
type Fail = (status: number, type: string, reason: string) => void;

function bulkProblem(headers: IncomingMessage['headers'], body: Buffer): string | undefined {
  if (!/^application\/(?:x-nd)?json$/.test(headers['content-type'] ?? '')) {
    return 'Content-Type header is not supported';
  }
  const text = body.toString();
  if (!Buffer.from(text).equals(body)) return 'the body is no UTF-8';
  if (!text.endsWith('\n')) return 'The bulk request must be terminated by a newline [\\n]';
  const lines = text.split('\n').slice(0, -1);
  if (lines.length === 0) return 'there are no actions';
  for (const [at, { line, source }] of actionsOf(lines).entries()) {
    if (source === '') return 'an action has no document';
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return `line ${String(at + 1)} is no JSON`;
    }
    if (!isObject(value)) return `line ${String(at + 1)} is no object`;
    const [[kind, target] = [], ...more] = Object.entries(value);
    if (more.length > 0 || !['create', 'index', 'delete'].includes(kind ?? '')) {
      return `Malformed action/metadata line [${String(at + 1)}]`;
    }
    const { _index: index, _id: id } = target as { _index?: unknown; _id?: unknown };
    if (typeof index !== 'string' || typeof id !== 'string' || Buffer.byteLength(id) > 512 || id === '') {
      return `Malformed action/metadata line [${String(at + 1)}]: index or id`;
    }
  }
  return undefined;
}

function templateProblem(template: Record<string, unknown>): string | undefined {
  const known = new Set(['order', 'version', 'index_patterns', 'settings', 'mappings', 'aliases']);
  const other = Object.keys(template).find((name) => !known.has(name));
  if (other !== undefined) return `unknown key [${other}] in the template`;
  if (!Array.isArray(template['index_patterns'])) return 'index patterns are missing';
  const check = (properties: Record<string, FieldMapping>, path: string): string | undefined => {
    for (const [name, field] of Object.entries(properties)) {
      const { type, properties: inner, format, ...more } = field;
      const at = path + name;
      if (Object.keys(more).length > 0) return `unknown parameter on [${at}]`;
      if (inner !== undefined && type !== undefined) return `[${at}] is a field and an object`;
      if (inner === undefined && !FIELD_TYPES.has(type ?? '')) {
        return `No handler for type [${String(type)}] declared on field [${at}]`;
      }
      if (format !== undefined && type !== 'date') return `unknown parameter [format] on [${at}]`;
      const problem = inner && check(inner, `${at}.`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  const { mappings } = template;
  return isObject(mappings)
    ? check(mappings['properties'] as Record<string, FieldMapping>, '')
    : 'mappings are missing';
}
