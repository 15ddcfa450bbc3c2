import type { GroupDecision, GroupView } from './group-decisions.js';

/** Who has the say about groups and their members, and makes true what is decided: this node alone, or a cluster. */
export interface GroupAuthority {
  /** Whether it is a cluster: no other way leads to another group. */
  readonly isShared: boolean;
  /** Changes of one decision; what is larger is done in several, each true before the next. */
  readonly mostChanges: number;

  /**
   * Decides on what is in force, and makes it true: on the disk when it is answered, or not at all.
   * @param decide without effects of its own: it may be called again
   * @param isWanted whether somebody still waits: else it is not decided any more
   * @throws BusError `disk_full`, `disk_failed`; in a cluster `cluster_unavailable`, `timeout`; what `decide` throws
   */
  decide<T>(decide: (view: GroupView) => GroupDecision<T>, isWanted?: () => boolean): Promise<T>;

  /**
   * Before an agent is registered: makes sure that its groups will be these, unless it has some already.
   * @param groups undefined when nobody asked for any
   * @throws BusError `unknown_group`, and those of `decide`
   */
  prepare(id: number, groups: readonly string[] | undefined): Promise<void>;

  /** Groups with which an agent is registered now. @throws BusError `unknown_group` */
  ofNewAgent(id: number, groups: readonly string[] | undefined): readonly string[];

  /** Members of the daemon's statistics. */
  stats(): Record<string, unknown>;
}
