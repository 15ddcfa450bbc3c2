import { shownNumber } from '../../client/shown.js';
import { useQuery } from '../../client/use-query.js';
import { type Column, DataTable } from '../../parts/data-table.js';
import { Loaded } from '../../parts/loaded.js';
import { Card } from '../../parts/page.js';
import { Time } from '../../parts/small.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import type { Agent } from './agent.js';
import { PolicyChecks } from './policy-checks.js';

const T = TEXTS.agentTabs;

/** How a host does by a policy (rest-api.md 6.12). */
type Policy = {
  readonly policy_id: string;
  readonly name: string;
  readonly description?: string;
  readonly pass: number;
  readonly fail: number;
  readonly invalid: number;
  readonly score: number;
  readonly end_scan?: string;
};

/** Policies that a page shows: an agent can have 64. */
const MOST = 64;

/** How a host does by its policies, and the checks of one of them. */
export function PoliciesTab({ agent }: { readonly agent: Agent }) {
  const [place, change] = useParams();
  const query = useQuery(`policies ${agent.id}`, (api, signal) =>
    api.list<Policy>(`/sca/${agent.id}`, { limit: MOST, sort: '+policy_id' }, signal),
  );
  const choose = (policy: string) => change({ policy, check: undefined, result: undefined, offset: undefined });
  const columns: readonly Column<Policy>[] = [
    {
      key: 'name',
      title: T.policy,
      show: ({ policy_id: id, name }) => (
        <button type="button" class="link" onClick={() => choose(id)}>
          {name}
        </button>
      ),
    },
    { key: 'score', title: T.score, isNumber: true, show: ({ score }) => `${String(score)} %` },
    { key: 'pass', title: T.passed, isNumber: true, show: ({ pass }) => shownNumber(pass) },
    { key: 'fail', title: T.failed, isNumber: true, show: ({ fail }) => shownNumber(fail) },
    {
      key: 'invalid',
      title: T.notApplicable,
      isNumber: true,
      isExtra: true,
      show: ({ invalid }) => shownNumber(invalid),
    },
    { key: 'end', title: T.scanned, isExtra: true, show: ({ end_scan: end }) => <Time at={end} /> },
  ];
  return (
    <Loaded query={query}>
      {({ affected_items: policies }) => {
        const current = policies.find(({ policy_id: id }) => id === place.get('policy')) ?? policies[0];
        return (
          <div class="stack">
            <div class="card">
              <DataTable
                label={TEXTS.agents.policies}
                columns={columns}
                rows={policies}
                rowKey={({ policy_id: id }) => id}
                empty={T.noPolicies}
              />
            </div>
            {current !== undefined && (
              <Card title={T.checks(current.name)}>
                <p class="hint">{current.description}</p>
                <PolicyChecks key={current.policy_id} id={agent.id} policy={current.policy_id} />
              </Card>
            )}
          </div>
        );
      }}
    </Loaded>
  );
}
