import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { LAST_GOOD_AGENT_CONF, SHARED_AGENT_CONF, type SharedState } from '../../../lib/agents/load-host-config.js';
import { checkAgentConf } from '../../../lib/config/agent-conf.js';
import { readAgentConfFile } from '../../../lib/config/agent-conf-file.js';
import { writeFileDurably } from '../../../lib/files/write-file-durably.js';
import type { Home } from '../../../lib/home/home.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';

const FOLDER_MODE = 0o750;
const FILE_MODE = 0o640;

/**
 * The copy of the last agent.conf that was right, outside the folder that pushes replace: a daemon that starts beside a
 * broken one goes on with it. svc-agentd alone writes it.
 */
export class LastGoodConfiguration {
  readonly #home: Home;
  readonly #logger: Logger;
  readonly #path: string;

  constructor(home: Home, logger: Logger) {
    this.#home = home;
    this.#logger = logger;
    this.#path = home.path(LAST_GOOD_AGENT_CONF);
  }

  /**
   * Makes the copy the same as the agent.conf that is used now; with none that is used there is none. A broken one and
   * one that is switched off leave it as it is. Never fails: what is wrong is logged.
   */
  async follow({ state }: SharedState): Promise<void> {
    if (state !== 'used' && state !== 'none') return;
    try {
      await this.#sweep();
      const text = this.#read(SHARED_AGENT_CONF);
      if (text === undefined) return await rm(this.#path, { force: true, recursive: true });
      // A push may have replaced the one that was loaded.
      if (checkAgentConf(text, SHARED_AGENT_CONF) !== undefined || this.#kept() === text) return;
      await writeFileDurably(this.#path, text, { mode: FILE_MODE });
    } catch (error) {
      this.#logger.warn(`No copy of '${SHARED_AGENT_CONF}' is kept for bad times: ${describeError(error)}`);
    }
  }

  #read(name: string): string | undefined {
    return readAgentConfFile(this.#home.path(name), name, { follow: false });
  }

  #kept(): string | undefined {
    try {
      return this.#read(LAST_GOOD_AGENT_CONF);
    } catch {
      return undefined;
    }
  }

  /** Makes the folder, and removes what a killed process left in it. */
  async #sweep(): Promise<void> {
    const folder = dirname(this.#path);
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    // Nothing is removed through a link to somewhere else.
    if (!(await lstat(folder)).isDirectory()) throw new Error(`'${folder}' is not a directory`);
    for (const name of await readdir(folder)) {
      if (name !== basename(this.#path)) await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}
