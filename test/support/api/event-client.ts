import http from 'node:http';
import https from 'node:https';

/** An event of a stream, or `end` of the connection, as `event: ''`. */
export type SeenEvent = { readonly event: string; readonly id: string | undefined; readonly data: string };

/** A client of server-sent events, each of which a test waits for. */
export class EventClient {
  /** The latest id, of an event or of a heartbeat. */
  lastId: string | undefined;
  comments = 0;
  readonly #events: SeenEvent[] = [];
  readonly #waiting: (() => void)[] = [];
  #rest = '';
  #isOver = false;

  private constructor(readonly response: http.IncomingMessage) {
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#take(text));
    const over = (): void => {
      this.#isOver = true;
      this.#wake();
    };
    response.on('close', over);
    response.on('error', over);
  }

  /** @throws Error with the status and body of a refusal */
  static open(
    port: number,
    path: string,
    token: string,
    { tls = false, lastId }: { tls?: boolean; lastId?: string } = {},
  ): Promise<EventClient> {
    const headers = { authorization: `Bearer ${token}`, ...(lastId === undefined ? {} : { 'last-event-id': lastId }) };
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path, headers, agent: false, rejectUnauthorized: false } as const;
      const request = (tls ? https : http).request(options, (response) => {
        if (response.statusCode === 200) {
          resolve(new EventClient(response));
          return;
        }
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => reject(new Error(`${response.statusCode} ${text}`)));
      });
      request.on('error', reject);
      request.end();
    });
  }

  /** The next event; of one that is over, `event` is empty. */
  async next(): Promise<SeenEvent> {
    while (this.#events.length === 0) {
      if (this.#isOver) return { event: '', id: undefined, data: '' };
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.#events.shift()!;
  }

  /** The next event of a kind; those before it are passed over. */
  async nextOf(kind: string): Promise<SeenEvent> {
    for (;;) {
      const event = await this.next();
      if (event.event === kind || event.event === '') return event;
    }
  }

  /** Id of the next alert. */
  async nextAlert(): Promise<string> {
    const { data } = await this.nextOf('alert');
    return (JSON.parse(data) as { alert_id: string }).alert_id;
  }

  /** Resolves when a heartbeat has come. */
  async heartbeat(): Promise<void> {
    const before = this.comments;
    while (this.comments === before && !this.#isOver) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  close(): void {
    this.response.destroy();
  }

  #take(text: string): void {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) this.#read(block);
    this.#wake();
  }

  #read(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      if (line.startsWith(':')) this.comments += 1;
      else fields.set(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2));
    }
    const id = fields.get('id');
    if (id !== undefined) this.lastId = id;
    const data = fields.get('data');
    if (data !== undefined) this.#events.push({ event: fields.get('event') ?? 'message', id, data });
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
