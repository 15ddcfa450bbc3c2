import { isAbsolute } from 'node:path';
import type { Command } from 'commander';
import { loadHostConfig } from '../../lib/agents/load-host-config.js';
import { ConfigError } from '../../lib/config/config-error.js';
import { loadInternalOption } from '../../lib/config/internal-options.js';
import { readable } from '../../lib/fim/byte-order.js';
import { HomeError } from '../../lib/home/home-record.js';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { PatternError } from '../../lib/patterns/pattern-error.js';
import {
  ROOTCHECK_CHECKS,
  type RootcheckCheck,
  type RootcheckSettings,
  rootcheckSettings,
} from '../../lib/rootcheck/rootcheck-settings.js';
import { RootcheckError, runRootcheck } from '../../lib/rootcheck/run-rootcheck.js';
import type { FimStreams } from './fim-streams.js';

type RootcheckOptions = {
  readonly home?: string;
  readonly json?: true;
  readonly only?: string;
  readonly verbose?: true;
};

/** 0 nothing found, 1 something found or not looked at, 2 wrong arguments or configuration, 130 called off. */
const EXIT = { clean: 0, found: 1, usage: 2, interrupted: 130 } as const;

/** Adds `rootcheck`, which prints what a scan of `<rootcheck>` finds on this host. @param ended told the exit code */
export function addRootcheckCommand(program: Command, streams: FimStreams, ended: (exitCode: number) => void): void {
  program
    .command('rootcheck')
    .description('print what a scan for rootkits finds on this host, as <rootcheck> of the home says')
    .option('--only <checks>', `checks to make, of ${ROOTCHECK_CHECKS.join(',')}`)
    .option('--json', 'one JSON object a finding')
    .option('-v, --verbose', 'say what is left out, and why')
    .option('--home <dir>', 'home whose configuration is used')
    .action(async (options: RootcheckOptions) => {
      ended(await rootcheck(options, streams));
    });
}

async function rootcheck(options: RootcheckOptions, streams: FimStreams): Promise<number> {
  const say = (text: string): void => {
    streams.writeError(`svc-fim: ${text}\n`);
  };
  let settings: RootcheckSettings | undefined;
  try {
    settings = configured(options, say);
  } catch (error) {
    if (!(error instanceof HomeError || error instanceof ConfigError || error instanceof PatternError)) throw error;
    say(error.message);
    return EXIT.usage;
  }
  if (settings === undefined) return EXIT.usage;
  let found = 0;
  let failed = false;
  try {
    await runRootcheck(
      settings,
      {
        finding: async (text) => {
          found += 1;
          const finding = readable(text);
          await streams.write(options.json === true ? `${JSON.stringify({ finding })}\n` : `${shown(finding)}\n`);
        },
        note: (level, text) => {
          failed ||= level !== 'debug';
          if (level !== 'debug' || options.verbose === true) say(shown(text));
        },
      },
      streams.signal,
    );
  } catch (error) {
    if (streams.signal.aborted) {
      say('called off');
      return EXIT.interrupted;
    }
    if (!(error instanceof RootcheckError)) throw error;
    say(error.message);
    return EXIT.found;
  }
  return found > 0 || failed ? EXIT.found : EXIT.clean;
}

function configured(
  { home: root, only }: RootcheckOptions,
  say: (text: string) => void,
): RootcheckSettings | undefined {
  const home = resolveHome(root);
  const config = loadHostConfig(home, ['rootcheck']);
  if (config.shared.problem !== undefined) say(config.shared.problem);
  if (config.rootcheck === undefined || config.rootcheck.disabled) {
    say('rootcheck is off in this configuration');
    return undefined;
  }
  const resolve = (path: string): string => (isAbsolute(path) ? path : home.path(path));
  const settings = rootcheckSettings(config.rootcheck, resolve, loadInternalOption(home, 'rootcheck.sleep'));
  if (settings === undefined || only === undefined) return settings;
  const names = only.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !ROOTCHECK_CHECKS.includes(name as RootcheckCheck));
  if (unknown === undefined) return { ...settings, checks: ROOTCHECK_CHECKS.filter((check) => names.includes(check)) };
  say(`'${unknown}' is no check: there are ${ROOTCHECK_CHECKS.join(', ')}`);
  return undefined;
}

/** A name cannot give orders to a terminal. */
function shown(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f]/g,
    (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
