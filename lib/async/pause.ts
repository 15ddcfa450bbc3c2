import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits so many milliseconds, or until the signal comes. Never rejects: who was waiting looks at the signal.
 * @param options `ref` false: the process may end meanwhile
 */
export async function pause(
  milliseconds: number,
  signal?: AbortSignal,
  options: { readonly ref?: boolean } = {},
): Promise<void> {
  await delay(milliseconds, undefined, { ...options, ...(signal === undefined ? {} : { signal }) }).catch(() => {});
}
