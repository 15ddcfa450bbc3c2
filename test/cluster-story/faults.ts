import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../chaos/random.js';
import type { ClusterStage, Surroundings } from './cluster-stage.js';
import type { ManagerNode } from './manager-node.js';
import type { SmallDisk } from './small-disk.js';

/** A misfortune and its end; while it lasts, work goes on at the other nodes, and at this one if it can. */
export type Fault = {
  readonly name: string;
  readonly cause: (stage: ClusterStage, node: ManagerNode, random: Random) => Promise<void>;
};

const SHORT: readonly [number, number] = [500, 3000];
const pause = (random: Random): Promise<void> => delay(random.integer(...SHORT));

/** Those that three managers on one address can suffer. Each leaves everything running as it was. */
const EVERYWHERE: readonly Fault[] = [
  {
    name: 'kill -9 of a manager',
    async cause(_stage, node, random) {
      await node.kill();
      await pause(random);
      await node.start();
    },
  },
  {
    name: 'kill -9 of svc-clusterd',
    async cause(_stage, node) {
      await node.host.kill('svc-clusterd');
      await node.host.waitUntilUp();
    },
  },
  {
    name: 'kill -9 of svc-db',
    async cause(_stage, node) {
      await node.host.kill('svc-db');
      await node.host.waitUntilUp();
    },
  },
  {
    name: 'kill -9 of svc-authd',
    async cause(_stage, node) {
      await node.host.kill('svc-authd');
      await node.host.waitUntilUp();
    },
  },
  {
    name: 'a manager that stands still for longer than the lease',
    async cause(_stage, node) {
      node.signal('SIGSTOP');
      await delay(12_000);
      node.signal('SIGCONT');
    },
  },
  {
    name: 'kill -9 of a NATS server',
    async cause(stage, node, random) {
      const server = stage.servers.server(node.name);
      await server.kill();
      await pause(random);
      await server.start();
    },
  },
  {
    name: 'a NATS server that stands still',
    async cause(stage, node, random) {
      const server = stage.servers.server(node.name);
      server.pause();
      await delay(random.integer(2000, 8000));
      server.resume();
    },
  },
  {
    name: 'two NATS servers lost, and with them the quorum',
    async cause(stage, node, random) {
      const lost = stage.nodes.filter((other) => other !== node).map(({ name }) => stage.servers.server(name));
      await Promise.all(lost.map((server) => server.kill()));
      await delay(random.integer(2000, 6000));
      await Promise.all(lost.map((server) => server.start()));
    },
  },
];

const PARTED: readonly [number, number] = [3000, 20_000];
const KILOBITS: readonly [number, number] = [64, 512];
const CLOCK_MS = 60_000;

/** Those that only hosts of their own can suffer. */
const OF_HOSTS: readonly Fault[] = [
  {
    name: 'a host that reaches no other one',
    cause: (stage, node, random) =>
      parted(
        stage,
        others(stage, node).map(({ name }) => [node.name, name]),
        random,
      ),
  },
  {
    name: 'two hosts that do not reach each other, while the third reaches both',
    cause: (stage, node, random) => parted(stage, [[node.name, random.pick(others(stage, node)).name]], random),
  },
  {
    name: 'slow links of a host',
    async cause(stage, node, random) {
      const { hosts } = surroundings(stage);
      const names = others(stage, node).map(({ name }) => name);
      const kilobits = random.integer(...KILOBITS);
      for (const name of names) await hosts.slow(node.name, name, kilobits);
      await delay(random.integer(...PARTED));
      for (const name of names) await hosts.mend(node.name, name);
    },
  },
  {
    name: 'a full disk of a manager',
    cause: (stage, node, random) => filled(surroundings(stage).homes.get(node.name), random),
  },
  {
    name: 'a full disk of a NATS server',
    async cause(stage, node, random) {
      await filled(surroundings(stage).stores.get(node.name), random);
      // It gives JetStream up when it cannot write, until it is started again, and may not end when it is told to.
      const server = stage.servers.server(node.name);
      await server.kill();
      await server.start();
    },
  },
  {
    name: 'a clock that is a minute ahead, and is set right again',
    cause: (stage, node, random) => skewed(stage, node, CLOCK_MS, random),
  },
  {
    name: 'a clock that is a minute behind, and is set right again',
    cause: (stage, node, random) => skewed(stage, node, -CLOCK_MS, random),
  },
];

/** All that a stage can suffer. */
export function faultsOf(stage: ClusterStage): readonly Fault[] {
  return stage.surroundings === undefined ? EVERYWHERE : [...EVERYWHERE, ...OF_HOSTS];
}

function others(stage: ClusterStage, node: ManagerNode): ManagerNode[] {
  return stage.nodes.filter((other) => other !== node);
}

function surroundings(stage: ClusterStage): Surroundings {
  if (stage.surroundings === undefined) throw new Error('these are no hosts of their own');
  return stage.surroundings;
}

async function parted(
  stage: ClusterStage,
  links: readonly (readonly [string, string])[],
  random: Random,
): Promise<void> {
  const { hosts } = surroundings(stage);
  for (const [one, other] of links) await hosts.cut(one, other);
  await delay(random.integer(...PARTED));
  for (const [one, other] of links) await hosts.mend(one, other);
}

async function filled(disk: SmallDisk | undefined, random: Random): Promise<void> {
  const end = performance.now() + random.integer(...PARTED);
  // What is given back meanwhile is taken, too.
  while (performance.now() < end) {
    disk?.fill();
    await delay(SHORT[0]);
  }
  disk?.free();
}

async function skewed(stage: ClusterStage, { name }: ManagerNode, milliseconds: number, random: Random): Promise<void> {
  stage.setClock(name, milliseconds);
  await delay(random.integer(...PARTED));
  stage.setClock(name, 0);
}
