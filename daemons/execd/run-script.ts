import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import { endGroup, PROGRAM_PATH, startGroup } from '../../lib/process/process-group.js';

/** A script that takes longer has gone wrong; some scan files, which takes minutes. */
const MAX_RUN_MS = 10 * 60 * 1000;
/** The question of a script has less. */
const MAX_LINE_BYTES = 65_536;
/** What a script complains of is kept up to here. */
const MAX_COMPLAINT_BYTES = 1024;
/** What a script has started may hold its output open: it is not waited for any longer. */
const LAST_OUTPUT_MS = 250;

/** All that a script gets of the environment. */
const ENVIRONMENT = { PATH: PROGRAM_PATH, LANG: 'C', HOME: '/' };

/** A program that could not be started, (1317). */
class ScriptStartError extends Error {
  override readonly name = 'ScriptStartError';
}

export type ScriptRun = {
  /** Path of the program from `directory`, which is how it is called. */
  readonly program: string;
  /** Working directory: the home. */
  readonly directory: string;
  /** First line of its input. */
  readonly line: string;
  /**
   * Answers the one question a script may ask; with undefined it gets no answer, only the end of its input. Without this
   * its output is not looked at, and its input ends behind the line.
   */
  readonly ask?: (question: string) => Promise<string | undefined>;
  /** Called when the answer is in the hands of the script; how it fails is what the run throws. */
  readonly told?: () => Promise<void>;
  /** Milliseconds after which it is ended with all that it has started. */
  readonly maxMs?: number;
};

/** How a script ended. */
export type ScriptEnd = {
  /** Undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly late: boolean;
  /** First line of what it wrote to standard error. */
  readonly complaint: string;
};

/**
 * Runs the program of a response and holds the dialogue of daemons-and-config.md 5.3 with it: no shell, no arguments, an
 * environment of its own, a process group of its own.
 * @throws ScriptStartError; what `ask` throws, once the script has ended
 */
export async function runScript(run: ScriptRun): Promise<ScriptEnd> {
  const child = await start(run);
  const ended = new Promise<{ code: number | null }>((resolve) => {
    child.once('exit', (code) => {
      resolve({ code });
    });
  });
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => {
      resolve();
    });
  });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    endGroup(child);
  }, run.maxMs ?? MAX_RUN_MS);
  const complaint = collect(child);
  const talk = converse(child, run).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  const { code } = await ended;
  clearTimeout(timer);
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, LAST_OUTPUT_MS).unref())]);
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  const failure = await talk;
  if (failure !== undefined) throw failure.error;
  return { code: code ?? undefined, late, complaint: complaint() };
}

/** @throws ScriptStartError */
async function start({ program, directory, ask }: ScriptRun): Promise<ChildProcess> {
  try {
    return await startGroup({
      ...{ program, args: [], directory, env: ENVIRONMENT },
      stdio: ['pipe', ask === undefined ? 'ignore' : 'pipe', 'pipe'],
    });
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const number = code in constants.errno ? constants.errno[code as keyof typeof constants.errno] : 0;
    throw new ScriptStartError(`(1317): Could not launch command ${message} (${String(number)})`, { cause: error });
  }
}

async function converse(child: ChildProcess, { line, ask, told }: ScriptRun): Promise<void> {
  const { stdin } = child;
  // A script that does not read its input ends when it likes.
  stdin?.on('error', () => {});
  stdin?.write(`${line}\n`);
  try {
    if (ask === undefined) return;
    const question = await firstLine(child);
    const answer = question === undefined ? undefined : await ask(question);
    if (answer === undefined || stdin === null) return;
    const taken = written(stdin, `${answer}\n`);
    stdin.end();
    if (await taken) await told?.();
  } finally {
    stdin?.end();
  }
}

/** @returns whether it was taken; not by a script that has ended */
function written(stdin: Writable, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    stdin.write(text, (error) => {
      resolve(error === undefined || error === null);
    });
  });
}

/** The first line of a script's output; what comes after it is dropped. Undefined when it closes its output before. */
function firstLine({ stdout }: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    let done = false;
    const settle = (line: string | undefined): void => {
      done = true;
      resolve(line);
    };
    stdout?.on('data', (chunk: Buffer) => {
      if (done) return;
      bytes = Buffer.concat([bytes, chunk.subarray(0, MAX_LINE_BYTES + 1 - bytes.length)]);
      const end = bytes.indexOf('\n');
      if (end >= 0) settle(bytes.toString('utf8', 0, end));
      else if (bytes.length > MAX_LINE_BYTES) settle(bytes.toString('utf8', 0, MAX_LINE_BYTES));
    });
    stdout?.once('close', () => {
      settle(undefined);
    });
  });
}

function collect({ stderr }: ChildProcess): () => string {
  let text = '';
  stderr?.on('data', (chunk: Buffer) => {
    if (text.length < MAX_COMPLAINT_BYTES) text = `${text}${chunk.toString('utf8')}`.slice(0, MAX_COMPLAINT_BYTES);
  });
  return () => text.split('\n').find((line) => line.trim() !== '') ?? '';
}
