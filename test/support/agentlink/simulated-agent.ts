import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { AgentKey } from '../../../lib/agentlink/agent-key.js';
import { BlowfishCache } from '../../../lib/agentlink/blowfish-cache.js';
import { isControl, startupMessage } from '../../../lib/agentlink/control-text.js';
import { buildEventPayload } from '../../../lib/agentlink/event-payload.js';
import { PushReceiver } from '../../../lib/agentlink/file-push.js';
import { FrameDecoder } from '../../../lib/agentlink/frame-decoder.js';
import { buildKeepalive } from '../../../lib/agentlink/keepalive.js';
import { parseManagerControl } from '../../../lib/agentlink/manager-control.js';
import { laterCounters, NO_COUNTERS } from '../../../lib/agentlink/message-counters.js';
import type { MessageForm } from '../../../lib/agentlink/message-form.js';
import { MessageOpener } from '../../../lib/agentlink/message-opener.js';
import { MessageSealer } from '../../../lib/agentlink/message-sealer.js';
import { AgentAddress } from '../../../lib/network/agent-address.js';
import type { AgentIdentity } from './minimal-agent.js';

const schedules = new BlowfishCache();
const opener = new MessageOpener(schedules);
const sealer = new MessageSealer(schedules);
/** Frames that are longer hold content, and no control message. */
const LONGEST_CONTROL_BYTES = 160;
/** Agents do not all try again at the same moment. */
const TIMER_SPREAD_MS = 100;

/** One of thousands of agents over TCP: it keeps no messages and waits for nothing, but counts what matters. */
export class SimulatedAgent {
  readonly key: AgentKey;
  /** Told of every acknowledgement, with the milliseconds since the message it answers. */
  onAck: ((latencyMs: number) => void) | undefined;
  /** Told of orders about its inventory, `syscollector_packages dbsync no_data {..}`. */
  onModuleOrder: ((text: string) => void) | undefined;
  /** Connections that ended without having been closed here. */
  lost = 0;
  /** What its keepalives report: it follows the files that are pushed to it. */
  mergedSum = 'x';
  /** Files that were not as they were announced. */
  brokenFiles = 0;
  /** Whether content of files is left unread, and taken for what was announced: thousands of agents then fit into a process. */
  trusting = false;
  readonly #file = new PushReceiver();
  #announced: string | undefined;
  readonly #form: MessageForm;
  #counters = NO_COUNTERS;
  #socket: Socket | undefined;
  #connected = false;
  /** When the oldest message without an acknowledgement was sent; undefined: there is none. */
  #sentAt: number | undefined;
  #staying = false;
  #timer: NodeJS.Timeout | undefined;

  constructor({ id, name, ip = 'any', key }: AgentIdentity, form: MessageForm = 'aes') {
    this.key = new AgentKey(id, name, AgentAddress.parse(ip) ?? AgentAddress.any, key);
    this.#form = form;
  }

  /** Whether the manager acknowledged something on this connection. */
  get connected(): boolean {
    return this.#connected;
  }

