import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import { toByteString } from '../../lib/engine/byte-string.js';
import { readLines } from '../terminal/read-lines.js';
import type { InteractiveLogtest } from './interactive-logtest.js';

/** Lines that the arrow keys bring back. */
const HISTORY_LINES = 1000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Feeds the standard input to the tool, line by line, until it ends or a signal comes; the session is removed either way.
 * @returns the exit status
 */
export async function runInteractive(logtest: InteractiveLogtest): Promise<number> {
  const interruption = new AbortController();
  let interrupted: (typeof SIGNALS)[number] | undefined;
  const interrupt = (signal: (typeof SIGNALS)[number]): void => {
    interrupted = signal;
    // A second one ends the program at once, whatever it waits for.
    for (const each of SIGNALS) process.off(each, interrupt);
    interruption.abort();
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  // A reader that went away (`svc-logtest < any.log | head`): nobody sees what would follow.
  process.stdout.once('error', () => {
    interruption.abort();
  });
  logtest.start();
  for await (const line of inputLines(interruption.signal, interrupt)) {
    await logtest.event(line);
    if (interruption.signal.aborted) break;
  }
  const status = await logtest.end();
  for (const signal of SIGNALS) process.off(signal, interrupt);
  return interrupted === undefined ? status : 128 + constants.signals[interrupted];
}

/** Lines as byte strings; with history and editing on a terminal. */
async function* inputLines(
  signal: AbortSignal,
  interrupt: (signal: 'SIGINT') => void,
): AsyncGenerator<string, void, undefined> {
  const { stdin } = process;
  if (stdin.isTTY) {
    const lines = createInterface({ input: stdin, output: process.stdout, historySize: HISTORY_LINES, prompt: '' });
    // The terminal gives Ctrl-C as a key, not as a signal.
    lines.on('SIGINT', () => {
      interrupt('SIGINT');
    });
    signal.addEventListener('abort', () => {
      lines.close();
    });
    for await (const line of lines) yield toByteString(line);
    return;
  }
  signal.addEventListener('abort', () => stdin.destroy());
  try {
    yield* readLines(stdin as AsyncIterable<Buffer>);
  } catch (error) {
    // What an interruption leaves unread is no failure.
    if (!signal.aborted) throw error;
  }
}
