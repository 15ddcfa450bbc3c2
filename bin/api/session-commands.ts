import type { Command } from 'commander';
import { addCall, type CommandKit, EXIT, sessionOptions } from './command-kit.js';
import { login, type LoginOptions, logout, type SessionOptions } from './login.js';
import { showList } from './show-answer.js';

/** Adds `login`, `logout` and `whoami`. */
export function addSessionCommands(program: Command, kit: CommandKit): void {
  const { streams, ended } = kit;
  sessionOptions(program.command('login').description('log in; the token is kept, the password is not'))
    .option('--url <url>', 'an API elsewhere: https://HOST:55000; without it, that of this host')
    .option('--user <name>', 'who logs in (default: admin)')
    .option('--password-file <file>', 'file with the password, - for the standard input; without, it is asked for')
    .option('--ca-file <file>', 'with --url: certificates of the authority that vouches for the API')
    .option('--fingerprint <sha256>', 'with --url: the certificate that the API must have')
    .action(async (options: LoginOptions) => {
      const { user, api } = await login(options, streams);
      streams.writeError(`Logged in as ${user} (${api.kind === 'home' ? api.root : api.url}).\n`);
      ended(EXIT.fine);
    });
  sessionOptions(
    program.command('logout').description('end all tokens of the user who is logged in, and forget the login'),
  ).action(async (options: SessionOptions) => {
    streams.writeError(`${await logout(options, streams)}\n`);
    ended(EXIT.fine);
  });
  addCall<object, []>(
    program,
    { usage: 'whoami', description: 'show who is logged in' },
    kit,
    async ({ caller, streams: shown, output }) =>
      showList(await caller.list('GET', '/security/users/me'), { output }, shown),
  );
}
