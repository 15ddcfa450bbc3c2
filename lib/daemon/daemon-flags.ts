import { Command, CommanderError, InvalidArgumentError } from 'commander';
import type { DaemonName } from '../product/daemon-names.js';
import { usageErrors } from '../product/usage-errors.js';
import type { DebugLevel } from './daemon-logger.js';

/** What a daemon was started with (daemons-and-config.md 3.5). */
export type DaemonFlags = {
  /** Lines also go to standard error. Daemons never fork themselves: the supervisor detaches them. */
  readonly foreground: boolean;
  /** Undefined when `-d` was not given: internal options then decide. */
  readonly debugLevel: DebugLevel | undefined;
  readonly test: boolean;
  /** Main configuration file as given (`-c`). */
  readonly configuration: string | undefined;
  readonly home: string | undefined;
  readonly user: string | undefined;
  readonly group: string | undefined;
};

/** A flag that only one daemon has. */
export type OwnFlag = {
  /** As commander takes it: `-p <port>`, `-P`. */
  readonly flags: string;
  readonly description: string;
  /** Turns the text after the flag into a value. @throws Error whose message says what is wrong with it */
  readonly parse?: (text: string) => unknown;
};

/** What the command line asks for. */
export type ParsedFlags =
  | { readonly kind: 'run'; readonly flags: DaemonFlags; readonly own: OwnFlagValues }
  | { readonly kind: 'version' }
  | { readonly kind: 'done'; readonly exitCode: number };

/** Values of a daemon's own flags by their letter; true for those without a text. */
export type OwnFlagValues = Readonly<Record<string, unknown>>;

function nonEmpty(value: string): string {
  if (value === '') throw new InvalidArgumentError('It must not be empty.');
  return value;
}

function checked(parse: (text: string) => unknown): (text: string) => unknown {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
    }
  };
}

/** What a daemon is for, as its help says. */
const PURPOSES: Readonly<Record<DaemonName, string>> = {
  'svc-agentd': 'Connects this agent to its manager: it sends events there and takes configuration and orders.',
  'svc-analysisd': 'Takes events into the journal, decodes them, matches them against rules and writes alerts.',
  'svc-apid': 'Answers the HTTPS API.',
  'svc-authd': 'Enrols agents and keeps their keys.',
  'svc-clusterd': 'Joins several managers.',
  'svc-db': 'Keeps what is known of agents and their files.',
  'svc-execd': 'Runs active responses.',
  'svc-logcollector': 'Follows log files and the output of commands, and sends each line as an event.',
  'svc-modulesd': 'Upgrades agents and keeps their tasks.',
  'svc-monitord': 'Rotates logs and watches which agents are there.',
  'svc-remoted': 'Takes connections of agents: events from them, configuration and orders to them.',
  'svc-syscheckd': 'Watches files for changes and looks for rootkits.',
};

/** Parses a daemon's arguments. Help and errors are printed here. @param own flags that only this daemon has */
export function parseDaemonFlags(name: DaemonName, args: readonly string[], own: readonly OwnFlag[] = []): ParsedFlags {
  let debug = 0;
  const command = new Command(name)
    .exitOverride()
    .configureOutput(usageErrors(name))
    .description(PURPOSES[name])
    .helpOption('-h, --help', 'show this help')
    .option('-f, --foreground', 'stay in the foreground: log to standard error, too')
    .option('-d, --debug', 'debug mode; twice for more')
    .option('-t, --test', 'check the configuration and exit: 0 when it is good, 1 when not')
    .option('-V, --version', 'show version and licence')
    .option('--home <dir>', 'home of the manager (default: $SVC_HOME, else the installed one)', nonEmpty)
    .option('-D <dir>', 'the same as --home, for scripts that pass it', nonEmpty)
    .option('-c <file>', "for scripts that pass it: the home's main configuration, no other", nonEmpty)
    .option('-u, --user <user>', 'run as this user (only for root; default: the user recorded in the home)', nonEmpty)
    .option('-g, --group <group>', 'run as this group (only for root)', nonEmpty)
    .allowExcessArguments(false);
  for (const { flags, description, parse } of own) {
    if (parse === undefined) command.option(flags, description);
    else command.option(flags, description, checked(parse));
  }
  command.on('option:debug', () => {
    debug += 1;
  });
  try {
    command.parse([...args], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return { kind: 'done', exitCode: error.exitCode };
    throw error;
  }
  const options: Record<string, unknown> = command.opts();
  if (options['version'] === true) return { kind: 'version' };
  const text = (key: string) => (typeof options[key] === 'string' ? options[key] : undefined);
  return {
    kind: 'run',
    flags: {
      foreground: options['foreground'] === true,
      debugLevel: debug === 0 ? undefined : debug === 1 ? 1 : 2,
      test: options['test'] === true,
      configuration: text('c'),
      home: text('home') ?? text('D'),
      user: text('user'),
      group: text('group'),
    },
    own: options,
  };
}
