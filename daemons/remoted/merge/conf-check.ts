import { hash } from 'node:crypto';
import { describeError } from '../../../lib/log/describe-error.js';
import { runInThread, ThreadDeadlineError } from '../../../lib/thread/run-in-thread.js';
import type { ConfCheck } from './build-group.js';
import type { ConfCheckOrder } from './conf-check-thread.js';
import { confProblem } from './conf-problem.js';
import { MAX_CONF_CHECK_MS } from './shared-limits.js';

/** Contents found good that are remembered: many groups have the same one, and most changes are to other files. */
const MAX_REMEMBERED = 4096;
/** A longer file is checked by a thread of its own: agents' keepalives do not wait for a file of 4 MiB. */
const LONG_BYTES = 16 * 1024;

/** Says why an agent.conf is not distributed: file, line and reason (product.md 3, rule 6). */
export function confCheck(mostMs: number = MAX_CONF_CHECK_MS): ConfCheck {
  const good = new Set<string>();
  return async (content, file) => {
    const md5 = hash('md5', content, 'base64');
    if (good.has(md5)) return undefined;
    const problem =
      content.length <= LONG_BYTES ? confProblem(content, file) : await problemByThread({ content, file }, mostMs);
    if (problem !== undefined) return problem;
    if (good.size >= MAX_REMEMBERED) good.clear();
    good.add(md5);
    return undefined;
  };
}

/** Long files are rare, so a thread is begun for each. @throws Error when the thread fails */
async function problemByThread(order: ConfCheckOrder, mostMs: number): Promise<string | undefined> {
  try {
    return await runInThread<ConfCheckOrder, string | undefined>(
      new URL('./conf-check-thread.js', import.meta.url),
      order,
      { title: 'the thread', mostMs },
    );
  } catch (error) {
    if (error instanceof ThreadDeadlineError) {
      return `'${order.file}' could not be checked within ${String(mostMs / 1000)} s.`;
    }
    throw new Error(`'${order.file}' could not be checked: ${describeError(error)}`, { cause: error });
  }
}
