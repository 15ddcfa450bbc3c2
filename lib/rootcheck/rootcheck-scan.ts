import { checkFiles } from './check-files.js';
import { type CheckContext, StoppedError } from './check-context.js';
import { RootcheckIgnore } from './rootcheck-ignore.js';
import { readRootkitFiles, type RootkitList } from './rootcheck-lists.js';
import type { RootcheckCheck } from './rootcheck-settings.js';
import { SYSTEM_TREE } from './tree-calls.js';

/**
 * Makes the checks of `settings.checks`, one after the other, with calls that block: to be run in a thread of its own
 * (rootcheck-thread.ts). A check that fails is noted, and the next one is made.
 * @throws StoppedError
 */
export async function rootcheckScan(context: CheckContext): Promise<void> {
  const { settings } = context;
  const ignore = new RootcheckIgnore(settings.ignore);
  const wantsList = settings.checks.some((check) => check === 'files' || check === 'sys');
  const rootkits: RootkitList = wantsList ? readRootkitFiles(context) : { files: [], anywhere: new Map() };
  const checks: Partial<Record<RootcheckCheck, () => Promise<void>>> = {
    files: () => checkFiles(context, SYSTEM_TREE, rootkits.files, ignore),
  };
  for (const check of settings.checks) {
    try {
      await checks[check]?.();
    } catch (error) {
      if (error instanceof StoppedError) throw error;
      context.note('error', `The check '${check}' failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
