import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { type AlertPlace, parsePlace } from '../../../daemons/db/alerts/alert-place.js';
import { AlertQuestion, type AlertScope } from '../../../daemons/db/alerts/alert-question.js';
import { AlertReader } from '../../../daemons/db/alerts/alert-reader.js';
import { AlertStore, type StoreLimits } from '../../../daemons/db/alerts/alert-store.js';
import { countAlerts } from '../../../daemons/db/alerts/count-alerts.js';
import { getAlert } from '../../../daemons/db/alerts/get-alert.js';
import { searchAlerts, type SearchOrder } from '../../../daemons/db/alerts/search-alerts.js';
import type { StoredAlert } from '../../../lib/bus/contracts/db-alerts.js';
import { AlertFeed } from '../../../lib/output/alert-feed.js';
import { ALERT_FILES } from '../../../lib/output/dated-files.js';
import { RecordStream } from '../../../lib/output/record-stream.js';
import { memoryDirectory } from '../memory-directory.js';
import { AlertFiles, sampleAlert } from '../monitord/alert-files.js';
import { RecordingLogger } from '../recording-logger.js';
import { removeTree } from '../remove-tree.js';

/** An alert store in this process, with files of alerts that a test writes. */
export class AlertKit {
  readonly root = mkdtempSync(join(memoryDirectory(), 'svc-alerts-'));
  readonly alerts = join(this.root, 'alerts');
  readonly directory = join(this.root, 'store');
  readonly logger = new RecordingLogger();
  limits: StoreLimits = { days: 0, bytes: 0 };
  now = Date.UTC(2025, 5, 5, 12);
  /** Called whenever alerts were read. */
  onGrown: () => void = () => {};
  #files: AlertFiles | undefined;

  constructor() {
    mkdirSync(this.alerts);
  }

  /** The files of a day, June 5th unless another is said. */
  files(day = 5): AlertFiles {
    if (this.#files !== undefined && day === 5) return this.#files;
    this.#files?.close();
    this.#files = new AlertFiles(this.alerts, new Date(2025, 5, day, 10));
    return this.#files;
  }

  /** Opens the store as it is on the disk, and reads what there is. */
  open(): OpenedKit {
    const store = new AlertStore(this.directory, this.logger);
    const stream = new RecordStream({ directory: this.alerts, ...ALERT_FILES });
    const feed = new AlertFeed({ stream, liveFile: join(this.alerts, 'alerts.json'), log: this.logger, lookMs: 5 });
    const reader = new AlertReader({
      ...{ store, stream, feed, log: this.logger, limits: () => this.limits },
      onGrown: () => this.onGrown(),
      now: () => this.now,
    });
    return new OpenedKit(store, reader);
  }

  remove(): void {
    this.#files?.close();
    removeTree(this.root);
  }
}

export class OpenedKit {
  readonly store: AlertStore;
  readonly reader: AlertReader;

  constructor(store: AlertStore, reader: AlertReader) {
    this.store = store;
    this.reader = reader;
  }

  /** Reads until nothing is left. */
  async readAll(): Promise<void> {
    await this.reader.readAll();
  }

  /** Alerts that a question finds, in one page. */
  page(scope: AlertScope): readonly StoredAlert[] {
    const options = {
      order: 'asc',
      cursor: undefined,
      limit: 10_000,
      bytes: 100_000_000,
      isOver: () => false,
    } as const;
    return searchAlerts(this.reader.segments, new AlertQuestion(scope, 0), options).alerts;
  }

  get(id: string): StoredAlert | undefined {
    const place = parsePlace(id);
    return place === undefined ? undefined : getAlert(this.reader.segments, place);
  }

  /** Numbers of what a question finds: by hours of June 5th, rules and groups. */
  count(scope: AlertScope, isOver: () => boolean) {
    const buckets = { from: Date.UTC(2025, 5, 5), interval: 3_600_000 / 7, count: 24 * 7 };
    const sums = { total: 0, buckets: new Array<number>(buckets.count).fill(0), missing: 0 };
    const fields = { 'rule.id': new Map<unknown, number>(), 'rule.groups': new Map<unknown, number>() };
    for (const field of ['rule.id', 'rule.groups'] as const) {
      const question = new AlertQuestion(scope, 0);
      for (let cursor: AlertPlace | undefined; ;) {
        const { counts, next } = countAlerts(this.reader.segments, question, { buckets, field }, { cursor, isOver });
        for (const [value, count] of counts.values) fields[field].set(value, (fields[field].get(value) ?? 0) + count);
        if (field === 'rule.groups') {
          sums.total += counts.total;
          sums.missing += counts.missing;
          for (const [index, count] of counts.buckets.entries()) {
            sums.buckets[index] = (sums.buckets[index] ?? 0) + count;
          }
        }
        if (next === undefined) break;
        cursor = next;
      }
    }
    return { ...sums, rules: fields['rule.id'], groups: fields['rule.groups'] };
  }

  /** Texts of all alerts that a question finds, by pages of so many. */
  search(scope: AlertScope, { order = 'asc', limit = 1000 }: { order?: SearchOrder; limit?: number } = {}): string[] {
    const found: string[] = [];
    const question = new AlertQuestion(scope, 0);
    for (let cursor: Parameters<typeof searchAlerts>[2]['cursor']; ;) {
      const options = { order, cursor, limit, bytes: 1_000_000, isOver: () => limit < 3 };
      const { alerts, next, isDone } = searchAlerts(this.reader.segments, question, options);
      found.push(...alerts.map(({ text }) => text));
      if (isDone) return found;
      cursor = next;
    }
  }
}

const TEXTS = [
  'Failed password',
  'session opened',
  'Łódź "quoted" C:\\Temp',
  'line\nbreak',
  'two \u212aelvin',
  '10.0.0.5:443',
  '203.0.113.9.',
  '',
];
const USERS = ['bob', 'Alice', 'root', undefined, 'x"y'];

/** An alert that differs by a number in what people ask for. */
export function variedAlert(seed: number): Record<string, unknown> {
  const pick = <T>(values: readonly T[], salt: number): T =>
    values[(seed * 7 + salt * 13 + (seed >> 3)) % values.length] as T;
  const user = pick(USERS, 1);
  return sampleAlert({
    timestamp: new Date(Date.UTC(2025, 5, 5, 0, 0, seed)).toISOString().replace('Z', '+0000'),
    id: `${String(Date.UTC(2025, 5, 5) / 1000 + seed)}.${String(seed * 700)}`,
    rule: {
      level: (seed * 5) % 16,
      description: pick(['Many failures', 'One failure'], 2),
      id: String(5700 + (seed % 7)),
      groups: pick([['sshd', 'auth'], ['pam'], []], 3),
      ...(seed % 3 === 0 ? { mitre: { id: ['T1110', 'T1078'], tactic: ['Credential Access'] } } : {}),
    },
    agent: { id: String(seed % 4).padStart(3, '0'), name: `web-${String(seed % 4)}` },
    full_log: `${pick(TEXTS, 4)} for ${user ?? 'nobody'} from 10.0.${String(seed % 3)}.${String(seed % 11)} port ${String(seed)}`,
    data: {
      srcip: `10.0.${String(seed % 3)}.${String(seed % 11)}`,
      ...(user === undefined ? {} : { dstuser: user }),
      n: seed % 5,
    },
    location: pick(['/var/log/auth.log', 'EventChannel'], 5),
  });
}
