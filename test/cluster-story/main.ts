import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeError } from '../../lib/log/describe-error.js';
import { runInNetwork } from '../story/own-network.js';
import { ClusterStage } from './cluster-stage.js';
import { Effects } from './effects.js';
import { runFaults } from './run-faults.js';
import { runStory } from './run-story.js';

/*
 * Three managers and three NATS servers on this machine, as one: shows enrolment, a group change, a kill and a return, or, with
 * --faults, has them suffer so many misfortunes under work and counts:
 *
 *   npm run demo -- cluster [--faults N] [--seed S] [--only TEXT] [--hosts]
 *
 * With --only they suffer only misfortunes whose names have this text.
 * With --hosts each has a network, disks and a clock of its own, and suffers what becomes of those, too: needs root.
 * Exit code 0 when everything came as docs/cluster.md says; else it says what is missing.
 */
const USAGE = 'usage: npm run demo -- cluster [--faults N] [--seed S] [--only TEXT] [--hosts]';
const MAX_FAULTS = 10_000;

type Arguments = {
  readonly faults: number;
  readonly seed: number;
  readonly only: string;
  readonly hosts: boolean;
  readonly inside: boolean;
};

/** @throws Error for what is no number in its limits */
function readArguments(): Arguments {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({ options: { faults: text, seed: text, only: text, hosts: flag, inside: flag } });
  const number = (name: 'faults' | 'seed', most: number, otherwise: number): number => {
    const given = values[name];
    if (given === undefined) return otherwise;
    if (!/^\d+$/.test(given) || Number(given) > most) {
      throw new Error(`--${name} is '${given}', not a whole number from 0 to ${most}`);
    }
    return Number(given);
  };
  return {
    faults: number('faults', MAX_FAULTS, 0),
    seed: number('seed', 2 ** 31, Math.floor(Math.random() * 1e6)),
    only: values.only ?? '',
    hosts: values.hosts,
    inside: values.inside,
  };
}

async function main(): Promise<number> {
  let options: ReturnType<typeof readArguments>;
  try {
    options = readArguments();
  } catch (error) {
    console.error(`demo: ${describeError(error)}\n${USAGE}`);
    return 2;
  }
  if (options.hosts && !options.inside) {
    if (process.getuid?.() !== 0) {
      console.error('demo: --hosts makes networks and disks: run it as root');
      return 2;
    }
    return runInNetwork(['--net', '--mount'], [fileURLToPath(import.meta.url), ...process.argv.slice(2), '--inside']);
  }
  const stage = new ClusterStage(options.hosts);
  const effects = new Effects(options.hosts);
  const stopped = new Promise<never>((_resolve, reject) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(name, () => {
        reject(new Error(`stopped by ${name}`));
      });
    }
  });
  const play = async (): Promise<string[]> => {
    if (options.faults === 0) {
      await stage.set(console.log);
      await runStory(stage, console.log);
      return [];
    }
    console.log(`Seed ${options.seed}.`);
    await effects.open();
    await stage.set(console.log, effects.additions);
    return runFaults(stage, { ...options, effects, say: console.log });
  };
  try {
    const breaches = await Promise.race([play(), stopped]);
    for (const breach of breaches) console.error(`demo: ${breach}`);
    if (breaches.length > 0) console.error(`demo: the logs are kept in ${stage.keepLogs()}`);
    return breaches.length === 0 ? 0 : 1;
  } catch (error) {
    console.error(`demo: ${describeError(error)}`);
    return 1;
  } finally {
    await effects.close();
    await stage.strike().catch((error: unknown) => {
      console.error(`demo: ${describeError(error)}`);
    });
  }
}

void main().then((code) => {
  process.exitCode = code;
});
