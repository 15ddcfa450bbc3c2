import { hash } from 'node:crypto';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { AgentKey } from '../../../lib/agentlink/agent-key.js';
import { BlowfishCache } from '../../../lib/agentlink/blowfish-cache.js';
import { answerMessage, isControl, SHUTDOWN_MESSAGE, startupMessage } from '../../../lib/agentlink/control-text.js';
import { buildEventPayload } from '../../../lib/agentlink/event-payload.js';
import { PushReceiver, type PushResult } from '../../../lib/agentlink/file-push.js';
import { FrameDecoder } from '../../../lib/agentlink/frame-decoder.js';
import { type AgentLabel, buildKeepalive } from '../../../lib/agentlink/keepalive.js';
import { parseManagerControl } from '../../../lib/agentlink/manager-control.js';
import { laterCounters, NO_COUNTERS } from '../../../lib/agentlink/message-counters.js';
import type { MessageForm } from '../../../lib/agentlink/message-form.js';
import { MessageOpener } from '../../../lib/agentlink/message-opener.js';
import { MessageSealer } from '../../../lib/agentlink/message-sealer.js';
import { AgentAddress } from '../../../lib/network/agent-address.js';
import { eventually } from '../eventually.js';

const schedules = new BlowfishCache();
const opener = new MessageOpener(schedules);
const sealer = new MessageSealer(schedules);
const ACK = 'agent ack ';

/** What a minimal agent is made of. */
export type AgentIdentity = {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  readonly ip?: string;
};

/** The line of an agent in `etc/client.keys`. */
export function keyLine({ id, name, ip = 'any', key }: AgentIdentity): string {
  return `${id} ${name} ${ip} ${key}\n`;
}

/** An agent that speaks the real protocol over TCP or UDP and does nothing by itself but answer requests. */
export class MinimalAgent {
  /** Control messages of the manager, without their header. */
  readonly received: string[] = [];
  /** Messages of the manager as they came over the wire, without the length of their frames. */
  readonly frames: Buffer[] = [];
  /** Counters of the manager's messages. */
  readonly managerCounters: { global: number; local: number }[] = [];
  /** Answers to a request of the manager; undefined: none. */
  onRequest: ((target: string, payload: string, bytes: Buffer) => string | undefined) | undefined;
  /** Told of each order for the execution daemon. */
  onOrder: ((text: string) => void) | undefined;
  /** What came of each pushed file. */
  readonly pushes: PushResult[] = [];
  /** Told of the start of each file. */
  onFile: (() => void) | undefined;
  /** What keepalives report; it follows files that came whole. */
  mergedSum = 'x';
  closed = false;
  counters = NO_COUNTERS;
  readonly key: AgentKey;
  readonly #form: MessageForm;
  readonly #file = new PushReceiver();
  #decoder = new FrameDecoder();
  #tcp: Socket | undefined;
  #udp: UdpSocket | undefined;

  constructor({ id, name, ip = 'any', key }: AgentIdentity, form: MessageForm = 'aes') {
    this.key = new AgentKey(id, name, AgentAddress.parse(ip) ?? AgentAddress.any, key);
    this.#form = form;
  }

  /** Whether a file is on its way. */
  get fileOpen(): boolean {
    return this.#file.open;
  }

  /** The connection, to be paused by a test. */
  get socket(): Socket | undefined {
    return this.#tcp;
  }

  get acks(): number {
    return this.received.filter((text) => text === ACK).length;
  }

