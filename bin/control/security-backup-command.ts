import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { apidContract } from '../../lib/bus/contracts/apid.js';
import { RequestClient } from '../../lib/bus/request-client.js';
import type { DaemonCatalogue } from '../../lib/control/daemon-catalogue.js';
import { RunFiles } from '../../lib/daemon/run-files.js';
import { withRegularFileSync } from '../../lib/files/regular-file.js';
import { writeFileAtomically } from '../../lib/files/write-file-atomically.js';
import type { Home } from '../../lib/home/home.js';
import type { HomeRecord } from '../../lib/home/home-record.js';
import { describeError } from '../../lib/log/describe-error.js';
import {
  type BackupSummary,
  madeBackup,
  MAX_BACKUP_BYTES,
  type RestoreReport,
  restoreReport,
  SECURITY_TASK_FLAG,
  type SecurityCounts,
  type SecurityTask,
} from '../../lib/security/security-backup.js';
import type { ControlOutput } from './control-output.js';
import { liveProcess } from './supervisor/live-process.js';

/** A store of 10,000 objects of each kind is read, or checked and written, in seconds. */
const DEADLINE_MS = 120_000;
/** Only whoever makes a backup reads it: password hashes are in it. */
const BACKUP_MODE = 0o600;

/** What the commands work on. */
export type SecurityBackupParts = {
  readonly home: Home;
  readonly record: HomeRecord;
  readonly catalogue: DaemonCatalogue;
  readonly output: ControlOutput;
};

/**
 * `svc-control backup-security FILE`: users with their password hashes, roles, policies, security rules and security
 * settings in one file. A running svc-apid gives it away; while none runs, one that is started for it.
 * @throws Error with one clear line
 */
export async function backupSecurity(parts: SecurityBackupParts, file: string): Promise<0> {
  const { output } = parts;
  const { text, summary } = isRunning(parts) ? await askForBackup(parts) : await makeBackup(parts);
  try {
    writeFileAtomically(file, text, { mode: BACKUP_MODE, durable: true });
  } catch (error) {
    throw new Error(`the backup cannot be written: ${describeError(error)}`, { cause: error });
  }
  output.line(`Backed up to ${file}: ${inWords(summary.counts)}.`);
  output.line('It has the hashes of passwords: keep it where nobody else reads it.');
  output.document({ error: 0, data: { file, ...summary } });
  return 0;
}

/**
 * `svc-control restore-security FILE`: has users and permissions of a backup instead of what there is, or of a store that
 * cannot be used any more, and ends all tokens.
 * @returns 1 when something of it is left to be mended
 * @throws Error with one clear line; nothing was changed then
 */
export async function restoreSecurity(parts: SecurityBackupParts, file: string): Promise<0 | 1> {
  const { output } = parts;
  const text = readBackupFile(file);
  let report: RestoreReport;
  try {
    report = isRunning(parts) ? await askForRestore(parts, text) : await makeRestore(parts, text);
  } catch (error) {
    throw new Error(`'${file}' was not restored: ${describeError(error)}`, { cause: error });
  }
  output.line(`Restored the backup of ${report.made}: ${inWords(report.counts)}.`);
  if (report.before !== undefined) output.line(`Before there were ${inWords(report.before)}: ${report.kept ?? ''}`);
  if (report.setAside !== undefined) output.line(`The store that could not be used is in ${report.setAside}`);
  output.line(`Administrators: ${report.administrators.join(', ')}.`);
  output.line('All tokens have ended: everybody logs in again, with the passwords of the backup.');
  for (const warning of report.warnings) output.problem(warning);
  output.document({ error: 0, data: { file, ...report } });
  return report.warnings.length === 0 ? 0 : 1;
}

function isRunning({ home, record }: SecurityBackupParts): boolean {
  if (record.role !== 'server') throw new Error('an agent has no API, and so no users');
  return liveProcess(new RunFiles(home, 'svc-apid')) !== undefined;
}

async function askForBackup({ home }: SecurityBackupParts): Promise<{ text: string; summary: BackupSummary }> {
  const { gzip: bytes, summary } = await withApid(home, (client) =>
    client.call('security.backup', {}, { deadlineMs: DEADLINE_MS }),
  );
  const text = await promisify(gunzip)(bytes, { maxOutputLength: MAX_BACKUP_BYTES });
  return { text: text.toString('utf8'), summary };
}

async function askForRestore({ home }: SecurityBackupParts, text: string): Promise<RestoreReport> {
  const bytes = await promisify(gzip)(text);
  return withApid(home, (client) => client.call('security.restore', { gzip: bytes }, { deadlineMs: DEADLINE_MS }));
}

async function withApid<T>(home: Home, ask: (client: RequestClient<typeof apidContract>) => Promise<T>): Promise<T> {
  const client = new RequestClient({ contract: apidContract, path: home.socket('svc-apid') });
  try {
    return await ask(client);
  } finally {
    client.close();
  }
}

async function makeBackup(parts: SecurityBackupParts): Promise<{ text: string; summary: BackupSummary }> {
  return madeBackup.parse(JSON.parse(await runTask(parts, 'backup', '')));
}

async function makeRestore(parts: SecurityBackupParts, text: string): Promise<RestoreReport> {
  return restoreReport.parse(JSON.parse(await runTask(parts, 'restore', text)));
}

/** Has svc-apid do it as a process of its own, which becomes the service user. @throws Error with what it said */
function runTask({ home, catalogue }: SecurityBackupParts, task: SecurityTask, input: string): Promise<string> {
  const program = catalogue.program('svc-apid');
  if (program === undefined) throw new Error('svc-apid is not available in this version');
  const child = spawn(program.command, [...program.args, SECURITY_TASK_FLAG, task, '--home', home.root], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  return new Promise((resolveWith, reject) => {
    const said = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (text: string) => (said[stream] += text));
    }
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolveWith(said.stdout);
      else reject(new Error(said.stderr.trim() || `svc-apid ended with ${String(signal ?? code)} and said nothing`));
    });
    // One that has ended says why.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

/** @throws Error for what is no file, or is larger than a backup can be */
function readBackupFile(file: string): string {
  try {
    return withRegularFileSync(
      resolve(file),
      (descriptor, { size }) => {
        if (size > MAX_BACKUP_BYTES) throw new Error(`it is larger than a backup: ${MAX_BACKUP_BYTES} bytes`);
        return readFileSync(descriptor, 'utf8');
      },
      { follow: true },
    );
  } catch (error) {
    throw new Error(`the backup '${file}' cannot be read: ${describeError(error)}`, { cause: error });
  }
}

function inWords({ users, roles, policies, rules }: SecurityCounts): string {
  return `${users} users, ${roles} roles, ${policies} policies, ${rules} security rules`;
}
