import type { FileRepair } from '../../lib/output/append-file.js';

/** What an operator is told about a file that was not as it was left. */
export function describeRepair({ path, kind, offset, bytes }: FileRepair): string {
  const where = `'${path}' from byte ${String(offset)} on`;
  switch (kind) {
    case 'torn':
      return `Cut ${String(bytes)} bytes of an unfinished record off the end of '${path}', at byte ${String(offset)}.`;
    case 'differs':
      return `Cut ${String(bytes)} bytes of ${where}: they are not what recovery gives, and are written anew.`;
    case 'short':
      return `${String(bytes)} bytes that had been written to ${where} are gone: removed, or lost by the file system.`;
    case 'extra':
      return `Kept ${String(bytes)} bytes of ${where}, which recovery does not give: their events are not in the journal.`;
  }
}
