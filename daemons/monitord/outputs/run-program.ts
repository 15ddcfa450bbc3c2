import { endGroup, PROGRAM_PATH, startGroup } from '../../../lib/process/process-group.js';

/** What is kept of the end of its output, bytes. */
const MAX_OUTPUT_BYTES = 4096;
/** What a program has started may hold its output open: it is not waited for any longer, milliseconds. */
const LAST_OUTPUT_MS = 250;

export type ProgramRun = {
  /** Whole path. */
  readonly program: string;
  readonly args: readonly string[];
  /** What it reads; without, its input is empty. */
  readonly input?: Buffer;
  /** Working directory: the home. */
  readonly directory: string;
  /** Milliseconds after which it is ended with all that it has started. */
  readonly maxMs: number;
  /** Ends it the same way. */
  readonly signal: AbortSignal;
};

export type ProgramEnd = {
  /** Undefined when a signal ended it. */
  readonly code: number | undefined;
  /** The last line it wrote, to either output. */
  readonly lastLine: string;
};

/**
 * Runs a program: no shell, a process group of its own, which ends with it.
 * @throws Error when it cannot be started, or took too long
 */
export async function runProgram(run: ProgramRun): Promise<ProgramEnd> {
  run.signal.throwIfAborted();
  const { program, args, directory, input } = run;
  const child = await startGroup({
    ...{ program, args, directory },
    env: { PATH: PROGRAM_PATH, LANG: 'C.UTF-8', HOME: directory },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  let late = false;
  const end = (): void => {
    endGroup(child);
  };
  const timer = setTimeout(() => {
    late = true;
    end();
  }, run.maxMs);
  run.signal.addEventListener('abort', end, { once: true });
  if (run.signal.aborted) end();
  // A program that does not read all ends when it likes.
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data: Buffer) => {
      output = (output + data.toString('utf8')).slice(-MAX_OUTPUT_BYTES);
    });
  }
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  clearTimeout(timer);
  run.signal.removeEventListener('abort', end);
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, LAST_OUTPUT_MS).unref())]);
  for (const stream of [child.stdout, child.stderr]) stream?.destroy();
  run.signal.throwIfAborted();
  if (late) throw new Error(`it took longer than ${String(run.maxMs / 1000)} s and was ended`);
  return { code: code ?? undefined, lastLine: output.trimEnd().split('\n').at(-1) ?? '' };
}
