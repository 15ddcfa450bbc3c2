import { statSync } from 'node:fs';
import type { Home } from '../../lib/home/home.js';
import { SyslogServer } from '../support/monitord/syslog-server.js';
import { readOutput } from '../support/read-output.js';
import { ALERTED_VISITOR, numberOfAlert, VISITOR_EVERY } from './numbered-events.js';
import { outputParts } from './output-parts.js';

/** Most alerts that are on their way over one connection (promises.md). */
const MOST_IN_FLIGHT = 500;
/** Programs of responses that run at once, and may be started again after a kill of svc-execd. */
const PROGRAMS_AT_ONCE = 16;
/** Alerts, or numbers, that are named. */
const MAX_NAMED = 20;
/** Characters of what is no alert that are shown. */
const MAX_SHOWN = 200;

/** What writes an effect down, one line each. */
export const EFFECTS_LOG = 'logs/chaos-response.log';

/** The program of the response to a visitor: it writes down what it was told. For every other one it asks before whether it may. */
export const RESPONSE_PROGRAM = `#!/bin/sh
read -r line
number=\${line##*: number }
number=\${number%% *}
if [ $((number / ${String(VISITOR_EVERY)} % 2)) = 0 ]; then
  printf '{"version":1,"origin":{"name":"chaos","module":"active-response"},"command":"check_keys","parameters":{"keys":["%s"]}}\\n' "$number"
  read -r line
  case "$line" in *'"command":"continue"'*) ;; *) exit 0;; esac
fi
printf '%s\\n' "$line" >> ${EFFECTS_LOG}
`;

/** How often what can only happen around the end of a daemon may have happened: ends of these, orderly ones included. */
export type Ends = { readonly monitord: number; readonly execd: number };

export type EffectsVerdict = {
  /** Alerts that the syslog receiver has, and those of them that came more than once. */
  readonly forwarded: number;
  readonly forwardedAgain: number;
  /** Responses that were carried out, and those of them that were more than once. */
  readonly responded: number;
  readonly respondedAgain: number;
  readonly problems: readonly string[];
};

/** By which an alert is found in the files and the logs: its id, which has its second, and its event. */
function describeAlert(line: string): string {
  const [, timestamp] = /"timestamp":"([^"]*)"/.exec(line) ?? [];
  if (timestamp === undefined) return line.slice(0, MAX_SHOWN);
  const [, id] = /"id":"(\d+\.\d+)"/.exec(line) ?? [];
  return `${String(id)} at ${timestamp} of number ${String(numberOfAlert(line))}`;
}

/** What alerts of a run set off: a syslog receiver over TCP gets each of them, and a program is run for each visitor. */
export class Effects {
  readonly syslog = new SyslogServer();
  readonly #home: () => Home;

  constructor(home: () => Home) {
    this.#home = home;
  }

  /** Grows with each effect. */
  get count(): number {
    const log = statSync(this.#home().path(EFFECTS_LOG), { throwIfNoEntry: false });
    return this.syslog.connections.reduce((sum, { messages }) => sum + messages.length, log?.size ?? 0);
  }

  /** Whether every alert that is written has had its effects. */
  isComplete(): boolean {
    const alerts = this.#alerts();
    return (
      missing(alerts, this.#forwarded()).length === 0 && missing(visitorsOf(alerts), this.#responded()).length === 0
    );
  }

  /** Holds the effects against the alerts of a stopped product. */
  judge(ends: Ends): EffectsVerdict {
    const alerts = this.#alerts();
    const visitors = visitorsOf(alerts);
    const forwarded = this.#forwarded();
    const responded = this.#responded();
    const problems = [
      ...told('alerts that syslog does not have', missing(alerts, forwarded)),
      ...told('alerts that syslog has and nobody wrote', missing(forwarded, alerts)),
      ...told('visitors without a response', missing(visitors, responded)),
      ...told('responses to nobody', missing(responded, visitors)),
      ...told('no syslog', this.syslog.problems),
      ...this.#tooOften(ends),
    ];
    const respondedAgain = responded.length - new Set(responded).size;
    if (respondedAgain > PROGRAMS_AT_ONCE * ends.execd) {
      problems.push(`${String(respondedAgain)} responses too many, with ${String(ends.execd)} ends of svc-execd`);
    }
    return {
      forwarded: new Set(forwarded).size,
      forwardedAgain: forwarded.length - new Set(forwarded).size,
      responded: new Set(responded).size,
      respondedAgain,
      problems,
    };
  }

  /** Each end of svc-monitord has the alerts of one connection come again, and no more. */
  #tooOften({ monitord }: Ends): string[] {
    const newest = new Map<string, number>();
    for (const [at, { messages }] of this.syslog.connections.entries()) {
      for (const message of messages) newest.set(alertIn(message), at);
    }
    const again = this.syslog.connections.filter(({ messages }, at) =>
      messages.some((message) => newest.get(alertIn(message)) !== at),
    );
    const most = Math.max(0, ...this.syslog.connections.map(({ messages }) => messages.length));
    return [
      ...(again.length > monitord
        ? [`alerts of ${String(again.length)} connections came again, with ${String(monitord)} ends of svc-monitord`]
        : []),
      ...(most > MOST_IN_FLIGHT ? [`a connection carried ${String(most)} alerts`] : []),
    ];
  }

  #forwarded(): string[] {
    return this.syslog.messages.map(alertIn);
  }

  /** Numbers of the events that responses were about. */
  #responded(): string[] {
    const path = this.#home().path(EFFECTS_LOG);
    return linesOf(path).map((line) => String(numberOfAlert(line)));
  }

  #alerts(): string[] {
    return outputParts(this.#home(), 'alerts.json').flatMap(linesOf);
  }
}

function linesOf(path: string): string[] {
  return readOutput(path)
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}

function alertIn(message: string): string {
  return message.slice(message.indexOf('{'));
}

function visitorsOf(alerts: readonly string[]): string[] {
  return alerts.filter((line) => ALERTED_VISITOR.test(line)).map((line) => String(numberOfAlert(line)));
}

function missing(wanted: readonly string[], there: readonly string[]): string[] {
  const known = new Set(there);
  return wanted.filter((each) => !known.has(each));
}

function told(what: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const shown = lines.slice(0, MAX_NAMED).map((line) => describeAlert(line));
  return [`${what}: ${String(lines.length)}: ${shown.join(', ')}${lines.length > MAX_NAMED ? ', ...' : ''}`];
}
