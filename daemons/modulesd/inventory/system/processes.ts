import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import type { HostFiles } from '../host/host-files.js';
import { known } from '../host/known.js';
import { type Accounts, namesOfIds } from './accounts.js';
import {
  parseCommandLine,
  parseStat,
  parseStatm,
  parseStatus,
  type ProcessStat,
  type ProcessStatus,
} from './process-files.js';

/** Ticks of a second, as every Linux tells them to programs. */
const TICKS = 100;
/** Bytes of a command line that are read: no message holds more. */
const MOST_COMMAND_BYTES = 64 * 1024;
/**
 * Bytes of all command lines, and what is read of each further one: the children of a process share its arguments, so ten thousand
 * with long ones cost their owner nothing, and would take the memory of the scan.
 */
const MOST_COMMANDS_BYTES = 32 * 1024 * 1024;
const LEAST_COMMAND_BYTES = 512;

/** Everything about one process. */
export type ProcessFacts = {
  readonly pid: number;
  readonly stat: ProcessStat;
  readonly status: ProcessStatus;
  readonly memory: { readonly size: number; readonly shared: number };
  readonly command: readonly string[];
};

/** Names of ids, and when the host was started (epoch seconds). */
export type ProcessNames = {
  readonly user: (id: number | undefined) => string;
  readonly group: (id: number | undefined) => string;
  readonly bootTime: number;
};

/** Processes of the host: table `processes`. Those that end meanwhile are left out. */
export function readProcesses(files: HostFiles, accounts: Accounts): InventoryRow[] {
  const users = namesOfIds(accounts.users.map(({ uid, name }) => [uid, name] as const));
  const groups = namesOfIds(accounts.groups.map(({ gid, name }) => [gid, name] as const));
  const [, boot = '0'] = /^btime (\d+)/m.exec(files.text('/proc/stat')) ?? [];
  const names: ProcessNames = {
    user: (id) => nameOf(users, id),
    group: (id) => nameOf(groups, id),
    bootTime: Number(boot),
  };
  let room = MOST_COMMANDS_BYTES;
  const readCommand = (path: string): Buffer => {
    const most = Math.max(LEAST_COMMAND_BYTES, Math.min(MOST_COMMAND_BYTES, room));
    const bytes = files.beginning(path, most) ?? Buffer.alloc(0);
    room -= bytes.length;
    if (most < MOST_COMMAND_BYTES && bytes.length === most) files.notes.add('cut', path);
    return bytes;
  };
  return files.names('/proc').flatMap((name) => {
    const facts = /^\d+$/.test(name) ? processFacts(files, Number(name), readCommand) : undefined;
    return facts === undefined ? [] : [processRow(facts, names)];
  });
}

function processFacts(files: HostFiles, pid: number, readCommand: (path: string) => Buffer): ProcessFacts | undefined {
  const directory = `/proc/${String(pid)}`;
  const stat = parseStat(files.text(`${directory}/stat`));
  if (stat === undefined) return undefined;
  return {
    pid,
    stat,
    status: parseStatus(files.text(`${directory}/status`)),
    memory: parseStatm(files.text(`${directory}/statm`)),
    command: parseCommandLine(readCommand(`${directory}/cmdline`)),
  };
}

export function processRow({ pid, stat, status, memory, command }: ProcessFacts, names: ProcessNames): InventoryRow {
  const [program, ...args] = command;
  const [realUser, effectiveUser, savedUser] = status.users;
  const [realGroup, effectiveGroup, savedGroup, fileGroup] = status.groups;
  return {
    pid: String(pid),
    name: stat.name,
    state: stat.state,
    ppid: stat.parent,
    utime: stat.userTime,
    stime: stat.systemTime,
    cmd: known(program ?? stat.name),
    argvs: args.join(' '),
    euser: names.user(effectiveUser),
    ruser: names.user(realUser),
    suser: names.user(savedUser),
    egroup: names.group(effectiveGroup),
    rgroup: names.group(realGroup),
    sgroup: names.group(savedGroup),
    fgroup: names.group(fileGroup),
    priority: stat.priority,
    nice: stat.nice,
    // Pages, and kilobytes below, as agents of 4.x have them (agent-transcript.md 9).
    size: memory.size,
    vm_size: status.virtualSize,
    resident: status.resident,
    share: memory.shared,
    start_time: names.bootTime + Math.floor(stat.startTime / TICKS),
    pgrp: stat.group,
    session: stat.session,
    nlwp: stat.threads,
    tgid: status.threadGroup,
    tty: stat.terminal,
    processor: stat.processor,
  };
}

function nameOf(names: ReadonlyMap<number, string>, id: number | undefined): string {
  if (id === undefined || !Number.isSafeInteger(id)) return known(undefined);
  return names.get(id) ?? String(id);
}
