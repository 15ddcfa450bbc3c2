import type { Command } from 'commander';
import { readHomeRecord } from '../../lib/home/home-record.js';
import { certificateCommand } from './certificate-command.js';
import { type ControlProgram, homeOf } from './control-program.js';
import { switchDebug } from './debug-switch.js';
import { backupAgents, restoreAgents } from './registry-backup-command.js';
import { backupSecurity, restoreSecurity } from './security-backup-command.js';
import type { Suite } from './suite-commands.js';
import { INFO_FLAGS, suiteInfo } from './suite-info.js';
import { verifyLogs } from './verify-logs-command.js';

/** Adds what tells of the product and switches what it tells, and what looks after certificate, users and permissions. */
export function addInfoCommands(program: ControlProgram): void {
  program
    .withOperand('info [what...]', 'show version (-v), revision (-r), type (-t)', (what: string[], command) =>
      showInfo(program.suite(homeOf(command)), [...infoFlags(command), ...what]),
    )
    .option('-v', 'only the version')
    .option('-r', 'only the revision')
    .option('-t', 'only the type')
    // The reference answers another flag with a line of its own.
    .allowUnknownOption();
  for (const on of [true, false]) {
    program.withOperand(
      `${on ? 'enable' : 'disable'} <what...>`,
      `debug: daemons log ${on ? 'more' : 'no more'} after their next start`,
      (what: string[], command) => setDebug(program.suite(homeOf(command)), what, on),
    );
  }
  program
    .withoutOperand('certificate', "show the API's certificate; exit code 1 when it ends within 30 days", (command) => {
      const target = homeOf(command);
      const parts = { home: target, record: readHomeRecord(target), output: program.output, now: Date.now };
      return certificateCommand(parts, command.opts<{ renew?: true }>().renew === true);
    })
    .option('--renew', 'make a new one for its key; "reload svc-apid" takes it');
  program.withoutOperand(
    'verify-logs',
    'hold alerts, archives and firewall events of past days against their sums; exit code 1 when some were changed',
    (command) => verifyLogs(program.suite(homeOf(command))),
  );
  program
    .withoutOperand('backup', 'write agents, labels and groups to a file of backup/db, while svc-db runs', (command) =>
      backupAgents(program.suite(homeOf(command)), command.opts<{ list?: true }>().list === true),
    )
    .option('--list', 'show the files there are');
  program.withOperand(
    'restore <name>',
    'put back what such a file knows of the agents that have a key',
    (name: string, command) => restoreAgents(program.suite(homeOf(command)), name),
  );
  program.withOperand(
    'backup-security <file>',
    'write users with their password hashes, roles, policies, security rules and settings to a file',
    (file: string, command) => backupSecurity(program.suite(homeOf(command)), file),
  );
  program.withOperand(
    'restore-security <file>',
    'put back what such a file has, whatever became of the store; all tokens end',
    (file: string, command) => restoreSecurity(program.suite(homeOf(command)), file),
  );
}

function showInfo({ home, record, output }: Suite, what: readonly string[]): number {
  const info = suiteInfo(record.role, home.root);
  const [flag] = what;
  if (flag !== undefined) {
    const value = info.get(INFO_FLAGS.get(flag) ?? '');
    if (value === undefined) {
      output.raw(`Invalid flag: ${flag}\n`);
      return 1;
    }
    output.raw(`${value}\n`);
    return 0;
  }
  for (const [name, value] of info) output.line(`${name}="${value}"`);
  output.document({ error: 0, data: [...info].map(([name, value]) => ({ [name]: value })) });
  return 0;
}

function setDebug({ home, output }: Suite, what: readonly string[], on: boolean): number {
  if (what.length !== 1 || what[0] !== 'debug') throw new Error(`'${what.join(' ')}' is not known; try: debug`);
  switchDebug(home, on);
  output.line(`Debug is ${on ? 'on' : 'off'} from the next start of a daemon on.`);
  output.document({ error: 0, data: { debug: on } });
  return 0;
}

function infoFlags(command: Command): string[] {
  const options = command.opts<Record<string, unknown>>();
  return ['v', 'r', 't'].filter((flag) => options[flag] === true).map((flag) => `-${flag}`);
}
