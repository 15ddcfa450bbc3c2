import { useEffect, useRef } from 'preact/hooks';
import type { List, Parameters } from '../client/api-client.js';
import { useConsole } from '../client/console-context.js';
import { useQuery } from '../client/use-query.js';
import { useParams } from '../router/use-place.js';
import { TEXTS } from '../texts.js';
import { type Column, DataTable } from './data-table.js';
import { Loaded } from './loaded.js';

type PagedListProps<Row> = {
  readonly label: string;
  readonly path: string;
  /** The action that shows any of it: without it there is nothing to wait for, and the list would be empty without a word. */
  readonly needs?: string;
  /** What is asked beside page and order. */
  readonly params?: Parameters;
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row, index: number) => string;
  /** The order at first: `+field` or `-field`. */
  readonly sort?: string;
  /** Rows on a page. */
  readonly size?: number;
  readonly empty?: string;
  /** Where several lists are on one page, what their parameters of the URL begin with. */
  readonly name?: string;
  /** Milliseconds until the page is asked for again; 0: never. */
  readonly everyMs?: number;
  /** Changes when the list must be asked for anew. */
  readonly version?: number;
  readonly selected?: ReadonlySet<string>;
  readonly onSelect?: (key: string, isSelected: boolean) => void;
  readonly rowName?: (row: Row) => string;
};

const SIZE = 25;

/** A list of the API, page by page; page and order are in the URL. */
export function PagedList<Row>(props: PagedListProps<Row>) {
  const { path, params = {}, name = '', size = SIZE } = props;
  const { session } = useConsole();
  const isDenied = props.needs !== undefined && !session.may(props.needs);
  const [place, change] = useParams();
  const offset = Number(place.get(`${name}offset`) ?? 0) || 0;
  const sort = place.get(`${name}sort`) ?? props.sort;
  const asked = { ...params, offset, limit: size, sort };
  const query = useQuery(
    isDenied ? undefined : `${path} ${JSON.stringify(asked)} ${String(props.version ?? 0)}`,
    (api, signal) => api.list<Row>(path, asked, signal),
    props.everyMs ?? 0,
  );
  // What was shown stays until the next page is there, so that nothing jumps while somebody types or turns pages.
  const before = useRef<{ path: string; list: List<Row>; offset: number } | undefined>(undefined);
  if (query.data !== undefined) before.current = { path, list: query.data, offset };
  const kept = query.error === undefined && before.current?.path === path ? before.current : undefined;
  // Rows go away while somebody looks at the last of them: a page behind the end would look as if there were none.
  const last = query.data === undefined ? offset : lastOffset(query.data, offset, size);
  useEffect(() => {
    if (last !== offset) change({ [`${name}offset`]: last === 0 ? undefined : String(last) }, true);
  }, [last, offset, name, change]);
  if (isDenied) {
    return (
      <p class="failed" role="alert">
        {TEXTS.common.denied}
      </p>
    );
  }
  return (
    <Loaded query={{ ...query, data: query.data ?? kept?.list }}>
      {({ affected_items: rows, total_affected_items: total }) => (
        <>
          <DataTable
            label={props.label}
            columns={props.columns}
            rows={rows}
            rowKey={props.rowKey}
            sort={sort}
            onSort={(by) => change({ [`${name}sort`]: by, [`${name}offset`]: undefined })}
            {...(props.empty === undefined ? {} : { empty: props.empty })}
            {...(props.selected === undefined ? {} : { selected: props.selected })}
            {...(props.onSelect === undefined ? {} : { onSelect: props.onSelect })}
            {...(props.rowName === undefined ? {} : { rowName: props.rowName })}
          />
          <Pager
            offset={offset}
            shown={kept?.offset ?? offset}
            size={size}
            total={total}
            onPage={(to) => change({ [`${name}offset`]: to === 0 ? undefined : String(to) })}
          />
        </>
      )}
    </Loaded>
  );
}

function lastOffset(
  { affected_items: rows, total_affected_items: total }: List<unknown>,
  offset: number,
  size: number,
): number {
  return rows.length > 0 || total === 0 ? offset : Math.min(offset, Math.floor((total - 1) / size) * size);
}

type PagerProps = {
  /** Where the page begins that is asked for, and the one that is seen. */
  readonly offset: number;
  readonly shown: number;
  readonly size: number;
  readonly total: number;
  readonly onPage: (offset: number) => void;
};

/** Which page it is, with the ways to those beside it. */
function Pager({ offset, shown, size, total, onPage }: PagerProps) {
  if (total === 0) return null;
  const rows = TEXTS.common.of(shown + 1, Math.min(shown + size, total), total);
  return (
    <nav class="pager" aria-label={rows}>
      <button type="button" disabled={offset === 0} onClick={() => onPage(Math.max(0, offset - size))}>
        {TEXTS.common.previous}
      </button>
      <span>{rows}</span>
      <button type="button" disabled={offset + size >= total} onClick={() => onPage(offset + size)}>
        {TEXTS.common.next}
      </button>
    </nav>
  );
}
