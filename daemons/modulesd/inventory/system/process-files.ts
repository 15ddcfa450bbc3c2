/** What `/proc/PID/stat` says; times in ticks. */
export type ProcessStat = {
  readonly name: string;
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly terminal: number;
  readonly userTime: number;
  readonly systemTime: number;
  readonly priority: number;
  readonly nice: number;
  readonly threads: number;
  /** Since the start of the host. */
  readonly startTime: number;
  readonly processor: number;
};

/** Undefined for what is no such line. The name may have blanks and parentheses. */
export function parseStat(text: string): ProcessStat | undefined {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  if (open < 0 || close < open) return undefined;
  const fields = text
    .slice(close + 1)
    .trim()
    .split(/\s+/);
  const [state = ''] = fields;
  // Fields are numbered from 1, and the third one is the state (proc(5)).
  const number = (field: number): number => Number(fields[field - 3] ?? Number.NaN);
  const stat: ProcessStat = {
    name: text.slice(open + 1, close),
    state,
    parent: number(4),
    group: number(5),
    session: number(6),
    terminal: number(7),
    userTime: number(14),
    systemTime: number(15),
    priority: number(18),
    nice: number(19),
    threads: number(20),
    startTime: number(22),
    processor: number(39),
  };
  return Object.values(stat).every((value) => typeof value === 'string' || Number.isSafeInteger(value))
    ? stat
    : undefined;
}

/** What `/proc/PID/status` says: ids as real, effective, saved and of the file system; sizes in kilobytes. */
export type ProcessStatus = {
  readonly threadGroup: number;
  readonly users: readonly number[];
  readonly groups: readonly number[];
  readonly virtualSize: number;
  readonly resident: number;
};

export function parseStatus(text: string): ProcessStatus {
  const values = new Map<string, string>();
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) values.set(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const numbers = (name: string): number[] => (values.get(name) ?? '').split(/\s+/).map(Number);
  const first = (name: string): number => numbers(name)[0] || 0;
  return {
    threadGroup: first('Tgid'),
    users: numbers('Uid'),
    groups: numbers('Gid'),
    virtualSize: first('VmSize'),
    resident: first('VmRSS'),
  };
}

/** Pages of a process and of those the ones it shares, from `/proc/PID/statm`. */
export function parseStatm(text: string): { readonly size: number; readonly shared: number } {
  const [size = 0, , shared = 0] = text.trim().split(/\s+/).map(Number);
  return { size: size || 0, shared: shared || 0 };
}

/** Program and arguments of `/proc/PID/cmdline`; none of a thread of the kernel. */
export function parseCommandLine(bytes: Buffer): string[] {
  const words = bytes.toString('utf8').split('\0');
  while (words.at(-1) === '') words.pop();
  return words;
}
