import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, readSync } from 'node:fs';
import { waitUntil } from '../../../lib/async/wait-until.js';
import type { Program } from '../../../lib/control/daemon-catalogue.js';
import { makeOwnFile } from '../../../lib/files/open-own-file.js';
import { readRunFile } from '../../../lib/files/read-run-file.js';
import type { Home } from '../../../lib/home/home.js';
import { describeError } from '../../../lib/log/describe-error.js';
import { allocateSparingly } from './allocate-sparingly.js';

/** A supervisor that does not answer by then has failed to start. */
const START_MS = 15_000;
const POLL_MS = 20;
const STANDARD_INPUT = 0;
/** What a supervisor is told to begin by. */
const WORD = '\n';

/**
 * A supervisor in a session of its own, so that it outlives the terminal. Its program is loaded, which takes as long as to
 * check the configuration does, and it touches nothing before it is told to begin; it ends when whoever made it does.
 */
export class DetachedSupervisor {
  readonly #errors: string;
  readonly #child: ChildProcess;
  #hasEnded = false;

  /** @param control the control program */
  constructor(home: Home, control: Program) {
    this.#errors = home.path('var', 'run', 'svc-control.stderr');
    const fd = makeOwnFile(this.#errors);
    const args = [...control.args, 'run', '--detached', '--when-told', '--home', home.root];
    const env = allocateSparingly(process.env);
    this.#child = spawn(control.command, args, {
      ...{ cwd: home.root, env, detached: true, stdio: ['pipe', 'ignore', fd] },
    });
    closeSync(fd);
    const end = (): void => {
      this.#hasEnded = true;
    };
    this.#child.once('exit', end);
    this.#child.once('error', end);
    // It is gone then, which is seen above.
    this.#child.stdin?.on('error', () => {});
  }

  /** Has it begin. @param runs whether a supervisor answers @throws Error with what it said when none does */
  async begin(runs: () => Promise<boolean>): Promise<void> {
    this.#child.stdin?.end(WORD);
    const started = async (): Promise<'runs' | 'ended' | undefined> => {
      if (await runs()) return 'runs';
      return this.#hasEnded ? 'ended' : undefined;
    };
    if ((await waitUntil(started, { everyMs: POLL_MS, mostMs: START_MS })) !== 'runs') {
      const text = readText(this.#errors).trim();
      throw new Error(`the supervisor did not start: ${text === '' ? 'it gave no reason' : text}`);
    }
    this.#child.unref();
  }

  /** It is not needed after all. */
  giveUp(): void {
    this.#child.stdin?.end();
    this.#child.unref();
  }
}

/** Waits, in a supervisor that was started so, until it is told to begin. @returns false when it is not needed */
export function isToldToBegin(): boolean {
  return readSync(STANDARD_INPUT, Buffer.alloc(WORD.length)) > 0;
}

function readText(path: string): string {
  try {
    return readRunFile(path).text;
  } catch (error) {
    return describeError(error);
  }
}
