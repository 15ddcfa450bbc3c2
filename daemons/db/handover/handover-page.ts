import type { HandlerResult } from '../../../lib/bus/contract.js';
import type { dbContract } from '../../../lib/bus/contracts/db.js';
import {
  type HandoverPlace,
  type HandoverRow,
  MAX_HANDOVER_BYTES,
  MAX_HANDOVER_ROWS,
} from '../../../lib/bus/contracts/db-handover.js';
import type { HandoverStore } from './handover-store.js';

/** A page of what a store has of an agent, behind a place. */
export function handoverPage(
  store: HandoverStore,
  agent: string,
  after: HandoverPlace | undefined,
): HandlerResult<typeof dbContract, 'agents.rows'> {
  const sections = store.sections(agent);
  const first = after === undefined ? 0 : sections.indexOf(after.section);
  const rows: HandoverRow[] = [];
  let bytes = 0;
  // A section that is gone meanwhile ends it: the agent's own synchronisation does the rest.
  for (const section of first < 0 ? [] : sections.slice(first)) {
    const from = section === after?.section ? Buffer.from(after.key) : undefined;
    for (const { key, value } of store.rows(agent, section, from)) {
      bytes += section.length + key.length + value.length;
      const last = rows.at(-1);
      if (last !== undefined && (rows.length === MAX_HANDOVER_ROWS || bytes > MAX_HANDOVER_BYTES)) {
        return { rows, next: { section: last.section, key: last.key } };
      }
      rows.push({ section, key, value });
    }
  }
  return { rows, next: null };
}
