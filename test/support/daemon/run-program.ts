import { type ChildProcess, spawn } from 'node:child_process';
import { isAbsolute } from 'node:path';
import { testProgram } from './test-program.js';

/** How a program ended and what it said. */
export type ProgramResult = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** A program of test/support/daemon under way. */
export class TestProgram {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly ended: Promise<ProgramResult>;

  /**
   * @param script a program of tests (`test-daemon.js`), or an absolute path
   * @param options environment beside the test's own, the user it runs as, and what stands before the command
   */
  constructor(
    script: string,
    args: readonly string[],
    options: {
      readonly env?: Readonly<Record<string, string>>;
      readonly uid?: number;
      readonly gid?: number;
      readonly before?: readonly string[];
    } = {},
  ) {
    const { env, before = [], ...rest } = options;
    const { SVC_HOME: _home, NOTIFY_SOCKET: _notify, ...inherited } = process.env;
    const [command = process.execPath, ...others] = [...before, process.execPath];
    this.child = spawn(command, [...others, isAbsolute(script) ? script : testProgram(script), ...args], {
      ...rest,
      env: { ...inherited, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code, signal) => {
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  /** @throws Error when it has not been started */
  get pid(): number {
    if (this.child.pid === undefined) throw new Error('the program did not start');
    return this.child.pid;
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }
}
