import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MERGED_FILE } from '../../../lib/agentlink/merged-file.js';
import type { Limiter } from '../../../lib/async/limiter.js';
import type { Home } from '../../../lib/home/home.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { parseAddress, shownAddress } from './download-address.js';
import type { DownloadCounters } from './download-counters.js';
import { DownloadError } from './download-error.js';
import { fetchFile, type FetchOptions, type Validators } from './fetch-file.js';
import type { ListedFile } from './files-yml.js';
import { checkMergedFile, fileState, placeDownload } from './place-download.js';

/** Ending of what is being downloaded in var/download. */
export const PART_ENDING = '.part';

export type FileDownloadParts = {
  readonly home: Home;
  readonly logger: Logger;
  readonly counters: DownloadCounters;
  readonly slots: Limiter;
  readonly fetch: FetchOptions;
};

export type FileOutcome = {
  readonly state: 'stored' | 'unchanged' | 'failed' | 'cancelled';
  /** Hash of the content in place, after a download that did not fail. */
  readonly sha256?: string;
};

/** What is known of a file that was put in place. */
type KnownDownload = {
  readonly address: string;
  readonly validators: Validators;
  readonly sha256: string;
  readonly state: string | undefined;
};

/** Downloads single files of groups into their folders, and says in the log what came of it (agents-and-groups.md 8). */
export class FileDownload {
  readonly #parts: FileDownloadParts;
  readonly #known = new Map<string, KnownDownload>();

  constructor(parts: FileDownloadParts) {
    this.#parts = parts;
  }

  /** Forgets what servers said of files of other groups than these. */
  keepOnly(groups: ReadonlySet<string>): void {
    for (const destination of this.#known.keys()) {
      if (!groups.has(destination.split('/')[2] ?? '')) this.#known.delete(destination);
    }
  }

  /**
   * Downloads a file once. Never rejects: whatever goes wrong is told in the log, and the file in place stays.
   * @param placing called when a good content is about to be put in place: whether it may be
   */
  async run(
    group: string,
    file: ListedFile,
    signal: AbortSignal,
    placing: () => Promise<boolean>,
  ): Promise<FileOutcome> {
    const { counters, slots } = this.#parts;
    const destination = `etc/shared/${group}/${file.name}`;
    try {
      const server = parseAddress(file.address).host;
      const outcome = await slots.run(() => this.#download(destination, file, signal, placing), {
        key: server,
        signal,
      });
      counters[outcome.state] += 1;
      return outcome;
    } catch (error) {
      return this.#failed(destination, file, downloadError(error, signal));
    }
  }

  #failed(destination: string, { name, address }: ListedFile, { code, message }: DownloadError): FileOutcome {
    const { counters, logger } = this.#parts;
    if (code === 'cancelled') {
      counters.cancelled += 1;
      return { state: 'cancelled' };
    }
    counters[code === 'corrupt' ? 'corrupt' : 'failed'] += 1;
    if (code === 'corrupt') logger.error(`The downloaded file 'var/download/${name}' is corrupted.`);
    if (code === 'file') logger.warn(`Cannot open file '${destination}': ${message}`);
    else logger.warn(`Cannot download file '${destination}' from URL: '${shownAddress(address)}': ${message}`);
    return { state: 'failed' };
  }

  async #download(
    destination: string,
    { name, address }: ListedFile,
    signal: AbortSignal,
    placing: () => Promise<boolean>,
  ): Promise<FileOutcome> {
    const { home, logger, counters, fetch } = this.#parts;
    logger.debug(`Downloading shared file '${destination}' from '${shownAddress(address)}'`);
    const path = home.path(destination);
    const target = home.path('var', 'download', `${randomBytes(8).toString('hex')}${PART_ENDING}`);
    const last = this.#known.get(destination);
    // What somebody else has written since is replaced, whatever the server says of its own file.
    const known = last?.address === address && last.state === (await fileState(path)) ? last : undefined;
    const fetched = await fetchFile(fetch, { address, target, signal, validators: known?.validators });
    if (fetched.state === 'unchanged') return { ...fetched, ...(known === undefined ? {} : { sha256: known.sha256 }) };
    const { bytes, sha256, validators } = fetched;
    counters.bytes += bytes;
    try {
      if (name === MERGED_FILE) await checkMergedFile(target);
      if (signal.aborted) throw new DownloadError('cancelled', 'cancelled');
      if (!(await placing())) throw new DownloadError('cancelled', 'another node of the cluster downloads it');
      const { result, state } = await placeDownload(target, dirname(path), name, sha256);
      if (result === 'stored') logger.info(`Downloaded shared file '${destination}' (${String(bytes)} bytes).`);
      if (validators === undefined) this.#known.delete(destination);
      else this.#known.set(destination, { address, validators, sha256, state });
      return { state: result, sha256 };
    } finally {
      await rm(target, { force: true });
    }
  }
}

/** @param signal its reason is what waiting for a place ends with */
function downloadError(error: unknown, signal: AbortSignal): DownloadError {
  if (error instanceof DownloadError) return error;
  if (signal.aborted && error === signal.reason) return new DownloadError('cancelled', 'cancelled');
  return new DownloadError('file', describeError(error));
}
