import * as z from 'zod';
import { itemList } from './item-list.js';

/** Items of one page of a list of what agents told (rest-api.md 4.1); a page larger than a message is cut shorter. */
export const MAX_LIST_PAGE = 100_000;

/** A text that a column is held against. */
export const filterText = z.string().max(8192);

/** Common to all lists of what agents told; the same language as `agents.list` has. */
export const listParams = {
  offset: z.number().int().min(0).default(0),
  limit: z.number().int().min(0).max(MAX_LIST_PAGE).default(500),
  sort: z.string().max(1024).optional(),
  /** Substring in any field, whatever the case; a leading `-` turns it round. */
  search: z.string().max(1024).optional(),
  select: z.array(z.string().max(64)).min(1).max(64).optional(),
  q: z.string().max(65_536).optional(),
  distinct: z.boolean().optional(),
};

/** Items of a page, and how many there are on all pages. */
export const itemPage = z.object({ items: itemList, total: z.number().int() });
