import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** An address that is dropped from now on, or let in again. */
export type FirewallEvent = { readonly action: 'dropped' | 'let in'; readonly address: string };

/** What tells whom the host drops. */
export interface Firewall {
  /** What stands in for it, for people. */
  readonly name: string;
  /** Changes so far, in their order: what is dropped already and dropped once more changes nothing. */
  events(): readonly FirewallEvent[];
  /** Those that are dropped now. */
  dropped(): readonly string[];
  stop(): Promise<void>;
}

const SET = ['inet', 'security_manager', 'blocked4'] as const;
/** Far less than anybody is dropped for: no change is overlooked. */
const LOOK_MS = 25;

/** The nftables of this network: what is in the set of the product's table is dropped. */
export class KernelFirewall implements Firewall {
  readonly name = 'nftables of this kernel, in a network of its own';
  readonly #events: FirewallEvent[] = [];
  readonly #stopped = new AbortController();
  readonly #looking: Promise<void>;
  #now: readonly string[] = [];

  constructor() {
    this.#looking = this.#look();
  }

  events(): readonly FirewallEvent[] {
    return this.#events;
  }

  dropped(): readonly string[] {
    return this.#now;
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#looking;
  }

  /** `nft monitor` loses sets out of sight as soon as a table that is there is added, which firewall-drop does each time. */
  async #look(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const before = this.#now;
      const now = (await elements()) ?? before;
      const changes = (action: FirewallEvent['action'], some: readonly string[], others: readonly string[]): void => {
        for (const address of some) if (!others.includes(address)) this.#events.push({ action, address });
      };
      changes('let in', before, now);
      changes('dropped', now, before);
      this.#now = now;
      await delay(LOOK_MS);
    }
  }
}

/** What is in the set, nothing where there is none yet; undefined when it cannot be told now. */
async function elements(): Promise<readonly string[] | undefined> {
  const child = spawn('nft', ['-j', 'list', 'set', ...SET], { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  let complaint = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
  child.stderr.setEncoding('utf8').on('data', (part: string) => (complaint += part));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) return complaint.includes('No such file or directory') ? [] : undefined;
  const { nftables } = JSON.parse(text) as {
    nftables: readonly { readonly set?: { readonly elem?: readonly string[] } }[];
  };
  return nftables.flatMap(({ set }) => set?.elem ?? []);
}

/** Does what firewall-drop asks of nft, with files instead of a kernel: one for each address, and a line for each change. */
const RECORDER = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
case "$1" in
  -f) address=$(sed -n 's/^add element ${SET.join(' ')} { \\(.*\\) }$/\\1/p')
      [ -e "set/$address" ] || { : > "set/$address"; echo "add $address" >> changes; };;
  delete) address=$(echo "$6" | tr -d '{} '); rm "set/$address" && echo "delete $address" >> changes;;
  list) exit 0;;
  *) echo "no such command: $1" >&2; exit 1;;
esac
`;

/** A tool in the place of nft that writes down what it is told, for hosts whose firewall is not the story's to change. */
export class RecordedFirewall implements Firewall {
  readonly name = 'a tool in the place of nft, which writes down what it is told';
  readonly #directory: string;

  /**
   * @param directory to be made
   * @param launcher file of active-response/bin, which is made to use the tool
   */
  constructor(directory: string, launcher: string) {
    this.#directory = directory;
    mkdirSync(join(directory, 'set'), { recursive: true, mode: 0o700 });
    writeFileSync(join(directory, 'nft'), RECORDER, { mode: 0o700 });
    writeFileSync(launcher, readFileSync(launcher, 'utf8').replace(/"\$0"\n$/, `"$0" --tools '${directory}'\n`));
  }

  events(): readonly FirewallEvent[] {
    const path = join(this.#directory, 'changes');
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    return [...text.matchAll(/^(add|delete) (.+)\n/gm)].map(([, verb, address = '']) => ({
      action: verb === 'add' ? 'dropped' : 'let in',
      address,
    }));
  }

  dropped(): readonly string[] {
    const now = new Set<string>();
    for (const { action, address } of this.events()) {
      if (action === 'dropped') now.add(address);
      else now.delete(address);
    }
    return [...now];
  }

  async stop(): Promise<void> {}
}
