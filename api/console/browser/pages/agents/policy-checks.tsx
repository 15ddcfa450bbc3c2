import { onlyItem } from '../../client/api-client.js';
import { useQuery } from '../../client/use-query.js';
import type { Column } from '../../parts/data-table.js';
import { Dialog } from '../../parts/dialog.js';
import { Loaded } from '../../parts/loaded.js';
import { PagedList } from '../../parts/paged-list.js';
import { SearchField } from '../../parts/search-field.js';
import { SelectField } from '../../parts/select-field.js';
import { Facts, StateBadge } from '../../parts/small.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';

const T = TEXTS.agentTabs;

/** A check of a policy with its result (rest-api.md 6.12). */
type Check = {
  readonly id: number;
  readonly title: string;
  readonly result: string;
  readonly description?: string;
  readonly rationale?: string;
  readonly remediation?: string;
  readonly reason?: string;
  readonly condition?: string;
  readonly rules?: readonly { readonly type: string; readonly rule: string }[];
  readonly compliance?: readonly { readonly key: string; readonly value: string }[];
};

const RESULTS: readonly (readonly [string, string])[] = [
  ['', TEXTS.agents.everything],
  ['failed', T.failed],
  ['passed', T.passed],
  ['not applicable', T.notApplicable],
];

function Result({ result }: { readonly result: string }) {
  const tone = result === 'passed' ? 'good' : result === 'failed' ? 'bad' : 'plain';
  return <StateBadge state={RESULTS.find(([value]) => value === result)?.[1] ?? result} tone={tone} />;
}

/** The checks of a policy; one of them with its reason and what to do. */
export function PolicyChecks({ id, policy }: { readonly id: string; readonly policy: string }) {
  const [place, change] = useParams();
  const [result, search] = [place.get('result') ?? '', place.get('search') ?? ''];
  const check = place.get('check');
  const columns: readonly Column<Check>[] = [
    { key: 'id', title: TEXTS.agents.id, sort: 'id', isNumber: true, isExtra: true, show: (row) => row.id },
    {
      key: 'title',
      title: T.check,
      sort: 'title',
      show: (row) => (
        <button type="button" class="link" onClick={() => change({ check: String(row.id) })}>
          {row.title}
        </button>
      ),
    },
    { key: 'result', title: T.result, sort: 'result', show: (row) => <Result result={row.result} /> },
  ];
  return (
    <div class="stack">
      <div class="row" role="search">
        <SelectField
          label={T.result}
          value={result}
          options={RESULTS}
          onChange={(to) => change({ result: to, offset: undefined }, true)}
        />
        <SearchField
          label={TEXTS.common.search}
          value={search}
          onSearch={(to) => change({ search: to, offset: undefined }, true)}
        />
      </div>
      <PagedList<Check>
        label={T.check}
        path={`/sca/${id}/checks/${encodeURIComponent(policy)}`}
        params={{ result, search, select: 'id,title,result' }}
        columns={columns}
        rowKey={(row) => String(row.id)}
        sort="+id"
      />
      {check !== null && (
        <CheckDialog id={id} policy={policy} check={check} onClose={() => change({ check: undefined })} />
      )}
    </div>
  );
}

type CheckDialogProps = {
  readonly id: string;
  readonly policy: string;
  readonly check: string;
  readonly onClose: () => void;
};

function CheckDialog({ id, policy, check, onClose }: CheckDialogProps) {
  const query = useQuery(`check ${id} ${policy} ${check}`, async (api, signal) =>
    onlyItem(
      await api.list<Check>(`/sca/${id}/checks/${encodeURIComponent(policy)}`, { q: `id=${check}`, limit: 1 }, signal),
    ),
  );
  return (
    <Dialog wide title={query.data?.title ?? T.check} onClose={onClose}>
      <Loaded query={query}>
        {(data) => (data === undefined ? <p>{TEXTS.common.nothing}</p> : <Whole check={data} />)}
      </Loaded>
    </Dialog>
  );
}

function Whole({ check }: { readonly check: Check }) {
  const { description, rationale, remediation, reason, rules = [], compliance = [], condition } = check;
  const paragraphs: readonly (readonly [string, string | undefined])[] = [
    [T.reason, reason],
    [TEXTS.agents.description, description],
    [T.rationale, rationale],
    [T.remediation, remediation],
  ];
  return (
    <div class="stack">
      <p>
        <Result result={check.result} />
      </p>
      {paragraphs.map(
        ([title, text]) =>
          text !== undefined &&
          text !== '' && (
            <section key={title}>
              <h3>{title}</h3>
              <p class="text">{text}</p>
            </section>
          ),
      )}
      <section>
        <h3>{`${T.rules}${condition === undefined ? '' : ` (${condition})`}`}</h3>
        <ul class="bare">
          {rules.map(({ rule }) => (
            <li key={rule}>
              <code>{rule}</code>
            </li>
          ))}
        </ul>
      </section>
      {compliance.length > 0 && <Facts facts={compliance.map(({ key, value }) => [key, value])} />}
    </div>
  );
}
