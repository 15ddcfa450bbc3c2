/** A word about what was done, or was not. */
export type Notice = { readonly id: number; readonly kind: 'done' | 'failed'; readonly text: string };

/** Milliseconds for which a good word stays; a bad one stays until somebody closes it. */
const SHOWN_MS = 6000;
/** So many at once, so that a server that refuses everything does not fill the screen. */
const MOST = 4;

/** What is said at the edge of the screen, read aloud by screen readers. */
export class Notices {
  #notices: readonly Notice[] = [];
  #count = 0;
  readonly #listeners = new Set<(notices: readonly Notice[]) => void>();

  listen(callback: (notices: readonly Notice[]) => void): () => void {
    this.#listeners.add(callback);
    return () => void this.#listeners.delete(callback);
  }

  done(text: string): void {
    const id = this.#add('done', text);
    setTimeout(() => this.close(id), SHOWN_MS);
  }

  failed(error: unknown): void {
    this.#add('failed', describe(error));
  }

  close(id: number): void {
    this.#set(this.#notices.filter((notice) => notice.id !== id));
  }

  /** Forgets all of them: they are for who was told them. */
  clear(): void {
    this.#set([]);
  }

  #add(kind: Notice['kind'], text: string): number {
    const id = (this.#count += 1);
    this.#set([...this.#notices.filter((notice) => notice.text !== text), { id, kind, text }].slice(-MOST));
    return id;
  }

  #set(notices: readonly Notice[]): void {
    this.#notices = notices;
    for (const listener of this.#listeners) listener(notices);
  }
}

/** One sentence of an error, with what to do about it. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const remediation = (error as { remediation?: unknown }).remediation;
  return typeof remediation === 'string' ? `${error.message} ${remediation}` : error.message;
}
