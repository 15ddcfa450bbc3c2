import { useEffect, useRef, useState } from 'preact/hooks';
import { filtersOf } from '../../client/alert-filters.js';
import type { AlertList } from '../../client/alerts.js';
import { useConsole } from '../../client/console-context.js';
import { Failure } from '../../client/failure.js';
import { Dialog } from '../../parts/dialog.js';
import { Failed } from '../../parts/loaded.js';
import { useTimeSpan } from '../../parts/time-range.js';
import { useParams } from '../../router/use-place.js';
import { TEXTS } from '../../texts.js';
import { exportAlerts, type Exported, type ExportFormat, MOST_EXPORTED } from './export-alerts.js';

const TYPES = { csv: 'text/csv;charset=utf-8', ndjson: 'application/x-ndjson' } as const;

/** Everything that the search finds, as a file. */
export function ExportDialog({ onClose }: { readonly onClose: () => void }) {
  const [format, setFormat] = useState<ExportFormat>('csv');
  const { start, count, done, error, isBusy } = useExport();
  return (
    <Dialog title={TEXTS.alerts.export} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void start(format);
        }}
      >
        <p>{TEXTS.alerts.exportHint(MOST_EXPORTED)}</p>
        <fieldset disabled={isBusy}>
          <legend>{TEXTS.alerts.format}</legend>
          {(['csv', 'ndjson'] as const).map((each) => (
            <label key={each}>
              <input type="radio" name="format" checked={format === each} onChange={() => setFormat(each)} />{' '}
              {TEXTS.alerts.formats[each]}
            </label>
          ))}
        </fieldset>
        <div role="status" class="stack">
          {isBusy && <p>{TEXTS.alerts.exporting(count)}</p>}
          {done !== undefined && <p>{TEXTS.alerts.exported(done.count, done.isWhole)}</p>}
          {done !== undefined && done.missing.length > 0 && (
            <p>
              {TEXTS.common.missing} {done.missing.join(' ')}
            </p>
          )}
        </div>
        {hasEnded(error) ? (
          <p class="failed" role="alert">
            {TEXTS.alerts.exportEnded}
          </p>
        ) : (
          error !== undefined && <Failed error={error} />
        )}
        <div class="actions">
          <button type="button" onClick={onClose}>
            {done === undefined ? TEXTS.common.cancel : TEXTS.common.close}
          </button>
          <button class="primary" disabled={isBusy}>
            {TEXTS.alerts.download}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Nothing else says it after the next login: other parts ask anew by themselves. */
function hasEnded(error: unknown): boolean {
  return error instanceof Failure && error.status === 401;
}

/** An export under way; it ends with the dialog. */
function useExport() {
  const { api } = useConsole();
  const [params] = useParams();
  const { from, to } = useTimeSpan();
  const [count, setCount] = useState(0);
  const [done, setDone] = useState<Exported>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const start = async (format: ExportFormat) => {
    const { signal } = (abort.current = new AbortController());
    const order = params.get('order') ?? undefined;
    // Alerts that come meanwhile do not belong to it.
    const until = to ?? new Date().toISOString();
    setBusy(true);
    setDone(undefined);
    setError(undefined);
    try {
      const exported = await exportAlerts(format, {
        ask: (page) =>
          api.get<AlertList>(
            '/alerts',
            { ...filtersOf(params), from, to: until, order, count: false, ...page },
            signal,
          ),
        onProgress: setCount,
        signal,
      });
      save(exported.pieces, format);
      setDone(exported);
    } catch (failure) {
      if (!signal.aborted) setError(failure);
    }
    setBusy(false);
  };
  return { start, count, done, error, isBusy };
}

function save(pieces: readonly string[], format: ExportFormat): void {
  const address = URL.createObjectURL(new Blob([...pieces], { type: TYPES[format] }));
  const link = document.createElement('a');
  link.href = address;
  link.download = `alerts-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.${format}`;
  link.click();
  URL.revokeObjectURL(address);
}
