import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** A connection to the server, and what came over it. */
export type SyslogConnection = {
  /** Whole messages in their order. */
  readonly messages: string[];
  /** Whether the server broke it, so that nobody can tell how far it got. */
  broken: boolean;
};

/** How the next connections, and those that are open, are treated. */
export type SyslogManners =
  /** Everything is read, and the connection closed behind its end. */
  | 'takes'
  /** Nothing is read. */
  | 'hangs'
  /** After its first 64 KiB something that is no answer comes back, and the connection breaks if there is more. */
  | 'breaks';

const BLANK = 0x20;

/** A syslog receiver over TCP on the loopback that takes messages of RFC 6587 with counted octets, and nothing else. */
export class SyslogServer {
  readonly connections: SyslogConnection[] = [];
  /** What came that is not of that form. */
  readonly problems: string[] = [];
  readonly #sockets = new Set<Socket>();
  #manners: SyslogManners = 'takes';
  #server: Server | undefined;

  async start(port = 0, host = '127.0.0.1'): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#serve(socket);
    });
    this.#server = server;
    server.listen(port, host);
    await once(server, 'listening');
  }

  get port(): number {
    return (this.#server!.address() as AddressInfo).port;
  }

  /** All messages, connection by connection. */
  get messages(): string[] {
    return this.connections.flatMap(({ messages }) => messages);
  }

  behave(manners: SyslogManners): void {
    this.#manners = manners;
    if (manners !== 'hangs') for (const socket of this.#sockets) socket.resume();
  }

  /** Listens no longer, and breaks what is open. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server?.listening !== true) return;
    for (const socket of this.#sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  }

  #serve(socket: Socket): void {
    const connection: SyslogConnection = { messages: [], broken: false };
    this.connections.push(connection);
    this.#sockets.add(socket);
    let rest: Buffer = Buffer.alloc(0);
    socket.on('error', () => {
      connection.broken = true;
    });
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('end', () => {
      if (!connection.broken) socket.end();
    });
    socket.on('data', (data: Buffer) => {
      rest = this.#read(Buffer.concat([rest, data]), connection.messages);
      if (this.#manners !== 'breaks') return;
      connection.broken = true;
      // What is not read has the system say that it is lost.
      socket.pause();
      socket.write('what?\n', () => socket.destroy());
    });
    if (this.#manners === 'hangs') socket.pause();
  }

  /** @returns the beginning of a message that is not whole yet */
  #read(bytes: Buffer, messages: string[]): Buffer {
    let at = 0;
    for (;;) {
      const blank = bytes.indexOf(BLANK, at);
      if (blank < 0) return bytes.subarray(at);
      const count = bytes.toString('latin1', at, blank);
      if (!/^[1-9]\d{0,6}$/.test(count)) {
        this.problems.push(`no number of octets: ${JSON.stringify(count.slice(0, 40))}`);
        return Buffer.alloc(0);
      }
      const end = blank + 1 + Number(count);
      if (end > bytes.length) return bytes.subarray(at);
      messages.push(bytes.toString('utf8', blank + 1, end));
      at = end;
    }
  }
}
