import { MERGED_FILE } from '../../../lib/agentlink/merged-file.js';

/** What agents read their remote configuration from. */
export const AGENT_CONF = 'agent.conf';
/** Active responses; every group has it. */
export const AR_CONF = 'ar.conf';

/** Whether a file or folder is never shared, whatever it holds (agents-and-groups.md 6.4). */
export function isNeverShared(name: string): boolean {
  return name.startsWith('.') || name.startsWith(MERGED_FILE) || name.endsWith('.tmp');
}

/** Path as people see it in the log. */
export function sharedPath(...parts: readonly string[]): string {
  return ['etc/shared', ...parts].join('/');
}

/**
 * Order of the files in a merged file: by bytes, folder by folder (6.3), which is that of the whole names with a
 * separator below every other character.
 */
export function compareSharedNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** UTF-16 puts surrogates before U+E000, UTF-8 behind U+FFFF. */
function rank(unit: number): number {
  if (unit === 0x2f) return 0;
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
}
