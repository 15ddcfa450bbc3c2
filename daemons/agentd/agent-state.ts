import type { AgentStateReport } from '../../lib/bus/contracts/agentd.js';
import { localTime } from './local-time.js';

/** As `getstate` and the state file show it (agents-and-groups.md 5.2). */
export type LinkStatus = AgentStateReport['status'];

/** What the agent counts. */
export class AgentState {
  status: LinkStatus = 'pending';
  /** Epoch milliseconds. */
  lastKeepalive: number | undefined;
  lastAck: number | undefined;
  /** Events taken from the host's daemons. */
  generated = 0;
  /** Messages of every kind that were sent. */
  sent = 0;
  /** Events cut because no message holds them whole. */
  cut = 0;
  connections = 0;
  requests = 0;

  /** @param waiting events of the buffer; undefined when it is off */
  toJson(waiting: number | undefined): AgentStateReport {
    return {
      status: this.status,
      last_keepalive: localTime(this.lastKeepalive),
      last_ack: localTime(this.lastAck),
      msg_count: this.generated,
      msg_sent: this.sent,
      msg_buffer: waiting ?? 0,
      buffer_enabled: waiting !== undefined,
    };
  }

  /** Text of var/run/svc-agentd.state. */
  toFile(waiting: number | undefined): string {
    const values: [comment: string, key: string, value: string][] = [
      ['Connection: pending, connected or disconnected', 'status', this.status],
      ['Last keepalive sent', 'last_keepalive', localTime(this.lastKeepalive)],
      ['Last sign of life of the manager', 'last_ack', localTime(this.lastAck)],
      ['Events generated', 'msg_count', String(this.generated)],
      ['Messages sent', 'msg_sent', String(this.sent)],
      ['Events that wait; empty when the buffer is off', 'msg_buffer', String(waiting ?? '')],
    ];
    const head = '# State file of svc-agentd\n\n';
    return head + values.map(([comment, key, value]) => `# ${comment}\n${key}='${value}'\n`).join('\n');
  }
}
