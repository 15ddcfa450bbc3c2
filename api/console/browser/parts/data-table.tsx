import type { ComponentChildren } from 'preact';
import { TEXTS } from '../texts.js';

export type Column<Row> = {
  readonly key: string;
  readonly title: string;
  readonly show: (row: Row) => ComponentChildren;
  /** The field that the server sorts by; a column without one cannot be sorted by. */
  readonly sort?: string;
  readonly isNumber?: boolean;
  /** Kept in one line: an id, a name, a time. */
  readonly isShort?: boolean;
  /** Left out where there is little room. */
  readonly isExtra?: boolean;
};

type DataTableProps<Row> = {
  /** What the table is, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row, index: number) => string;
  /** `+field` or `-field`, as the API has it. */
  readonly sort?: string | undefined;
  readonly onSort?: (sort: string) => void;
  readonly selected?: ReadonlySet<string>;
  readonly onSelect?: (key: string, isSelected: boolean) => void;
  /** What a row is called where it can be selected. */
  readonly rowName?: (row: Row) => string;
  readonly empty?: string;
};

/** Rows of a list; columns that can be sorted by have buttons for heads. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowKey, selected, onSelect } = props;
  const isAllSelected = rows.every((row, index) => selected?.has(rowKey(row, index)) === true);
  if (rows.length === 0) return <p class="empty">{props.empty ?? TEXTS.common.nothing}</p>;
  return (
    <div class="table-frame" role="region" aria-label={label} tabIndex={0}>
      <table>
        <caption class="unseen">{label}</caption>
        <thead>
          <tr>
            {onSelect !== undefined && (
              <td>
                <input
                  type="checkbox"
                  aria-label={TEXTS.common.selectPage}
                  checked={isAllSelected}
                  onChange={() => {
                    for (const [index, row] of rows.entries()) onSelect(rowKey(row, index), !isAllSelected);
                  }}
                />
              </td>
            )}
            {columns.map((column) => (
              <Head key={column.key} column={column} sort={props.sort} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => {
            const key = rowKey(row, index);
            return (
              <tr key={key} class={selected?.has(key) === true ? 'selected' : undefined}>
                {onSelect !== undefined && (
                  <td>
                    <input
                      type="checkbox"
                      aria-label={props.rowName?.(row) ?? key}
                      checked={selected?.has(key) === true}
                      onChange={(event) => onSelect(key, event.currentTarget.checked)}
                    />
                  </td>
                )}
                {columns.map((column) => (
                  <td key={column.key} class={classOf(column)}>
                    {column.show(row)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

type HeadProps<Row> = {
  readonly column: Column<Row>;
  readonly sort: string | undefined;
  readonly onSort: ((sort: string) => void) | undefined;
};

function Head<Row>({ column, sort, onSort }: HeadProps<Row>) {
  const field = column.sort;
  if (field === undefined || onSort === undefined) {
    return (
      <th scope="col" class={classOf(column)}>
        {column.title}
      </th>
    );
  }
  const order = sort === `+${field}` ? 'ascending' : sort === `-${field}` ? 'descending' : 'none';
  return (
    <th scope="col" class={classOf(column)} aria-sort={order}>
      <button
        type="button"
        class="sort"
        title={TEXTS.common.sortBy(column.title)}
        onClick={() => onSort(order === 'ascending' ? `-${field}` : `+${field}`)}
      >
        {column.title}
        <span aria-hidden="true">{order === 'ascending' ? ' ▲' : order === 'descending' ? ' ▼' : ''}</span>
      </button>
    </th>
  );
}

function classOf<Row>(column: Column<Row>): string | undefined {
  const { isNumber = false, isExtra = false, isShort = false } = column;
  const names = [isNumber && 'number', isExtra && 'extra', isShort && 'short'].filter(Boolean);
  return names.length === 0 ? undefined : names.join(' ');
}
