import { Failure } from './failure.js';
import { EventCutter } from './sse.js';

/** How a stream of alerts is doing. */
export type StreamState =
  | { readonly kind: 'connecting' }
  /** Alerts come as they are written; those of nodes of a cluster that are `away` come when these are back. */
  | { readonly kind: 'live'; readonly away: readonly string[] }
  /** The server waits for its own store; nothing is missed. */
  | { readonly kind: 'waiting'; readonly detail: string }
  /** The connection is gone; it is tried again, and goes on where it was. */
  | { readonly kind: 'lost'; readonly detail: string }
  /** The server takes no such stream, now or ever. */
  | { readonly kind: 'refused'; readonly error: unknown };

type AlertStreamParts = {
  /** Asks for `GET /alerts/stream`. @throws Failure */
  readonly open: (headers: Record<string, string>, signal: AbortSignal) => Promise<Response>;
  /** JSON of an alert, as it came. */
  readonly onAlert: (text: string, id: string) => void;
  readonly onState: (state: StreamState) => void;
  /** The token is taken no more. */
  readonly onUnauthorized: () => void;
};

/** Milliseconds before a stream that is gone is tried again, at first and at most. */
const RETRY_MS = 1000;
const MOST_RETRY_MS = 15_000;
/** The same when the server has no room for it. */
const FULL_RETRY_MS = 30_000;
/** The server sends something every 15 seconds: a stream that is silent for so many milliseconds is dead. */
const SILENT_MS = 45_000;

/** Alerts as they come, over whatever happens to the connection and the server: none is missed, and none comes twice. */
export class AlertStream {
  readonly #parts: AlertStreamParts;
  readonly #retryMs: number;
  /** Nodes of a cluster that are not heard for now. */
  readonly #away = new Set<string>();
  /** Where another stream goes on. */
  #lastId: string | undefined;

  constructor(parts: AlertStreamParts, retryMs = RETRY_MS) {
    this.#parts = parts;
    this.#retryMs = retryMs;
  }

  /** Until the signal ends it, or the server refuses it for good. */
  async run(signal: AbortSignal): Promise<void> {
    const { onState, onUnauthorized } = this.#parts;
    let wait = this.#retryMs;
    while (!signal.aborted) {
      onState({ kind: 'connecting' });
      let detail = '';
      try {
        const end = await this.#follow(signal, () => (wait = this.#retryMs));
        if (end.reason === 'unauthorized') {
          onUnauthorized();
          return;
        }
        detail = end.detail;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Failure && isForGood(error)) {
          onState({ kind: 'refused', error });
          return;
        }
        if (error instanceof Failure && error.status === 429) wait = FULL_RETRY_MS;
        detail = error instanceof Error ? error.message : String(error);
      }
      if (signal.aborted) return;
      onState({ kind: 'lost', detail });
      await pause(wait, signal);
      wait = Math.min(MOST_RETRY_MS, wait * 2);
    }
  }

  /** @returns why the server ended it. @throws Failure, and what the browser makes of a connection that breaks */
  async #follow(signal: AbortSignal, onBegin: () => void): Promise<{ reason: string; detail: string }> {
    const connection = new AbortController();
    const cut = () => connection.abort();
    signal.addEventListener('abort', cut, { once: true });
    let timer = setTimeout(cut, SILENT_MS);
    try {
      const headers = this.#lastId === undefined ? {} : { 'last-event-id': this.#lastId };
      const answer = await this.#parts.open(headers, connection.signal);
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      const cutter = new EventCutter();
      for (;;) {
        const piece = await reader?.read();
        clearTimeout(timer);
        timer = setTimeout(cut, SILENT_MS);
        if (piece?.value === undefined) return { reason: 'lost', detail: '' };
        for (const { type, data, id } of cutter.push(piece.value)) {
          if (id !== undefined) this.#lastId = id;
          if (type === 'alert') this.#parts.onAlert(data, id ?? '');
          else if (type === 'begin') onBegin();
          if (type === 'end') return JSON.parse(data) as { reason: string; detail: string };
          this.#tell(type, data);
        }
      }
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cut);
      cut();
    }
  }

  #tell(type: string, data: string): void {
    if (type !== 'begin' && type !== 'resumed' && type !== 'waiting') return;
    const { node, detail = '' } = JSON.parse(data) as { node?: string; detail?: string };
    if (type === 'begin') this.#away.clear();
    if (node === undefined && type === 'waiting') {
      this.#parts.onState({ kind: 'waiting', detail });
      return;
    }
    if (node !== undefined && type === 'waiting') this.#away.add(node);
    if (node !== undefined && type === 'resumed') this.#away.delete(node);
    this.#parts.onState({ kind: 'live', away: [...this.#away] });
  }
}

/** What asking again does not change: a filter that is none, an operation that the user may not ask. */
function isForGood({ status }: Failure): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
