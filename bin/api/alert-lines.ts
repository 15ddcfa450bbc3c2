import { isObject } from '../../lib/json/is-object.js';
import { shownText } from '../terminal/shown-text.js';

/** Characters of an agent's name and of a rule's id that columns are made for. */
const AGENT_WIDTH = 16;
const RULE_WIDTH = 6;
/** Longest line where it does not go to a terminal. */
const FILE_WIDTH = 200;

const HEADING = ['TIME', 'LEVEL', 'RULE', 'AGENT', 'WHAT'] as const;

/**
 * Alerts as lines of a table whose widths do not depend on what comes later: time of this host, level, rule, agent, and what the rule says
 * with the source address.
 */
export class AlertLines {
  readonly #width: number;

  /** @param columns of the terminal, undefined for a file */
  constructor(columns: number | undefined) {
    this.#width = columns ?? FILE_WIDTH;
  }

  heading(): string {
    return this.#line(...HEADING);
  }

  line(alert: unknown): string {
    const level = textAt(alert, 'rule', 'level');
    const source = textAt(alert, 'data', 'srcip');
    const what = textAt(alert, 'rule', 'description') || textAt(alert, 'full_log');
    return this.#line(
      timeText(textAt(alert, 'timestamp')),
      level,
      textAt(alert, 'rule', 'id'),
      textAt(alert, 'agent', 'name') || textAt(alert, 'agent', 'id'),
      source === '' || what.includes(source) ? what : `${what} (${source})`,
    );
  }

  #line(time: string, level: string, rule: string, agent: string, what: string): string {
    const columns = [
      time.padEnd(19),
      level.padStart(5),
      rule.padStart(RULE_WIDTH),
      cut(agent, AGENT_WIDTH).padEnd(AGENT_WIDTH),
    ];
    return `${cut(`${columns.join('  ')}  ${what}`, this.#width).trimEnd()}\n`;
  }
}

function cut(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text;
}

/** `2026-11-27 23:50:27`, by the clock of this host. */
function timeText(timestamp: string): string {
  const time = new Date(timestamp.replace(/([+-]\d{2})(\d{2})$/, '$1:$2'));
  if (Number.isNaN(time.getTime())) return timestamp;
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

/** What lies at a path of members, for a terminal; empty where there is nothing. */
function textAt(value: unknown, ...path: readonly string[]): string {
  let found = value;
  for (const name of path) found = isObject(found) ? found[name] : undefined;
  return typeof found === 'string' || typeof found === 'number' ? shownText(String(found)) : '';
}
