import { ControlOutput } from './control-output.js';
import type { ControlProgram } from './control-program.js';
import { install, uninstall } from './home/install.js';
import { stopSuite } from './suite-commands.js';

type InstallFlags = {
  readonly prefix: string;
  readonly root?: string;
  readonly user: string | false;
  readonly group?: string;
  readonly agent?: true;
};
type UninstallFlags = { readonly prefix: string; readonly root?: string; readonly purge?: true };

/** Adds what puts the product on a host, and takes it off again. */
export function addInstallCommands(program: ControlProgram): void {
  const place = (name: string, description: string) =>
    program.command
      .command(name)
      .description(description)
      .requiredOption('--prefix <dir>', 'where the product is on the host, and its home')
      .option('--root <dir>', 'put files below this directory and leave the host itself alone');
  place('install', 'put the product on this host: files, service user, unit file; or update it')
    .option('--user <user>', 'service user, made when it is missing', 'svc-manager')
    .option('--group <group>', "service group (default: the user's)")
    .option('--no-user', 'no service user: daemons run as whoever starts them')
    .option('--agent', 'install an agent')
    .action(async (options: InstallFlags) => {
      const { lines } = await install({
        prefix: options.prefix,
        agent: options.agent === true,
        ...(options.root === undefined ? {} : { root: options.root }),
        ...(options.user === false ? {} : { user: options.user }),
        ...(options.group === undefined ? {} : { group: options.group }),
      });
      for (const line of lines) program.output.line(line);
      program.output.document({ error: 0, data: { lines } });
    });
  place('uninstall', 'take the product off this host; configuration, logs and data stay')
    .option('--purge', 'remove configuration, logs, data and the service user, too')
    .action(async (options: UninstallFlags) => {
      const quiet = new ControlOutput(true, () => {}, program.environment.writeError);
      const lines = await uninstall({
        prefix: options.prefix,
        purge: options.purge === true,
        ...(options.root === undefined ? {} : { root: options.root }),
        stop: async (target) => {
          await stopSuite({ ...program.suite(target), output: quiet }, []);
        },
      });
      for (const line of lines) program.output.line(line);
      program.output.document({ error: 0, data: { lines } });
    });
}
