/** A file is `disabled` when the configuration excludes it; its rules and decoders are listed all the same. */
export type ListingStatus = 'enabled' | 'disabled';

/** Where a file of the ruleset stands, as the API shows it. */
export type ListedFile = {
  /** Base name. */
  readonly filename: string;
  /** Directory relative to the installation, `ruleset/rules`; absolute when it is outside of it. */
  readonly relative_dirname: string;
  readonly status: ListingStatus;
};

/** A file of the ruleset with its text, decoded as UTF-8. */
export type ListingSource = {
  readonly file: ListedFile;
  readonly content: string;
};

/** A file, or a rule in it, that cannot be listed. */
export type ListingProblem = {
  readonly filename: string;
  readonly relative_dirname: string;
  /** First line 1; 0 = the file as a whole. */
  readonly line: number;
  readonly message: string;
};

/** What could be listed of a file and what could not. */
export type Listing<Item> = {
  readonly items: readonly Item[];
  readonly problems: readonly ListingProblem[];
};
