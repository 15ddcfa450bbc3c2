import { statSync } from 'node:fs';
import { ifPresentSync } from '../../../../lib/files/if-present.js';
import { readIndexerSecret } from '../../../../lib/indexer/indexer-secret.js';
import { describeError } from '../../../../lib/log/describe-error.js';
import type { Logger } from '../../../../lib/log/logger.js';

/** Name and password of `etc/indexer.secret`, as they are at the moment (indexer.md 4.2). */
export class IndexerAccount {
  readonly #path: string;
  readonly #logger: Logger;
  #stamp: string | undefined;
  #header: string | undefined;

  constructor(path: string, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
  }

  /** Changes with the file. */
  get stamp(): string {
    const found = ifPresentSync(() => statSync(this.#path));
    return found === undefined ? '' : `${String(found.ino)}:${String(found.mtimeMs)}:${String(found.size)}`;
  }

  /** Value of `authorization`; undefined when there is no account. A file that cannot be read is told once. */
  header(): string | undefined {
    const { stamp } = this;
    if (stamp === this.#stamp) return this.#header;
    this.#stamp = stamp;
    this.#header = this.#read();
    return this.#header;
  }

  #read(): string | undefined {
    try {
      const secret = readIndexerSecret(this.#path);
      if (secret === undefined || (secret.username === '' && secret.password === '')) {
        this.#logger.warn(
          `No username and password for the indexer in '${this.#path}' (svc-keystore writes them): requests carry none.`,
        );
        return undefined;
      }
      if (secret.worldReadable) this.#logger.warn(`'${this.#path}' can be read by everybody: its mode should be 0640.`);
      const { username, password } = secret;
      return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    } catch (error) {
      this.#logger.error(`Requests to the indexer carry no password: ${describeError(error)}`);
      return undefined;
    }
  }
}
