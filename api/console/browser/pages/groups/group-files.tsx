import { useQuery } from '../../client/use-query.js';
import { CodeView } from '../../parts/code-view.js';
import type { Column } from '../../parts/data-table.js';
import { Dialog } from '../../parts/dialog.js';
import { Loaded } from '../../parts/loaded.js';
import { PagedList } from '../../parts/paged-list.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';

const T = TEXTS.groups;

type GroupFile = { readonly filename: string; readonly hash: string };

/** What a group has for its agents; one of the files as it is. */
export function GroupFiles({ name, version }: { readonly name: string; readonly version: number }) {
  const [place, change] = useParams();
  const file = place.get('file');
  const columns: readonly Column<GroupFile>[] = [
    {
      key: 'filename',
      title: T.file,
      sort: 'filename',
      show: ({ filename }) => (
        <button type="button" class="link mono" onClick={() => change({ file: filename })}>
          {filename}
        </button>
      ),
    },
    { key: 'hash', title: T.hash, isExtra: true, show: ({ hash }) => <code>{hash}</code> },
  ];
  return (
    <>
      <div class="card">
        <PagedList<GroupFile>
          label={T.files}
          path={`/groups/${encodeURIComponent(name)}/files`}
          columns={columns}
          rowKey={({ filename }) => filename}
          sort="+filename"
          version={version}
          empty={T.noFiles}
        />
      </div>
      {file !== null && <FileView group={name} file={file} onClose={() => change({ file: undefined })} />}
    </>
  );
}

type FileViewProps = { readonly group: string; readonly file: string; readonly onClose: () => void };

function FileView({ group, file, onClose }: FileViewProps) {
  const query = useQuery(`group-file ${group} ${file}`, (api, signal) =>
    api.text(`/groups/${encodeURIComponent(group)}/files/${encodeURIComponent(file)}`, { raw: true }, signal),
  );
  return (
    <Dialog wide title={file} onClose={onClose}>
      <Loaded query={query}>
        {(text) => (text.includes('\0') ? <p class="empty">{T.binary}</p> : <CodeView label={file} text={text} />)}
      </Loaded>
    </Dialog>
  );
}
