import { randomInt } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AlertView } from '../../../../lib/output/alert-view.js';
import { cutBytes } from '../cut-bytes.js';

const FILE_MODE = 0o640;
const DIRECTORY_MODE = 0o750;
/** Files this old were left by a process that was killed: no program runs for so long. Milliseconds. */
const OLD_MS = 3_600_000;
const FORMAT_UNSAFE = /['\\\r\n\0]/g;

/** Files that a program gets its alert in. */
export type WrittenAlert = { readonly alert: string; readonly options: string; remove(): Promise<void> };

/** Writes alerts down for the programs of integrations, in a directory of their own (daemons-and-config.md 8.2). */
export class AlertFiles {
  readonly #directory: string;

  /** @param directory below the home; made when it is missing */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Removes what a killed process left. */
  async clean(now = Date.now()): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: DIRECTORY_MODE });
    for (const name of await readdir(this.#directory)) {
      const path = join(this.#directory, name);
      if (now - (await stat(path)).mtimeMs > OLD_MS) await rm(path, { force: true });
    }
  }

  /**
   * @param name of the integration
   * @param options text of the options file; '' for none
   */
  async write(name: string, content: string, options: string): Promise<WrittenAlert> {
    const stem = join(
      this.#directory,
      `${name}-${String(Math.floor(Date.now() / 1000))}-${String(randomInt(2 ** 47))}`,
    );
    const alert = `${stem}.alert`;
    const optionsFile = options === '' ? '' : `${stem}.options`;
    const files = [alert, ...(optionsFile === '' ? [] : [optionsFile])];
    const remove = async (): Promise<void> => {
      for (const file of files) await rm(file, { force: true });
    };
    try {
      await mkdir(this.#directory, { recursive: true, mode: DIRECTORY_MODE });
      await writeFile(alert, content, { mode: FILE_MODE, flag: 'wx' });
      if (optionsFile !== '') await writeFile(optionsFile, options, { mode: FILE_MODE, flag: 'wx' });
    } catch (error) {
      await remove();
      throw error;
    }
    return { alert, options: optionsFile, remove };
  }
}

/** An alert in the text format. @param maxLog bytes of the log */
export function alertText(alert: AlertView, maxLog: number): string {
  const lines = [
    ['alertdate', alert.timestamp],
    ['alertlocation', alert.origin],
    ['ruleid', alert.ruleId],
    ['alertlevel', String(alert.level)],
    ['ruledescription', alert.description],
    ['alertlog', cutBytes(alert.fullLog, maxLog)],
    ['srcip', alert.data('srcip')],
  ] as const;
  return lines.map(([name, value]) => `${name}='${value.replace(FORMAT_UNSAFE, ' ')}'\n`).join('');
}
