import { dirname } from 'node:path';
import { openRegularFile } from '../../../../lib/files/regular-file.js';
import { syncDirectoryWherePossible } from '../../../../lib/files/sync-directory.js';

/** An alert, or another document, that a search engine refuses. */
export type RejectedAlert = {
  /** `alerts`, `archives`, `states`. */
  readonly output: string;
  readonly index: string;
  readonly id: string;
  /** As the server calls the error; '' when it never got so far. */
  readonly type: string;
  readonly reason: string;
  /** `reduced`: it was taken with its `data` as one text; `no`: in no form. */
  readonly indexed: 'reduced' | 'no';
  /** Line of an alert. */
  readonly line?: string;
  /** A document that is none of an alert. */
  readonly document?: string;
};

const FILE_MODE = 0o640;

/** `logs/indexer-rejected.json`: a line of JSON for each alert that was refused, so that none is lost (indexer.md 2.6). */
export class RejectedAlerts {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Resolves when they are on the disk. @throws the file system's error */
  async write(alerts: readonly RejectedAlert[]): Promise<void> {
    if (alerts.length === 0) return;
    const time = new Date().toISOString();
    const lines = alerts.map(
      ({ line, ...rest }) => `${JSON.stringify({ time, ...rest, ...(line === undefined ? {} : { alert: line }) })}\n`,
    );
    // Opened for each group: a rotation renames the file.
    const file = await openRegularFile(this.#path, { access: 'append', makeMode: FILE_MODE });
    try {
      await file.appendFile(lines.join(''));
      await file.datasync();
    } finally {
      await file.close();
    }
    await syncDirectoryWherePossible(dirname(this.#path));
  }
}
