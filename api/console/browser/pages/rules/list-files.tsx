import { PagedList } from '../../parts/paged-list.js';
import { SearchField } from '../../parts/search-field.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { FileLink } from './file-link.js';
import { NewFileButton } from './new-file.js';
import { pathOf } from './rule.js';

const T = TEXTS.rules;

/** Lists that rules look into. */
export function ListFiles() {
  const [place, change] = useParams();
  const search = place.get('search') ?? '';
  return (
    <>
      <div class="row filters">
        <div class="grow">
          <SearchField
            label={T.searchFiles}
            value={search}
            onSearch={(words) => change({ search: words, offset: undefined }, true)}
          />
        </div>
        <NewFileButton kind="lists" />
      </div>
      <PagedList<{ filename: string; relative_dirname: string }>
        label={T.lists}
        path="/lists/files"
        params={{ search }}
        columns={[
          { key: 'file', title: T.columns.file, sort: 'filename', show: (file) => <FileLink path={pathOf(file)} /> },
        ]}
        rowKey={pathOf}
        sort="+filename"
        empty={T.noFiles}
      />
    </>
  );
}
