/** A whole number; as its digits when it is larger than a number can hold exactly. */
export type WholeNumber = number | string;

/** An entry as the agent told it (integrity-and-inventory.md 7.1); absent columns were not told. */
export type FimColumns = {
  /** Opaque: never computed here. */
  readonly checksum: string;
  /** Epoch seconds by the agent's clock. */
  readonly date: number;
  readonly type: string;
  /** Path of a registry entry, whose key is its index. */
  readonly file?: string | undefined;
  readonly arch?: string | undefined;
  readonly valueName?: string | undefined;
  readonly valueType?: string | undefined;
  readonly size?: WholeNumber | undefined;
  readonly perm?: string | undefined;
  readonly uid?: string | undefined;
  readonly gid?: string | undefined;
  readonly md5?: string | undefined;
  readonly sha1?: string | undefined;
  readonly sha256?: string | undefined;
  readonly uname?: string | undefined;
  readonly gname?: string | undefined;
  readonly attributes?: string | undefined;
  readonly symbolicPath?: string | undefined;
  readonly mtime?: WholeNumber | undefined;
  readonly inode?: WholeNumber | undefined;
};
