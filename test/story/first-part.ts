import { setTimeout as delay } from 'node:timers/promises';
import type { Stage } from './stage.js';
import { FAILURES, NAMES, PASSWORDS } from './story-configuration.js';

const POLL_MS = 10;
/** From the attack until it is forgotten, the time that the address is dropped for not counted. */
const PATIENCE_MS = 30_000;
/** Columns of the text that is shown of something long. */
const SHOWN = 150;

export type FirstPartOptions = {
  readonly attacker: string;
  readonly friend: string;
  /** Seconds that the address is dropped for. */
  readonly seconds: number;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
};

/** Something that has to happen: what is shown of it once it has. */
type Step = { readonly what: string; readonly seen: () => string | undefined };

/** One attack, and what becomes of it, told as it happens. @returns what did not happen */
export async function showOneAttack(stage: Stage, options: FirstPartOptions): Promise<string[]> {
  const { attacker, friend, seconds, signal, say } = options;
  say(`\n1. ${String(FAILURES)} failures of ${friend}, who is on the white list, and as many of ${attacker},`);
  say('   in the log that the svc-logcollector of the agent follows; times are those since then:\n');
  stage.log.fail(NAMES, friend, FAILURES);
  const lines = stage.log.fail(PASSWORDS, attacker, FAILURES);
  const begin = performance.now();
  say(`            ${lines.at(-1) ?? ''}`);
  let left = steps(stage, options);
  const end = begin + PATIENCE_MS + seconds * 1000;
  while (left.length > 0 && performance.now() < end) {
    const rest: Step[] = [];
    for (const step of left) {
      const text = step.seen();
      if (text === undefined) rest.push(step);
      else say(`  ${((performance.now() - begin) / 1000).toFixed(2).padStart(6)} s  ${step.what.padEnd(16)} ${text}`);
    }
    left = rest;
    await delay(POLL_MS, undefined, { signal });
  }
  const breaches = left.map(({ what }) => `${attacker}: not within ${String(PATIENCE_MS / 1000)} s: ${what}`);
  const changes = stage.firewall.events().filter(({ address }) => address === friend);
  if (changes.length === 0) say(`            white list       ${friend} has its alert, too, and was never dropped`);
  else breaches.push(`${friend} is on the white list and was dropped`);
  return breaches;
}

function steps(stage: Stage, { attacker, friend }: FirstPartOptions): Step[] {
  const { alerts, receivers, firewall } = stage;
  const alert = (): ReturnType<typeof alerts.of>[number] | undefined => alerts.of(PASSWORDS.rule, attacker)[0];
  /** What is about that alert needs its id. */
  const by = <T>(find: (id: string) => T | undefined): T | undefined => {
    const id = alert()?.id;
    return id === undefined ? undefined : find(id);
  };
  const done = (action: 'dropped' | 'let in'): boolean =>
    firewall.events().some((event) => event.action === action && event.address === attacker);
  const shown = (): string => `the agent drops ${firewall.dropped().join(', ')}`;
  return [
    { what: 'alert', seen: () => ((found) => found && `${found.id}  ${describe(found)}`)(alert()) },
    {
      what: 'white list',
      seen: () => ((found) => found && `${found.id}  ${describe(found)}`)(alerts.of(NAMES.rule, friend)[0]),
    },
    { what: 'dropped', seen: () => (done('dropped') ? shown() : undefined) },
    {
      what: 'syslog',
      seen: () =>
        by((id) =>
          receivers
            .logged()
            .find(({ alert: { id: logged } }) => logged === id)
            ?.message.slice(0, SHOWN),
        ),
    },
    {
      what: 'mail',
      seen: () => by(() => receivers.mails().find(({ text }) => text.includes(alert()?.full_log ?? ''))?.subject),
    },
    {
      what: 'index',
      seen: () =>
        by((id) => {
          const all = receivers.indexed();
          const found = all.find(({ alertId }) => alertId === id);
          return found && `document ${found.documentId}, one of ${String(all.length)}`;
        }),
    },
    { what: 'told by the agent', seen: () => ((found) => found && describe(found))(alerts.of('651', attacker)[0]) },
    {
      what: 'let in',
      seen: () => (done('let in') ? `the agent drops ${firewall.dropped().join(', ') || 'nobody'}` : undefined),
    },
  ];
}

function describe({
  rule,
  agent,
}: {
  rule: { id: string; level: number; description: string };
  agent: { name: string };
}): string {
  return `rule ${rule.id}, level ${String(rule.level)}, agent ${agent.name}: ${rule.description}`;
}
