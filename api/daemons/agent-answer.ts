import { isObject } from '../../lib/json/is-object.js';
import { JsonDepth } from '../http/json-depth.js';

/** What an agent answered: a text behind `ok`, or JSON; otherwise why it did not. */
export type AgentAnswer =
  | {
      readonly ok: true;
      readonly value: Readonly<Record<string, unknown>>;
      /** Of an answer that is one page of several: whether there are more, and whether it changed since the first. */
      readonly page?: { readonly remaining: boolean; readonly updated: boolean };
    }
  | { readonly ok: false; readonly reached: boolean; readonly text: string };

/** Texts of 4.5 that say that the part of the agent was not reached. */
const NOT_REACHED =
  /No such file or directory|Connection refused|Cannot send request|Maximum attempts exceeded|Response timeout|Disconnected/;

/** `ok {...}`, `err text`, or JSON with `error` and `data`. What an agent says may be anything. */
export function parseAnswer(text: string): AgentAnswer {
  const refused = (reason: string): AgentAnswer => ({ ok: false, reached: !NOT_REACHED.test(reason), text: reason });
  if (text.startsWith('err')) return refused(text.slice('err'.length).trim());
  const prefixed = text.startsWith('ok ');
  const value = parseObject(prefixed ? text.slice('ok '.length) : text);
  if (value === undefined) return refused('The answer of the agent is no JSON object');
  if (prefixed) return { ok: true, value };
  const { error, data, message } = value;
  if (error === 0 && isObject(data)) {
    const { remaining, json_updated: updated } = value;
    if (typeof remaining !== 'boolean') return { ok: true, value: data };
    return { ok: true, value: data, page: { remaining, updated: updated === true } };
  }
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
