import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { AgentKey } from '../../lib/agentlink/agent-key.js';
import type { RemovedKey } from '../../lib/agentlink/client-keys.js';
import { ClientKeysFile } from '../../lib/agentlink/client-keys-file.js';
import { pause } from '../../lib/async/pause.js';
import { ifPresent } from '../../lib/files/if-present.js';
import { describeError } from '../../lib/log/describe-error.js';
import type { Logger } from '../../lib/log/logger.js';
import { AgentIndex } from './agent-index.js';
import { ClientKeysDocument, keyLine } from './client-keys-document.js';
import { type KeyFileOwner, KeyFileWriter, MISSING } from './key-file-writer.js';

/** Readable for the service's group and nobody else (daemons-and-config.md 3.11). */
const KEYS_MODE = 0o640;
const LAST_ID_MODE = 0o640;
/** A commit is followed by a pause as long as itself, up to this, so that a large file is not written all the time. */
const MAX_PAUSE_MS = 100;

/** So often a write is begun anew where others change the file meanwhile: who does so all the time holds nobody up for ever. */
const MAX_OVERTAKEN = 20;

/** One change: some agents go, some come. Both or nothing. */
export type KeyChange = {
  readonly remove: readonly string[];
  readonly add?: readonly AgentKey[];
  /** Leaves no line of the removed ones. */
  readonly purge: boolean;
  /** The file is written anew, whatever is wrong with it. */
  readonly whole?: boolean;
  /** Ids up to this one were given, whatever the file says. */
  readonly lastId?: number;
};

/** The file could not be written: the change was not made. */
export class KeyWriteError extends Error {
  override readonly name = 'KeyWriteError';
}

type WaitingChange = KeyChange & { readonly done: () => void; readonly failed: (error: Error) => void };

export type KeyRegistryOptions = {
  /** `etc/client.keys` */
  readonly path: string;
  /** Keeps the largest id ever given where its line was purged, so that no id is given twice. */
  readonly lastIdPath: string;
  readonly logger: Logger;
  /** Owner of the files, where this process may set one. */
  readonly owner?: KeyFileOwner;
  /** Runs before the file is written: what must be on disk before the keys are. */
  readonly prepare?: () => Promise<void>;
  /** The file was just written. */
  readonly onWritten?: () => void;
  /** The keys are others than those known so far: the file was changed by hand, or changes were undone. */
  readonly onReplaced?: () => void;
};

/**
 * The keys of all agents, and the only writer of their file. Changes count at once for whoever asks this object and are
 * answered when they are on disk; those that come while the file is written share the next write. New agents are added to
 * the end of the file, so that a fleet that enrols does not write all its keys again for each; any other change replaces
 * the file as a whole (agents-and-groups.md 1.2). A killed process leaves the old content or the new; of lines that were
 * being added, none of which was answered, the next one takes away what is not whole.
 */
export class KeyRegistry {
  readonly #options: KeyRegistryOptions;
  readonly #file: ClientKeysFile;
  readonly #writer: KeyFileWriter;
  #document = new ClientKeysDocument({ agents: [], removed: [], highestId: 0 });
  #index = new AgentIndex([]);
  #waiting: WaitingChange[] = [];
  #writing: Promise<void> | undefined;
  /** Largest id there was in this process or before, whatever the file says now. */
  #lastId = 0;
  #savedLastId = 0;
  #seen: string | undefined;
  #complete = true;
  /** Whether a line may be added to the file as it is. */
  #extendable = false;

  constructor(options: KeyRegistryOptions) {
    this.#options = options;
    this.#file = new ClientKeysFile(options.path);
    this.#writer = new KeyFileWriter(options.owner);
  }

  /** Reads the file. @throws the file system's error, or KeyFileError */
  async load(): Promise<void> {
    await this.#writer.clean(this.#options.path);
    await this.#recover();
    this.#savedLastId = await readLastId(this.#options.lastIdPath);
    this.#lastId = this.#savedLastId;
    await this.#read();
  }

  get size(): number {
    return this.#document.size;
  }

  get agents(): IterableIterator<AgentKey> {
    return this.#document.agents;
  }

