import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { ifPresent } from '../../../lib/files/if-present.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { MAX_FILES_YML_BYTES, SETTLE_MS } from './download-limits.js';
import { FILES_YML } from './files-yml.js';

export type FilesYmlWatchParts = {
  readonly path: string;
  readonly logger: Logger;
  /** Milliseconds between two looks that no event asks for. */
  readonly reloadMs: number;
  /** Told what the file holds, undefined for no file: at the start, and whenever it is another one. */
  readonly read: (content: Buffer | undefined, first: boolean) => Promise<void>;
  /** Told after each look at the file, whatever came of it. */
  readonly looked: () => Promise<void>;
};

/** Follows files.yml by the events of the file system and, where those are missing, by looking now and then. */
export class FilesYmlWatch {
  readonly #parts: FilesYmlWatchParts;
  #watcher: FSWatcher | undefined;
  #tick: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #state: string | undefined;
  #problem: string | undefined;
  #stopped = false;

  constructor(parts: FilesYmlWatchParts) {
    this.#parts = parts;
  }

  /** Resolves when the file was read for the first time. */
  async start(): Promise<void> {
    const { path, logger, reloadMs } = this.#parts;
    const folder = dirname(path);
    this.#watcher = watch(folder, {
      ignoreInitial: true,
      depth: 0,
      ignored: (name) => name !== folder && name !== path,
    });
    const soon = (): void => {
      this.#soon ??= setTimeout(() => {
        this.#soon = undefined;
        void this.#look();
      }, SETTLE_MS);
    };
    // What changes before the watch is ready is no event.
    this.#watcher.on('all', soon).on('ready', soon);
    this.#watcher.on('error', (error) => {
      logger.warn(`Changes of '${FILES_YML}' are seen at a look only: ${describeError(error)}`);
    });
    await this.#look();
    this.#tick = setInterval(() => void this.#look(), reloadMs);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#tick);
    await this.#watcher?.close();
    clearTimeout(this.#soon);
    await this.#looking;
  }

  /** One look after the other; what is read is taken up before the next. */
  #look(): Promise<void> {
    this.#looking = this.#looking.then(async () => {
      if (this.#stopped) return;
      try {
        await this.#readChanged();
        this.#problem = undefined;
      } catch (error) {
        const problem = `'${FILES_YML}' cannot be read, what was read before stays in force: ${describeError(error)}`;
        if (problem !== this.#problem) this.#parts.logger.error(problem);
        this.#problem = problem;
      }
      await this.#parts.looked();
    });
    return this.#looking;
  }

  async #readChanged(): Promise<void> {
    const { path, read } = this.#parts;
    const first = this.#state === undefined;
    // Taken before the content: what is written meanwhile is another change.
    const state = await ifPresent(() => stateOf(path));
    if ((state ?? '') === this.#state) return;
    const content = state === undefined ? undefined : await ifPresent(() => contentOf(path));
    this.#state = content === undefined ? '' : state;
    await read(content, first);
  }
}

/** What a file is told from a changed one by. @throws the file system's error */
async function stateOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join();
}

/** One byte more than is allowed shows that it is too large. @throws Error when it is no file */
async function contentOf(path: string): Promise<Buffer> {
  // A pipe under this name must not hold the reader for ever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new Error('it is no file');
    const buffer = Buffer.alloc(MAX_FILES_YML_BYTES + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length);
      length += bytesRead;
      if (bytesRead === 0) return buffer.subarray(0, length);
    }
  } finally {
    await file.close();
  }
}
