import { PagedList } from '../../parts/paged-list.js';
import { SearchField } from '../../parts/search-field.js';
import { SelectField } from '../../parts/select-field.js';
import { StateBadge } from '../../parts/small.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { FileEditor } from './file-editor.js';
import { FileLink } from './file-link.js';
import { NewFileButton } from './new-file.js';
import { pathOf } from './rule.js';
import { factsOf, kindOf, KINDS, readPath } from './ruleset-file.js';
import { RunTests } from './run-tests.js';

const T = TEXTS.rules;

type ListedFile = { readonly filename: string; readonly relative_dirname: string; readonly status?: string };

/** Files of the ruleset: which there are, and one of them. */
export function FilesTab() {
  const [place] = useParams();
  const file = readPath(place.get('file') ?? '');
  return file === undefined ? (
    <FileList />
  ) : (
    <FileEditor key={file.path} file={file} isNew={place.get('new') === '1'} />
  );
}

function FileList() {
  const [place, change] = useParams();
  const kind = kindOf(place.get('kind'));
  const search = place.get('search') ?? '';
  const filter = (changes: Record<string, string | undefined>) => change({ ...changes, offset: undefined }, true);
  return (
    <>
      <div class="row filters">
        <SelectField
          label={T.kind}
          value={kind}
          options={KINDS.map((each) => [each, T.kinds[each]] as const)}
          onChange={(to) => filter({ kind: to })}
        />
        <div class="grow">
          <SearchField label={T.searchFiles} value={search} onSearch={(words) => filter({ search: words })} />
        </div>
        <NewFileButton kind={kind} />
      </div>
      {kind === 'tests' && <RunTests />}
      <PagedList<ListedFile>
        label={T.kinds[kind]}
        path={factsOf(kind).path}
        params={{ search }}
        columns={[
          { key: 'file', title: T.columns.file, sort: 'filename', show: (file) => <FileLink path={pathOf(file)} /> },
          {
            key: 'state',
            title: T.columns.state,
            show: ({ relative_dirname: folder, status }) => (
              <>
                <StateBadge state={folder.startsWith('etc') ? T.own : T.shipped} tone="plain" />{' '}
                {status === 'disabled' && <StateBadge state={T.disabled} tone="warn" />}
              </>
            ),
          },
        ]}
        rowKey={pathOf}
        sort="+filename"
        empty={kind === 'tests' ? T.test.none : T.noFiles}
      />
    </>
  );
}
