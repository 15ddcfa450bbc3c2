/** Agents of a group by state and by whether they have its files, as `/agents/stats/distinct` counts them. */
export type MemberCount = {
  readonly status: string;
  readonly group_config_status: string;
  readonly count: number;
};

/** How far the files of a group have come. */
export type Rollout = {
  readonly total: number;
  readonly synced: number;
  /** Not connected, and without the files: they get them when they come back. */
  readonly away: number;
};

export function rolloutOf(counts: readonly MemberCount[]): Rollout {
  const sum = (isMeant: (count: MemberCount) => boolean) =>
    counts.filter(isMeant).reduce((total, { count }) => total + count, 0);
  return {
    total: sum(() => true),
    synced: sum(({ group_config_status: status }) => status === 'synced'),
    away: sum(({ status, group_config_status: config }) => config !== 'synced' && status !== 'active'),
  };
}

/** Whether everybody who can have the files has them. */
export function isDone({ total, synced, away }: Rollout): boolean {
  return synced + away >= total;
}
