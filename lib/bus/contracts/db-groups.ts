import * as z from 'zod';

/** Groups of one agent (agents-and-groups.md 6.2). */
export const MAX_GROUPS_PER_AGENT = 128;
/** Groups of a manager: each is a directory and is watched. */
export const MAX_GROUPS = 20_000;

/** Merged files there can be: one a group, one a list of several groups, of which every agent may have its own. */
const MAX_MERGED_SUMS = 120_000;

/** agents-and-groups.md 10.3. */
export const groupName = z
  .string()
  .regex(/^(?!(?:\.|\.\.|all)$)[a-zA-Z0-9_.-]{1,255}$/, 'is no group name: 1 to 255 letters, digits, `.`, `_`, `-`');

const mergedSum = z.string().regex(/^[0-9a-f]{32}$/, 'is no md5 in lower case');
const group = z.object({ name: z.string(), count: z.number().int() });
const groupNames = z.array(groupName).max(MAX_GROUPS);

/**
 * Groups as svc-db knows them; their files are not its business. `default` is always there. Errors: `unknown_group`,
 * `group_exists`, `default_group`, `too_many_groups`, `disk_full`; in a cluster, which decides about changes there,
 * `cluster_unavailable` (nothing was changed, or the message says that it is not known) and `timeout` (it is made, and not in force here yet).
 */
export const groupMethods = {
  /** All, or those of `names` that are there, by name. `mark` stands for this moment, for `groups.remove`. */
  'groups.list': {
    params: z.object({ names: groupNames.optional() }),
    result: z.object({ groups: z.array(group), unknown: z.array(z.string()), mark: z.string() }),
  },
  /** Error `unknown_group`. */
  'groups.get': { params: z.object({ name: groupName }), result: group },
  /** Error `group_exists`. */
  'groups.create': { params: z.object({ name: groupName }), result: z.object({}) },
  /**
   * Members lose the group; those that had only this one get `default`. Error `default_group`: none was removed. With
   * `unusedSince`, a `mark`, groups stay that somebody wanted to create or gave to agents after it: who decided before
   * that they are to go did not know of that. All stay when that cannot be told, as after a restart. In a cluster groups with
   * very many members go in several steps: after an error some may have lost a group that is still there.
   */
  'groups.remove': {
    params: z.object({ names: groupNames, unusedSince: z.string().max(64).optional() }),
    result: z.object({
      removed: z.array(z.string()),
      kept: z.array(z.string()),
      unknown: z.array(z.string()),
      /** Agents that were in one of them. */
      agents: z.array(z.string()),
    }),
  },
  /** Ids of the members, ascending. Error `unknown_group`. */
  'groups.agents': { params: z.object({ name: groupName }), result: z.object({ ids: z.array(z.string()) }) },
  /**
   * The merged files there are, all of them: the md5 of each by the groups it is for, in order of priority. They decide
   * `group_config_status` at once and outlive a restart. `changed`: sums that came, went or are others than before.
   */
  'groups.sums': {
    params: z.object({
      sums: z
        .array(z.object({ groups: z.array(groupName).min(1).max(MAX_GROUPS_PER_AGENT), md5: mergedSum }))
        .max(MAX_MERGED_SUMS),
    }),
    result: z.object({ changed: z.number().int() }),
  },
  /** Distinct lists of several groups that agents have, with their hash (6.1): what multigroups are built for. */
  'groups.multigroups': {
    params: z.object({}),
    result: z.object({
      lists: z.array(z.object({ groups: z.array(z.string()), hash: z.string(), agents: z.number().int() })),
    }),
  },
};
