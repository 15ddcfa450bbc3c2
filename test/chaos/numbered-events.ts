/*
 * The events of a chaos run and the ruleset that gives each of them exactly one alert: which one depends on what came
 * before, so that an alert shows whether correlation and first-time-seen keys came through a crash.
 */
import type { Source } from './ledger.js';

const USERS = 5;
/** One event in so many comes from a user never seen before. */
export const VISITOR_EVERY = 50;

/** The log line of a number. */
export function eventText(number: number, source: Source): string {
  const user = number % VISITOR_EVERY === 0 ? `visitor-${String(number)}` : `user-${String(number % USERS)}`;
  return `Mar  7 09:15:02 gate chaosd[1]: number ${String(number)} by ${user} over ${source} end`;
}

const MENTIONED = /chaosd\[1\]: number (\d+) by /g;

/** All numbers whose log lines stand somewhere in a text. */
export function* numbersMentioned(text: string): Generator<number> {
  for (const [, number] of text.matchAll(MENTIONED)) yield Number(number);
}

/** The event of an alert, as JSON writes it; earlier events that an alert quotes stand under another name. */
const ALERTED = /"full_log":"[^"]*chaosd\[1\]: number (\d+) by \S+ over \w+ end"/;

/** The number of the event that a line of alerts.json is about; undefined when it is about another one. */
export function numberOfAlert(line: string): number | undefined {
  const match = ALERTED.exec(line);
  return match === null ? undefined : Number(match[1]);
}

/** An alert about a user never seen before. */
export const ALERTED_VISITOR = /"rule":\{[^{}]*"id":"100205"/;

export const DECODERS = `<decoder name="chaos">
  <program_name>^chaosd$</program_name>
</decoder>
<decoder name="chaos-number">
  <parent>chaos</parent>
  <prematch>^number \\d+ by </prematch>
  <regex>^number (\\d+) by (\\S+) over (\\w+) end$</regex>
  <order>chaos.number, user, chaos.way</order>
  <fts>name, user</fts>
</decoder>
`;

/** Rules whose descriptions name their version, so that an alert tells by which ruleset it was made. */
export function rulesText(version: number): string {
  const name = `(ruleset ${String(version)})`;
  return `<group name="syslog,">
  <rule id="1" level="0" noalert="1"><category>syslog</category><description>Any syslog.</description></rule>
</group>
<group name="chaos,">
  <rule id="100200" level="5"><decoded_as>chaos</decoded_as>
    <description>Number $(chaos.number) arrived ${name}.</description></rule>
  <rule id="100205" level="6"><if_sid>100200</if_sid><if_fts />
    <description>User never seen before ${name}.</description></rule>
  <rule id="100210" level="8" frequency="4" timeframe="20"><if_matched_sid>100200</if_matched_sid><same_user />
    <description>Many numbers of one user ${name}.</description></rule>
  <rule id="100220" level="10" frequency="6" timeframe="60" ignore="3"><if_matched_sid>100210</if_matched_sid>
    <description>Very many numbers ${name}.</description></rule>
</group>
`;
}

/** The ruleset version that an alert names; undefined when it names none. */
export function rulesetVersionIn(description: string): number | undefined {
  const match = /\(ruleset (\d+)\)/.exec(description);
  return match === null ? undefined : Number(match[1]);
}
