import { Worker } from 'node:worker_threads';
import type { SyscheckConfig } from '../../../lib/config/sections/syscheck.js';
import type { NodiffList } from '../../../lib/fim/scan/path-list.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { ContentChange, ContentChanges, PreparedChange } from './content-changes.js';
import type { ChangeRules, DiffReply, DiffRequest, DiffResult, DiffThreadData } from './diff-protocol.js';

const KILOBYTE = 1024;
/** Times the thread may break in one scan before nothing more is asked of it until the next. */
const MOST_BREAKS = 3;
/** Memory of the thread's own: what it holds of contents comes on top (compare-contents.ts). */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: 192 };

/** What `<diff>` says. */
export type DiffSettings = {
  /** Bytes; undefined: no quota. */
  readonly quota: number | undefined;
  /** Whether the limits of directories are in force. */
  readonly fileSizeLimited: boolean;
  readonly nodiff: NodiffList;
};

/** A file limit beyond the quota raises it (integrity-and-inventory.md 2.4). */
export function diffSettings({ disk_quota, file_size }: SyscheckConfig['diff'], nodiff: NodiffList): DiffSettings {
  const quota = Math.max(disk_quota.limit, file_size.enabled ? file_size.limit : 0);
  return { quota: disk_quota.enabled ? quota * KILOBYTE : undefined, fileSizeLimited: file_size.enabled, nodiff };
}

/** What a worker needs. */
export type DiffWorkerParts = {
  readonly home: string;
  readonly logger: Logger;
  /** Asked at every change: they may be read anew. */
  readonly settings: () => DiffSettings;
  /** File of the thread; another one in tests alone. */
  readonly thread?: URL;
};

type Waiting = (result: DiffResult | undefined) => void;

/** `ContentChanges` by a thread of its own (diff-thread.ts), which begins anew when it breaks. */
export class DiffWorker implements ContentChanges {
  readonly #parts: DiffWorkerParts;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;
  #breaks = 0;
  #closed = false;

  constructor(parts: DiffWorkerParts) {
    this.#parts = parts;
  }

  async beginScan(): Promise<void> {
    this.#breaks = 0;
    await this.#ask({ kind: 'measure' });
  }

  async prepare(change: ContentChange): Promise<PreparedChange> {
    const { quota, fileSizeLimited, nodiff } = this.#parts.settings();
    const rules: ChangeRules = { quota, fileSizeLimited, nodiff: nodiff.includes(change.path) };
    const worker = this.#begin();
    const { text, token } = (await this.#ask({ kind: 'prepare', change, rules }))?.prepared ?? NOT_PREPARED;
    const finish = async (kind: 'settle' | 'discard'): Promise<void> => {
      // The tokens of a thread that broke mean nothing to the next.
      if (token !== 0 && this.#worker === worker) await this.#ask({ kind, token });
    };
    return { text, settle: () => finish('settle'), discard: () => finish('discard') };
  }

  async remove(paths: readonly string[]): Promise<void> {
    if (paths.length > 0) await this.#ask({ kind: 'remove_paths', paths });
  }

  async retain(isKnown: (digest: string) => boolean | Promise<boolean>): Promise<void> {
    for (let first = true; ; first = false) {
      const names = (await this.#ask({ kind: 'names', first }))?.names;
      if (names === undefined) return;
      const unknown: string[] = [];
      for (const name of names) if (!(await isKnown(name))) unknown.push(name);
      if (unknown.length > 0) await this.#ask({ kind: 'remove_names', names: unknown });
    }
  }

  /** Ends the thread. What still waits is answered as if nothing could be told. */
  async close(): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    this.#drop();
    await worker?.terminate();
  }

  /** Undefined when the thread broke. */
  #ask(request: DiffRequest): Promise<DiffResult | undefined> {
    const worker = this.#begin();
    if (worker === undefined) return Promise.resolve(undefined);
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      worker.postMessage({ id, request });
    });
  }

  #begin(): Worker | undefined {
    if (this.#closed || this.#breaks >= MOST_BREAKS) return undefined;
    if (this.#worker !== undefined) return this.#worker;
    const workerData: DiffThreadData = { home: this.#parts.home };
    const worker = new Worker(this.#parts.thread ?? new URL('./diff-thread.js', import.meta.url), {
      workerData,
      resourceLimits: RESOURCE_LIMITS,
    });
    worker.on('message', (reply: DiffReply) => {
      if ('notice' in reply) this.#parts.logger[reply.notice.level](reply.notice.text);
      else this.#answer(reply.id, reply.result);
    });
    worker.on('error', (error) => {
      if (this.#worker === worker) this.#broke(error instanceof Error ? error.message : String(error));
    });
    worker.on('exit', () => {
      if (this.#worker === worker) this.#broke('it ended');
    });
    this.#worker = worker;
    return worker;
  }

  #answer(id: number, result: DiffResult): void {
    const resolve = this.#waiting.get(id);
    this.#waiting.delete(id);
    resolve?.(result);
  }

  #broke(reason: string): void {
    this.#breaks += 1;
    const until = this.#breaks >= MOST_BREAKS ? '; no changes are told until the next scan' : '';
    this.#parts.logger.error(
      `The thread that compares files broke, and ${this.#waiting.size} requests with it: ${reason}${until}`,
    );
    this.#drop();
  }

  #drop(): void {
    this.#worker = undefined;
    for (const resolve of this.#waiting.values()) resolve(undefined);
    this.#waiting.clear();
  }
}

const NOT_PREPARED = { text: undefined, token: 0 };
