import type { ContentChange } from './content-changes.js';

/** Settings as the thread needs them. */
export type ChangeRules = {
  /** Bytes; undefined: no quota. */
  readonly quota: number | undefined;
  /** Whether `ContentChange.limit` is in force. */
  readonly fileSizeLimited: boolean;
  /** The file is one whose changes are not shown. */
  readonly nodiff: boolean;
};

/** The text of a change, and the token by which its copy is put in place; 0: there is nothing to do. */
export type PreparedText = { readonly text: string | undefined; readonly token: number };

/** Something for the log of the daemon. */
export type DiffNotice = { readonly level: 'debug' | 'warn'; readonly text: string };

/** A thread that copies, packs and compares files, one after the other (diff-thread.ts). */
export type DiffThread = {
  readonly data: { readonly home: string };
  readonly calls: {
    readonly prepare: (order: { readonly change: ContentChange; readonly rules: ChangeRules }) => PreparedText;
    /** @see PreparedText.token */
    readonly settle: (token: number) => void;
    readonly discard: (token: number) => void;
    readonly measure: (unused: undefined) => void;
    readonly removePaths: (paths: readonly string[]) => void;
    readonly removeNames: (names: readonly string[]) => void;
    /** The next names of copies, from the beginning with `first`; undefined when there are no more. */
    readonly names: (order: { readonly first: boolean }) => readonly string[] | undefined;
  };
  readonly news: DiffNotice;
};
