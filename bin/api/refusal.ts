import * as z from 'zod';
import { shownText } from '../terminal/shown-text.js';
import type { ApiAnswer } from './api-client.js';

const problem = z.object({
  title: z.string(),
  detail: z.string().optional(),
  remediation: z.string().nullish(),
  error: z.number().optional(),
});

/** The API refused a request; the message is for people. */
export class ApiRefusalError extends Error {
  override readonly name = 'ApiRefusalError';
}

/** A refusal of the API (rest-api.md 3.4) for people: title, what is wrong, its code, and what helps. */
export function refusalText({ status, reason, text }: ApiAnswer): string {
  const parsed = problem.safeParse(jsonOf(text));
  if (!parsed.success) return `${status} ${shownText(reason)}`;
  const { title, detail = '', remediation, error } = parsed.data;
  const code = error === undefined ? '' : ` (error ${error})`;
  const first = `${status} ${shownText(title)}${detail === '' ? '' : `: ${shownText(detail)}`}${code}`;
  return remediation === undefined || remediation === null ? first : `${first}\n  ${shownText(remediation)}`;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
