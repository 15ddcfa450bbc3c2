import * as z from 'zod';
import { grouped } from '../terminal/progress-bar.js';
import type { ProgressLine } from '../terminal/progress-line.js';
import type { ApiAnswer } from './api-client.js';
import { ApiUsageError } from './usage-error.js';

const failure = z.looseObject({
  error: z.looseObject({ code: z.number(), message: z.string(), remediation: z.string().nullish() }),
  id: z.array(z.union([z.string(), z.number()])),
});

const list = z.looseObject({
  data: z.looseObject({
    affected_items: z.array(z.unknown()),
    total_affected_items: z.number(),
    total_failed_items: z.number(),
    failed_items: z.array(failure),
  }),
  message: z.string(),
  error: z.number(),
});

/** A list as the API answers it (rest-api.md 3.2). */
export type ApiList = z.infer<typeof list>;
/** What could not be done, and why. */
export type ApiFailure = z.infer<typeof failure>;

/** Items of a list that are held at once: beyond that they are only passed on. */
const MAX_HELD_ITEMS = 500_000;

/** The list that an answer is; undefined for another one. */
export function listOf(answer: ApiAnswer): ApiList | undefined {
  if (!answer.type.includes('json')) return undefined;
  const parsed = list.safeParse(JSON.parse(answer.text));
  return parsed.success ? parsed.data : undefined;
}

/**
 * The pages after the first one, each asked for when the one before was taken.
 * @param ask sends the same request with another `offset`
 * @param offset of the first page
 */
export async function* furtherPages(
  first: ApiList,
  ask: (offset: number) => Promise<ApiAnswer>,
  offset: number,
  progress: ProgressLine,
): AsyncGenerator<ApiList> {
  let page = first;
  let next = offset;
  for (;;) {
    const { affected_items: items, total_affected_items: total } = page.data;
    next += items.length;
    progress.update(`${grouped(next)} of ${grouped(total)}`);
    if (items.length === 0 || next >= total) return;
    const following = listOf(await ask(next));
    if (following === undefined) return;
    page = following;
    yield page;
  }
}

/** A list with the items of all its pages. @throws ApiUsageError when there are too many to be held */
export async function wholeList(first: ApiList, pages: AsyncIterable<ApiList>): Promise<ApiList> {
  const { affected_items: items } = first.data;
  for await (const page of pages) {
    for (const item of page.data.affected_items) items.push(item);
    if (items.length > MAX_HELD_ITEMS) {
      throw new ApiUsageError(
        `more than ${grouped(MAX_HELD_ITEMS)} items: narrow them down, or take them with -o lines`,
      );
    }
  }
  return first;
}
