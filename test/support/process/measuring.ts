import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** CPU seconds of this process, user and system. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** CPU seconds of this process that some work takes. */
export function measured(work: () => void): number {
  const before = cpuSeconds();
  work();
  return cpuSeconds() - before;
}

/** The two figures beside which others can be compared: hashing 512 MiB, and five million runs of a plain RegExp. */
export function calibrate(): { readonly sha256Seconds: number; readonly regExpSeconds: number } {
  const block = Buffer.alloc(1 << 20, 7);
  const sha256Seconds = measured(() => {
    const hash = createHash('sha256');
    for (let i = 0; i < 512; i += 1) hash.update(block);
    hash.digest();
  });
  const expression = /user (\S+) (\d+\.\d+\.\d+\.\d+) port (\d+)/;
  const line = 'Mar 20  9:46:40 web02 sshd[10339]: Disconnected from user ubuntu 10.3.11.191 port 29678 ';
  const regExpSeconds = measured(() => {
    for (let i = 0; i < 5_000_000; i += 1) expression.exec(line);
  });
  return { sha256Seconds, regExpSeconds };
}

/** Lines of a corpus, plain or gzip, as byte strings; empty ones are left out. */
export function readCorpus(path: string): string[] {
  const raw = readFileSync(path);
  const text = (raw[0] === 0x1f && raw[1] === 0x8b ? gunzipSync(raw) : raw).toString('latin1');
  return text.split('\n').filter((line) => line !== '');
}

/** The value below which a share of the values lies. @param sorted not empty */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
