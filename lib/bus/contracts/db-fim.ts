import * as z from 'zod';
import {
  agentId as agent,
  applyMethod,
  positionMethod,
  type StoredOperation,
  syncAllMethod,
  syncMethod,
} from './db-events.js';
import { filterText as text, itemPage, listParams } from './db-lists.js';

/** Agents one call may clear. */
export const MAX_AGENTS_PER_CLEAR = 100_000;

/** Queue 8 and queue 9. */
const KINDS = ['syscheck', 'rootcheck'] as const;
/** An event that changes what is stored of an agent's files. */
export type FimOperation = StoredOperation<(typeof KINDS)[number]>;

const hash = z
  .string()
  .regex(/^(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-fA-F]{56}|[0-9a-fA-F]{64}|[0-9a-fA-F]{96}|[0-9a-fA-F]{128}|)$/);
const cleared = {
  params: z.object({ agents: z.array(agent).max(MAX_AGENTS_PER_CLEAR) }),
  result: z.object({}),
};
/** `2023-11-14T22:21:40Z`; null when it has not happened, and for `end` while a scan is running. */
const lastScan = {
  params: z.object({ agent }),
  result: z.object({ start: z.string().nullable(), end: z.string().nullable() }),
};

/**
 * File integrity and rootcheck of all agents (integrity-and-inventory.md 7 to 9). What is answered is on disk. Errors:
 * `disk_full`, `disk_failed`, `busy`; for lists `query_1408` and the like, see `queryErrorOf`.
 */
export const fimMethods = {
  'fim.position': positionMethod,
  'fim.apply': applyMethod(KINDS),
  'fim.sync': syncMethod,
  'fim.sync_all': syncAllMethod,
  /** `GET /syscheck/{agent_id}` (8.1); the parameters are named as there. */
  'fim.list': {
    params: z.object({
      agent,
      ...listParams,
      /** Equality, whatever the case. */
      file: text.optional(),
      arch: z.enum(['[x32]', '[x64]']).optional(),
      'value.name': text.optional(),
      'value.type': text.optional(),
      type: z.enum(['file', 'registry_key', 'registry_value']).optional(),
      md5: hash.optional(),
      sha1: hash.optional(),
      sha256: hash.optional(),
      /** One of the three is it. */
      hash: hash.optional(),
      /** `date`, `mtime` and `file` only. */
      summary: z.boolean().optional(),
    }),
    result: itemPage,
  },
  'fim.last_scan': lastScan,
  'fim.clear': cleared,
  /** `GET /rootcheck/{agent_id}` (9.5). */
  'rootcheck.list': {
    params: z.object({
      agent,
      ...listParams,
      status: z.enum(['all', 'outstanding', 'solved']).default('all'),
      pci_dss: text.optional(),
      cis: text.optional(),
    }),
    result: itemPage,
  },
  'rootcheck.last_scan': lastScan,
  'rootcheck.clear': cleared,
};
