import * as z from 'zod';

/** What is stored of an agent's host, each kind by itself. */
export const HANDOVER_STORES = ['files', 'inventory', 'policies'] as const;
export type HandoverStoreName = (typeof HANDOVER_STORES)[number];

/** Rows of one page: what is stored in one go. */
export const MAX_HANDOVER_ROWS = 1000;
/** Bytes of one page, about. One row always fits. */
export const MAX_HANDOVER_BYTES = 512 * 1024;
/** Bytes of one row: stops one that no store would take. */
const MAX_ROW_BYTES = 1024 * 1024;
/** Bytes of a row's key. */
const MAX_KEY_BYTES = 4096;
/** Sections of a store: policies are told one by one. */
const MAX_SECTION = 1024;

const bytes = (most: number) =>
  z.custom<Uint8Array>(
    (value) => value instanceof Uint8Array && value.length <= most,
    `is no bytes, or more than ${String(most)}`,
  );
const place = z.object({ section: z.string().max(MAX_SECTION), key: bytes(MAX_KEY_BYTES) });
export type HandoverPlace = z.output<typeof place>;

const row = z.object({ section: z.string().max(MAX_SECTION), key: bytes(MAX_KEY_BYTES), value: bytes(MAX_ROW_BYTES) });
export type HandoverRow = z.output<typeof row>;

/** What the node that an agent was connected to before has of its host, for the one that it is connected to now. */
export const handoverMethods = {
  /** A page of what is stored of an agent, behind a place. Errors: `unknown_agent`, `unknown_method` without a cluster. */
  'agents.rows': {
    params: z.object({
      agent: z.string().regex(/^\d{3,8}$/, 'is no agent id: 3 to 8 digits'),
      /** Who has the id where it is asked: of another host there is nothing to be had. */
      name: z.string().min(1).max(128),
      store: z.enum(HANDOVER_STORES),
      after: place.optional(),
    }),
    result: z.object({
      rows: z.array(row).max(MAX_HANDOVER_ROWS),
      /** Where the next page begins; null when there is none. */
      next: place.nullable(),
    }),
  },
};
