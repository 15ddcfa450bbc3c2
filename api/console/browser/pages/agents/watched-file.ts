/** A file as the API shows it (rest-api.md 6.10). */
export type WatchedFile = {
  readonly file: string;
  readonly type: string;
  readonly perm?: unknown;
  readonly uname?: string;
  readonly gname?: string;
  readonly size?: number;
  readonly changes?: number;
  readonly mtime?: string | null;
  readonly date?: string | null;
  readonly md5?: string;
  readonly sha256?: string;
  readonly inode?: number | string;
};
