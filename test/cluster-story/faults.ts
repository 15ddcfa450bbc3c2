import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../chaos/random.js';
import type { ClusterStage } from './cluster-stage.js';
import type { ManagerNode } from './manager-node.js';

/** A misfortune and its end; while it lasts, work goes on at the other nodes, and at this one if it can. */
export type Fault = {
  readonly name: string;
  readonly cause: (stage: ClusterStage, node: ManagerNode, random: Random) => Promise<void>;
};

const SHORT: readonly [number, number] = [500, 3000];
const pause = (random: Random): Promise<void> => delay(random.integer(...SHORT));

/** Each leaves everything running as it was. */
export const FAULTS: readonly Fault[] = [
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
