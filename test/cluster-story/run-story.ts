import { eventually } from '../support/eventually.js';
import type { ClusterStage } from './cluster-stage.js';
import { History } from './history.js';
import type { ManagerNode } from './manager-node.js';
import { enrol, makeGroup, setGroup, shown } from './requests.js';

type Say = (text: string) => void;

/** Enrolment, a group change, a kill and a return, each seen at another node than it was asked of. */
export async function runStory(stage: ClusterStage, say: Say): Promise<void> {
  const [one, two, three] = [stage.node(0), stage.node(1), stage.node(2)];
  const history = new History();
  await enrolEverywhere(stage, history, say);
  await timed(
    say,
    `${two.name} makes the group 'web', ${three.name} puts agent 001 into it; ${one.name} shows it`,
    async () => {
      await required(makeGroup(two, 'web', history), 'the group was not made');
      await required(setGroup(three, '001', 'web', history), 'the agent was not put into the group');
      await sees(one, ({ agents }) => agents.some(({ id, groups }) => id === '001' && groups.join() === 'web'));
    },
  );

  const view = await one.view();
  const master = stage.nodes.find(({ name }) => name === view?.master) ?? one;
  const [left = two, right = three] = stage.nodes.filter((node) => node !== master);
  say(`Killing ${master.name}, which holds the lease (kill -9 of all its processes), and its NATS server.`);
  await master.kill();
  await stage.servers.server(master.name).kill();
  await timed(say, `${left.name} enrols an agent meanwhile; ${right.name} shows it`, async () => {
    const id = await eventually('an agent is enrolled', () => enrol(left, `while-${master.name}-is-away`, history));
    await sees(right, ({ agents }) => agents.some((agent) => agent.id === id));
  });
  await timed(say, `Another node holds the lease`, async () => {
    const next = await eventually('a holder', async () => (await left.view())?.master ?? undefined, 60_000);
    say(`  it is ${next}`);
  });
  await timed(say, `${master.name} and its NATS server come back, and know what happened meanwhile`, async () => {
    await stage.servers.server(master.name).start();
    await master.start();
    await sees(master, ({ agents }) => agents.some(({ name }) => name === `while-${master.name}-is-away`));
  });
  const status = await left.host.run('svc-control', 'cluster', 'status');
  say(status.trimEnd());
}

async function enrolEverywhere(stage: ClusterStage, history: History, say: Say): Promise<void> {
  await timed(say, 'Each node enrols four agents at once: twelve ids, none twice', async () => {
    const given = await Promise.all(
      stage.nodes.flatMap((node) =>
        Array.from({ length: 4 }, (_, at) => enrol(node, `${node.name}-host${at + 1}`, history)),
      ),
    );
    say(
      `  ${given
        .map((id) => id ?? 'none')
        .sort()
        .join(' ')}`,
    );
    if (new Set(given).size !== 12 || given.includes(undefined)) throw new Error('an agent was not enrolled');
    for (const node of stage.nodes) await sees(node, ({ agents }) => agents.length === 12);
  });
}

async function required(outcome: Promise<string>, otherwise: string): Promise<void> {
  if ((await outcome) !== 'done') throw new Error(otherwise);
}

/** Waits until a node shows something. */
async function sees(
  node: ManagerNode,
  wanted: (seen: NonNullable<Awaited<ReturnType<typeof shown>>>) => boolean,
): Promise<void> {
  await eventually(`${node.name} shows it`, async () => {
    const seen = await shown(node);
    return seen !== undefined && wanted(seen);
  });
}

async function timed(say: Say, what: string, work: () => Promise<void>): Promise<void> {
  const begun = performance.now();
  await work();
  say(`${what}: ${((performance.now() - begun) / 1000).toFixed(1)} s.`);
}
