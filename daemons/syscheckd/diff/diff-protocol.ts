import type { ContentChange } from './content-changes.js';

/** What the thread is started with. */
export type DiffThreadData = { readonly home: string };

/** Settings as the thread needs them. */
export type ChangeRules = {
  /** Bytes; undefined: no quota. */
  readonly quota: number | undefined;
  /** Whether `ContentChange.limit` is in force. */
  readonly fileSizeLimited: boolean;
  /** The file is one whose changes are not shown. */
  readonly nodiff: boolean;
};

/** What the thread is asked to do, one after the other. */
export type DiffRequest =
  | { readonly kind: 'prepare'; readonly change: ContentChange; readonly rules: ChangeRules }
  /** @see Prepared.token */
  | { readonly kind: 'settle' | 'discard'; readonly token: number }
  | { readonly kind: 'measure' }
  | { readonly kind: 'remove_paths'; readonly paths: readonly string[] }
  | { readonly kind: 'remove_names'; readonly names: readonly string[] }
  /** The next names of copies, from the beginning with `first`. */
  | { readonly kind: 'names'; readonly first: boolean };

/** The text of a change, and the token by which its copy is put in place; 0: there is nothing to do. */
export type PreparedText = { readonly text: string | undefined; readonly token: number };

/** Something for the log of the daemon. */
export type DiffNotice = { readonly level: 'debug' | 'warn'; readonly text: string };

/** The answer to a request. */
export type DiffResult = { readonly prepared?: PreparedText; readonly names?: readonly string[] | undefined };

/** What the thread says: notices, and an answer to every request. */
export type DiffReply = { readonly notice: DiffNotice } | { readonly id: number; readonly result: DiffResult };
