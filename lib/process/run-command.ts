import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { endGroup, PROGRAM_PATH, startGroup } from './process-group.js';

/** Bytes of a line that are sent; the rest of it is thrown away (daemons-and-config.md 6.2). */
const MAX_LINE_BYTES = 65_279;
/** What a program has started may hold its output open: it is not waited for any longer, milliseconds. */
const LAST_OUTPUT_MS = 250;
/** Longest time of a timer, 24.8 days: a longer one would run out at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const NEWLINE = 10;

export type CommandRun = {
  /** Whole path of the program. */
  readonly program: string;
  readonly args: readonly string[];
  readonly directory: string;
  /** Milliseconds; 0 is unlimited. */
  readonly maxMs: number;
  /** Takes a line of its output; the program waits for it. Without, its output is thrown away. */
  readonly line?: (line: Buffer) => Promise<void>;
  /** Whether lines without content are handed on, too. */
  readonly emptyLines?: boolean;
  /** Lines of each output that are handed on; what comes behind them is thrown away. */
  readonly mostLines?: number;
  /** Told of a line that was cut, with its bytes. */
  readonly cut: (bytes: number) => void;
  /** Ends it with all that it has started: first with SIGTERM, then with SIGKILL. */
  readonly signal: AbortSignal;
  /** Milliseconds between the two. */
  readonly killMs: number;
};

/** `code`: undefined when a signal ended it. */
export type CommandEnd = { readonly code: number | undefined; readonly late: boolean };

/** Runs a program without a shell and hands on what it prints. @throws the system's error when it cannot be started */
export async function runCommand(run: CommandRun): Promise<CommandEnd> {
  const { program, args, directory, maxMs, line, signal, killMs } = run;
  const output = line === undefined ? 'ignore' : 'pipe';
  const child = await startGroup({
    ...{ program, args, directory },
    env: { PATH: PROGRAM_PATH, LANG: 'C.UTF-8', HOME: directory },
    stdio: ['ignore', output, output],
  });
  let late = false;
  let killTimer: NodeJS.Timeout | undefined;
  const end = (): void => {
    endGroup(child, 'SIGTERM');
    killTimer = setTimeout(() => {
      endGroup(child);
    }, killMs);
  };
  const timer =
    maxMs === 0
      ? undefined
      : setTimeout(
          () => {
            late = true;
            end();
          },
          Math.min(maxMs, MAX_TIMER_MS),
        );
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const exited = exitOf(child);
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  const handedOn = Promise.all(streams.map((stream) => handOn(stream, run)));
  // Whoever waits for it sees the failure.
  handedOn.catch(() => {});
  try {
    const code = await exited;
    clearTimeout(timer);
    const drained = new Promise((resolve) => setTimeout(resolve, LAST_OUTPUT_MS).unref());
    // What it printed last is read; what it left behind may hold its output open for ever.
    for (const stream of streams) void drained.then(() => stream.destroy());
    await handedOn;
    return { code, late };
  } finally {
    clearTimeout(timer);
    clearTimeout(killTimer);
    signal.removeEventListener('abort', end);
    endGroup(child);
  }
}

async function exitOf(child: ChildProcess): Promise<number | undefined> {
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? undefined;
}

/** Hands on the lines of a stream, in order. */
async function handOn(
  stream: Readable,
  { line, cut, emptyLines = false, mostLines = Infinity }: CommandRun,
): Promise<void> {
  let held: Buffer = Buffer.alloc(0);
  let length = 0;
  let lines = 0;
  const complete = async (): Promise<void> => {
    if (length > MAX_LINE_BYTES) cut(length);
    const bytes = held.at(-1) === 13 ? held.subarray(0, -1) : held;
    held = Buffer.alloc(0);
    length = 0;
    lines += 1;
    if (bytes.length > 0 || emptyLines) await line?.(bytes);
  };
  const take = (part: Buffer): void => {
    length += part.length;
    const room = MAX_LINE_BYTES - held.length;
    if (room > 0) held = Buffer.concat([held, part.subarray(0, room)]);
  };
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      let start = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0 && lines < mostLines; at = chunk.indexOf(NEWLINE, start)) {
        take(chunk.subarray(start, at));
        start = at + 1;
        await complete();
      }
      if (lines < mostLines) take(chunk.subarray(start));
    }
  } catch (error) {
    // Destroyed: what came is what there is.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
  // What ends with a line end has no line behind it.
  if (length > 0) await complete();
}
