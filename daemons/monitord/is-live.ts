import { lstatSync } from 'node:fs';

/** Whether a live name still leads to a dated file: svc-analysisd has not gone on to another (rules-and-alerts.md 7.8). */
export function isLive(liveName: string, path: string): boolean {
  const live = lstatSync(liveName, { throwIfNoEntry: false });
  const dated = lstatSync(path, { throwIfNoEntry: false });
  return live !== undefined && dated !== undefined && live.ino === dated.ino && live.dev === dated.dev;
}
