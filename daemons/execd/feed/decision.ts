import * as z from 'zod';

const decisionLine = z.object({
  /** Name of the response: command and time-out. */
  response: z.string().min(1).max(1024),
  /** Seconds; 0 = it is not undone. */
  timeout: z.number().int().min(0),
  locations: z.array(z.enum(['local', 'server', 'defined-agent', 'all'])).min(1),
  agents: z.array(z.string().regex(/^\d{3,9}$/)),
  extra_args: z.array(z.string()),
  alert: z.record(z.string(), z.unknown()),
});

/** What svc-analysisd decided (rules-and-alerts.md 8.3). */
export type Decision = z.output<typeof decisionLine>;

/** Where a response runs: on this host, or on these agents, or on all that are active beside them. */
export type Route = 'here' | { readonly agents: readonly string[]; readonly all: boolean };

const MANAGER = '000';
/** What an alert's time looks like: `2025-03-04T10:15:30.000+0100`. */
const OFFSET = /([+-]\d\d)(\d\d)$/;

/** Reads a line of the stream of responses. @throws Error saying why it is none */
export function parseDecision(line: string): Decision {
  return decisionLine.parse(JSON.parse(line));
}

/** The manager's own responses win over everything else (rules-and-alerts.md 8.3, steps 3 and 4). */
export function routeOf({ locations, agents }: Decision): Route {
  if (locations.includes('server') || (locations.includes('local') && agents.includes(MANAGER))) return 'here';
  return { agents: agents.filter((id) => id !== MANAGER), all: locations.includes('all') };
}

/** When it was decided, epoch milliseconds; undefined when the alert does not say. */
export function decidedAt({ alert }: Decision): number | undefined {
  const { timestamp } = alert;
  const time = typeof timestamp === 'string' ? Date.parse(timestamp.replace(OFFSET, '$1:$2')) : NaN;
  return Number.isNaN(time) ? undefined : time;
}
