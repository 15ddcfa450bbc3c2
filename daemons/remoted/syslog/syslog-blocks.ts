import type { RemoteConfig } from '../../../lib/config/sections/remote.js';

/** A `<remote>` block with the connection `syslog`. */
export type SyslogBlock = RemoteConfig;

/** The blocks that listen for syslog, in their order. */
export function syslogBlocks(remote: readonly RemoteConfig[]): readonly SyslogBlock[] {
  return remote.filter(({ connection }) => connection === 'syslog');
}

/** What a listener is bound by; another one needs a restart. */
export function listenerText({ port, protocol, ipv6, local_ip }: SyslogBlock): string {
  return JSON.stringify([port, protocol, ipv6, local_ip]);
}

/** Blocks of the listeners as the last reload left them; what is to be bound anew stays as it was until the restart. */
export class SyslogBlocksInForce {
  readonly #started: readonly SyslogBlock[];
  readonly #current: () => readonly RemoteConfig[];
  #seen: readonly RemoteConfig[] | undefined;
  #blocks: readonly SyslogBlock[] = [];

  /** @param current every `<remote>` block; another array after each reload */
  constructor(started: readonly SyslogBlock[], current: () => readonly RemoteConfig[]) {
    this.#started = started;
    this.#current = current;
  }

  /** @param place of the listener, from 0 */
  at(place: number): SyslogBlock {
    const current = this.#current();
    if (current !== this.#seen) {
      this.#seen = current;
      const now = syslogBlocks(current);
      this.#blocks = this.#started.map((before, index) => {
        const block = now[index];
        return block !== undefined && listenerText(block) === listenerText(before) ? block : before;
      });
    }
    const block = this.#blocks[place];
    if (block === undefined) throw new RangeError(`there is no syslog listener ${String(place)}`);
    return block;
  }
}
