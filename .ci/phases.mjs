// Runs the phases of a check and says what it is doing: a line when a phase begins, one every half minute while it runs, and all
// durations at the end.
import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

const PROGRESS_MS = 30_000;

/** @returns minutes and seconds: '1:05' */
export function clock(milliseconds) {
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

export class Phases {
  #begun = performance.now();
  #durations = [];

  get elapsedMs() {
    return performance.now() - this.#begun;
  }

  /**
   * Runs a command of the checkout with this process's output.
   * @param options `env` beside this process's; `quiet` for one that tells its own progress; `whole` for one that runs beside
   *   others: what it says comes in one piece when it has ended
   * @returns its exit status, 1 when a signal ended it
   */
  async run(name, command, args, { env = {}, quiet = false, whole = false } = {}) {
    console.log(`[${clock(this.elapsedMs)}] ${name}`);
    const begun = performance.now();
    const stdio = whole ? ['ignore', 'pipe', 'pipe'] : 'inherit';
    const child = spawn(command, args, { cwd: root, stdio, env: { ...process.env, ...env } });
    const said = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => said.push(data));
    const progress = setInterval(() => {
      if (!quiet) console.log(`${name}: ${clock(performance.now() - begun)}`);
    }, PROGRESS_MS);
    const status = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 1));
    }).finally(() => clearInterval(progress));
    if (said.length > 0) process.stdout.write(Buffer.concat(said));
    this.#durations.push([name, performance.now() - begun]);
    return status;
  }

  /** @returns 'install 0:00, build 0:03, ..., 5:12 in all' */
  summary() {
    return [...this.#durations.map(([name, ms]) => `${name} ${clock(ms)}`), `${clock(this.elapsedMs)} in all`].join(
      ', ',
    );
  }
}
