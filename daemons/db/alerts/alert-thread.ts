import { join } from 'node:path';
import { AlertFeed } from '../../../lib/output/alert-feed.js';
import { ALERT_FILES } from '../../../lib/output/dated-files.js';
import { RecordStream } from '../../../lib/output/record-stream.js';
import { serveThread } from '../../../lib/thread/serve-thread.js';
import { setThreadPriority } from '../../../lib/thread/thread-priority.js';
import { AlertQuestion } from './alert-question.js';
import { AlertReader } from './alert-reader.js';
import { type AlertSegment, SegmentDamage } from './alert-segment.js';
import { AlertStore } from './alert-store.js';
import type { AlertThread, StoreStats, ThreadQuestion } from './alert-thread-contract.js';
import { countAlerts } from './count-alerts.js';
import { getAlert } from './get-alert.js';
import { searchAlerts } from './search-alerts.js';

/** What a piece of a question takes, milliseconds: reading alerts and other questions wait so long. */
const PIECE_MS = 100;
/** Alerts that are read at a time: questions wait for ten milliseconds of it. */
const BATCH = 512;
/** Damaged segments that one question may come across. */
const MAX_DAMAGE = 1000;

/** Alerts are analysed and written first, and searched then; with 10, whoever kept the cores busy left it a fiftieth of one. */
const NICE = 5;

/** The store of alerts: reads them as they are written, and answers pieces of questions. */
serveThread<AlertThread>(({ directory, alerts, limits: firstLimits }, tell) => {
  setThreadPriority(NICE);
  let limits = firstLimits;
  let isTelling = false;
  const say = (level: 'info' | 'warn' | 'error') => (text: string) => void tell({ kind: 'log', level, text });
  const log = { info: say('info'), warn: say('warn'), error: say('error') };
  const onGrown = (): void => {
    if (isTelling) return;
    isTelling = true;
    void tell({ kind: 'grown' }).then(() => {
      isTelling = false;
    });
  };
  const store = new AlertStore(directory, log);
  const stream = new RecordStream({ directory: alerts, ...ALERT_FILES }, log.warn);
  const liveFile = join(alerts, 'alerts.json');
  const feed = new AlertFeed({ stream, liveFile, log, batch: BATCH, readers: 'Searches' });
  const reader = new AlertReader({ ...{ store, stream, feed, log, onGrown }, limits: () => limits, now: Date.now });
  const stopped = new AbortController();
  const reading = reader.run(stopped.signal);
  const pieceTime = () => {
    let end = performance.now() + PIECE_MS;
    return {
      isOver: () => performance.now() >= end,
      again: () => {
        end = performance.now() + PIECE_MS;
      },
    };
  };
  /** What is damaged is put away, and the rest answers. */
  const withSegments = <T>(ask: (segments: readonly AlertSegment[]) => T): T => {
    for (let times = 0; ; times += 1) {
      try {
        return ask(reader.segments);
      } catch (error) {
        if (!(error instanceof SegmentDamage) || times >= MAX_DAMAGE) throw error;
        store.setAside(error);
      }
    }
  };
  const question = ({ scope, now }: ThreadQuestion): AlertQuestion => new AlertQuestion(scope, now);
  return {
    search: ({ order, cursor, limit, bytes, ...asked }) =>
      withSegments((segments) =>
        searchAlerts(segments, question(asked), { order, cursor, limit, bytes, ...pieceTime() }),
      ),
    count: ({ counting, cursor, ...asked }) =>
      withSegments((segments) => countAlerts(segments, question(asked), counting, { cursor, ...pieceTime() })),
    get: (place) => withSegments((segments) => getAlert(segments, place)),
    end: () => reader.end,
    stats: () => statsOf(reader, store),
    limits: (next) => {
      limits = next;
    },
    stop: async () => {
      stopped.abort();
      await reading;
      stream.close();
    },
  };
});

function statsOf(reader: AlertReader, store: AlertStore): StoreStats {
  const filled = reader.segments.filter(({ rows }) => rows > 0);
  const [oldest, newest] = [
    filled.reduce((least, segment) => Math.min(least, segment.oldest), Infinity),
    filled.reduce((most, segment) => Math.max(most, segment.newest), -Infinity),
  ];
  return {
    alerts: filled.reduce((sum, { rows }) => sum + rows, 0),
    oldest: filled.length === 0 ? null : oldest,
    newest: filled.length === 0 ? null : newest,
    segments: store.segments.length,
    ...{ bytes: store.bytes, behind: reader.behind, rejected: reader.rejected, rebuilding: store.gaps.length },
  };
}
