import { BusError } from '../../lib/bus/bus-error.js';
import type { remotedContract } from '../../lib/bus/contracts/remoted.js';
import type { RequestClient } from '../../lib/bus/request-client.js';
import type { Home } from '../../lib/home/home.js';
import { isObject } from '../../lib/json/is-object.js';
import { ApiError } from '../http/api-error.js';
import type { ApiRequest } from '../http/api-request.js';
import { JsonDepth } from '../http/json-depth.js';
import { busyProblem, daemonFailure } from '../routes/daemon-call.js';

/** Longest wait for an agent when the client lifted the request time limit, milliseconds. */
const MAX_ANSWER_MS = 120_000;
/** svc-remoted ends the wait first. */
const MAX_DEADLINE_MS = MAX_ANSWER_MS + 5000;

/** What an agent answered: a text behind `ok`, or JSON; otherwise why it did not. */
export type AgentAnswer =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly reached: boolean; readonly text: string };

/** Texts of 4.5 that say that the part of the agent was not reached. */
const NOT_REACHED =
  /No such file or directory|Connection refused|Cannot send request|Maximum attempts exceeded|Response timeout|Disconnected/;

export type AgentQuestionParts = {
  readonly home: Home;
  readonly node: () => string;
  readonly remoted: RequestClient<typeof remotedContract>;
};

/** Asks parts of agents through svc-remoted (agents-and-groups.md 4.5). */
export class AgentQuestions {
  constructor(private readonly parts: AgentQuestionParts) {}

  /** @throws ApiError 1701, 1740 when the agent is not connected; 1017 when svc-remoted does not run */
  async ask(request: ApiRequest, id: string, target: string, payload: string): Promise<AgentAnswer> {
    const { home, node, remoted } = this.parts;
    try {
      const question = { id, target, payload, deadlineMs: MAX_ANSWER_MS };
      const options = { deadlineMs: MAX_DEADLINE_MS, signal: request.signal };
      return parseAnswer((await remoted.call('agents.request', question, options)).answer);
    } catch (error) {
      if (error instanceof BusError) {
        if (error.code === 'unknown_agent') throw new ApiError(1701);
        if (error.code === 'disconnected' || error.code === 'closed') throw new ApiError(1740);
        if (error.code === 'too_many_requests') throw busyProblem('svc-remoted');
      }
      throw await daemonFailure(error, home, request.nodeName(node()), 'svc-remoted');
    }
  }
}

/** `ok {...}`, `err text`, or JSON with `error` and `data`. What an agent says may be anything. */
export function parseAnswer(text: string): AgentAnswer {
  const refused = (reason: string): AgentAnswer => ({ ok: false, reached: !NOT_REACHED.test(reason), text: reason });
  if (text.startsWith('err')) return refused(text.slice('err'.length).trim());
  const prefixed = text.startsWith('ok ');
  const value = parseObject(prefixed ? text.slice('ok '.length) : text);
  if (value === undefined) return refused('The answer of the agent is no JSON object');
  if (prefixed) return { ok: true, value };
  const { error, data, message } = value;
  if (error === 0 && isObject(data)) return { ok: true, value: data };
  return refused(typeof message === 'string' ? message : 'The agent refused the request');
}

/** Undefined for what is none, or too deep for whoever walks it. */
function parseObject(text: string): Record<string, unknown> | undefined {
  const depth = new JsonDepth();
  depth.add(Buffer.from(text));
  if (depth.tooDeep) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
