import { Limiter, LimiterFullError } from '../../lib/async/limiter.js';
import type { analysisdContract } from '../../lib/bus/contracts/analysisd.js';
import type { Home } from '../../lib/home/home.js';
import type { Logger } from '../../lib/log/logger.js';
import type { DaemonClient } from '../daemons/daemon-client.js';
import { busyProblem } from '../daemons/daemon-failure.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-request.js';
import { CheckedReplacement, ReplacementError } from './checked-replacement.js';
import { attributesOf, putFile, removeFile } from './put-file.js';

/** Undo files of uploads, below the home. */
const UNDO_DIRECTORY = 'api/uploads';
/** Uploads that wait for their turn at most: each holds its body in memory. */
const MAX_WAITING = 16;

export type RulesetUploadParts = {
  readonly home: Home;
  readonly analysisd: DaemonClient<typeof analysisdContract>;
  readonly logger: Logger;
  /** Called after each change of a file, and of one that was taken back. */
  readonly changed: () => void;
};

/**
 * Changes files of the ruleset, one change at a time: a file is judged together with all others, so two at once would
 * be blamed for each other.
 */
export class RulesetUploads {
  readonly #parts: RulesetUploadParts;
  readonly #replacement: CheckedReplacement;
  readonly #queue = new Limiter({ atOnce: 1, mostWaiting: MAX_WAITING - 1 });

  constructor(parts: RulesetUploadParts) {
    this.#parts = parts;
    this.#replacement = new CheckedReplacement(parts.home, UNDO_DIRECTORY);
  }

  /** Puts back what uploads have changed that were cut off; to be called once, before the first request. */
  recover(): void {
    const { logger } = this.#parts;
    const { restored, problems } = this.#replacement.recover();
    for (const path of restored) {
      logger.warn(`An upload of ${path} was cut off before its check: what was there before is back.`);
    }
    for (const problem of problems) logger.error(`An upload that was cut off cannot be undone: ${problem}`);
  }

  /**
   * Stores a file with rules or decoders when the engine loads the ruleset with it (rules-and-alerts.md 9.7).
   * @param path relative to the home
   * @param refuse last look before anything changes; throws to refuse
   * @throws ApiError 1113 with what the engine says, 1016 or 1019; what was there before is in place then
   */
  store(path: string, content: string, refuse: () => void, request: ApiRequest): Promise<void> {
    return this.#exclusive(request, async () => {
      refuse();
      try {
        await this.#replacement.replace(path, content, () => this.#check(request));
      } catch (error) {
        if (!(error instanceof ReplacementError)) throw error;
        this.#parts.logger.error(`${path} was not stored (${error.step}): ${error.message}`);
        throw new ApiError(error.step === 'backup' ? 1019 : 1016, { extra: path });
      }
    });
  }

  /**
   * Stores a file that needs no check by the engine.
   * @throws ApiError 1016; the file is unchanged then
   */
  storeUnchecked(path: string, content: string, refuse: () => void, request: ApiRequest): Promise<void> {
    return this.#exclusive(request, () => {
      refuse();
      const target = this.#parts.home.path(path);
      try {
        putFile(target, Buffer.from(content), attributesOf(target));
      } catch (error) {
        this.#parts.logger.error(`${path} was not stored: ${String(error)}`);
        throw new ApiError(1016, { extra: path });
      }
      return Promise.resolve();
    });
  }

  /** Removes files; a link is removed, not what it leads to. @throws ApiError 1907 */
  remove(paths: readonly string[], refuse: () => void, request: ApiRequest): Promise<void> {
    return this.#exclusive(request, () => {
      refuse();
      for (const path of paths) {
        try {
          removeFile(this.#parts.home.path(path));
        } catch (error) {
          this.#parts.logger.error(`${path} was not deleted: ${String(error)}`);
          throw new ApiError(1907);
        }
      }
      return Promise.resolve();
    });
  }

  async #exclusive(request: ApiRequest, task: () => Promise<void>): Promise<void> {
    try {
      await this.#queue.run(() => {
        // Its client was told that it took too long: what comes now would be a surprise.
        request.signal.throwIfAborted();
        return task().finally(this.#parts.changed);
      });
    } catch (error) {
      throw error instanceof LimiterFullError ? busyProblem('svc-apid') : error;
    }
  }

  async #check(request: ApiRequest): Promise<void> {
    const { errors } = await this.#parts.analysisd.call(request, 'ruleset.check', {});
    if (errors.length > 0) throw new ApiError(1113, { extra: errors.join(', ') });
  }
}
