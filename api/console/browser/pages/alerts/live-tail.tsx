import { useEffect, useRef, useState } from 'preact/hooks';
import { filtersOf } from '../../client/alert-filters.js';
import { AlertStream, type StreamState } from '../../client/alert-stream.js';
import { useConsole, useSessionOpen } from '../../client/console-context.js';
import { Failed } from '../../parts/loaded.js';
import { Card } from '../../parts/page.js';
import { StateBadge } from '../../parts/small.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { AlertTable } from './alert-table.js';
import { LiveRows, type LiveView, MOST_LIVE_ROWS } from './live-rows.js';

/** Milliseconds between looks: more often nobody can read. */
const LOOK_MS = 250;
/** On a slow computer the pause is so many times as long as drawing took: the page stays free for whoever clicks. */
const DRAWING_SHARE = 4;

const TONES = { connecting: 'plain', live: 'good', waiting: 'warn', lost: 'warn', refused: 'bad' } as const;

/** Alerts as they are written, the newest on top. */
export function LiveTail() {
  const [params] = useParams();
  const [isPaused, setPaused] = useState(false);
  const filters = JSON.stringify(filtersOf(params));
  const { view, state } = useLive(filters, isPaused);
  const { came, passedOver, perSecond, alerts } = view;
  return (
    <Card
      title={TEXTS.alerts.live}
      wide
      actions={
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {TEXTS.alerts.pause}
        </button>
      }
    >
      <p role="status">
        <StateBadge state={TEXTS.alerts.stream[state.kind]} tone={TONES[state.kind]} /> {detailOf(state)}
      </p>
      {state.kind === 'refused' && <Failed error={state.error} />}
      <p class="hint">
        {TEXTS.alerts.came(came, perSecond)} {passedOver > 0 && TEXTS.alerts.passedOver(passedOver, MOST_LIVE_ROWS)}
      </p>
      <AlertTable
        label={TEXTS.alerts.list}
        alerts={alerts}
        current={params.get('alert') ?? undefined}
        empty={TEXTS.alerts.nothingYet}
      />
    </Card>
  );
}

function detailOf(state: StreamState): string {
  if (state.kind === 'live') return state.away.length === 0 ? '' : TEXTS.alerts.awayNodes(state.away.join(', '));
  return state.kind === 'waiting' || state.kind === 'lost' ? state.detail : '';
}

/** Follows the stream while somebody is logged in; what is drawn is brought up to date a few times a second. */
function useLive(filters: string, isPaused: boolean): { readonly view: LiveView; readonly state: StreamState } {
  const { api, session } = useConsole();
  const isOpen = useSessionOpen(session);
  const [state, setState] = useState<StreamState>({ kind: 'connecting' });
  const [view, setView] = useState<LiveView>({ alerts: [], came: 0, passedOver: 0, perSecond: 0 });
  const parts = useRef<{ readonly filters: string; readonly rows: LiveRows; readonly stream: AlertStream }>(undefined);
  useEffect(() => {
    if (!isOpen) return undefined;
    // After another login the same stream goes on where it was.
    if (parts.current?.filters !== filters) {
      const rows = new LiveRows();
      const asked = JSON.parse(filters) as Record<string, string>;
      const stream = new AlertStream({
        open: (headers, signal) => api.open('/alerts/stream', asked, headers, signal),
        onAlert: (text, id) => rows.push(text, id),
        onState: setState,
        onUnauthorized: () => session.end(),
      });
      parts.current = { filters, rows, stream };
      setView(rows.look(performance.now()));
    }
    const abort = new AbortController();
    void parts.current.stream.run(abort.signal);
    return () => abort.abort();
  }, [filters, isOpen, api, session]);
  useEffect(() => {
    if (isPaused) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let frame = 0;
    const look = () => {
      const began = performance.now();
      const rows = parts.current?.rows;
      if (rows !== undefined) setView((before) => rows.next(before, began));
      // A frame comes when that is drawn, and none while nobody sees the page.
      frame = requestAnimationFrame(() => {
        timer = setTimeout(look, Math.max(LOOK_MS, (performance.now() - began) * DRAWING_SHARE));
      });
    };
    look();
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    };
  }, [isPaused]);
  return { view, state };
}
