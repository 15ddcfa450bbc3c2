import type { SyscheckConfig } from '../../../lib/config/sections/syscheck.js';
import type { NodiffList } from '../../../lib/fim/scan/path-list.js';
import type { Logger } from '../../../lib/log/logger.js';
import { Thread } from '../../../lib/thread/thread.js';
import type { CallInput, CallOutput } from '../../../lib/thread/thread-contract.js';
import type { ContentChange, ContentChanges, PreparedChange } from './content-changes.js';
import type { ChangeRules, DiffThread } from './diff-protocol.js';

const KILOBYTE = 1024;
/** Times the thread may break in one scan before nothing more is asked of it until the next. */
const MOST_BREAKS = 3;
/** Memory of the thread's own: what it holds of contents comes on top (compare-contents.ts). */
const THREAD_MEGABYTES = { young: 6, old: 192 };

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

/** `ContentChanges` by a thread of its own (diff-thread.ts), which begins anew when it breaks. */
export class DiffWorker implements ContentChanges {
  readonly #parts: DiffWorkerParts;
  #thread: Thread<DiffThread> | undefined;
  /** Calls under way. */
  #waiting = 0;
  #breaks = 0;
  #closed = false;

  constructor(parts: DiffWorkerParts) {
    this.#parts = parts;
  }

  async beginScan(): Promise<void> {
    this.#breaks = 0;
    await this.#ask('measure', undefined);
  }

  async prepare(change: ContentChange): Promise<PreparedChange> {
    const { quota, fileSizeLimited, nodiff } = this.#parts.settings();
    const rules: ChangeRules = { quota, fileSizeLimited, nodiff: nodiff.includes(change.path) };
    const thread = this.#begin();
    const { text, token } = (await this.#ask('prepare', { change, rules })) ?? NOT_PREPARED;
    const finish = async (call: 'settle' | 'discard'): Promise<void> => {
      // The tokens of a thread that broke mean nothing to the next.
      if (token !== 0 && this.#thread === thread) await this.#ask(call, token);
    };
    return { text, settle: () => finish('settle'), discard: () => finish('discard') };
  }

  async remove(paths: readonly string[]): Promise<void> {
    if (paths.length > 0) await this.#ask('removePaths', paths);
  }

  async retain(isKnown: (digest: string) => boolean | Promise<boolean>): Promise<void> {
    for (let first = true; ; first = false) {
      const names = await this.#ask('names', { first });
      if (names === undefined) return;
      const unknown: string[] = [];
      for (const name of names) if (!(await isKnown(name))) unknown.push(name);
      if (unknown.length > 0) await this.#ask('removeNames', unknown);
    }
  }

  /** Ends the thread. What still waits is answered as if nothing could be told. */
  async close(): Promise<void> {
    this.#closed = true;
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.close();
  }

  /** Undefined when the thread broke. */
  async #ask<K extends keyof DiffThread['calls']>(
    call: K,
    input: CallInput<DiffThread, K>,
  ): Promise<CallOutput<DiffThread, K> | undefined> {
    const thread = this.#begin();
    if (thread === undefined) return undefined;
    this.#waiting += 1;
    try {
      return await thread.call(call, input);
    } catch {
      return undefined;
    } finally {
      this.#waiting -= 1;
    }
  }

  #begin(): Thread<DiffThread> | undefined {
    if (this.#closed || this.#breaks >= MOST_BREAKS) return undefined;
    const { home, logger, thread: module = new URL('./diff-thread.js', import.meta.url) } = this.#parts;
    this.#thread ??= new Thread(module, {
      title: 'it',
      data: { home },
      memory: THREAD_MEGABYTES,
      onNews: ({ level, text }) => logger[level](text),
      onFailure: (error) => this.#broke(error.message),
    });
    return this.#thread;
  }

  #broke(reason: string): void {
    this.#thread = undefined;
    this.#breaks += 1;
    const until = this.#breaks >= MOST_BREAKS ? '; no changes are told until the next scan' : '';
    this.#parts.logger.error(
      `The thread that compares files broke, and ${this.#waiting} requests with it: ${reason}${until}`,
    );
  }
}

const NOT_PREPARED = { text: undefined, token: 0 };
