import { hash } from 'node:crypto';
import { isObject } from '../../../../lib/json/is-object.js';
import { cutBytes } from '../cut-bytes.js';

/** What a search engine is to keep of a line of alerts.json or archives.json. */
export type IndexedDocument = {
  /** `wazuh-alerts-4.x-2026.11.26` */
  readonly index: string;
  /** The same for the same line of the same node. */
  readonly id: string;
  /** JSON text. */
  readonly text: string;
};

type Json = Record<string, unknown>;

/** Longest keyword that is indexed, bytes (indexer.md 2.6). */
const MAX_KEYWORD_BYTES = 32_766;
/** Bytes of `data_raw`. */
const MAX_RAW_BYTES = 32_000;
/** Members of the root that the shipper of the reference removes (indexer.md 2.1, step 6). */
const REMOVED: ReadonlySet<string> = new Set([
  ...['message', 'ecs', 'beat', 'input_type', 'tags', 'count', '@version', 'log', 'offset', 'type', 'host', 'fields'],
  ...['event', 'fileset', 'service'],
]);
/** A line with one of these somewhere may have to be changed: it is read then. */
const TO_BE_READ = new RegExp(`"(?:${[...REMOVED, 'aws', '@timestamp', 'input'].join('|')})"\\s*:`);
const TIMESTAMP = /^\{"timestamp":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?)([+-]\d\d:?\d\d|Z)"/;
const DAY_MS = 86_400_000;

/**
 * Makes documents of lines as the reference's pipeline does (indexer.md 2.1), with a stable id (2.2). The common line is not
 * parsed: what is added is put before its first member.
 */
export class DocumentMaker {
  readonly #prefix: string;
  readonly #node: string;
  #day = NaN;
  #index = '';

  /** @param prefix of the index: `wazuh-alerts-4.x-` @param node name of this node */
  constructor(prefix: string, node: string) {
    this.#prefix = prefix;
    this.#node = node;
  }

  /** @returns a text that says why the line cannot be a document */
  make(line: string): IndexedDocument | string {
    const [, date = '', zone = ''] = TIMESTAMP.exec(line) ?? [];
    if (date === '' || line.length > MAX_KEYWORD_BYTES / 3 || TO_BE_READ.test(line)) return this.#read(line);
    const time = timeOf(date, zone);
    if (Number.isNaN(time)) return NO_TIME;
    return this.#document(
      line,
      time,
      `{"@timestamp":"${new Date(time).toISOString()}","input":{"type":"log"},${line.slice(1)}`,
    );
  }

  /** The same with `data` as one text, for a server that refuses what `data` holds. */
  reduced(line: string): IndexedDocument | string {
    return this.#read(line, (alert) => {
      const { data } = alert;
      if (data === undefined) return;
      delete alert['data'];
      alert['data_raw'] = cutBytes(JSON.stringify(data), MAX_RAW_BYTES);
    });
  }

  #read(line: string, change: (alert: Json) => void = () => {}): IndexedDocument | string {
    let alert: unknown;
    try {
      alert = JSON.parse(line);
    } catch {
      return 'the line is no JSON';
    }
    if (!isObject(alert)) return 'the line is no object';
    const { timestamp } = alert;
    const [, date = '', zone = ''] = (typeof timestamp === 'string' && ISO.exec(timestamp)) || [];
    const time = timeOf(date, zone);
    if (Number.isNaN(time)) return NO_TIME;
    const kept: Json = Object.fromEntries(Object.entries(alert).filter(([name]) => !REMOVED.has(name)));
    change(kept);
    completeAws(kept['data']);
    const document = {
      ...(cutKeywords(kept, 0) as Json),
      '@timestamp': new Date(time).toISOString(),
      input: { type: 'log' },
    };
    return this.#document(line, time, JSON.stringify(document));
  }

  #document(line: string, time: number, text: string): IndexedDocument {
    const day = Math.floor(time / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#index = this.#prefix + new Date(time).toISOString().slice(0, 10).replaceAll('-', '.');
    }
    return { index: this.#index, id: hash('sha256', `${line}${this.#node}`), text };
  }
}

const NO_TIME = 'its timestamp is no time';
const ISO = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?)([+-]\d\d:?\d\d|Z)$/;

/** @returns epoch milliseconds; NaN */
function timeOf(date: string, zone: string): number {
  return Date.parse(date + (zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone));
}

/** `data.aws.region` and `data.aws.accountId` from their other names (2.1, step 2). */
function completeAws(data: unknown): void {
  if (!isObject(data)) return;
  const { aws } = data;
  if (!isObject(aws)) return;
  const into = aws as Json;
  for (const [to, from] of [
    ['region', 'awsRegion'],
    ['accountId', 'aws_account_id'],
  ] as const) {
    const [present, other] = [into[to], into[from]];
    if ((present === undefined || present === null || present === '') && typeof other === 'string' && other !== '') {
      into[to] = other;
    }
  }
}

/** Deeper than the server takes: it refuses such a document as a whole. */
const MAX_DEPTH = 64;

/** Cuts texts that are too long for a keyword. `full_log` and `previous_log` are searched as texts, and stay. */
function cutKeywords(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cutBytes(value, MAX_KEYWORD_BYTES);
  if (depth >= MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => cutKeywords(item, depth + 1));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, member]): [string, unknown] => {
    const isText = depth === 0 && (name === 'full_log' || name === 'previous_log');
    return [name, isText ? member : cutKeywords(member, depth + 1)];
  });
  return Object.fromEntries(entries);
}
