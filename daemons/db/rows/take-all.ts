import { describeError } from '../../../lib/log/describe-error.js';
import type { SyncAnswer } from './table-sync.js';

type Taker = { take(agent: string, message: Uint8Array): Promise<SyncAnswer> };
type AgentAnswers = { orders: Buffer[]; failed: number; reason?: string };

/** Takes messages of the synchronisation, those of an agent in their order, those that wait together in one transaction. */
export async function takeAll(
  sync: Taker,
  agents: readonly { readonly agent: string; readonly messages: readonly Uint8Array[] }[],
): Promise<{ answers: AgentAnswers[] }> {
  return { answers: await Promise.all(agents.map(({ agent, messages }) => takeOfAgent(sync, agent, messages))) };
}

async function takeOfAgent(sync: Taker, agent: string, messages: readonly Uint8Array[]): Promise<AgentAnswers> {
  const answers = await Promise.allSettled(messages.map((message) => sync.take(agent, message)));
  const failures = answers.filter((answer) => answer.status === 'rejected');
  return {
    orders: answers.flatMap((answer) => (answer.status === 'fulfilled' ? (answer.value.order ?? []) : [])),
    failed: failures.length,
    ...(failures[0] && { reason: describeError(failures[0].reason) }),
  };
}
