import { TAKEN } from '../../client/alert-filters.js';

/** What an alert of file integrity tells of a change (integrity-and-inventory.md 5). */
export type FileAlert = {
  readonly alert_id: string;
  readonly timestamp: string;
  readonly rule: { readonly id: string; readonly level: number; readonly description: string };
  readonly syscheck?: {
    readonly path?: string;
    readonly event?: string;
    readonly mode?: string;
    readonly changed_attributes?: readonly string[];
    readonly diff?: string;
  };
};

/** Parts of a text between characters that a value of `q` cannot have. */
const SAYABLE = new RegExp(`${TAKEN.source}+`, 'gu');

/**
 * `q` for the alerts about a file. A path that `q` cannot say as it is finds those with its longest part that can be said:
 * `isAbout` leaves the others out.
 */
export function historyQuery(path: string): string {
  const parts = path.match(SAYABLE) ?? [];
  if (parts[0] === path && path.trim() === path) return `syscheck.path=${path}`;
  const [longest = ''] = parts.map((part) => part.trim()).sort((one, other) => other.length - one.length);
  return longest === '' ? 'rule.groups=syscheck' : `syscheck.path~${longest}`;
}

/** Whether an alert is about this very file. */
export function isAbout({ syscheck }: FileAlert, path: string): boolean {
  return syscheck?.path === path;
}
