import { filterBy } from '../../client/alert-filters.js';
import type { AlertTop } from '../../client/alerts.js';
import { type Query, useQuery } from '../../client/use-query.js';
import { useRuleNames } from '../../client/use-rule-names.js';
import { BarList } from '../../parts/bar-list.js';
import { Loaded } from '../../parts/loaded.js';
import { Card } from '../../parts/page.js';
import { useTimeSpan } from '../../parts/time-range.js';
import { hrefOf } from '../../router/location.js';

/** Values that are shown. */
const MOST = 8;
/** Milliseconds until they are asked for again: what is commonest changes slowly. */
const EVERY_MS = 60_000;

type TopCardProps = { readonly title: string; readonly field: string };

/** The commonest values of a field; each leads to its alerts. */
export function TopCard({ title, field }: TopCardProps) {
  const query = useTop(field);
  return (
    <Card title={title}>
      <Bars query={query} field={field} names={NO_NAMES} />
    </Card>
  );
}

/** The rules that found most, with what they are called. */
export function TopRulesCard({ title }: { readonly title: string }) {
  const query = useTop('rule.id');
  const names = useRuleNames(query.data?.affected_items.map(({ value }) => String(value)) ?? []);
  return (
    <Card title={title}>
      <Bars query={query} field="rule.id" names={names} />
    </Card>
  );
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

type BarsProps = {
  readonly query: Query<AlertTop>;
  readonly field: string;
  readonly names: ReadonlyMap<string, string>;
};

function Bars({ query, field, names }: BarsProps) {
  const { from, to } = useTimeSpan();
  return (
    <Loaded query={query}>
      {({ affected_items: values }) => (
        <BarList
          items={values.map(({ value, count }) => {
            const text = String(value);
            const filter = filterBy(new URLSearchParams(), field, text);
            const name = names.get(text);
            return {
              key: text,
              label: name === undefined ? text : `${text} ${name}`,
              count,
              ...(filter === undefined ? {} : { href: hrefOf(['alerts'], { from, to, ...filter }) }),
            };
          })}
        />
      )}
    </Loaded>
  );
}

function useTop(field: string): Query<AlertTop> {
  const { from, to } = useTimeSpan();
  const asked = { field, from, to, limit: MOST };
  return useQuery(
    `top ${JSON.stringify(asked)}`,
    (api, signal) => api.get<AlertTop>('/alerts/top', asked, signal),
    to === undefined ? EVERY_MS : 0,
  );
}
