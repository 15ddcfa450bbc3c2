import { type ChildProcess, spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { eventually } from '../support/eventually.js';
import type { Place } from '../support/place.js';
import { output } from './tool.js';

/** The name of the end of the test itself, to which each host has a link, too. */
const TEST = 'test';
const SUBNET = '10.77.0';
/** At which hosts reach the test. */
export const TEST_ADDRESS = `${SUBNET}.254`;
/** An interface takes this name alone, and sixteen bytes. */
const port = (from: string, to: string): string => `${from}-${to}`;

type OwnHost = Place & { readonly name: string; readonly process: ChildProcess | undefined };

/**
 * Hosts as network namespaces, each linked to each other one and to the test by a pair of interfaces of its own: any of the links
 * can lose everything, or be slow. Nothing of it is seen outside: to be made in a network that is the test's own.
 */
export class OwnHosts {
  readonly #hosts: readonly OwnHost[];

  private constructor(hosts: readonly OwnHost[]) {
    this.#hosts = hosts;
  }

  /** Needs root, `ip`, `tc`, `unshare` and `nsenter`. @throws Error with what a tool said */
  static async make(names: readonly string[]): Promise<OwnHosts> {
    const hosts = await Promise.all(names.map((name, at) => startHost(name, `${SUBNET}.${at + 1}`)));
    const test: OwnHost = { name: TEST, address: TEST_ADDRESS, before: [], process: undefined };
    const made = new OwnHosts([...hosts, test]);
    await made.#wire();
    return made;
  }

  place(name: string): Place {
    return this.#host(name);
  }

  /** All that goes from one to the other is lost, and nobody is told. */
  async cut(one: string, other: string): Promise<void> {
    await this.#queues(one, other, 'replace', 'pfifo limit 0');
  }

  /** @param kilobits a second of each direction */
  async slow(one: string, other: string, kilobits: number): Promise<void> {
    await this.#queues(one, other, 'replace', `tbf rate ${kilobits}kbit burst 16kb latency 1s`);
  }

  /** As if nothing had been. */
  async mend(one: string, other: string): Promise<void> {
    await this.#queues(one, other, 'del', '');
  }

  close(): void {
    for (const { process: child } of this.#hosts) child?.stdin?.end();
  }

  async #queues(one: string, other: string, what: 'replace' | 'del', queue: string): Promise<void> {
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      await run(this.#host(from), 'tc', `qdisc ${what} dev ${port(from, to)} root ${queue}`);
    }
  }

  async #wire(): Promise<void> {
    for (const host of this.#hosts) {
      await run(host, 'ip', `link set lo up\naddr add ${host.address}/32 dev lo`);
    }
    for (const [at, one] of this.#hosts.entries()) {
      for (const other of this.#hosts.slice(at + 1)) {
        const ends = [
          `name ${port(one.name, other.name)}${inside(one)}`,
          `name ${port(other.name, one.name)}${inside(other)}`,
        ];
        await output(['ip', 'link', 'add', ...ends.join(' type veth peer ').split(' ')]);
        for (const [from, to] of [
          [one, other],
          [other, one],
        ] as const) {
          const device = port(from.name, to.name);
          const route = `route add ${to.address}/32 dev ${device} src ${from.address}`;
          await run(from, 'ip', `link set ${device} up\n${route}`);
        }
      }
    }
  }

  #host(name: string): OwnHost {
    const host = this.#hosts.find((each) => each.name === name);
    if (host === undefined) throw new Error(`there is no host ${name}`);
    return host;
  }
}

/** A network namespace lives as long as the process that it was made for. */
async function startHost(name: string, address: string): Promise<OwnHost> {
  const child = spawn('unshare', ['--net', 'cat'], { stdio: ['pipe', 'ignore', 'inherit'] });
  const network = (pid: string): string => readlinkSync(`/proc/${pid}/ns/net`);
  const pid = String(child.pid);
  await eventually(`${name} has a network`, () => {
    if (child.exitCode !== null) throw new Error('no network can be made: this needs root');
    return network(pid) !== network('self');
  });
  return { name, address, before: ['nsenter', '-t', pid, '-n'], process: child };
}

function inside({ process: child }: OwnHost): string {
  return child === undefined ? '' : ` netns ${String(child.pid)}`;
}

function run({ before }: Place, tool: 'ip' | 'tc', lines: string): Promise<string> {
  return output([...before, tool, '-batch', '-'], `${lines}\n`);
}
