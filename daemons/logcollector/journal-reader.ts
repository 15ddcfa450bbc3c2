import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { pause } from '../../lib/async/pause.js';
import { unlessAborted } from '../../lib/async/unless-aborted.js';
import { waitUntil } from '../../lib/async/wait-until.js';
import type { EventStream } from '../../lib/bus/event-stream.js';
import type { Logger } from '../../lib/log/logger.js';
import {
  entryTime,
  formatJournalEntry,
  type JournalEntry,
  type JournalFilter,
  parseJournalEntry,
} from './journal-entry.js';
import type { LineFilter } from './line-filter.js';
import type { Outlet } from './outlet.js';
import type { SavedJournal } from './position-store.js';

/** Time before `journalctl` is started again after it ended. */
const RESTART_MS = 5000;
/** Time that acknowledgements may take when the reader is exchanged. */
const SETTLE_MS = 2000;

export type JournalReaderParts = {
  /** Program to run; `journalctl`. */
  readonly program: string;
  readonly filter: JournalFilter;
  /** Visible ASCII; differs when `filter` or `lines` let other entries pass. */
  readonly filterKey: string;
  readonly lines: LineFilter;
  readonly makeOutlet: (stream: EventStream | undefined) => Outlet;
  /** Whether a first run begins with what comes from now on. */
  readonly onlyFuture: boolean;
  /** Writes the position down; false when that failed. */
  readonly savePosition: () => Promise<boolean>;
  /** Absent when `agent` is no target: then what was read is done. */
  readonly openStream: ((name: string, from: number) => EventStream) | undefined;
  readonly ready: () => Promise<void>;
  readonly logger: Logger;
  readonly now: () => number;
};

/** An event that is not acknowledged yet, and the entry it came from. */
type SentEntry = { readonly sequence: number; readonly cursor: string; readonly timestamp: string };

/**
 * Follows the systemd journal through `journalctl -o json -f`. Its events count up on a stream of their own; what is
 * saved is a cursor and the number of events acknowledged there, so that after a crash those the sink has beyond it are
 * left out.
 */
export class JournalReader {
  readonly #parts: JournalReaderParts;
  readonly #stopping = new AbortController();
  #stream: EventStream | undefined;
  #outlet: Outlet | undefined;
  #process: ChildProcess | undefined;
  #running: Promise<void> | undefined;
  #sequence = 0;
  /** Events that the sink has beyond the saved cursor. */
  #skip = 0;
  #sent: SentEntry[] = [];
  #saved: SavedJournal | undefined;
  /** Whether what the program cannot do was said. */
  #said = '';

  constructor(parts: JournalReaderParts) {
    this.#parts = parts;
  }

