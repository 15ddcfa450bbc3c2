import type { BusError } from '../../lib/bus/bus-error.js';
import { MAX_AGENTS_PER_SEND, type remotedContract } from '../../lib/bus/contracts/remoted.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-request.js';
import type { FailedItem } from '../http/envelope.js';
import { ProblemError } from '../http/problem-error.js';
import { type AgentAnswer, parseAnswer } from './agent-answer.js';
import type { DaemonClient } from './daemon-client.js';
import { busyProblem } from './daemon-failure.js';

/** Longest wait for an agent when the client lifted the request time limit, milliseconds. */
const MAX_ANSWER_MS = 120_000;
/** svc-remoted ends the wait first. */
const ANSWER_MARGIN_MS = 5000;

/** Control messages to agents and questions to their parts, which svc-remoted sends (agents-and-groups.md 4.5). */
export class RemotedClient {
  constructor(private readonly remoted: DaemonClient<typeof remotedContract>) {}

  /** @returns the agents it did not go to @throws ApiError 1017 when svc-remoted does not run */
  async send(request: ApiRequest, agents: readonly { readonly id: string }[], message: string): Promise<FailedItem[]> {
    const failed: FailedItem[] = [];
    for (let at = 0; at < agents.length; at += MAX_AGENTS_PER_SEND) {
      const ids = agents.slice(at, at + MAX_AGENTS_PER_SEND).map(({ id }) => id);
      const answer = await this.remoted.call(request, 'agents.send', { ids, message }, { refusal: tooLong });
      for (const { id, code } of answer.failed) {
        failed.push({ id, error: new ApiError(code === 'unknown_agent' ? 1701 : 1707) });
      }
    }
    return failed;
  }

  /**
   * @param answerMs how long the agent is waited for, milliseconds
   * @throws ApiError 1701, 1740 when the agent is not connected, 3021 when it says nothing; 1017 when svc-remoted does not run
   */
  async ask(
    request: ApiRequest,
    id: string,
    target: string,
    payload: string,
    answerMs = MAX_ANSWER_MS,
  ): Promise<AgentAnswer> {
    const question = { id, target, payload, deadlineMs: answerMs };
    const options = { deadlineMs: answerMs + ANSWER_MARGIN_MS, refusal: unanswered };
    const { answer } = await this.remoted.call(request, 'agents.request', question, options);
    return parseAnswer(answer);
  }
}

/** The agents' channel carries messages up to some 64 KiB. */
function tooLong({ code, message }: BusError): Error | undefined {
  return code === 'bad_message' ? ProblemError.badRequest(message) : undefined;
}

function unanswered({ code }: BusError): Error | undefined {
  if (code === 'unknown_agent') return new ApiError(1701);
  if (code === 'disconnected' || code === 'closed') return new ApiError(1740);
  return code === 'too_many_requests' ? busyProblem('svc-remoted') : undefined;
}
