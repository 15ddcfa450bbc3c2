/** One file of a ruleset: its content is a byte string, the path is what messages name. */
export type RulesetSource = {
  readonly path: string;
  readonly content: string;
};
