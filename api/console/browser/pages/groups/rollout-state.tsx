import { useEffect, useState } from 'preact/hooks';
import { onlyItem } from '../../client/api-client.js';
import type { Group } from '../../client/use-groups.js';
import { useQuery } from '../../client/use-query.js';
import { Loaded } from '../../parts/loaded.js';
import { TEXTS } from '../../texts.js';
import { isDone, type MemberCount, rolloutOf } from './rollout.js';

const T = TEXTS.groups;
/** Milliseconds between two looks, while files are on their way and when they are not. */
const ON_THE_WAY_MS = 10_000;
const AT_REST_MS = 30_000;

type RolloutStateProps = {
  readonly name: string;
  /** The sum of the files before a change that is on its way: until it is another one nothing was sent. */
  readonly oldSum?: string | undefined;
  /** Changes when something was changed. */
  readonly version: number;
};

/** How many agents of a group have its current files; it is counted anew while that changes. */
export function RolloutState({ name, oldSum, version }: RolloutStateProps) {
  const [isMoving, setMoving] = useState(false);
  const query = useQuery(
    `rollout ${name} ${String(version)}`,
    async (api, signal) => {
      const [group, counts] = await Promise.all([
        api.list<Group>('/groups', { groups_list: name }, signal).then(onlyItem),
        api.list<MemberCount>(
          '/agents/stats/distinct',
          { fields: 'status,group_config_status', q: `group=${name}` },
          signal,
        ),
      ]);
      return { sum: group?.mergedSum, rollout: rolloutOf(counts.affected_items) };
    },
    isMoving ? ON_THE_WAY_MS : AT_REST_MS,
  );
  const { data } = query;
  const isPacking = data !== undefined && oldSum !== undefined && data.sum === oldSum;
  useEffect(() => {
    if (data !== undefined) setMoving(isPacking || !isDone(data.rollout));
  }, [data, isPacking]);
  return (
    <Loaded query={query}>
      {({ rollout: { total, synced, away } }) => (
        <div class="rollout">
          <p role="status">
            {isPacking ? T.packing : total === 0 ? T.noMembers : T.have(synced, total)}
            {!isPacking && away > 0 && ` ${T.away(away)}`}
          </p>
          {total > 0 && !isPacking && <progress value={synced} max={total} aria-label={T.have(synced, total)} />}
        </div>
      )}
    </Loaded>
  );
}
