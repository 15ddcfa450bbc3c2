// Runs a command that must not be able to hang: within a time limit, with its output in a file of its own, so that a
// process it leaves behind holds nobody's pipe open, and ends such processes when it is done. Uses nothing but Node.
import { spawn } from 'node:child_process';
import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';

/** The whole check takes about 5 minutes on 2 cores; a machine several times slower is to end, too. */
const LIMIT_MS = 45 * 60_000;
const POLL_MS = 200;
/** Inherited by everything the command starts, whatever session or parent it moves to. */
const MARK = `SVC_WATCHED_RUN=${randomUUID()}`;

const [command, ...args] = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), 'svc-run-'));
const path = join(directory, 'output');
const output = openSync(path, 'a');
const input = openSync(path, 'r');
const [name, value] = MARK.split('=');
const child = spawn(command, args, {
  stdio: ['ignore', output, output],
  env: { ...process.env, [name]: value },
  detached: true,
});

let tail = '';
const chunk = Buffer.alloc(64 * 1024);
function copy() {
  for (;;) {
    const length = readSync(input, chunk, 0, chunk.length, null);
    if (length === 0) return;
    process.stdout.write(chunk.subarray(0, length));
    tail = (tail + chunk.toString('latin1', 0, length)).slice(-1000);
  }
}

/** Processes with the mark, other than this one. */
function marked() {
  const found = [];
  if (!existsSync('/proc')) return found;
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) continue;
    try {
      if (!readFileSync(`/proc/${entry}/environ`, 'latin1').split('\0').includes(MARK)) continue;
      found.push({ pid: Number(entry), title: readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ') });
    } catch {
      // It ended meanwhile, or is not ours.
    }
  }
  return found;
}

function endMarked(what) {
  for (const { pid, title } of marked()) {
    console.error(`${what}: ${pid} ${title.slice(0, 200)}`);
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended meanwhile.
    }
  }
}

let status;
const poll = setInterval(copy, POLL_MS);
const limit = setTimeout(() => {
  copy();
  console.error(`\n'${command} ${args.join(' ')}' did not end within ${LIMIT_MS / 60_000} minutes.`);
  endMarked('Ended');
  // Its own answer to the kill sets the status; the line below closes the output.
  status = 1;
}, LIMIT_MS);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    endMarked(`Ended by ${signal}`);
    status = 1;
  });
}
child.on('error', (error) => {
  clearInterval(poll);
  clearTimeout(limit);
  rmSync(directory, { recursive: true, force: true });
  console.error(`'${command}' cannot be run: ${error.message}`);
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
});
child.on('exit', (code) => {
  clearInterval(poll);
  clearTimeout(limit);
  copy();
  status ??= code ?? 1;
  closeSync(input);
  closeSync(output);
  rmSync(directory, { recursive: true, force: true });
  endMarked('Left behind and ended');
  // npm may have said more behind the runner's closing line.
  const closing = tail.match(/^\d+ passed, \d+ failed.*$/gm)?.at(-1);
  if (closing === undefined) status ||= 1;
  if (closing === undefined || !tail.trimEnd().endsWith(closing)) console.log(closing ?? '0 passed, 1 failed');
  process.exitCode = status;
});
