import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describeError } from '../log/describe-error.js';
import { runInThread, ThreadDeadlineError } from '../thread/run-in-thread.js';
import type { Validation, ValidationOrder } from './validation.js';

/** A configuration that is not looked through by then is not good: a ruleset of thousands of rules takes a second. */
const TIMEOUT_MS = 60_000;
/** Longest answer of a process, bytes: a configuration has some ten mistakes, not millions. */
const MAX_ANSWER_BYTES = 16 * 1024 ** 2;
/** Memory of the thread: the rules of the public ruleset take some 100 MB. */
const HEAP_MEGABYTES = 1024;

/**
 * Looks at the configuration of a home in a thread of its own: this one goes on meanwhile, and a file that takes for ever
 * or all memory ends nothing but the thread. It never fails: what keeps it from looking is an error of the configuration.
 */
export async function runValidation(order: ValidationOrder, timeoutMs = TIMEOUT_MS): Promise<Validation> {
  try {
    return await runInThread<ValidationOrder, Validation>(new URL('./validation-thread.js', import.meta.url), order, {
      title: 'its thread',
      memory: { old: HEAP_MEGABYTES },
      mostMs: timeoutMs,
    });
  } catch (error) {
    const slow = error instanceof ThreadDeadlineError;
    const reason = slow ? `it took more than ${String(timeoutMs / 1000)} s` : describeError(error);
    return failed(`The configuration could not be checked: ${reason}.`);
  }
}

/** User and group by their numbers. */
export type CheckingUser = { readonly uid: number; readonly gid: number };

/**
 * The same in a process of another user: the ruleset and the lists are files of the service user, and root neither reads
 * them nor follows what stands in their place.
 */
export function runValidationAs(
  order: ValidationOrder,
  { uid, gid }: CheckingUser,
  timeoutMs = TIMEOUT_MS,
): Promise<Validation> {
  const program = fileURLToPath(new URL('./validation-process.js', import.meta.url));
  const options = { uid, gid, cwd: order.home, timeout: timeoutMs, maxBuffer: MAX_ANSWER_BYTES };
  return new Promise((resolve) => {
    const args = [`--max-old-space-size=${String(HEAP_MEGABYTES)}`, program, JSON.stringify(order)];
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout) as Validation);
      else resolve(failed(`The configuration could not be checked: ${lastLine(stderr) ?? describeError(error)}.`));
    });
  });
}

function lastLine(text: string): string | undefined {
  return text.trim().split('\n').at(-1) || undefined;
}

function failed(text: string): Validation {
  return { errors: [{ level: 'error', text, daemon: undefined }], warnings: [], noEffect: [], looked: [] };
}
