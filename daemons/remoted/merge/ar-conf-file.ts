import { hash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { Breather } from './breather.js';
import { ProblemLog } from './problem-log.js';
import { readSharedFile } from './read-shared-file.js';
import { stampOf } from './scan-folder.js';
import { MAX_AR_CONF_BYTES } from './shared-limits.js';
import { AR_CONF, sharedPath } from './shared-names.js';

/** The ar.conf of all groups; the content is undefined when there is no such file. */
export type ArConf = { readonly content: Buffer | undefined; readonly sum: string };

const ABSENT = 'absent';

/** Holds etc/shared/ar.conf, which every merged file begins with (agents-and-groups.md 6.3). */
export class ArConfFile {
  #state: ArConf = { content: undefined, sum: ABSENT };
  #stamp = ABSENT;
  readonly #problems: ProblemLog;

  constructor(
    private readonly path: string,
    logger: Logger,
  ) {
    this.#problems = new ProblemLog(logger, 'etc/shared');
  }

  get state(): ArConf {
    return this.#state;
  }

  /** Reads the file when it changed. What cannot be read leaves the last content. @returns whether it is another now */
  async look(breather: Breather): Promise<boolean> {
    const before = this.#state.sum;
    try {
      const stats = lstatSync(this.path, { throwIfNoEntry: false });
      if ((stats === undefined ? ABSENT : stampOf(stats)) === this.#stamp) return false;
      const read = await readSharedFile(this.path, MAX_AR_CONF_BYTES, breather);
      if (read.kind === 'changed') return false;
      if (read.kind === 'too_large') throw new Error(`${String(read.size)} bytes are too many`);
      if (read.kind === 'absent' && stats !== undefined) throw new Error('it is no regular file');
      this.#stamp = read.kind === 'read' ? read.stamp : ABSENT;
      this.#state =
        read.kind === 'read'
          ? { content: read.content, sum: hash('md5', read.content, 'hex') }
          : { content: undefined, sum: ABSENT };
      this.#problems.report([], () => true);
    } catch (error) {
      const path = sharedPath(AR_CONF);
      const text = `'${path}' cannot be used, agents keep what they have of it: ${describeError(error)}`;
      this.#problems.report([{ path, level: 'error', text, mended: `'${path}' can be read again.` }], () => true);
      return false;
    }
    return this.#state.sum !== before;
  }
}
