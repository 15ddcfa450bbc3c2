import { ApiError } from '../http/api-error.js';
import type { ApiResult, ListMessages, ListResult, ShownFailure } from '../http/envelope.js';
import { ProblemError } from '../http/problem-error.js';
import { NodeFailure } from './node-failure.js';

/** What came of asking one node: a list, or why there is none, also as it was thrown. */
export type NodeAnswer = { readonly node: string } & (
  | { readonly list: ListResult }
  | { readonly error: ShownFailure['error']; readonly thrown: unknown }
);

/**
 * Waits for what a node answers. A node that is away, or that cannot do it, is part of the whole answer: the others' is given all the same.
 * @throws what is wrong with the request itself, wherever it is answered
 */
export async function nodeAnswer(node: string, asked: Promise<ListResult>): Promise<NodeAnswer> {
  try {
    return { node, list: await asked };
  } catch (error) {
    return { node, error: shownError(error), thrown: error };
  }
}

/** What nodes say when all, some or none of it could be done; the first one's. @throws what the first was refused with, when all were */
export function messagesOf(answers: readonly NodeAnswer[]): ListMessages {
  for (const answer of answers) if ('list' in answer) return answer.list.messages;
  const [first] = answers;
  throw first !== undefined && 'thrown' in first ? first.thrown : new Error('nobody was asked');
}

/** The lists of those that have answered. */
export function listsOf(answers: readonly NodeAnswer[]): ListResult[] {
  return answers.flatMap((answer) => ('list' in answer ? [answer.list] : []));
}

/** The list of an answer of this node. @throws Error where there is none */
export async function listOf(asked: Promise<ApiResult>): Promise<ListResult> {
  const result = await asked;
  const list = result.kind === 'json' ? result.list : undefined;
  if (list === undefined) throw new Error('an operation that several nodes answer has no list');
  return list;
}

/** @throws the error when it is about the request */
function shownError(error: unknown): ShownFailure['error'] {
  if (error instanceof NodeFailure) return error;
  if (error instanceof ApiError) {
    if (isAboutRequest(error.status)) throw error;
    return error;
  }
  if (!(error instanceof ProblemError) || isAboutRequest(error.status)) throw error;
  const { error: code = 1000, detail, title, remediation } = error.members;
  return { code, message: detail ?? title, remediation: remediation ?? undefined };
}

/** What a caller may not do at one node he may be allowed at another: a denial is of these agents, or this node. */
function isAboutRequest(status: number): boolean {
  return status < 500 && status !== 403;
}
