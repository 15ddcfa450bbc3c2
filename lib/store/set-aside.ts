import { accessSync, constants, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from './store-error.js';

const FILES = ['data.mdb', 'lock.mdb'];
/** Damaged stores that are kept, the newest ones: each may be large. */
const MOST_KEPT = 2;

/** A store that was opened, perhaps instead of one that could not be used. */
export type OpenedStore<T> = {
  readonly store: T;
  /** Why another one is empty in its place, and where that is; undefined when it is the store there was. */
  readonly damage: { readonly error: StoreError; readonly aside: string } | undefined;
};

/**
 * Opens a store; one that is damaged is moved to `damaged-TIME` below its directory, and an empty one is opened. What is
 * damaged is tried twice, and a file that may not be read is not taken for it.
 * @param now epoch milliseconds
 * @throws what `open` throws else
 */
export async function openOrSetAside<T>(
  open: () => Promise<T>,
  directory: string,
  now: number,
): Promise<OpenedStore<T>> {
  try {
    return { store: await open(), damage: undefined };
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  try {
    return { store: await open(), damage: undefined };
  } catch (error) {
    if (!isDamage(error)) throw error;
    accessSync(join(directory, 'data.mdb'), constants.R_OK | constants.W_OK);
    const aside = setAside(directory, now);
    return { store: await open(), damage: { error, aside } };
  }
}

function setAside(directory: string, now: number): string {
  const aside = join(directory, `damaged-${new Date(now).toISOString().replace(/[:.]/g, '-')}`);
  mkdirSync(aside, { mode: 0o750 });
  for (const file of FILES) {
    if (existsSync(join(directory, file))) renameSync(join(directory, file), join(aside, file));
  }
  const others = readdirSync(directory)
    .filter((name) => name.startsWith('damaged-'))
    .sort();
  for (const name of others.slice(0, -MOST_KEPT)) rmSync(join(directory, name), { recursive: true, force: true });
  return aside;
}

function isDamage(error: unknown): error is StoreError {
  return error instanceof StoreError && error.code === 'damaged';
}
