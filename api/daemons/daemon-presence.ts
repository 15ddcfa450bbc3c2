import { type Contract, defineContract } from '../../lib/bus/contract.js';
import { commonMethods } from '../../lib/bus/contracts/common.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import { RunFiles } from '../../lib/daemon/run-files.js';
import { readRunRecord } from '../../lib/daemon/run-record.js';
import type { Home } from '../../lib/home/home.js';
import { cpuTimeOf } from '../../lib/process/process-identity.js';
import type { DaemonName } from '../../lib/product/daemon-names.js';

/**
 * How long a daemon has to say that it is there, milliseconds. With the silence before it is asked, a request that needs
 * one that is stuck is answered within the 2 s of architecture.md 4 "Requests".
 */
const ANSWER_MS = 700;
/** A daemon that computed for so long meanwhile is busy, not stuck: svc-analysisd while it loads rules; milliseconds. */
const BUSY_MS = 100;

/** Whether a daemon does anything: it answers, or computes. Never rejects. */
export async function isPresent(home: Home, daemon: DaemonName): Promise<boolean> {
  const pid = readRunRecord(new RunFiles(home, daemon).record())?.pid;
  const before = pid === undefined ? undefined : cpuTimeOf(pid);
  const client = new RequestClient({ contract: defineContract(daemon, commonMethods), path: home.socket(daemon) });
  try {
    await client.call('ping', {}, { deadlineMs: ANSWER_MS });
    return true;
  } catch {
    const after = pid === undefined ? undefined : cpuTimeOf(pid);
    return before !== undefined && after !== undefined && after - before >= BUSY_MS;
  } finally {
    client.close();
  }
}

/** Calls a daemon of a home, and does not wait for one that is stuck. */
export function watchedClient<C extends Contract>(home: Home, contract: C): RequestClient<C> {
  return new RequestClient({
    contract,
    path: home.socket(contract.daemon),
    isThere: () => isPresent(home, contract.daemon),
  });
}
