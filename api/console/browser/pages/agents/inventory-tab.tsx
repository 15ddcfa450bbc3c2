import { useQuery } from '../../client/use-query.js';
import type { Column } from '../../parts/data-table.js';
import { Loaded } from '../../parts/loaded.js';
import { Card } from '../../parts/page.js';
import { PagedList } from '../../parts/paged-list.js';
import { SearchField } from '../../parts/search-field.js';
import { SelectField } from '../../parts/select-field.js';
import { Facts, Time } from '../../parts/small.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import type { Agent } from './agent.js';
import { INVENTORY_TABLES, type InventoryTable, valueAt } from './inventory-tables.js';

const T = TEXTS.agentTabs;

type Row = Readonly<Record<string, unknown>>;

/** What is on a host: its system and hardware, and one table of the rest. */
export function InventoryTab({ agent }: { readonly agent: Agent }) {
  const [place, change] = useParams();
  const wanted = place.get('table');
  const table = INVENTORY_TABLES.find(({ key }) => key === wanted) ?? INVENTORY_TABLES[0];
  const search = place.get('search') ?? '';
  if (table === undefined) return null;
  return (
    <div class="stack">
      <Host id={agent.id} />
      <div class="row" role="search">
        <SelectField
          label={T.section}
          value={table.key}
          options={INVENTORY_TABLES.map(({ key }) => [key, TEXTS.inventory.tables[key]])}
          onChange={(to) => change({ table: to, search: undefined, offset: undefined, sort: undefined }, true)}
        />
        <SearchField
          label={TEXTS.common.search}
          value={search}
          onSearch={(to) => change({ search: to, offset: undefined }, true)}
        />
      </div>
      <div class="card">
        <PagedList<Row>
          key={table.key}
          label={TEXTS.inventory.tables[table.key]}
          path={`/syscollector/${agent.id}/${table.key}`}
          params={{ search }}
          columns={columnsOf(table)}
          rowKey={(row) => JSON.stringify(row)}
          sort={table.sort}
          empty={search === '' ? T.noInventory : TEXTS.common.nothing}
        />
      </div>
    </div>
  );
}

function columnsOf({ columns }: InventoryTable): readonly Column<Row>[] {
  return columns.map(([path, kind]) => ({
    key: path,
    title: TEXTS.inventory.columns[path],
    sort: path,
    isNumber: kind === 'number',
    isExtra: kind === 'extra',
    show: (row) => (kind === 'code' ? <code>{valueAt(row, path)}</code> : valueAt(row, path)),
  }));
}

type Hardware = {
  readonly cpu?: { readonly name?: string; readonly cores?: number; readonly mhz?: number };
  readonly ram?: { readonly total?: number; readonly usage?: number };
  readonly scan?: { readonly time?: string };
};

/** System and hardware. */
function Host({ id }: { readonly id: string }) {
  const query = useQuery(`host ${id}`, async (api, signal) => {
    const [systems, hardware] = await Promise.all([
      api.list<Row>(`/syscollector/${id}/os`, {}, signal),
      api.list<Hardware>(`/syscollector/${id}/hardware`, {}, signal),
    ]);
    return { system: systems.affected_items[0], hardware: hardware.affected_items[0] };
  });
  return (
    <Card title={T.system}>
      <Loaded query={query}>
        {({ system, hardware }) =>
          system === undefined && hardware === undefined ? (
            <p class="empty">{T.noInventory}</p>
          ) : (
            <Facts
              facts={[
                [TEXTS.agents.name, valueAt(system ?? {}, 'hostname')],
                [T.system, [valueAt(system ?? {}, 'os.name'), valueAt(system ?? {}, 'os.version')].join(' ')],
                [
                  TEXTS.agents.kernel,
                  [valueAt(system ?? {}, 'release'), valueAt(system ?? {}, 'architecture')].join(' '),
                ],
                [T.cpu, [hardware?.cpu?.name ?? '–', T.cores(hardware?.cpu?.cores ?? 0)].join(', ')],
                [T.memory, T.memoryOf((hardware?.ram?.total ?? 0) / 2 ** 20, hardware?.ram?.usage ?? 0)],
                [T.scanned, <Time at={hardware?.scan?.time} />],
              ]}
            />
          )
        }
      </Loaded>
    </Card>
  );
}
