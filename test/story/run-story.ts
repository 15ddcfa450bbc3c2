import { describeError } from '../../lib/log/describe-error.js';
import { showOneAttack } from './first-part.js';
import { ManyAttacks } from './second-part.js';
import { Stage } from './stage.js';
import { type Count, StoryLedger } from './story-ledger.js';

export type StoryOptions = {
  /** None: the second part is left out. */
  readonly kills: number;
  /** Addresses that attack while daemons are killed. */
  readonly addresses: number;
  /** Seconds that these are dropped for; longer than daemons take to be back. */
  readonly timeout: number;
  readonly seed: number;
  /** Whether this process has a network, and so a firewall, of its own. */
  readonly ownNetwork: boolean;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
};

/** Seconds that the address of the first part is dropped for. */
const SHORT = 4;
const FRIEND = '192.0.2.7';
const ATTACKER = '203.0.113.9';

/** The whole story, from the making of both homes to their end. @returns what did not come as promised */
export async function runStory(options: StoryOptions): Promise<readonly string[]> {
  const { signal, say, timeout, ownNetwork } = options;
  const stage = new Stage();
  const breaches: string[] = [];
  try {
    await stage.set({ short: SHORT, long: timeout, friend: FRIEND, ownNetwork, say });
    breaches.push(...(await showOneAttack(stage, { attacker: ATTACKER, friend: FRIEND, seconds: SHORT, signal, say })));
    if (options.kills > 0) breaches.push(...(await attackAndKill(stage, options)));
  } finally {
    try {
      const keep = breaches.length > 0;
      await stage.strike({ keep });
      say(`\nStopped; ${stage.directory} is ${keep ? 'kept' : 'removed'}.`);
    } catch (error) {
      breaches.push(describeError(error));
    }
  }
  return breaches;
}

async function attackAndKill(stage: Stage, options: StoryOptions): Promise<readonly string[]> {
  const { kills, seed, timeout: seconds, signal, say } = options;
  const attackers = Array.from({ length: options.addresses }, (_, i) => `198.51.100.${String(i + 1)}`);
  const addresses = [...attackers, FRIEND];
  const ledger = new StoryLedger(stage, addresses, FRIEND);
  await new ManyAttacks(stage, ledger, { addresses, friend: FRIEND, kills, seed, seconds, signal, say }).run();
  const counts = ledger.counts();
  say(`\n${table(counts)}`);
  return counts.flatMap(({ what, breaches }) => breaches.map((text) => `${what}: ${text}`));
}

function table(counts: readonly Count[]): string {
  const lines = counts.map(({ what, wanted, there, missing, doubled, allowed }) =>
    [
      what.padEnd(26),
      ...[wanted, there, missing.length, doubled.length].map((n) => String(n).padStart(7)),
      '  ',
      allowed,
    ]
      .join(' ')
      .trimEnd(),
  );
  return [`${' '.repeat(26)}  wanted   there missing doubled`, ...lines].map((line) => `  ${line}`).join('\n');
}