  /** @param saved where the last run ended */
  start(saved: SavedJournal | undefined): void {
    this.#saved = saved;
    this.#running = this.#run().catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) {
        this.#parts.logger.error(
          `The journal is not read any more: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    });
  }

  /** Where to go on after a restart: behind the last entry that is acknowledged. */
  get position(): SavedJournal | undefined {
    const stream = this.#stream;
    if (stream === undefined) {
      return this.#saved;
    }
    const { acknowledged, name } = stream;
    let last: SentEntry | undefined;
    while (this.#sent[0] !== undefined && this.#sent[0].sequence <= acknowledged) {
      last = this.#sent.shift();
    }
    if (last !== undefined) {
      const { cursor, timestamp, sequence } = last;
      this.#saved = { timestamp, cursor, stream: name, sequence: String(sequence) };
    }
    return this.#saved;
  }

  /** The position when everything sent is acknowledged, or after a while; for one that goes on in place of this. */
  async settledPosition(): Promise<SavedJournal | undefined> {
    const settled = (): boolean => this.#stream === undefined || this.#stream.acknowledged >= this.#sequence;
    await waitUntil(settled, { everyMs: 20, mostMs: SETTLE_MS });
    return this.position;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#process?.kill('SIGTERM');
    await this.#running;
    this.#stream?.close();
    this.#outlet?.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    await this.#begin();
    while (!signal.aborted) {
      await this.#follow();
      await pause(RESTART_MS, signal, { ref: false });
    }
  }

  /** Opens the stream and finds the place where reading goes on. */
  async #begin(): Promise<void> {
    const { openStream, makeOutlet, now, filterKey } = this.#parts;
    const begin = now();
    if (openStream === undefined) {
      this.#outlet = makeOutlet(undefined);
      this.#saved = this.#place(begin);
      return;
    }
    const { signal } = this.#stopping;
    // Counting goes on only with the same filters: others would count other entries.
    const counted = this.#saved?.stream?.endsWith(`:${filterKey}`) === true ? this.#saved : undefined;
    const name = counted?.stream ?? `journald:${begin.toString(36)}:${filterKey}`;
    const from = Number(counted?.sequence ?? 0);
    const stream = openStream(name, from);
    const position = await unlessAborted(signal, stream.position());
    if (position === undefined) {
      return;
    }
    this.#stream = stream;
    this.#outlet = makeOutlet(stream);
    this.#sequence = position;
    if (counted === undefined) {
      await this.#record(name, begin);
    }
    this.#skip = Math.max(0, position - from);
  }

  /** Where reading begins: the saved place, or by time. */
  #place(begin: number): SavedJournal {
    const { cursor, timestamp } = this.#saved ?? { timestamp: this.#parts.onlyFuture ? String(begin * 1000) : '0' };
    return { timestamp, ...(cursor === undefined ? {} : { cursor }) };
  }

  /**
   * Writes down where a new stream begins, before its first event: after a crash its entries are counted from there, or
   * they would all be sent a second time.
   */
  async #record(stream: string, begin: number): Promise<void> {
    const { signal } = this.#stopping;
    this.#saved = { ...this.#place(begin), stream, sequence: '0' };
    while (!signal.aborted && !(await this.#parts.savePosition())) {
      await pause(RESTART_MS, signal, { ref: false });
    }
  }

  /** Runs the program until it ends. */
  async #follow(): Promise<void> {
    const { program, logger } = this.#parts;
    const child = spawn(program, this.#arguments(), { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#process = child;
    let complaint = '';
    child.stderr.on('data', (data: Buffer) => {
      complaint = (complaint + data.toString('utf8')).slice(-1000);
    });
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => {
        resolve(error.message);
      });
      child.once('close', (code) => {
        resolve(`it ended with ${String(code)}. ${complaint.trim()}`);
      });
    });
    for await (const line of createInterface({ input: child.stdout, crlfDelay: Infinity })) {
      const entry = parseJournalEntry(line);
      if (entry !== undefined) {
        await this.#take(entry);
      }
      if (this.#stopping.signal.aborted) {
        break;
      }
    }
    const reason = await ended;
    if (!this.#stopping.signal.aborted && this.#said !== reason) {
      this.#said = reason;
      logger.warn(`The journal cannot be followed: '${program}' could not be run or stopped: ${reason}`);
    }
  }

  #arguments(): string[] {
    const args = ['-o', 'json', '-f', '-q', '--no-pager', '--all', '-n', 'all'];
    const cursor = this.#sent.at(-1)?.cursor ?? this.#saved?.cursor;
    if (cursor !== undefined) {
      return [...args, `--after-cursor=${cursor}`];
    }
    const microseconds = BigInt(this.#saved?.timestamp ?? 0);
    if (microseconds === 0n) {
      return args;
    }
    const fraction = String(microseconds % 1_000_000n).padStart(6, '0');
    return [...args, `--since=@${String(microseconds / 1_000_000n)}.${fraction}`];
  }

  async #take(entry: JournalEntry): Promise<void> {
    const { filter, lines, ready, logger } = this.#parts;
    const message = filter.accepts(entry) ? formatJournalEntry(entry) : undefined;
    if (message === undefined) {
      return;
    }
    const dropped = lines.dropReason(message);
    if (dropped !== undefined) {
      logger.debug(dropped);
      return;
    }
    const sent = { cursor: entry.get('__CURSOR') ?? '', timestamp: entryTime(entry) };
    if (this.#skip > 0) {
      this.#skip -= 1;
      // The sink has this one: its number is below where counting goes on.
      this.#sent.push({ ...sent, sequence: this.#sequence - this.#skip });
      return;
    }
    const sequence = this.#sequence + 1;
    while (this.#outlet?.trySend({ message, end: sequence }) === false) {
      // Nothing more is read meanwhile, so that the journal waits and not our memory.
      await unlessAborted(this.#stopping.signal, ready());
      if (this.#stopping.signal.aborted) {
        return;
      }
    }
    this.#sequence = sequence;
    if (this.#stream === undefined) {
      this.#saved = { timestamp: sent.timestamp, cursor: sent.cursor };
    } else {
      this.#sent.push({ ...sent, sequence });
    }
  }
}
