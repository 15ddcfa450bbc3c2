import { InvalidArgumentError } from 'commander';
import { probeSocket } from '../../lib/bus/probe-socket.js';
import { RulesetError } from '../../lib/engine/load/ruleset-error.js';
import { HomeError, readHomeRecord } from '../../lib/home/home-record.js';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { productVersion, versionText } from '../../lib/product/version.js';
import { checkRulesetDirs } from '../offline/read-offline-ruleset.js';
import { textStyle } from '../terminal/text-style.js';
import { whyUnavailable } from '../terminal/why-unavailable.js';
import { CONNECTION_ERROR, InteractiveLogtest } from './interactive-logtest.js';
import type { LogtestBackend } from './logtest-backend.js';
import { clockTime, type LogtestCommandOptions, parseLogtestOptions } from './logtest-options.js';
import { OfflineBackend } from './offline-backend.js';
import { runBatch } from './run-batch.js';
import { runInteractive } from './run-interactive.js';
import { SocketBackend } from './socket-backend.js';
import { parseUnitTest } from './unit-test.js';

/** Time in which a service that is there takes a connection. */
const PROBE_MS = 5000;

/**
 * `svc-logtest`: runs log lines through decoders and rules (rules-and-alerts.md 9.8).
 * @param args without program and script
 * @returns the exit status
 */
export async function logtestCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const options = parseLogtestOptions(args);
  if (typeof options === 'number') return options;
  if (options.version === true) {
    process.stdout.write(`${versionText('svc-logtest')}\n`);
    return 0;
  }
  const now = clockOf(options, environment);
  if (now === undefined) {
    process.stderr.write('svc-logtest: SVC_CLOCK is not a number of seconds\n');
    return 1;
  }
  const { ruleset, logLevel, location, why } = options;
  try {
    if (ruleset !== undefined) checkRulesetDirs(ruleset);
  } catch (error) {
    if (!(error instanceof RulesetError)) throw error;
    process.stderr.write(`svc-logtest: ${error.message}\n`);
    return 1;
  }
  const explain = options.explain === true;
  const quiet = options.quiet === true;
  if (options.ndjson === true && ruleset !== undefined) {
    const text = options.text === true;
    return runBatch({ dirs: ruleset, logLevel, text, location, quiet, now, explain, why });
  }
  const unitTest = options.unitTest === undefined ? undefined : parseUnitTest(options.unitTest);
  if (options.unitTest !== undefined && unitTest === undefined) {
    process.stderr.write(`Unit test configuration wrong syntax: ${options.unitTest}\n`);
    return 1;
  }
  const absence = ruleset === undefined ? await serviceAbsence(options.home) : undefined;
  if (absence !== undefined) {
    process.stderr.write(`${CONNECTION_ERROR}\n\t${absence}\n\t--offline needs no manager.\n`);
    return 1;
  }
  return runInteractive(
    new InteractiveLogtest({
      backend: backendOf(options, now),
      location,
      debugRules: options.verbose === true,
      explain,
      why,
      quiet,
      unitTest,
      version: `v${productVersion()}`,
      write: (text) => process.stdout.write(text),
      style: textStyle(process.stdout.isTTY, environment),
      log: (text) => process.stderr.write(text),
      typed: process.stdin.isTTY,
      connectionHint: "'svc-control status' shows whether svc-analysisd runs; --offline needs no daemon.",
    }),
  );
}

/** Why the running manager cannot be asked; undefined when somebody listens. */
async function serviceAbsence(root: string | undefined): Promise<string | undefined> {
  const home = resolveHome(root);
  try {
    readHomeRecord(home);
  } catch (error) {
    if (!(error instanceof HomeError)) throw error;
    return error.message;
  }
  const probe = await probeSocket(socketPath(root), PROBE_MS);
  return probe.listening ? undefined : whyUnavailable(home, 'svc-analysisd', probe.reason);
}

const socketPath = (root: string | undefined) => resolveHome(root).path('queue', 'sockets', 'logtest');

function backendOf(options: LogtestCommandOptions, now: () => number): LogtestBackend {
  const { ruleset, logLevel } = options;
  if (ruleset !== undefined) return new OfflineBackend({ dirs: ruleset, logLevel, now });
  const debug = (text: string): void => {
    process.stderr.write(`DEBUG: ${text}\n`);
  };
  return new SocketBackend(socketPath(options.home), options.debug === true ? debug : undefined);
}

/** Epoch milliseconds: the machine's clock, or the one that `--clock` or `SVC_CLOCK` stopped. */
function clockOf(
  { clock, offline }: LogtestCommandOptions,
  environment: NodeJS.ProcessEnv,
): (() => number) | undefined {
  let frozen = clock;
  const text = environment['SVC_CLOCK'];
  if (frozen === undefined && offline === true && text !== undefined) {
    try {
      frozen = clockTime(text);
    } catch (error) {
      if (error instanceof InvalidArgumentError) return undefined;
      throw error;
    }
  }
  return frozen === undefined ? Date.now : () => frozen * 1000;
}
