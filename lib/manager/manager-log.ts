import { open } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { ifPresent } from '../files/if-present.js';
import type { Home } from '../home/home.js';

/** Lines of the log that are looked at (daemons-and-config.md 3.8). */
const MAX_LINES = 2000;
/** Bytes read at most: lines are at most some 16 KiB long, most have a hundred. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Tag that stands for every tag with `rootcheck` in it. */
const ROOTCHECK_TAG = 'svc-rootcheck';

export const LOG_LEVELS = ['critical', 'debug', 'debug2', 'error', 'info', 'warning'] as const;
export type ManagerLogLevel = (typeof LOG_LEVELS)[number];

/** Item of `GET /manager/logs`. */
export type ManagerLogEntry = {
  /** `2025-06-01T06:00:00Z` */
  readonly timestamp: string;
  readonly tag: string;
  readonly level: ManagerLogLevel;
  /** With the blank in front that the file has. */
  readonly description: string;
};

/** Counts of a tag's lines by level. */
export type LogCounts = { all: number; info: number; error: number; critical: number; warning: number; debug: number };

const LINE =
  /^(\d{4})\/(\d\d)\/(\d\d)\s(\d\d):(\d\d):(\d\d)\s([^\s:]\S*?)(?:\[.*)?:\s(DEBUG2?|INFO|CRITICAL|ERROR|WARNING):(.*)$/;
const JSON_LINE = z.object({
  timestamp: z.string(),
  tag: z.string(),
  level: z.enum(LOG_LEVELS),
  description: z.string(),
});

/**
 * Entries of the last 2000 lines of the manager log, newest first (daemons-and-config.md 3.8): `logs/manager.log`, or
 * `logs/manager.json` where only that is there. A line that is no entry belongs to the one before it.
 * @returns undefined when there is no log file (code 1020)
 */
export async function readManagerLog(home: Home): Promise<ManagerLogEntry[] | undefined> {
  const plain = await lastLines(join(home.path('logs'), 'manager.log'));
  if (plain !== undefined) return parsePlain(plain).reverse();
  const json = await lastLines(join(home.path('logs'), 'manager.json'));
  return json === undefined ? undefined : parseJson(json).reverse();
}

/** Counts by tag, sorted by tag (`GET /manager/logs/summary`). */
export function summariseLog(entries: readonly ManagerLogEntry[]): Map<string, LogCounts> {
  const counts = new Map<string, LogCounts>();
  for (const { tag, level } of entries) {
    let of = counts.get(tag);
    if (of === undefined) {
      of = { all: 0, info: 0, error: 0, critical: 0, warning: 0, debug: 0 };
      counts.set(tag, of);
    }
    of.all += 1;
    of[level === 'debug2' ? 'debug' : level] += 1;
  }
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function parsePlain(lines: readonly string[]): ManagerLogEntry[] {
  const entries: { timestamp: string; tag: string; level: ManagerLogLevel; description: string }[] = [];
  for (const line of lines) {
    const match = LINE.exec(line);
    if (match === null) {
      const last = entries.at(-1);
      if (last !== undefined) last.description += `\n${line}`;
      continue;
    }
    const [, year, month, day, hour, minute, second, tag = '', level = '', description = ''] = match;
    const [y = 0, mo = 1, d = 1, h = 0, mi = 0, s = 0] = [year, month, day, hour, minute, second].map(Number);
    entries.push({
      timestamp: utc(new Date(y, mo - 1, d, h, mi, s)),
      tag: shownTag(tag),
      level: level.toLowerCase() as ManagerLogLevel,
      description,
    });
  }
  return entries;
}

function parseJson(lines: readonly string[]): ManagerLogEntry[] {
  return lines.flatMap((line) => {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return [];
    }
    const parsed = JSON_LINE.safeParse(value);
    if (!parsed.success) return [];
    const { timestamp, tag, level, description } = parsed.data;
    const time = new Date(timestamp.replace(/^(\d{4})\/(\d\d)\/(\d\d) /, '$1-$2-$3T'));
    if (Number.isNaN(time.getTime())) return [];
    // The plain form has a blank between level and text; clients of either see the same.
    return [{ timestamp: utc(time), tag: shownTag(tag), level, description: ` ${description}` }];
  });
}

function shownTag(tag: string): string {
  return tag.includes('rootcheck') ? ROOTCHECK_TAG : tag;
}

/** The log has local time, the API shows UTC. */
function utc(time: Date): string {
  return time.toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** The last lines of a file; undefined when it is not there. */
async function lastLines(path: string): Promise<string[] | undefined> {
  const file = await ifPresent(() => open(path, 'r'));
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - MAX_BYTES);
    const buffer = Buffer.alloc(size - start);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, start);
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
    // The first line may have lost its beginning, the last one is empty or still being written.
    if (start > 0) lines.shift();
    lines.pop();
    return lines.slice(-MAX_LINES);
  } finally {
    await file.close();
  }
}
