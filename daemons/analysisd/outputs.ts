import type { Home } from '../../lib/daemon/home.js';
import type { Logger } from '../../lib/daemon/logger.js';
import { OutputFile } from '../../lib/output/output-file.js';

export type OutputSettings = {
  readonly alertsText: boolean;
  readonly alertsJson: boolean;
  readonly archivesText: boolean;
  readonly archivesJson: boolean;
  /** `<rotate_interval>`, seconds; 0 = off. */
  readonly rotateIntervalSeconds: number;
  /** `<max_output_size>`, bytes; 0 = off. */
  readonly maxOutputBytes: number;
  /** `analysisd.min_rotate_interval`: seconds between two rotations by size. */
  readonly minRotateIntervalSeconds: number;
};

type Stream = 'alertsText' | 'alertsJson' | 'archivesText' | 'archivesJson' | 'firewall';

const STREAMS: Readonly<Record<Stream, { area: string; live: string; stem: string; extension: string }>> = {
  alertsText: { area: 'alerts', live: 'alerts.log', stem: 'ossec-alerts', extension: 'log' },
  alertsJson: { area: 'alerts', live: 'alerts.json', stem: 'ossec-alerts', extension: 'json' },
  archivesText: { area: 'archives', live: 'archives.log', stem: 'ossec-archive', extension: 'log' },
  archivesJson: { area: 'archives', live: 'archives.json', stem: 'ossec-archive', extension: 'json' },
  firewall: { area: 'firewall', live: 'firewall.log', stem: 'ossec-firewall', extension: 'log' },
};

/**
 * The output files of svc-analysisd (rules-and-alerts.md 7.7, 7.8). Records are collected by the files and reach the
 * disk at `flush`. The text streams are always open, even when nothing is written to them, as users' tools expect the
 * live names; an empty dated file goes away when it is closed.
 */
export class Outputs {
  readonly settings: OutputSettings;
  readonly #files: Partial<Record<Stream, OutputFile>> = {};
  #rotatedAt: number;

  /** @throws Error of the file system, naming the path */
  constructor(home: Home, settings: OutputSettings, logger: Logger, now: Date) {
    this.settings = settings;
    this.#rotatedAt = now.getTime();
    const wanted: Record<Stream, boolean> = {
      alertsText: true,
      alertsJson: settings.alertsJson,
      archivesText: true,
      archivesJson: settings.archivesJson,
      firewall: true,
    };
    for (const [stream, { area, live, stem, extension }] of Object.entries(STREAMS) as [
      Stream,
      (typeof STREAMS)[Stream],
    ][]) {
      if (!wanted[stream]) continue;
      this.#files[stream] = new OutputFile(
        {
          directory: home.path('logs', area),
          liveName: live,
          stem,
          extension,
          recordEnd: stream === 'alertsText' ? '\n\n' : '\n',
          maxBytes: settings.maxOutputBytes,
          onTornTail: (path, bytes) => {
            logger.warn(`Cut ${String(bytes)} bytes of an unfinished record off the end of '${path}'.`);
          },
        },
        now,
      );
    }
  }

  /** The `<offset>` of the next alert's id: the byte position of alerts.log, else of alerts.json (7.4). */
  get alertOffset(): number {
    const { alertsText, alertsJson } = this.settings;
    if (alertsText) return this.#files.alertsText?.position ?? 0;
    return alertsJson ? (this.#files.alertsJson?.position ?? 0) : 0;
  }

  /** Adds a record, a byte string with its end, to a stream. */
  append(stream: Stream, record: string): void {
    this.#files[stream]?.append(record);
  }

  /**
   * Hands everything to the file system.
   * @throws the system's error; nothing is lost, the next `flush` goes on where this one stopped
   */
  flush(): void {
    forEachOrThrow(this.#all(), (file) => {
      file.flush();
    });
  }

  /** Day switch and rotation within the day (7.8); to be called between two events. Errors as `flush`. */
  rotate(now: Date): void {
    forEachOrThrow(this.#all(), (file) => {
      file.switchDay(now);
    });
    const { rotateIntervalSeconds, maxOutputBytes, minRotateIntervalSeconds } = this.settings;
    const elapsed = (now.getTime() - this.#rotatedAt) / 1000;
    if (rotateIntervalSeconds > 0 && elapsed >= rotateIntervalSeconds) {
      for (const file of this.#all()) file.nextPart();
      this.#rotatedAt = now.getTime();
    } else if (maxOutputBytes > 0 && elapsed >= minRotateIntervalSeconds) {
      const large = this.#all().filter((file) => file.position > maxOutputBytes);
      for (const file of large) file.nextPart();
      if (large.length > 0) this.#rotatedAt = now.getTime();
    }
  }

  /** Flushes and closes all files. */
  close(): void {
    for (const file of this.#all()) file.close();
  }

  #all(): OutputFile[] {
    return Object.values(this.#files);
  }
}

/**
 * Does it to every file even when one fails, so that a stream whose disk is full keeps no other one behind.
 * @throws what the first that failed threw
 */
function forEachOrThrow(files: readonly OutputFile[], action: (file: OutputFile) => void): void {
  let failure: unknown;
  for (const file of files) {
    try {
      action(file);
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
}
