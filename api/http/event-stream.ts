import { once } from 'node:events';
import type { Response } from 'express';

/** How often a stream looks whether its token still holds, milliseconds; before each event it looks, too. */
const CHECK_MS = 1000;
/** A comment goes out after so long without an event, milliseconds: proxies end connections that are silent for a minute. */
const HEARTBEAT_MS = 15_000;
/**
 * How long a client may read nothing of what is there, milliseconds. Stops clients that open streams and do not read from holding places:
 * nothing is kept for them meanwhile, and with the last id they go on where they were.
 */
const MAX_STALL_MS = 30_000;

export type StreamTimes = { readonly checkMs: number; readonly heartbeatMs: number; readonly maxStallMs: number };
const STREAM_TIMES: StreamTimes = { checkMs: CHECK_MS, heartbeatMs: HEARTBEAT_MS, maxStallMs: MAX_STALL_MS };

/** An event of a stream. @see https://html.spec.whatwg.org/multipage/server-sent-events.html */
export type StreamEvent = {
  /** What a client that comes back sends as `Last-Event-ID`. */
  readonly id?: string;
  readonly event: string;
  /** One line. */
  readonly data: string;
};

/** Why a stream ends, as its last event says: the word in `reason`, and what to do. */
export type StreamEnd = { readonly reason: 'unauthorized' | 'stopping' | 'slow' | 'failed'; readonly detail: string };

/** The client's end of a stream. */
export interface EventSink {
  /** Aborted when the stream is over, whatever the reason. */
  readonly signal: AbortSignal;
  /** Where the client goes on after a break; heartbeats say it, too. */
  position(id: string): void;
  /** Resolves when there is room for more. @throws the signal's reason when the stream is over */
  send(event: StreamEvent): Promise<void>;
}

/** A body that goes on: events for as long as the client listens and may. */
export type StreamBody = {
  /** Sends events until the sink's signal says that it is over. */
  readonly run: (sink: EventSink) => Promise<void>;
  /** Once, at the end, also where it never ran. */
  readonly done: () => void;
};

/** Streams that are open, each on its response. */
export class EventStreams {
  readonly #open = new Set<EventStream>();
  readonly #times: StreamTimes;

  constructor(times: StreamTimes = STREAM_TIMES) {
    this.#times = times;
  }

  get open(): number {
    return this.#open.size;
  }

  /**
   * Answers with a stream, and resolves when it is over. Never rejects.
   * @param check throws when the client may not listen any more
   */
  async answer(
    response: Response,
    body: StreamBody,
    { head, check, onFailure }: { head: boolean; check: () => void; onFailure: (error: unknown) => void },
  ): Promise<void> {
    response.statusCode = 200;
    response.setHeader('content-type', 'text/event-stream');
    // nginx keeps answers back until they are over.
    response.setHeader('x-accel-buffering', 'no');
    if (head || response.destroyed) {
      body.done();
      response.end();
      return;
    }
    const stream = new EventStream(response, this.#times, check);
    this.#open.add(stream);
    try {
      await body.run(stream);
      stream.end({ reason: 'failed', detail: 'The stream is over. Open it again with the last id.' });
    } catch (error) {
      if (!stream.signal.aborted) onFailure(error);
      stream.end({
        reason: 'failed',
        detail: 'The stream failed; logs/manager.log says why. Open it again with the last id.',
      });
    } finally {
      body.done();
      this.#open.delete(stream);
    }
  }

  /** Ends all streams: the API stops. */
  stop(): void {
    const detail = 'The API stops or restarts. Open the stream again with the last id.';
    for (const stream of this.#open) stream.end({ reason: 'stopping', detail });
  }
}

class EventStream implements EventSink {
  readonly #response: Response;
  readonly #times: StreamTimes;
  readonly #check: () => void;
  readonly #abort = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #position: string | undefined;
  #told: string | undefined;
  #lastWrite = performance.now();

  constructor(response: Response, times: StreamTimes, check: () => void) {
    this.#response = response;
    this.#times = times;
    this.#check = check;
    response.once('close', () => this.#over());
    response.on('error', () => this.#over());
    this.#timer = setInterval(() => this.#tick(), times.checkMs);
    response.flushHeaders();
    // Proxies and clients see at once that it has begun.
    response.write(': alerts\n\n');
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  position(id: string): void {
    this.#position = id;
  }

  async send({ id, event, data }: StreamEvent): Promise<void> {
    this.#checkCaller();
    this.signal.throwIfAborted();
    if (id !== undefined) this.#told = this.#position = id;
    await this.#write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`);
  }

  /** Ends it with a last event; of one that is over already nothing. */
  end({ reason, detail }: StreamEnd): void {
    if (this.signal.aborted) return;
    this.#over();
    this.#response.end(`event: end\ndata: ${JSON.stringify({ reason, detail })}\n\n`);
  }

  async #write(text: string): Promise<void> {
    this.#lastWrite = performance.now();
    if (this.#response.write(text)) return;
    const timer = setTimeout(() => this.#cutOff(), this.#times.maxStallMs);
    try {
      await once(this.#response, 'drain', { signal: this.signal });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Whoever does not read would not read the last event. */
  #cutOff(): void {
    this.#over();
    this.#response.destroy();
  }

  #tick(): void {
    this.#checkCaller();
    if (this.signal.aborted || this.#response.writableNeedDrain) return;
    if (performance.now() - this.#lastWrite < this.#times.heartbeatMs) return;
    this.#lastWrite = performance.now();
    const isNew = this.#position !== undefined && this.#position !== this.#told;
    this.#told = this.#position;
    // An id without data is remembered by clients, and no event.
    this.#response.write(isNew ? `: here\nid: ${this.#position}\n\n` : ': here\n\n');
  }

  #checkCaller(): void {
    try {
      this.#check();
    } catch {
      const detail = 'The token has expired, was revoked, or its rights were changed. Log in again.';
      this.end({ reason: 'unauthorized', detail });
    }
  }

  #over(): void {
    clearInterval(this.#timer);
    if (!this.signal.aborted) this.#abort.abort(new StreamOverError());
  }
}

/** Nobody listens any more, or may. */
class StreamOverError extends Error {
  override readonly name = 'StreamOverError';

  constructor() {
    super('the stream is over');
  }
}
