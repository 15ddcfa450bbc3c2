/** Static parts of a first-time-seen key, in the key's order; the decoder's name always comes before them. */
export const FTS_PARTS = ['id', 'dstuser', 'srcuser', 'srcip', 'dstip', 'data', 'system_name', 'location'] as const;
export type FtsPart = (typeof FTS_PARTS)[number];

/** What a decoder's `fts` list selects (decoding.md 4.9): `user` is `dstuser` here, `extra_data` is `data`. */
export type FtsSpec = {
  readonly parts: ReadonlySet<FtsPart>;
  /** Names of dynamic fields as `order` writes them. */
  readonly fields: readonly string[];
};
