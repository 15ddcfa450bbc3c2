import { createServer, type Server, type Socket } from 'node:net';
import {
  type ControlReply,
  type ControlRequest,
  controlRequest,
  GROUP_COMMANDS,
  LONG_LINE,
  type ProgressEvent,
  type SupervisorReport,
} from '../../../lib/control/control-protocol.js';
import { readLines } from '../../../lib/control/line-reader.js';
import { ConfigurationRefusedError } from '../../../lib/control/replace-configuration.js';
import { removeTree } from '../../../lib/files/remove-tree.js';
import { describeError } from '../../../lib/log/describe-error.js';
import type { Logger } from '../../../lib/log/logger.js';
import { bindForGroup, bindForOwner } from '../../../lib/process/bind-for-group.js';

/** Clients at a time; more than a person and a few scripts is an attack on descriptors. */
const MAX_CONNECTIONS = 32;

/** A client that has connected asks at once. */
const REQUEST_WAIT_MS = 5000;

/** Carries a command out, telling what happens on the way. @throws Error with one clear message */
export type ControlHandler = (
  request: ControlRequest,
  progress: (event: ProgressEvent) => void,
) => Promise<SupervisorReport | undefined>;

/** Who may connect: the owner of the home for everything, or its group (`gid`, where the supervisor is root). */
export type ControlPeers = { readonly kind: 'owner' } | { readonly kind: 'group'; readonly gid: number | undefined };

/** The supervisor's end of a control socket: one request a connection. */
export class ControlServer {
  readonly #path: string;
  readonly #handler: ControlHandler;
  readonly #logger: Logger;
  readonly #peers: ControlPeers;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;

  constructor(path: string, peers: ControlPeers, handler: ControlHandler, logger: Logger) {
    this.#path = path;
    this.#handler = handler;
    this.#logger = logger;
    this.#peers = peers;
  }

  /** Binds the socket; the caller holds the supervisor's lock, so what lies there is stale. @throws listen errors */
  async start(): Promise<void> {
    removeTree(this.#path);
    const server = createServer((socket) => this.#serve(socket));
    server.maxConnections = MAX_CONNECTIONS;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      const bind = () => server.listen(this.#path, resolve);
      if (this.#peers.kind === 'owner') bindForOwner(bind);
      else bindForGroup(bind, this.#peers.gid);
    });
    server.on('error', (error) => this.#logger.error(`Control socket: ${describeError(error)}`));
    this.#server = server;
  }

  /** Takes no more requests and lets answers under way be read. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    removeTree(this.#path);
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, 500);
    await closed;
    clearTimeout(timer);
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    // A client that went away gets no answer; the command it gave is carried out all the same.
    socket.on('error', () => {});
    const reply = (line: ControlReply) => {
      if (socket.writable) socket.write(`${JSON.stringify(line)}\n`);
    };
    const refuse = (message: string, code?: number) => {
      reply({ kind: 'error', message, ...(code === undefined ? {} : { code }) });
      socket.end();
    };
    let asked = false;
    const timer = setTimeout(() => refuse('no request came in time'), REQUEST_WAIT_MS);
    socket.on('close', () => clearTimeout(timer));
    readLines(
      socket,
      (line) => {
        if (asked) return;
        asked = true;
        clearTimeout(timer);
        const request = parseRequest(line);
        if (request === undefined) {
          refuse('the request is not one that this version knows');
          return;
        }
        if (this.#peers.kind === 'group' && !GROUP_COMMANDS.has(request.command)) {
          refuse(`'${request.command}' is for the owner of this home: try again as root`);
          return;
        }
        this.#handler(request, (event) => reply({ kind: 'event', event })).then(
          (report) => {
            reply({ kind: 'done', ...(report === undefined ? {} : { report }) });
            socket.end();
          },
          (error: unknown) =>
            refuse(describeError(error), error instanceof ConfigurationRefusedError ? error.code : undefined),
        );
      },
      () => refuse('the request is too long'),
      LONG_LINE,
    );
  }
}

function parseRequest(line: string): ControlRequest | undefined {
  try {
    const result = controlRequest.safeParse(JSON.parse(line));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}
