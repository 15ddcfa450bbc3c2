import { describeError } from '../../../lib/log/describe-error.js';
import { type SyncAnswer, SyncBudget } from './table-sync.js';

type Taker = { take(agent: string, message: Uint8Array, budget?: SyncBudget): Promise<SyncAnswer> };
type AgentAnswers = { orders: Buffer[]; failed: number; reason?: string };

/** Takes messages of the synchronisation, those of an agent in their order, those that wait together in one transaction. */
export async function takeAll(
  sync: Taker,
  agents: readonly { readonly agent: string; readonly messages: readonly Uint8Array[] }[],
): Promise<{ answers: AgentAnswers[] }> {
  return { answers: await Promise.all(agents.map(({ agent, messages }) => takeOfAgent(sync, agent, messages))) };
}

async function takeOfAgent(sync: Taker, agent: string, messages: readonly Uint8Array[]): Promise<AgentAnswers> {
  // The others of the call are answered when all of it is: they must not wait for one that has large tables summed up over and over.
  const budget = new SyncBudget();
  const answers = await Promise.allSettled(messages.map((message) => sync.take(agent, message, budget)));
  const failures = answers.filter((answer) => answer.status === 'rejected');
  return {
    orders: answers.flatMap((answer) => (answer.status === 'fulfilled' ? (answer.value.order ?? []) : [])),
    failed: failures.length,
    ...(failures[0] && { reason: describeError(failures[0].reason) }),
  };
}
