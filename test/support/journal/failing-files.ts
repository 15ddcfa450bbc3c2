import { type JournalFile, type JournalFiles, systemFiles } from '../../../lib/journal/segment-file.js';

/** What can be made to fail. */
export type FileOperation = 'open' | 'write' | 'sync' | 'truncate' | 'remove' | 'syncDirectory' | 'makeDirectory';

/** The file system, on a disk that fails when it is told to. */
export class FailingFiles implements JournalFiles {
  /** Error codes by operation; what is in it fails until it is taken out. */
  readonly failing = new Map<FileOperation, string>();
  /** Bytes a failing write puts into the file nevertheless. */
  bytesOfFailedWrite = 0;
  /** Whether syncs reach the disk: where a crash is made by cutting files, it need not be asked. */
  isSynced = true;
  #held: Promise<void> | undefined;
  #release: () => void = () => {};

  /** Syncs of files wait until `release`. */
  hold(): void {
    this.#held = new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  release(): void {
    this.#held = undefined;
    this.#release();
  }

  fail(operation: FileOperation): void {
    const code = this.failing.get(operation);
    if (code !== undefined) throw Object.assign(new Error(`${code}: ${operation} fails`), { code });
  }

  makeDirectory(path: string): boolean {
    this.fail('makeDirectory');
    return systemFiles.makeDirectory(path);
  }

  async open(path: string, create: boolean): Promise<JournalFile> {
    this.fail('open');
    const file = await systemFiles.open(path, create);
    return {
      write: async (buffers, at) => {
        if (this.failing.has('write')) {
          const part = Buffer.concat(buffers).subarray(0, this.bytesOfFailedWrite);
          if (part.length > 0) await file.write([part], at);
        }
        this.fail('write');
        await file.write(buffers, at);
      },
      sync: async () => {
        await this.#held;
        this.fail('sync');
        if (this.isSynced) await file.sync();
      },
      truncate: async (bytes) => {
        this.fail('truncate');
        await file.truncate(bytes);
      },
      isInPlace: () => file.isInPlace(),
      close: () => file.close(),
    };
  }

  async truncate(path: string, bytes: number): Promise<void> {
    this.fail('truncate');
    await systemFiles.truncate(path, bytes);
  }

  async remove(path: string): Promise<void> {
    this.fail('remove');
    await systemFiles.remove(path);
  }

  async syncDirectory(path: string): Promise<void> {
    this.fail('syncDirectory');
    if (this.isSynced) await systemFiles.syncDirectory(path);
  }
}
