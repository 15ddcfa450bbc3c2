import { describeError } from '../../../lib/log/describe-error.js';
import type { SyncAnswer } from './table-sync.js';

/** Takes messages of an agent's synchronisation in their order, those that wait together in one transaction. */
export async function takeAll(
  sync: { take(agent: string, message: Uint8Array): Promise<SyncAnswer> },
  agent: string,
  messages: readonly Uint8Array[],
): Promise<{ orders: Buffer[]; failed: number; reason?: string }> {
  const answers = await Promise.allSettled(messages.map((message) => sync.take(agent, message)));
  const failures = answers.filter((answer) => answer.status === 'rejected');
  return {
    orders: answers.flatMap((answer) => (answer.status === 'fulfilled' ? (answer.value.order ?? []) : [])),
    failed: failures.length,
    ...(failures[0] && { reason: describeError(failures[0].reason) }),
  };
}
