// Notes how long each file of tests takes, and how much CPU it and what it starts do: with --parallel several processes run them,
// and a reporter does not see hooks, in which daemons start and stop. Each file is a line of JSON in the file that
// SVC_TEST_DURATIONS names.
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { performance } from 'node:perf_hooks';

const path = process.env.SVC_TEST_DURATIONS;
/** When the file before ended: what follows is the import of the next one. */
let ended = performance.now();
let cpuBefore = cpuSeconds();

/** Fields of /proc/self/stat behind the name of the program: utime, stime, cutime, cstime; in ticks, of which Linux has 100 a second. */
const CPU_FIELDS = [11, 12, 13, 14];
const TICKS = 100;

/** @returns seconds of CPU of this process, and of what it started that has ended; nothing where there is no /proc */
function cpuSeconds() {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [user, system, startedUser, startedSystem] = CPU_FIELDS.map((at) => Number(fields[at]) / TICKS);
    return { own: user + system, started: startedUser + startedSystem };
  } catch {
    return { own: 0, started: 0 };
  }
}

/** Loaded with --require: once a file, in the process that runs it. */
export const mochaHooks = {
  afterAll() {
    const now = performance.now();
    const cpu = cpuSeconds();
    const file = this.test?.parent?.suites[0]?.file;
    if (path !== undefined && file !== undefined) {
      const { own, started } = { own: cpu.own - cpuBefore.own, started: cpu.started - cpuBefore.started };
      const line = { file: relative(process.cwd(), file), milliseconds: now - ended, own, started };
      appendFileSync(path, `${JSON.stringify(line)}\n`);
    }
    ended = now;
    cpuBefore = cpu;
  },
};

/**
 * @param lines what was noted
 * @returns the longest files, longest first, as lines for people
 */
export function longestFiles(lines, count) {
  const files = lines.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  return files
    .sort((one, other) => other.milliseconds - one.milliseconds)
    .slice(0, count)
    .map(({ file, milliseconds, own, started }) => {
      const [time, cpu] = [milliseconds / 1000, own + started].map((seconds) => seconds.toFixed(1).padStart(6));
      return `${time} s, ${cpu} s of CPU  ${file}`;
    });
}

/** @returns seconds of CPU of all files */
export function cpuOfFiles(lines) {
  const files = lines.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  return files.reduce((sum, { own, started }) => sum + own + started, 0);
}

/** @returns what was noted in a file, nothing where no test ran */
export function readDurations(from) {
  try {
    return readFileSync(from, 'utf8');
  } catch {
    return '';
  }
}
