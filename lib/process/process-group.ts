import { type ChildProcess, spawn } from 'node:child_process';

/** Where programs of other people are looked for, whatever this process was started with. */
export const PROGRAM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export type GroupedProgram = {
  /** Whole path. */
  readonly program: string;
  readonly args: readonly string[];
  /** Working directory. */
  readonly directory: string;
  /** All that it gets of the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Of standard input, output and error. */
  readonly stdio: readonly ['ignore' | 'pipe', 'ignore' | 'pipe', 'ignore' | 'pipe'];
};

/**
 * Starts a program in a process group of its own, without a shell: what it starts ends with it ({@link endGroup}).
 * @throws the system's error
 */
export function startGroup({ program, args, directory, env, stdio }: GroupedProgram): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: directory, env, detached: true, stdio: [...stdio] });
    child.once('error', reject);
    child.once('spawn', () => {
      resolve(child);
    });
  });
}

/** Ends a program with everything that it has started. */
export function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended already.
  }
}
