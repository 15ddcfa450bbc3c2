import { type Command, Option } from 'commander';
import { type CommandKit, EXIT } from './command-kit.js';
import { complete } from './complete.js';
import { COMPLETION_SCRIPTS, type CompletionShell } from './completion-scripts.js';
import { loadOperations } from './operations.js';

/** Adds `completion`, which prints a script for a shell, and what that script asks at every TAB. */
export function addCompletionCommands(program: Command, { streams, ended }: CommandKit): void {
  const shells = Object.keys(COMPLETION_SCRIPTS);
  program
    .command('completion')
    .description(`print the script that completes commands, paths and parameters: ${shells.join(', ')}`)
    .addArgument(program.createArgument('<shell>', 'which shell it is for').choices(shells))
    .action(async (shell: CompletionShell) => {
      await streams.write(COMPLETION_SCRIPTS[shell]);
      ended(EXIT.fine);
    });
  program
    .command('__complete <line>', { hidden: true })
    .addOption(new Option('--descriptions', 'what each is, after a tab'))
    .action(async (line: string, options: { readonly descriptions?: true }) => {
      const commands = program.commands.filter((command) => !command.name().startsWith('_'));
      const offers = complete(line, loadOperations(), commands);
      const text = ({ word, description }: (typeof offers)[number]): string =>
        options.descriptions === true ? `${word.trimEnd()}\t${description}\n` : `${word}\n`;
      await streams.write(offers.map(text).join(''));
      ended(EXIT.fine);
    });
}
