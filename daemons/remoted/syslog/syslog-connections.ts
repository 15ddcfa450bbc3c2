import { addressGroup } from '../../../lib/network/address-group.js';
import type { SyslogConnection } from './syslog-connection.js';
import { BUSY_MS, MAX_CONNECTIONS_PER_ADDRESS, MAX_SYSLOG_CONNECTIONS } from './syslog-limits.js';

/** The connections of all syslog listeners. One that has been silent makes room for a new one; busy ones are left alone. */
export class SyslogConnections {
  /** Who has sent nothing for the longest time comes first. */
  readonly #all = new Set<SyslogConnection>();
  readonly #byAddress = new Map<string, number>();

  get size(): number {
    return this.#all.size;
  }

  [Symbol.iterator](): Iterator<SyslogConnection> {
    return this.#all.values();
  }

  /** Takes a new one. @returns false when it has to be refused: there are too many that are busy */
  open(connection: SyslogConnection, now: number): boolean {
    const group = addressGroup(connection.source);
    const ofAddress = this.#byAddress.get(group) ?? 0;
    if (ofAddress >= MAX_CONNECTIONS_PER_ADDRESS) {
      if (!this.#makeRoom(now, ({ source }) => addressGroup(source) === group)) return false;
    } else if (this.#all.size >= MAX_SYSLOG_CONNECTIONS && !this.#makeRoom(now, () => true)) {
      return false;
    }
    connection.activeAt = now;
    this.#all.add(connection);
    this.#byAddress.set(group, (this.#byAddress.get(group) ?? 0) + 1);
    return true;
  }

  /** It has sent something. */
  active(connection: SyslogConnection, now: number): void {
    connection.activeAt = now;
    if (this.#all.delete(connection)) this.#all.add(connection);
  }

  closed(connection: SyslogConnection): void {
    if (!this.#all.delete(connection)) return;
    const group = addressGroup(connection.source);
    const left = (this.#byAddress.get(group) ?? 1) - 1;
    if (left > 0) this.#byAddress.set(group, left);
    else this.#byAddress.delete(group);
  }

  #makeRoom(now: number, among: (connection: SyslogConnection) => boolean): boolean {
    for (const connection of this.#all) {
      if (now - connection.activeAt < BUSY_MS) return false;
      if (!among(connection) || connection.held) continue;
      this.closed(connection);
      connection.close();
      return true;
    }
    return false;
  }
}
