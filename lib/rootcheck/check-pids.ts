import type { CheckContext } from './check-context.js';
import { hiddenFromAll, hiddenFromKill, hiddenFromProc, hiddenFromPs, TOO_MANY_PROCESSES } from './findings.js';
import type { ProcessCalls } from './process-calls.js';

/** Numbers asked for between two pauses. */
const GROUP = 1024;
/** Findings after which it is said that there are too many. */
const MOST_FINDINGS = 15;
/** Times that something must be wrong before it is told: processes come and go while they are counted. */
const LOOKS = 3;

/**
 * Asks for every number there can be, and compares the answers (integrity-and-inventory.md 9.2, `pids`). Left out where
 * they differ for good reasons: another /proc, or one that hides the processes of others.
 */
export async function checkPids(context: CheckContext, calls: ProcessCalls): Promise<void> {
  const obstacle = calls.obstacle();
  if (obstacle === undefined) await new PidCheck(context, calls).run();
  else context.note('debug', `The check 'pids' is left out: ${obstacle}`);
}

class PidCheck {
  readonly #context: CheckContext;
  readonly #calls: ProcessCalls;
  #listed: ReadonlySet<number>;
  #found = 0;

  constructor(context: CheckContext, calls: ProcessCalls) {
    this.#context = context;
    this.#calls = calls;
    this.#listed = calls.listed();
  }

  async run(): Promise<void> {
    const maximum = this.#calls.maximum();
    for (let pid = 1; pid <= maximum; pid += 1) {
      this.#context.step();
      if (this.#wrong(pid) !== undefined && !(await this.#verify(() => this.#freshWrong(pid)))) return;
      if (pid % GROUP === 0) await this.#context.pause();
    }
    await this.#comparePs();
  }

  /** @returns false when there are too many */
  async #verify(wrong: () => string | undefined): Promise<boolean> {
    let text = wrong();
    for (let look = 1; look < LOOKS && text !== undefined; look += 1) {
      await this.#context.pause();
      if (wrong() !== text) text = undefined;
    }
    if (text === undefined) return true;
    this.#found += 1;
    await this.#context.report(this.#found > MOST_FINDINGS ? TOO_MANY_PROCESSES : text);
    return this.#found <= MOST_FINDINGS;
  }

  #freshWrong(pid: number): string | undefined {
    this.#listed = this.#calls.listed();
    return this.#wrong(pid);
  }

  /** What does not fit together of the answers about a number. */
  #wrong(pid: number): string | undefined {
    const kill = this.#calls.kill(pid);
    const session = this.#calls.session(pid);
    if (kill !== session) return hiddenFromKill(pid, kill, session);
    if (!kill) return this.#listed.has(pid) && this.#calls.leader(pid) !== undefined ? hiddenFromAll(pid) : undefined;
    if (this.#listed.has(pid)) return undefined;
    // A thread is found under its number, though only its process is listed.
    const leader = this.#calls.leader(pid);
    const hidden = leader === undefined || leader === pid;
    return hidden && this.#calls.kill(pid) ? hiddenFromProc(pid) : undefined;
  }

  async #comparePs(): Promise<void> {
    const listed = this.#calls.listed();
    const shown = this.#calls.ps();
    if (shown === undefined) {
      this.#context.note('debug', 'Processes are not compared with those of ps, which cannot be asked here');
      return;
    }
    for (const pid of listed) {
      this.#context.step();
      if (!shown.has(pid) && !(await this.#verify(() => this.#missingFromPs(pid)))) return;
    }
  }

  #missingFromPs(pid: number): string | undefined {
    if (!this.#calls.listed().has(pid)) return undefined;
    const shown = this.#calls.ps(pid);
    if (shown === undefined || shown.has(pid)) return undefined;
    return this.#calls.listed().has(pid) ? hiddenFromPs(pid) : undefined;
  }
}
