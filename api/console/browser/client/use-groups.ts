import { useQuery } from './use-query.js';

/** A group as the API shows it (rest-api.md 6.3). */
export type Group = {
  readonly name: string;
  readonly count: number;
  readonly mergedSum?: string;
  readonly configSum?: string;
};

/** Most groups that a list to choose from has. */
const MOST = 500;

/** Names of the groups that the user may see, to choose from. @param isAsked false while nobody chooses */
export function useGroupNames(isAsked = true): readonly string[] {
  const { data } = useQuery(isAsked ? 'group-names' : undefined, (api, signal) =>
    api.list<Group>('/groups', { limit: MOST, select: 'name' }, signal),
  );
  return data?.affected_items.map(({ name }) => name) ?? [];
}
