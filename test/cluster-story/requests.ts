import type { History, Outcome } from './history.js';
import type { ApiAnswer, ManagerNode } from './manager-node.js';

/** Answers that say for sure that nothing was done. */
const REFUSALS = new Set([400, 403, 404, 405, 409, 429]);

/** What a request was answered: without a clear answer nobody knows what was done. */
export function outcomeOf(answer: ApiAnswer | undefined): Outcome {
  if (answer === undefined) return 'unknown';
  if (answer.status === 200 && (answer.body.error ?? 0) === 0) return 'done';
  return REFUSALS.has(answer.status) || answer.status === 200 ? 'refused' : 'unknown';
}

/** What a request was answered, in few words. */
export function saidBy(answer: ApiAnswer | undefined): string {
  if (answer === undefined) return 'no answer';
  const { error = 0, detail = '', data } = answer.body;
  const failed = data?.failed_items?.map((item) => `failed item ${item.error?.code ?? ''}`) ?? [];
  return [`${answer.status}/${error}`, detail, ...failed].filter((part) => part !== '').join(' ');
}

/** Enrols an agent at a node. @returns its id, when that is known */
export async function enrol(node: ManagerNode, name: string, history: History): Promise<string | undefined> {
  const settle = history.enrol(name);
  const answer = await node.api('POST', '/agents', { name, ip: 'any' });
  const id = answer?.body.data?.id;
  settle(outcomeOf(answer), id, saidBy(answer));
  return id;
}

export async function makeGroup(node: ManagerNode, name: string, history: History): Promise<Outcome> {
  const settle = history.makeGroup(name);
  const answer = await node.api('POST', '/groups', { group_id: name });
  const outcome = outcomeOf(answer);
  settle(outcome, saidBy(answer));
  return outcome;
}

/** Puts an agent into one group instead of those it had. */
export async function setGroup(node: ManagerNode, agent: string, group: string, history: History): Promise<Outcome> {
  const settle = history.setGroups(agent, [group]);
  const path = `/agents/${agent}/group/${group}?force_single_group=true`;
  const answer = await node.api('PUT', path);
  const outcome = outcomeOf(answer);
  settle(outcome, saidBy(answer));
  return outcome;
}

/** Agents and groups as a node shows them; undefined when it does not. */
export async function shown(node: ManagerNode) {
  const agents = await node.api('GET', '/agents?select=id,name,group&limit=100000');
  const groups = await node.api('GET', '/groups?limit=100000');
  if (agents?.status !== 200 || groups?.status !== 200) return undefined;
  return {
    agents: (agents.body.data?.affected_items ?? [])
      .filter(({ id }) => id !== '000')
      .map((item) => ({
        id: String(item['id']),
        name: String(item['name']),
        groups: Array.isArray(item['group']) ? item['group'].map(String) : [],
      })),
    groups: (groups.body.data?.affected_items ?? []).map((item) => String(item['name'])),
  };
}