  /** Whether the file was there and every line of it was understood: only then an absent agent is a removed one. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Lines of agents that were removed. */
  get removed(): readonly RemovedKey[] {
    return this.#document.removed;
  }

  /** The largest id there ever was. */
  get highestId(): number {
    return this.#lastId;
  }

  byId(id: string): AgentKey | undefined {
    return this.#document.find(id);
  }

  byName(name: string): AgentKey | undefined {
    return this.#index.byName(name);
  }

  /** @param ip as `AgentAddress` writes it; `any` belongs to nobody */
  byAddress(ip: string): AgentKey | undefined {
    return this.#index.byAddress(ip);
  }

  /** The next id; it is given once, however often it is asked for before `change`. @throws ClientKeysError */
  nextId(): string {
    return this.#document.nextId();
  }

  /**
   * Makes a change. It counts from now on and is on disk when the promise settles.
   * @throws ClientKeysError at once when the change is not possible; rejects with KeyWriteError when it was undone
   */
  change(change: KeyChange): Promise<void> {
    this.#apply(change);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...change, done: resolve, failed: reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Takes over a file that was changed by hand. Changes that are written look themselves, but not once they are. */
  async refresh(): Promise<void> {
    await this.#writing;
    this.#writing ??= this.#lookAndWrite();
    await this.#writing;
  }

  /** Settles when nothing is left to be written. */
  async idle(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  #apply({ remove, add = [], purge, lastId = 0 }: KeyChange): void {
    const stay = new Set(add.map(({ id }) => id));
    for (const id of remove) {
      // An agent that gets another key is not removed: no line may say so.
      const agent = this.#document.remove(id, purge || stay.has(id));
      if (agent !== undefined) this.#index.remove(agent);
    }
    for (const agent of add) {
      this.#document.add(agent);
      this.#index.add(agent);
      this.#lastId = Math.max(this.#lastId, Number(agent.id));
    }
    this.#lastId = Math.max(this.#lastId, lastId);
  }

  async #lookAndWrite(): Promise<void> {
    try {
      if (await this.#changedByOthers()) await this.#reload();
    } catch (error) {
      this.#options.logger.error(`Unable to read '${this.#options.path}': ${describeError(error)}`);
    }
    await this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    let overtaken = 0;
    while (this.#waiting.length > 0) {
      const started = performance.now();
      let batch: WaitingChange[] = [];
      try {
        if (await this.#changedByOthers()) await this.#reload();
        batch = this.#waiting;
        this.#waiting = [];
        const added = this.#extendable ? linesOf(batch) : undefined;
        const content = added ?? this.#document.format();
        await this.#options.prepare?.();
        const isWritten = added === undefined ? await this.#replace(content, batch) : await this.#append(content);
        overtaken = isWritten ? 0 : overtaken + 1;
        if (overtaken > MAX_OVERTAKEN) throw new Error('others change it all the time');
        if (!isWritten) {
          this.#waiting.unshift(...batch.splice(0));
          if (added === undefined || this.#extendable) await this.#reload();
          continue;
        }
        for (const { done } of batch) done();
        this.#options.onWritten?.();
      } catch (error) {
        await this.#undo([...batch, ...this.#waiting.splice(0)], error);
      }
      if (this.#waiting.length > 0) {
        await pause(Math.min(performance.now() - started, MAX_PAUSE_MS));
      }
    }
    // In the same step as the look at what waits: a change that comes now starts the next round.
    this.#writing = undefined;
  }

  /** @returns false when others have changed the file meanwhile */
  async #replace(content: Buffer, batch: readonly KeyChange[]): Promise<boolean> {
    const { path, lastIdPath } = this.#options;
    // A purged line no longer tells that its id was given: that must be on disk before the line is gone.
    const isForgotten = batch.some(({ remove, purge, lastId }) => (purge && remove.length > 0) || lastId !== undefined);
    if (this.#lastId > this.#savedLastId && isForgotten) {
      await this.#writer.replace(lastIdPath, Buffer.from(`${this.#lastId}\n`), LAST_ID_MODE);
      this.#savedLastId = this.#lastId;
    }
    const mark = await this.#writer.replace(path, content, KEYS_MODE, this.#seen);
    if (mark === undefined) return false;
    this.#seen = mark;
    this.#extendable = true;
    if (batch.some(({ whole }) => whole === true)) this.#complete = true;
    return true;
  }

  /** @returns false when others have changed the file meanwhile, or it has to be replaced: then it is not extendable */
  async #append(lines: Buffer): Promise<boolean> {
    const appended = await this.#writer.append(this.#options.path, lines, this.#seen);
    if (appended.outcome === 'done') this.#seen = appended.mark;
    if (appended.outcome === 'closed') this.#extendable = false;
    return appended.outcome === 'done';
  }

  /** Takes away what a crash or a failure has left. */
  async #recover(): Promise<void> {
    const cut = await this.#writer.recover(this.#options.path);
    if (cut > 0) {
      this.#options.logger.warn(`The last line of '${this.#options.path}' was not written whole: it is dropped.`);
    }
  }

