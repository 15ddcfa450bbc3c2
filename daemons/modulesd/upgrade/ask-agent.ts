import { BusError } from '../../../lib/bus/bus-error.js';
import type { remotedContract } from '../../../lib/bus/contracts/remoted.js';
import type { RequestClient } from '../../../lib/bus/request-client.js';
import type { AgentCommand } from './agent-commands.js';
import { AgentUnreachableError } from './send-package.js';
import { ANSWER_MS, CALL_MS } from './upgrade-limits.js';

/** Answers of svc-remoted that say that the agent did not get the request, or did not answer (agents-and-groups.md 4.5). */
const NOT_REACHED = /^err (Cannot send request|Maximum attempts exceeded|Response timeout)$/;
/** Errors of its own that no other attempt mends. */
const FINAL = ['unknown_agent', 'bad_message', 'bad_params', 'too_large'];

/**
 * Asks a part of an agent through svc-remoted.
 * @throws AgentUnreachableError when there is no answer, BusError when there never will be one; the signal's reason
 */
export async function askAgent(
  remoted: Pick<RequestClient<typeof remotedContract>, 'call'>,
  id: string,
  { target, payload }: AgentCommand,
  signal: AbortSignal,
): Promise<string> {
  try {
    const question = { id, target, payload, deadlineMs: ANSWER_MS };
    const { answer } = await remoted.call('agents.request', question, { deadlineMs: CALL_MS, signal });
    if (NOT_REACHED.test(answer)) throw new AgentUnreachableError(answer.slice('err '.length));
    return answer;
  } catch (error) {
    if (!(error instanceof BusError) || FINAL.includes(error.code)) throw error;
    throw new AgentUnreachableError(error.message, { cause: error });
  }
}
