import { useConsole } from '../../client/console-context.js';
import { shownNumber, shownTime } from '../../client/shown.js';
import { useQuery } from '../../client/use-query.js';
import type { Column } from '../../parts/data-table.js';
import { PagedList } from '../../parts/paged-list.js';
import { SearchField } from '../../parts/search-field.js';
import { SelectField } from '../../parts/select-field.js';
import { Time } from '../../parts/small.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import type { Agent } from './agent.js';
import { FileDialog } from './file-dialog.js';
import type { WatchedFile } from './watched-file.js';

const T = TEXTS.agentTabs;

/** The files of a host that are watched; one of them with its history. */
export function FilesTab({ agent }: { readonly agent: Agent }) {
  const [place, change] = useParams();
  const file = place.get('file');
  const [search, type] = [place.get('search') ?? '', place.get('type') ?? ''];
  const columns = columnsOf((path) => change({ file: path }));
  return (
    <div class="stack">
      <ScanState agent={agent} />
      <div class="row" role="search">
        <SearchField
          label={TEXTS.common.search}
          value={search}
          onSearch={(to) => change({ search: to, offset: undefined }, true)}
        />
        <SelectField
          label={T.type}
          value={type}
          options={[['', TEXTS.agents.everything], ...Object.entries(T.types)]}
          onChange={(to) => change({ type: to, offset: undefined }, true)}
        />
      </div>
      <div class="card">
        <PagedList<WatchedFile>
          label={TEXTS.agents.files}
          path={`/syscheck/${agent.id}`}
          params={{ search, type }}
          columns={columns}
          rowKey={({ file: path, type: kind }) => `${kind} ${path}`}
          sort="-mtime"
          empty={search === '' && type === '' ? T.neverScanned : TEXTS.common.nothing}
        />
      </div>
      {file !== null && <FileDialog id={agent.id} path={file} onClose={() => change({ file: undefined })} />}
    </div>
  );
}

type Scan = { readonly start: string | null; readonly end: string | null };

/** When the files were looked at last, with the order to look now. */
function ScanState({ agent }: { readonly agent: Agent }) {
  const { api, session, notices } = useConsole();
  const { data } = useQuery(`last-scan ${agent.id}`, (client, signal) =>
    client.list<Scan>(`/syscheck/${agent.id}/last_scan`, {}, signal),
  );
  const scan = data?.affected_items[0];
  const ask = async () => {
    try {
      await api.send('PUT', '/syscheck', { params: { agents_list: agent.id } });
      notices.done(T.scanAsked);
    } catch (error) {
      notices.failed(error);
    }
  };
  const shown = (at: string) => shownTime(Date.parse(at));
  return (
    <div class="card-head">
      <p class="hint">
        {typeof scan?.start === 'string' &&
          (scan.end === null ? T.scanRuns(shown(scan.start)) : T.lastScan(shown(scan.start), shown(scan.end)))}
      </p>
      {session.may('syscheck:run') && agent.status === 'active' && (
        <button type="button" onClick={() => void ask()}>
          {T.scanNow}
        </button>
      )}
    </div>
  );
}

function columnsOf(onOpen: (path: string) => void): readonly Column<WatchedFile>[] {
  return [
    {
      key: 'file',
      title: T.file,
      sort: 'file',
      show: ({ file: path }) => (
        <button type="button" class="link mono" onClick={() => onOpen(path)}>
          {path}
        </button>
      ),
    },
    {
      key: 'changes',
      title: T.changes,
      sort: 'changes',
      isNumber: true,
      show: ({ changes = 0 }) => shownNumber(changes),
    },
    {
      key: 'size',
      title: T.size,
      sort: 'size',
      isNumber: true,
      isExtra: true,
      show: ({ size }) => (size === undefined ? '–' : shownNumber(size)),
    },
    {
      key: 'perm',
      title: T.mode,
      isExtra: true,
      show: ({ perm }) => (typeof perm === 'string' ? <code>{perm}</code> : '–'),
    },
    {
      key: 'owner',
      title: T.owner,
      isExtra: true,
      show: ({ uname, gname }) => [uname, gname].filter(Boolean).join(':'),
    },
    { key: 'mtime', title: T.modified, sort: 'mtime', show: ({ mtime }) => <Time at={mtime ?? undefined} /> },
    { key: 'date', title: T.seen, sort: 'date', isExtra: true, show: ({ date }) => <Time at={date ?? undefined} /> },
  ];
}
