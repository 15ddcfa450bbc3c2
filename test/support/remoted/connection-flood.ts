import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Connections that say nothing, from one loopback address. */
export class ConnectionFlood {
  readonly #sockets: Socket[] = [];
  #closed = 0;

  /** Opens so many one after the other. */
  async open(port: number, count: number, from = '127.0.0.1'): Promise<void> {
    for (let number = 0; number < count; number += 1) {
      const socket = connect({ port, host: '127.0.0.1', localAddress: from });
      socket.on('error', () => {});
      socket.on('close', () => (this.#closed += 1));
      this.#sockets.push(socket);
      await once(socket, 'connect');
    }
  }

  /** Those that the other side has ended. */
  get closed(): number {
    return this.#closed;
  }

  end(): void {
    for (const socket of this.#sockets.splice(0)) socket.destroy();
  }
}
