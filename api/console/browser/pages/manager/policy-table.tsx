import { DataTable } from '../../parts/data-table.js';
import { StateBadge } from '../../parts/small.js';
import { TEXTS } from '../../texts.js';
import type { Policy } from './access.js';

const T = TEXTS.manager;

type PolicyTableProps = {
  readonly rows: readonly { readonly from: string; readonly policy: Policy }[];
  readonly from: string;
};

/** What policies allow and deny, in the order in which they count. @param from what the first column says */
export function PolicyTable({ rows, from }: PolicyTableProps) {
  return (
    <DataTable
      label={T.policies}
      columns={[
        { key: 'from', title: from, show: (row) => row.from },
        {
          key: 'effect',
          title: T.effect,
          show: ({ policy: { policy } }) => (
            <StateBadge state={policy.effect} tone={policy.effect === 'allow' ? 'good' : 'bad'} />
          ),
        },
        { key: 'actions', title: T.policyActions, show: ({ policy: { policy } }) => policy.actions.join(', ') },
        { key: 'resources', title: T.resources, show: ({ policy: { policy } }) => policy.resources.join(', ') },
      ]}
      rows={rows}
      rowKey={({ from: first, policy }) => `${first} ${String(policy.id)}`}
      empty={T.mayNothing}
    />
  );
}