  /** What is in the file is what there is; everything that was answered before is in it. */
  async #undo(changes: readonly WaitingChange[], cause: unknown): Promise<void> {
    const { logger, path } = this.#options;
    logger.error(`Unable to write '${path}': ${describeError(cause)}`);
    await this.#writer.clean(path).catch(() => {});
    try {
      await this.#recover();
    } catch (error) {
      logger.error(`Unable to mend '${path}': ${describeError(error)}`);
    }
    try {
      await this.#takeFile();
    } catch (error) {
      logger.error(`Unable to read '${path}': ${describeError(error)}`);
    }
    const failure = new KeyWriteError(`the keys could not be written: ${describeError(cause)}`, { cause });
    for (const { failed } of changes) failed(failure);
  }

  async #reload(): Promise<void> {
    this.#options.logger.info('(1409): Authentication file changed. Updating.');
    await this.#takeFile();
  }

  /** Takes the file as it is, with the changes that wait on top. */
  async #takeFile(): Promise<void> {
    await this.#read();
    for (const change of this.#waiting.splice(0)) {
      if (this.#holds(change)) {
        change.done();
        this.#options.onWritten?.();
        continue;
      }
      try {
        this.#apply(change);
        this.#waiting.push(change);
      } catch (error) {
        change.failed(error instanceof Error ? error : new Error(String(error)));
      }
    }
    this.#options.onReplaced?.();
  }

  /** Whether the file has what the change adds: somebody else wrote to it while the line was added, and it is there. */
  #holds({ remove, add = [], whole }: KeyChange): boolean {
    if (add.length === 0 || remove.length > 0 || whole === true) return false;
    return add.every((agent) => this.#document.find(agent.id)?.equals(agent) === true);
  }

  async #read(): Promise<void> {
    const mark = await this.#writer.mark(this.#options.path);
    const keys = await this.#file.read();
    for (const { text } of keys.problems) this.#options.logger.error(text);
    this.#lastId = Math.max(this.#lastId, keys.highestId);
    this.#document = new ClientKeysDocument({ ...keys, highestId: this.#lastId });
    this.#index = new AgentIndex(keys.agents);
    this.#complete = mark !== MISSING && keys.problems.length === 0;
    this.#extendable = mark !== MISSING && keys.terminated;
    this.#seen = mark;
  }

  async #changedByOthers(): Promise<boolean> {
    return (await this.#writer.mark(this.#options.path)) !== this.#seen;
  }
}

/** Lines of a batch that only adds agents; undefined for any other. */
function linesOf(batch: readonly KeyChange[]): Buffer | undefined {
  const lines: string[] = [];
  for (const { remove, add = [], whole } of batch) {
    if (remove.length > 0 || add.length === 0 || whole === true) return undefined;
    for (const agent of add) lines.push(keyLine(agent));
  }
  return Buffer.from(lines.join(''), 'latin1');
}

async function readLastId(path: string): Promise<number> {
  const text = (await ifPresent(() => readFile(path, 'latin1'))) ?? '';
  const match = /^(\d{1,8})\s*$/.exec(text);
  return match === null ? 0 : Number(match[1]);
}

/** Bytes of randomness in a key: as many as its 64 hex digits hold. */
const KEY_BYTES = 32;

/** A new key: 64 hex digits (agents-and-groups.md 2.6). */
export function newRawKey(): string {
  return randomBytes(KEY_BYTES).toString('hex');
}
