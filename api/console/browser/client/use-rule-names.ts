import { useConsole } from './console-context.js';
import { useQuery } from './use-query.js';

/** What rules are called, by their ids; nothing of those that there are no more, or that the user may not see. */
export function useRuleNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const { session } = useConsole();
  const asked = [...new Set(ids)].sort().join(',');
  const isAsked = asked !== '' && session.may('rules:read');
  const { data } = useQuery(isAsked ? `rule names ${asked}` : undefined, (api, signal) =>
    api.list<{ id: number; description: string }>(
      '/rules',
      { rule_ids: asked, select: ['id', 'description'], limit: 500 },
      signal,
    ),
  );
  return new Map(data?.affected_items.map(({ id, description }) => [String(id), description]));
}
