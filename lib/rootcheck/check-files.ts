import { bytesOf } from '../fim/byte-order.js';
import type { CheckContext } from './check-context.js';
import { rootkitFound } from './findings.js';
import type { RootcheckIgnore } from './rootcheck-ignore.js';
import type { RootkitEntry } from './rootcheck-lists.js';
import type { TreeCalls } from './tree-calls.js';

/** Looks for files that rootkits leave behind (integrity-and-inventory.md 9.2, `files`). */
export async function checkFiles(
  context: CheckContext,
  calls: TreeCalls,
  entries: readonly RootkitEntry[],
  ignore: RootcheckIgnore,
): Promise<void> {
  for (const { path: relative, name } of entries) {
    context.step();
    const path = `${context.settings.base}${relative}`;
    if (!ignore.ignores(path) && isPresent(calls, path)) await context.report(rootkitFound(name, path));
  }
}

/** A kernel that hides a file from one call may forget another: what a single one sees is there. */
function isPresent(calls: TreeCalls, path: string): boolean {
  const bytes = bytesOf(path);
  return (
    succeeds(() => calls.lstat(bytes) !== undefined) ||
    succeeds(() => {
      for (const _entry of calls.entries(path)) break;
      return true;
    }) ||
    succeeds(() => {
      calls.access(path);
      return true;
    }) ||
    succeeds(() => {
      calls.close(calls.open(bytes));
      return true;
    })
  );
}

/** Whatever the error is: a file that may not be looked at cannot be told from none. */
function succeeds(look: () => boolean): boolean {
  try {
    return look();
  } catch {
    return false;
  }
}