  async connect(port: number, host = '127.0.0.1'): Promise<void> {
    const socket = connect(port, host);
    this.closed = false;
    this.#decoder = new FrameDecoder();
    this.#file.abort();
    socket.on('data', (chunk: Buffer) => {
      this.#decoder.push(chunk);
      for (let frame = this.#decoder.next(); frame !== undefined; frame = this.#decoder.next()) this.#open(frame);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.#tcp === socket) this.closed = true;
    });
    this.#tcp = socket;
    await once(socket, 'connect');
  }

  async connectUdp(port: number): Promise<void> {
    const socket = createSocket('udp4');
    socket.on('message', (message: Buffer) => {
      this.#open(message);
    });
    socket.on('error', () => {});
    this.#udp = socket;
    socket.connect(port, '127.0.0.1');
    await once(socket, 'connect');
  }

  /** Bytes of a message, ready for the wire. */
  seal(payload: string | Buffer): Buffer {
    this.counters = laterCounters(this.counters);
    return sealer.seal(this.key, payload, {
      form: this.#form,
      counters: this.counters,
      prefixId: this.key.address.single ? undefined : this.key.id,
      framed: this.#udp === undefined,
    });
  }

  send(payload: string | Buffer): void {
    this.write(this.seal(payload));
  }

  /** Bytes as they are. @returns false when the socket has more than it sends */
  write(bytes: Buffer): boolean {
    if (this.#udp !== undefined) {
      this.#udp.send(bytes);
      return true;
    }
    return this.#tcp?.write(bytes) ?? false;
  }

  /** Calls back when the datagrams given so far are with the system. */
  whenSent(done: () => void): void {
    this.#udp?.send(Buffer.from('#ping'), done);
  }

  event(location: string, text: string, queue = '1'): void {
    this.send(buildEventPayload(queue, location, text));
  }

  keepalive(labels: readonly AgentLabel[] = [], version = 'Wazuh v4.14.7'): void {
    const uname = 'Linux |box |6.1.0 |#1 SMP |x86_64 [Debian GNU/Linux|debian: 12 (bookworm)]';
    this.send(buildKeepalive({ uname, version, mergedSum: this.mergedSum, agentIp: '127.0.0.1' }, labels));
  }

  /** Startup, and the answer to it. */
  async start(version = 'v4.14.7'): Promise<void> {
    const before = this.received.length;
    this.send(startupMessage(version));
    await this.until('the answer to the startup', () => this.received.length > before);
  }

  /** Connects and starts, again until the manager has read the key of the agent, which was made just now. */
  async startWhenKnown(port: number): Promise<void> {
    const before = this.received.length;
    await eventually(`${this.key.name}: the manager knows its key`, async () => {
      await this.connect(port);
      this.send(startupMessage('v4.14.7'));
      await this.until('an answer or an end', () => this.received.length > before || this.closed);
      return this.received.length > before;
    });
  }

  shutdown(): void {
    this.send(SHUTDOWN_MESSAGE);
  }

  async until(what: string, probe: () => boolean): Promise<void> {
    await eventually(`${this.key.name}: ${what}`, probe);
  }

  close(): void {
    this.#tcp?.destroy();
    this.#udp?.close();
    this.#tcp = this.#udp = undefined;
  }

  #open(message: Buffer): void {
    this.frames.push(Buffer.from(message));
    if (message.toString('latin1') === '#pong') {
      this.received.push('#pong');
      return;
    }
    const opened = opener.open(this.key, message, this.#form);
    if (!opened.ok) throw new Error(`a message of the manager cannot be opened: ${opened.reason}`);
    this.managerCounters.push({ global: opened.global, local: opened.local });
    if (!isControl(opened.payload)) {
      if (!this.#file.add(opened.payload)) this.received.push(`no file open: ${opened.payload.toString()}`);
      return;
    }
    const control = parseManagerControl(opened.payload);
    this.received.push(opened.payload.toString('utf8', 3));
    if (control.kind === 'push_start') {
      this.#file.start(control.md5, control.name);
      this.onFile?.();
    }
    if (control.kind === 'push_end') this.#take(this.#file.end());
    if (control.kind === 'execd') this.onOrder?.(control.text);
    if (control.kind !== 'request') return;
    const answer = this.onRequest?.(control.target, control.payload.toString(), control.payload);
    if (answer !== undefined) this.send(answerMessage(control.counter, answer));
  }

  #take(result: PushResult): void {
    this.pushes.push(result);
    if (result.ok) this.mergedSum = hash('md5', result.content, 'hex');
  }
}
