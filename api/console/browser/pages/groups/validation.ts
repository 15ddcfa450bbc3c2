/** What the checks say of an agent.conf that is not stored (rest-api.md 6.3). */
export type Validation = {
  readonly status: 'OK' | 'KO';
  readonly problems: readonly Remark[];
  readonly warnings: readonly Remark[];
  /** The text as it would be stored. */
  readonly content?: string;
};

/** About a line, from 1; 0 is the whole file. */
type Remark = { readonly line: number; readonly message: string };

/** Problems as an editor shows them. */
export function problemsOf({ problems }: Validation): { line: number; text: string }[] {
  return problems.map(({ line, message }) => ({ line, text: message }));
}

/** Where the configuration of a group is in the API. */
export function pathOf(group: string, below = ''): string {
  return `/groups/${encodeURIComponent(group)}/configuration${below}`;
}

/** Where the text of it is. */
export function fileOf(group: string): string {
  return `/groups/${encodeURIComponent(group)}/files/agent.conf`;
}
