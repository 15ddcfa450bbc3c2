import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../chaos/random.js';
import { eventually } from '../support/eventually.js';
import type { ClusterStage } from './cluster-stage.js';
import { EFFECT_FAULTS } from './effect-faults.js';
import type { Effects } from './effects.js';
import { faultsOf } from './faults.js';
import { History } from './history.js';
import { enrol, makeGroup, setGroup, shown } from './requests.js';

const SETTLE_MS = 120_000;
const GROUPS = 6;

export type FaultsOptions = {
  readonly faults: number;
  readonly seed: number;
  /** Only misfortunes whose names have this text. */
  readonly only: string;
  readonly effects: Effects;
  readonly say: (text: string) => void;
};

/**
 * Enrols agents, makes groups, moves agents between them, sends events and has agents run responses at all nodes at once, while one
 * misfortune follows the other; then holds what each node shows, and what came of it, against what was answered.
 * @returns what is wrong
 */
export async function runFaults(
  stage: ClusterStage,
  { faults, seed, only, effects, say }: FaultsOptions,
): Promise<string[]> {
  const history = new History();
  const random = new Random(seed);
  const choice = [...faultsOf(stage), ...EFFECT_FAULTS].filter(({ name }) => name.includes(only));
  if (choice.length === 0) throw new Error(`no misfortune has '${only}' in its name`);
  const over = new AbortController();
  await effects.prepare(stage, history);
  const work = stage.nodes.map((_node, at) => workAt(stage, at, history, new Random(seed + at + 1), over.signal));
  work.push(...effects.work(stage, seed, over.signal));
  try {
    for (let count = 0; count < faults; count += 1) {
      const fault = random.pick(choice);
      const node = random.pick(stage.nodes);
      const time = new Date().toISOString().slice(11, 19);
      say(`${time} ${String(count + 1).padStart(3)}/${faults}: ${fault.name} (${node.name})`);
      effects.note(fault.name, node.name);
      await fault.cause(stage, node, random);
      if (random.chance(0.3)) effects.move(random);
      await delay(random.integer(200, 1500));
    }
  } finally {
    over.abort();
  }
  await Promise.all(work);
  await stage.servers.ready(SETTLE_MS);
  await stage.agreed();
  const { done, refused, unknown } = history.counts();
  for (const answer of history.answers) say(`  ${answer}`);
  say(`${done} requests acknowledged, ${refused} refused, ${unknown} without a clear answer.`);
  return [...(await compare(stage, history)), ...(await effects.judge(stage, say))];
}

/** One client of one node, which asks for something again and again. */
async function workAt(
  stage: ClusterStage,
  at: number,
  history: History,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  const node = stage.node(at);
  for (let count = 0; !signal.aborted; count += 1) {
    const { ids, groups } = history;
    if (ids.length === 0 || random.chance(0.4)) {
      await enrol(node, `${node.name}-${count}`, history);
    } else if (groups.length < GROUPS && (groups.length === 0 || random.chance(0.2))) {
      await makeGroup(node, `g-${node.name}-${count}`, history);
    } else {
      await setGroup(node, random.pick(ids), random.pick(groups), history);
    }
    await delay(random.integer(0, 60));
  }
}

/** All nodes are to show the same, and what can have come of what was answered. */
async function compare(stage: ClusterStage, history: History): Promise<string[]> {
  let breaches: string[] = ['no node has shown anything'];
  const settled = async (): Promise<boolean> => {
    const all = await Promise.all(stage.nodes.map(shown));
    breaches = all.flatMap((one, at) => {
      const { name } = stage.node(at);
      if (one === undefined) return [`${name} does not show its agents`];
      return history.breaches(one.agents, one.groups).map((breach) => `${name}: ${breach}`);
    });
    if (new Set(all.map((one) => JSON.stringify(one))).size > 1) breaches.push('the nodes do not show the same');
    return breaches.length === 0;
  };
  await eventually('the nodes show what was asked of them', settled, SETTLE_MS).catch(() => {});
  return breaches;
}
