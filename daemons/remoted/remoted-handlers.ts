import { setImmediate as nextTurn } from 'node:timers/promises';
import { CONTROL_HEADER, requestMessage } from '../../lib/agentlink/control-text.js';
import { MessageSizeError } from '../../lib/agentlink/message-sealer.js';
import { BusError } from '../../lib/bus/bus-error.js';
import type { Handlers } from '../../lib/bus/contract.js';
import type { commonMethods } from '../../lib/bus/contracts/common.js';
import type { remotedContract } from '../../lib/bus/contracts/remoted.js';
import { type Agent, type AgentLink, linkOf } from './agent-link.js';
import { tableId } from './agent-report.js';
import type { AgentSender, SendFailure } from './agent-sender.js';
import type { KeyWatcher } from './key-watcher.js';
import type { KeyStore } from './link/key-store.js';
import { RequestPoolError, type RequestTable } from './link/request-table.js';
import type { ConfigurationPush } from './push/configuration-push.js';
import type { RemotedCounters } from './remoted-counters.js';
import { agentMetrics, countedSince, remotedStatistics, type StatisticsSources } from './remoted-statistics.js';
import { SentOnce } from './sent-once.js';

/** Messages sealed before other work has its turn. */
const SENT_PER_TURN = 100;

const FAILURES: Record<SendFailure, (id: string) => string> = {
  disconnected: (id) => `(1245): Sending message to disconnected agent '${id}'.`,
  closed: () => 'Send operation cancelled due to closed socket.',
  full: () => 'Package dropped. Could not append data into buffer.',
};

export type HandlerParts = {
  readonly store: KeyStore<AgentLink>;
  readonly sender: AgentSender;
  readonly pushes: Pick<ConfigurationPush, 'hold'>;
  readonly requests: RequestTable;
  readonly keys: KeyWatcher;
  readonly counters: RemotedCounters;
  readonly statistics: StatisticsSources;
  /** Agents not heard since then count as disconnected; epoch milliseconds. */
  readonly freshSince: () => number;
  /** `remoted.send_timeout_to_retry`, milliseconds: a full buffer is tried once more after it. */
  readonly retryMs: number;
  readonly sleep: (milliseconds: number) => Promise<void>;
};

type OwnMethods = Exclude<keyof (typeof remotedContract)['methods'], keyof typeof commonMethods>;

/** Answers of svc-remoted beyond those every daemon gives. */
export function remotedHandlers(parts: HandlerParts): Pick<Handlers<typeof remotedContract>, OwnMethods> {
  const { store, keys } = parts;
  const sentOnce = new SentOnce();
  return {
    'keys.reload': async () => {
      await keys.reload();
      return { agents: store.size };
    },
    'agents.send': async ({ ids, message, once }) => {
      const chosen = ids === 'all' ? [...store.agents].map(({ id }) => id) : ids;
      const send = (agents: readonly string[]) => sendToAll(parts, agents, CONTROL_HEADER + message);
      const failed = await (once === undefined ? send(chosen) : sentOnce.send(once, chosen, send));
      return { sent: chosen.length - failed.length, failed };
    },
    'agents.request': async ({ id, target, payload, deadlineMs }) => ({
      answer: (await request(parts, id, target, payload, deadlineMs)).toString('utf8'),
    }),
    'statistics.read': () => remotedStatistics(parts.statistics),
    'statistics.agents': ({ ids }) => ({
      ...countedSince(parts.statistics),
      agents: ids.map((id) => ({ id, metrics: agentMetrics(find(store, id)?.state?.counts) })),
    }),
  };
}

/** Asks for the results of a policy. */
const DUMP_ORDER = `${CONTROL_HEADER}sca-dump:`;

/** The agent with this id, however many zeros the key file writes before it. */
function find(store: KeyStore<AgentLink>, id: string): Agent | undefined {
  return store.byId(id) ?? store.byId(tableId(id)) ?? store.byId(String(Number(id)));
}

type Unsent = { readonly id: string; readonly code: string; readonly message: string };

async function sendToAll(parts: HandlerParts, ids: readonly string[], text: string): Promise<Unsent[]> {
  const failed: Unsent[] = [];
  for (const [index, id] of ids.entries()) {
    const failure = await sendTo(parts, id, text);
    if (failure !== undefined) failed.push({ id, ...failure });
    if (index % SENT_PER_TURN === SENT_PER_TURN - 1) await nextTurn();
  }
  return failed;
}

async function sendTo(
  { store, sender, pushes, counters, freshSince, retryMs, sleep }: HandlerParts,
  id: string,
  text: string,
): Promise<{ code: string; message: string } | undefined> {
  const agent = find(store, id);
  if (agent === undefined) return { code: 'unknown_agent', message: unknownText(id) };
  const held = pushes.hold(agent, text, () => {
    try {
      if (sender.send(agent, text, freshSince()) === undefined) countOrder(counters, agent, text);
    } catch (error) {
      // Nobody waits for it any more.
      if (!(error instanceof MessageSizeError)) throw error;
      counters.sent.discarded += 1;
    }
  });
  if (held === 'later') return undefined;
  let failure = held === 'full' ? held : trySend(sender, agent, text, freshSince());
  if (held === 'now' && failure === 'full') {
    await sleep(retryMs);
    failure = trySend(sender, agent, text, freshSince());
  }
  if (failure !== undefined) return { code: failure, message: FAILURES[failure](id) };
  countOrder(counters, agent, text);
  return undefined;
}

function countOrder(counters: RemotedCounters, agent: Agent, text: string): void {
  const kind = text.startsWith(DUMP_ORDER) ? 'sca' : 'ar';
  counters.sent[kind] += 1;
  linkOf(agent).counts.sent[kind] += 1;
}

function trySend(
  sender: AgentSender,
  agent: Agent,
  text: string | Buffer,
  freshSince: number,
): SendFailure | undefined {
  try {
    return sender.send(agent, text, freshSince);
  } catch (error) {
    throw error instanceof MessageSizeError ? new BusError('bad_message', error.message, { cause: error }) : error;
  }
}

async function request(
  { store, sender, requests, counters, freshSince }: HandlerParts,
  id: string,
  target: string,
  payload: string | Uint8Array,
  deadlineMs: number | undefined,
): Promise<Buffer> {
  const agent = find(store, id);
  if (agent === undefined) throw new BusError('unknown_agent', unknownText(id));
  const since = freshSince();
  const route = agent.state?.route;
  if (agent.lastReceivedAt < since) throw new BusError('disconnected', FAILURES.disconnected(id));
  if (route?.open !== true) throw new BusError('closed', FAILURES.closed(id));
  const answer = asked(() =>
    requests.request({
      agentId: agent.id,
      lossy: route.lossy,
      send: (counter) => {
        const failure = trySend(sender, agent, requestMessage(counter, target, payload), since);
        if (failure !== undefined) return false;
        counters.sent.request += 1;
        linkOf(agent).counts.sent.request += 1;
        return true;
      },
    }),
  );
  return deadlineMs === undefined ? answer : withDeadline(answer, id, deadlineMs);
}

async function asked(work: () => Promise<Buffer>): Promise<Buffer> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof RequestPoolError
      ? new BusError('too_many_requests', error.message, { cause: error })
      : error;
  }
}

async function withDeadline(answer: Promise<Buffer>, id: string, deadlineMs: number): Promise<Buffer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new BusError('timeout', `agent ${id} did not answer within ${String(deadlineMs)} ms`));
    }, deadlineMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

function unknownText(id: string): string {
  return `(1320): Agent '${id}' not found.`;
}
