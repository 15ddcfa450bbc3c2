import { onlyItem } from '../../client/api-client.js';
import { useConsole } from '../../client/console-context.js';
import { shownNumber } from '../../client/shown.js';
import { useQuery } from '../../client/use-query.js';
import { Dialog } from '../../parts/dialog.js';
import { DiffText } from '../../parts/diff-view.js';
import { Loaded } from '../../parts/loaded.js';
import { Facts, LevelBadge, Time } from '../../parts/small.js';
import { hrefOf } from '../../router/location.js';
import { TEXTS } from '../../texts.js';
import { type FileAlert, historyQuery, isAbout } from './file-history.js';
import type { WatchedFile } from './watched-file.js';

const T = TEXTS.agentTabs;
/** Changes that are shown: older ones are in the alerts. */
const MOST = 50;

type FileDialogProps = { readonly id: string; readonly path: string; readonly onClose: () => void };

/** One file of a host: what is known of it now, and every change that an alert tells of. */
export function FileDialog({ id, path, onClose }: FileDialogProps) {
  const { session } = useConsole();
  const query = useQuery(`file ${id} ${path}`, async (api, signal) =>
    onlyItem(await api.list<WatchedFile>(`/syscheck/${id}`, { file: path }, signal)),
  );
  return (
    <Dialog wide title={T.fileTitle(path)} onClose={onClose}>
      <div class="stack">
        <Loaded query={query}>
          {(file) => (file === undefined ? <p class="empty">{T.gone}</p> : <FileFacts file={file} />)}
        </Loaded>
        <h3>{T.history}</h3>
        {session.may('alerts:read') ? <History id={id} path={path} /> : <p class="empty">{T.historyDenied}</p>}
      </div>
    </Dialog>
  );
}

function FileFacts({ file }: { readonly file: WatchedFile }) {
  const { perm } = file;
  return (
    <Facts
      facts={[
        [T.size, file.size === undefined ? undefined : shownNumber(file.size)],
        [T.mode, typeof perm === 'string' ? perm : JSON.stringify(perm)],
        [T.owner, [file.uname, file.gname].filter(Boolean).join(':')],
        [T.changes, file.changes === undefined ? undefined : shownNumber(file.changes)],
        [T.modified, <Time at={file.mtime ?? undefined} />],
        [T.seen, <Time at={file.date ?? undefined} />],
        ['MD5', <code>{file.md5}</code>],
        ['SHA-256', <code>{file.sha256}</code>],
      ]}
    />
  );
}

function History({ id, path }: { readonly id: string; readonly path: string }) {
  const asked = { agents_list: id, from: '0', q: historyQuery(path), limit: MOST };
  const query = useQuery(`file-history ${id} ${path}`, (api, signal) => api.list<FileAlert>('/alerts', asked, signal));
  return (
    <Loaded query={query}>
      {({ affected_items: items }) => {
        const alerts = items.filter((alert) => isAbout(alert, path));
        if (alerts.length === 0) return <p class="empty">{T.noHistory}</p>;
        return (
          <ol class="timeline">
            {alerts.map((alert) => (
              <Change key={alert.alert_id} id={id} alert={alert} />
            ))}
          </ol>
        );
      }}
    </Loaded>
  );
}

function Change({ id, alert }: { readonly id: string; readonly alert: FileAlert }) {
  const { syscheck, rule } = alert;
  const { event = '', changed_attributes: changed = [], diff } = syscheck ?? {};
  const name = (T.events as Readonly<Record<string, string>>)[event] ?? event;
  return (
    <li>
      <p class="row">
        <Time at={alert.timestamp} />
        <strong>{name}</strong>
        <LevelBadge level={rule.level} />
        <a href={hrefOf(['alerts'], { agents_list: id, alert: alert.alert_id })}>{rule.description}</a>
      </p>
      {changed.length > 0 && <p class="hint">{T.changed(changed.join(', '))}</p>}
      {diff !== undefined && <DiffText label={T.difference} text={diff} />}
    </li>
  );
}
