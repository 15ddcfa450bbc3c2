import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { readMessageHead } from '../../../daemons/remoted/link/message-prefix.js';
import { AgentKey } from '../../../lib/agentlink/agent-key.js';
import { BlowfishCache } from '../../../lib/agentlink/blowfish-cache.js';
import { ACK_MESSAGE, CONTROL_HEADER, pushStartMessage } from '../../../lib/agentlink/control-text.js';
import { FrameDecoder } from '../../../lib/agentlink/frame-decoder.js';
import { type Keepalive, parseKeepalive } from '../../../lib/agentlink/keepalive.js';
import { laterCounters, NO_COUNTERS } from '../../../lib/agentlink/message-counters.js';
import { MessageOpener } from '../../../lib/agentlink/message-opener.js';
import { MessageSealer } from '../../../lib/agentlink/message-sealer.js';
import { AgentAddress } from '../../../lib/network/agent-address.js';
import type { AgentIdentity } from './minimal-agent.js';
import { pushMessages } from './push-messages.js';

/** A manager of one agent over TCP, for what a real one never sends: it acknowledges, keeps what comes and pushes what it is told to. */
export class FakeManager {
  readonly keepalives: Keepalive[] = [];
  /** Texts of events, with queue and location. */
  readonly events: string[] = [];
  /** The same as byte strings. */
  readonly bytes: string[] = [];
  /** Control messages, without their header. */
  readonly controls: string[] = [];
  connections = 0;
  readonly #key: AgentKey;
  readonly #opener: MessageOpener;
  readonly #sealer: MessageSealer;
  #counters = NO_COUNTERS;
  #server: Server | undefined;
  #socket: Socket | undefined;

  constructor({ id, name, ip = 'any', key }: AgentIdentity) {
    const schedules = new BlowfishCache();
    this.#opener = new MessageOpener(schedules);
    this.#sealer = new MessageSealer(schedules);
    this.#key = new AgentKey(id, name, AgentAddress.parse(ip) ?? AgentAddress.any, key);
  }

  get port(): number {
    return (this.#server!.address() as AddressInfo).port;
  }

  get keepalive(): Keepalive | undefined {
    return this.keepalives.at(-1);
  }

  async start(): Promise<void> {
    this.#server = createServer((socket) => this.#serve(socket)).listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  stop(): void {
    this.#server?.close();
    this.#socket?.destroy();
  }

  send(payload: string | Buffer): void {
    this.#counters = laterCounters(this.#counters);
    this.#socket?.write(this.#sealer.seal(this.#key, payload, { form: 'aes', counters: this.#counters, framed: true }));
  }

  /** Pushes a file whole. @param md5 another sum than the right one */
  push(content: Buffer, md5?: string, name = 'merged.mg'): void {
    for (const [index, message] of [...pushMessages(content, name)].entries()) {
      this.send(index === 0 && md5 !== undefined ? pushStartMessage(md5, name) : message);
    }
  }

  #serve(socket: Socket): void {
    const decoder = new FrameDecoder();
    this.#socket = socket;
    this.connections += 1;
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      decoder.push(chunk);
      for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) this.#take(frame);
    });
  }

  #take(frame: Buffer): void {
    const head = readMessageHead(frame);
    if (head.kind !== 'prefixed' && head.kind !== 'bare') throw new Error(`a frame is ${head.kind}`);
    const opened = this.#opener.open(this.#key, head.body);
    if (!opened.ok) throw new Error(`a message cannot be opened: ${opened.reason}`);
    const text = opened.payload.toString();
    if (!text.startsWith(CONTROL_HEADER)) {
      this.events.push(text);
      this.bytes.push(opened.payload.toString('latin1'));
      return;
    }
    const control = text.slice(CONTROL_HEADER.length);
    this.controls.push(control);
    if (control.includes(' merged.mg\n')) this.keepalives.push(parseKeepalive(control));
    if (!control.startsWith('agent shutdown')) this.send(ACK_MESSAGE);
  }
}
