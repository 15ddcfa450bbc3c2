import { whySchema } from '../offline/explanation-schema.js';
import type { TextStyle } from '../terminal/text-style.js';

/** Why a rule did not fire, as text; empty when the reply does not say it. */
export function renderWhy(data: ReadonlyMap<string, unknown>, style: TextStyle): string {
  const parsed = whySchema.safeParse(data.get('why'));
  if (!parsed.success) return '';
  const { rule, fired, answer, details } = parsed.data;
  const heading = fired ? `**Rule ${String(rule)} fired:` : `**Why rule ${String(rule)} did not fire:`;
  const lines = [answer, ...details].map((line) => `\t${style.foreign(line)}`);
  return `\n${style.heading(heading)}\n${lines.join('\n')}\n`;
}