  /** Connects and sends the startup; its acknowledgement is not waited for. @throws the socket's error */
  async connect(port: number): Promise<void> {
    await once(this.#open(port), 'connect');
    this.#ask(startupMessage('v4.14.7'));
  }

  /** Stays connected as agents do, whatever happens to the manager, and sends keepalives, until it is closed. */
  stay(port: number, retryMs: number, notifyMs: number): void {
    this.#staying = true;
    const socket = this.#open(port);
    const again = (milliseconds: number, work: () => void) => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(work, milliseconds + Math.random() * TIMER_SPREAD_MS);
    };
    const notify = () => {
      this.keepalive();
      again(notifyMs, notify);
    };
    socket.on('connect', () => {
      this.#ask(startupMessage('v4.14.7'));
      again(0, notify);
    });
    socket.on('close', () => {
      if (this.#staying) again(retryMs, () => this.stay(port, retryMs, notifyMs));
    });
  }

  /** Whether the manager does not read as fast as was written. */
  get isFull(): boolean {
    return this.#socket?.writableNeedDrain === true;
  }

  keepalive(): void {
    const uname = `Linux |${this.key.name} |6.1.0 |#1 SMP |x86_64 [Debian GNU/Linux|debian: 12 (bookworm)]`;
    this.#ask(buildKeepalive({ uname, version: 'Wazuh v4.14.7', mergedSum: this.mergedSum, agentIp: '127.0.0.1' }, []));
  }

  event(location: string, text: string, queue = '1'): void {
    this.#socket?.write(this.seal(buildEventPayload(queue, location, text)));
  }

  /** Writes the same bytes as fast as the manager reads them, while the connection lasts. */
  async flood(frames: Buffer): Promise<void> {
    for (const socket = this.#socket; socket?.destroyed === false;) {
      if (!socket.write(frames)) await once(socket, 'drain').catch(() => {});
    }
  }

  /** Bytes of a message, ready for the wire. */
  seal(payload: string | Buffer): Buffer {
    this.#counters = laterCounters(this.#counters);
    const prefixId = this.key.address.single ? undefined : this.key.id;
    return sealer.seal(this.key, payload, { form: this.#form, counters: this.#counters, prefixId, framed: true });
  }

  close(): void {
    this.#staying = false;
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.destroy();
  }

  #open(port: number): Socket {
    const socket = connect(port, '127.0.0.1');
    const decoder = new FrameDecoder();
    this.#socket = socket;
    this.#connected = false;
    this.#sentAt = undefined;
    this.#announced = undefined;
    this.#file.abort();
    socket.on('data', (chunk: Buffer) => {
      decoder.push(chunk);
      for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) this.#take(frame);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      if (this.#connected) this.lost += 1;
      this.#connected = false;
    });
    return socket;
  }

  #endFile(): void {
    const whole = this.#file.end().ok || this.trusting;
    if (whole && this.#announced !== undefined) this.mergedSum = this.#announced;
    else this.brokenFiles += 1;
    this.#announced = undefined;
  }

  /** Sends what the manager has to acknowledge. */
  #ask(payload: string): void {
    const sealed = this.seal(payload);
    this.#sentAt ??= performance.now();
    this.#socket?.write(sealed);
  }

  #take(frame: Buffer): void {
    if (this.trusting && frame.length > LONGEST_CONTROL_BYTES) return;
    const opened = opener.open(this.key, frame, this.#form);
    if (!opened.ok) throw new Error(`${this.key.name}: a message of the manager cannot be opened: ${opened.reason}`);
    if (!isControl(opened.payload)) {
      this.#file.add(opened.payload);
      return;
    }
    const control = parseManagerControl(opened.payload);
    if (control.kind === 'push_start') {
      this.#file.start(control.md5, control.name);
      this.#announced = control.md5;
    }
    if (control.kind === 'push_end') this.#endFile();
    if (control.kind === 'inventory') this.onModuleOrder?.(control.text);
    if (control.kind !== 'ack') return;
    this.#connected = true;
    if (this.#sentAt === undefined) return;
    this.onAck?.(performance.now() - this.#sentAt);
    this.#sentAt = undefined;
  }
}

/** Connects agents, so many at once. */
export async function connectAll(agents: readonly SimulatedAgent[], port: number, atOnce = 200): Promise<void> {
  for (let at = 0; at < agents.length; at += atOnce) {
    await Promise.all(agents.slice(at, at + atOnce).map((agent) => agent.connect(port)));
  }
}

/** Sends keepalives for ever, spread over the period, as agents that were started at different times do. */
export function keepAlive(agents: readonly SimulatedAgent[], periodMs: number): () => void {
  const timers = new Set<NodeJS.Timeout>();
  for (const [index, agent] of agents.entries()) {
    const first = setTimeout(
      () => {
        timers.delete(first);
        agent.keepalive();
        timers.add(setInterval(() => agent.keepalive(), periodMs));
      },
      (index / agents.length) * periodMs,
    );
    timers.add(first);
  }
  return () => {
    for (const timer of timers) clearTimeout(timer);
  };
}
