import { checkAudit } from './check-audit.js';
import type { CheckContext } from './check-context.js';
import { checkDev } from './check-dev.js';
import { checkFiles } from './check-files.js';
import { checkInterfaces } from './check-interfaces.js';
import { checkPids } from './check-pids.js';
import { checkPorts } from './check-ports.js';
import { checkSys } from './check-sys.js';
import { checkTrojans } from './check-trojans.js';
import { SystemPorts } from './port-calls.js';
import { SystemProcesses } from './process-calls.js';
import { RootcheckIgnore } from './rootcheck-ignore.js';
import { readRootkitFiles, readTrojans, type RootkitList } from './rootcheck-lists.js';
import type { RootcheckCheck } from './rootcheck-settings.js';
import { SYSTEM_TREE } from './tree-calls.js';

/**
 * Makes the checks of `settings.checks`, one after the other, with calls that block: to be run in a thread of its own
 * (rootcheck-thread.ts). A check that fails is noted, and the next one is made.
 */
export async function rootcheckScan(context: CheckContext): Promise<void> {
  const { settings } = context;
  const ignore = new RootcheckIgnore(settings.ignore);
  const wantsList = settings.checks.some((check) => check === 'files' || check === 'sys');
  const rootkits: RootkitList = wantsList ? readRootkitFiles(context) : { files: [], anywhere: new Map() };
  const checks: Record<RootcheckCheck, () => Promise<void>> = {
    files: () => checkFiles(context, SYSTEM_TREE, rootkits.files, ignore),
    trojans: () => checkTrojans(context, SYSTEM_TREE, readTrojans(context), ignore),
    audit: () => checkAudit(context, SYSTEM_TREE),
    dev: () => checkDev(context, SYSTEM_TREE, ignore),
    sys: () => checkSys(context, { calls: SYSTEM_TREE, ignore, anywhere: rootkits.anywhere }),
    pids: () => checkPids(context, new SystemProcesses()),
    ports: () => checkPorts(context, new SystemPorts()),
    if: () => checkInterfaces(context),
  };
  for (const check of settings.checks) {
    try {
      await checks[check]();
    } catch (error) {
      context.note('error', `The check '${check}' failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
