import { parseArgs } from 'node:util';
import { describeError } from '../../lib/log/describe-error.js';
import { networkOfItsOwn, runInNetwork } from './own-network.js';
import { runStory } from './run-story.js';

/*
 * Shows the way from an alert to what it makes happen, on a manager and an agent of their own, and then the same while
 * daemons of both are killed:
 *
 *   npm run story -- [--kills N] [--addresses N] [--timeout SECONDS] [--seed S] [--recorded]
 *
 * Exit code 0 when everything came as docs/promises.md says; else it says what is missing. With --recorded a tool that
 * writes down what it is told stands for the firewall, as it does where there is no nft or no network can be made.
 */
const USAGE = 'usage: npm run story -- [--kills N] [--addresses N] [--timeout SECONDS] [--seed S] [--recorded]';
/** What a count may be: more addresses than the network of examples has would not be told apart. */
const LIMITS = { kills: [0, 1000], addresses: [1, 200], timeout: [5, 600], seed: [0, 2 ** 31] } as const;

type Counts = Record<keyof typeof LIMITS, number>;
type Arguments = Counts & { readonly recorded: boolean; readonly inside: boolean };

/** @throws Error for what is no option or no number in its limits */
function readArguments(): Arguments {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: { kills: text, addresses: text, timeout: text, seed: text, recorded: flag, inside: flag },
  });
  const counts: Counts = { kills: 12, addresses: 12, timeout: 20, seed: Math.floor(Math.random() * 1e6) };
  for (const [name, [least, most]] of Object.entries(LIMITS) as [keyof Counts, readonly [number, number]][]) {
    const given = values[name];
    if (given === undefined) continue;
    const count = /^\d+$/.test(given) ? Number(given) : NaN;
    if (!(count >= least && count <= most)) {
      throw new Error(`--${name} is '${given}', not a whole number from ${String(least)} to ${String(most)}`);
    }
    counts[name] = count;
  }
  return { ...counts, recorded: values.recorded, inside: values.inside };
}

async function main(): Promise<number> {
  let options: Arguments;
  try {
    options = readArguments();
  } catch (error) {
    console.error(`story: ${describeError(error)}\n${USAGE}`);
    return 2;
  }
  const { inside, recorded } = options;
  const network = inside || recorded ? undefined : networkOfItsOwn();
  if (network !== undefined) return runInNetwork(network, [...process.argv.slice(1), '--inside']);
  const abort = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      abort.abort(new Error(`stopped by ${name}`));
    });
  }
  try {
    const breaches = await runStory({ ...options, ownNetwork: inside, signal: abort.signal, say: console.log });
    for (const breach of breaches) console.error(`story: ${breach}`);
    return breaches.length === 0 ? 0 : 1;
  } catch (error) {
    console.error(`story: ${describeError(abort.signal.aborted ? abort.signal.reason : error)}`);
    return 1;
  }
}

void main().then((code) => {
  process.exitCode = code;
});
