import type { Column } from '../../parts/data-table.js';
import { PagedList } from '../../parts/paged-list.js';
import { SearchField } from '../../parts/search-field.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { FileLink } from './file-link.js';
import { type Detail, detailText, pathOf } from './rule.js';

const T = TEXTS.rules;

type Decoder = {
  readonly name: string;
  readonly position: number;
  readonly filename: string;
  readonly relative_dirname: string;
  readonly details: Readonly<Record<string, Detail>>;
};

/** Elements that say which logs a decoder takes, the first that it has. */
const MATCHING = ['program_name', 'prematch', 'regex', 'plugin_decoder'] as const;

const COLUMNS: readonly Column<Decoder>[] = [
  { key: 'name', title: T.columns.name, sort: 'name', show: ({ name }) => <strong>{name}</strong> },
  {
    key: 'parent',
    title: T.columns.parent,
    show: ({ details: { parent } }) => parent !== undefined && detailText(parent),
  },
  {
    key: 'matches',
    title: T.columns.matches,
    show: ({ details }) =>
      MATCHING.filter((element) => details[element] !== undefined).map((element) => (
        <div key={element}>
          {element} <code>{detailText(details[element] ?? '')}</code>
        </div>
      )),
  },
  {
    key: 'file',
    title: T.columns.file,
    sort: 'filename',
    isExtra: true,
    show: (decoder) => <FileLink isShort path={pathOf(decoder)} />,
  },
];

/** Decoders: which logs they take. */
export function DecoderList() {
  const [place, change] = useParams();
  const filter = (changes: Record<string, string | undefined>) => change({ ...changes, offset: undefined }, true);
  const isOwn = place.get('relative_dirname') === 'etc/decoders';
  return (
    <>
      <div class="row filters">
        <div class="grow">
          <SearchField
            label={T.searchDecoders}
            value={place.get('search') ?? ''}
            onSearch={(search) => filter({ search })}
          />
        </div>
        <label class="check">
          <input
            type="checkbox"
            checked={isOwn}
            onChange={(event) => filter({ relative_dirname: event.currentTarget.checked ? 'etc/decoders' : undefined })}
          />{' '}
          {T.ownDecodersOnly}
        </label>
      </div>
      <PagedList<Decoder>
        label={T.decoders}
        path="/decoders"
        params={{ search: place.get('search') ?? '', relative_dirname: isOwn ? 'etc/decoders' : '' }}
        columns={COLUMNS}
        rowKey={(decoder) => `${pathOf(decoder)} ${String(decoder.position)}`}
        sort="+filename,position"
        empty={T.noDecoders}
      />
    </>
  );
}
