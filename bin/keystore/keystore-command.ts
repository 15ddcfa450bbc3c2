import { readFileSync, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Command, Option } from 'commander';
import { resolveHome } from '../../lib/home/resolve-home.js';
import { indexerSecretPath, readIndexerSecret, writeIndexerSecret } from '../../lib/indexer/indexer-secret.js';
import { describeError } from '../../lib/log/describe-error.js';
import { versionText } from '../../lib/product/version.js';
import { parseArguments, type ToolStreams } from '../terminal/tool-arguments.js';

const PROGRAM = 'svc-keystore';
const FAMILIES = ['indexer'] as const;
const KEYS = ['username', 'password'] as const;
/** Bytes of a value: more is no name and no password. */
const MAX_VALUE_BYTES = 4096;

type KeystoreStreams = ToolStreams & { readonly input: Readable };

type KeystoreOptions = {
  readonly family: (typeof FAMILIES)[number];
  readonly key: (typeof KEYS)[number];
  readonly value?: string;
  readonly valuePath?: string;
  readonly home?: string;
};

/**
 * `svc-keystore`: keeps the name and the password with which alerts are indexed (indexer.md 4.2).
 * @param args without node and script
 * @returns exit code: 0 it is kept, 1 not
 */
export async function keystoreCommand(args: readonly string[], streams: KeystoreStreams): Promise<number> {
  const command = new Command(PROGRAM)
    .description('Keeps the name and the password for the indexer in etc/indexer.secret.')
    .helpOption('-h, --help', 'show this help')
    .version(versionText(PROGRAM), '-V, --version', 'show version and licence')
    .addOption(new Option('-f, --family <name>', 'whom it is for').choices(FAMILIES).makeOptionMandatory())
    .addOption(new Option('-k, --key <name>', 'what it is').choices(KEYS).makeOptionMandatory())
    .option('-v, --value <value>', 'the value; others see it in the list of processes')
    .option('--value-path <file>', 'takes the value from the first line of a file (also -vp)')
    .option('--home <dir>', 'home of the manager')
    .addHelpText('after', '\nWithout a value it is read from standard input.\n');
  // The reference has an option of two letters, which nobody else has.
  const spelled = args.map((argument) => (argument === '-vp' ? '--value-path' : argument));
  const ended = parseArguments(command, spelled, streams);
  if (ended !== undefined) return ended;
  const options = command.opts<KeystoreOptions>();
  try {
    const home = resolveHome(options.home);
    const value = await valueOf(options, streams.input);
    const path = indexerSecretPath(home);
    const { username, password } = readIndexerSecret(path) ?? { username: '', password: '' };
    writeIndexerSecret(path, { username, password, [options.key]: value }, statSync(home.path('etc')));
    return 0;
  } catch (error) {
    streams.writeError(`${PROGRAM}: ${describeError(error)}\n`);
    return 1;
  }
}

/** @throws Error saying what is wrong with it, never what it is */
async function valueOf({ value, valuePath }: KeystoreOptions, input: Readable): Promise<string> {
  if (value !== undefined && valuePath !== undefined) throw new Error("'-v' and '-vp' exclude each other");
  const text = value ?? (valuePath === undefined ? (await buffer(input)).toString() : readFileSync(valuePath, 'utf8'));
  const [line = ''] = value === undefined ? text.split(/\r?\n/) : [text];
  if (line === '') throw new Error('the value is empty');
  if (/[\u0000-\u001f\u007f]/.test(line)) throw new Error('the value has control characters');
  if (Buffer.byteLength(line) > MAX_VALUE_BYTES) {
    throw new Error(`the value has more than ${String(MAX_VALUE_BYTES)} bytes`);
  }
  return line;
}
