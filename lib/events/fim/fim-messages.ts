import { AgentMessageError } from '../sync/agent-message-error.js';
import type { RangeCheck, SyncRow, SyncStep } from '../sync/sync-step.js';
import { cutDiff } from './cut-diff.js';
import type { ChangeName, FileAttributes } from './file-attributes.js';
import type { FimComponent } from './fim-component.js';
import type { FimChangeKind } from './fim-names.js';

/*
 * Messages of file integrity monitoring (integrity-and-inventory.md 4). Texts are byte strings and so are the messages:
 * their bytes are `bytesOf(message)`, and a path that is no UTF-8 arrives as it is.
 */

/** Location of the events, and name of the component of the agent's table of files. */
export const FIM_LOCATION = 'syscheck';
export const FIM_FILE = 'fim_file';

/** How a change was noticed. */
export type FimMode = 'scheduled' | 'realtime' | 'whodata';

/** A change of a file as its event is to tell it (4.2). */
export type FileChange = {
  readonly path: string;
  readonly mode: FimMode;
  readonly type: FimChangeKind;
  /** Epoch seconds when the file was read; for a deletion when it was last read. */
  readonly timestamp: number;
  /** New values; of a deleted file the last known. */
  readonly attributes: FileAttributes;
  /** All previous values and what differs; of `modified` alone. */
  readonly before?: { readonly attributes: FileAttributes; readonly changed: readonly ChangeName[] } | undefined;
  /** Text of report_changes, of `modified` alone. It is cut until the event fits. */
  readonly contentChanges?: string | undefined;
  /** As configured after cleaning, joined by commas. */
  readonly tags?: string | undefined;
};

/** `scan_start` or `scan_end` (4.1). @param timestamp epoch seconds */
export function scanMark(type: 'scan_start' | 'scan_end', timestamp: number): string {
  return JSON.stringify({ type, data: { timestamp } });
}

/**
 * The event of a change (4.2).
 * @param maxBytes it may take: a text of changes is cut for it
 * @throws AgentMessageError `too_long` when it does not fit even without its diff
 */
export function fimEvent(change: FileChange, maxBytes: number): string {
  const text = eventText(change, change.contentChanges);
  if (text.length <= maxBytes) return text;
  const bare = eventText(change, change.contentChanges === undefined ? undefined : '');
  // Escaping makes a diff longer than it was when it was cut first (15.35).
  const room = maxBytes - bare.length;
  if (change.contentChanges === undefined || room < 0) {
    throw new AgentMessageError('too_long', `The event of a file takes ${bare.length} bytes without its diff`);
  }
  return eventText(
    change,
    cutDiff(change.contentChanges, room, (line) => JSON.stringify(line).length - 2),
  );
}

function eventText(change: FileChange, contentChanges: string | undefined): string {
  const { path, mode, type, timestamp, attributes, before, tags } = change;
  return JSON.stringify({
    type: 'event',
    data: {
      path,
      // The reference's two ways of noticing a change differ here; nobody reads it for files (15.6).
      version: mode === 'scheduled' || type === 'deleted' ? 2 : '2.0',
      mode,
      type,
      timestamp,
      attributes: { type: 'file', ...attributes },
      ...(before && {
        old_attributes: { type: 'file', ...before.attributes },
        changed_attributes: before.changed,
      }),
      ...(contentChanges !== undefined && { content_changes: contentChanges }),
      ...(tags !== undefined && tags !== '' && { tags }),
    },
  });
}

/** A row of the agent's table as a `state` carries it. */
export type FimRow = SyncRow & {
  readonly attributes: FileAttributes;
  /** The real one, decimal: sent whether or not it is watched. */
  readonly inode: string;
  /** Epoch seconds of the last reading. */
  readonly lastEvent: number;
};

/** A step of the synchronisation as its message for queue 5, keys in alphabetical order (4.3). */
export function syncMessage(component: FimComponent, step: SyncStep<FimRow>): string {
  return JSON.stringify({ component, data: stepData(step), type: step.type });
}

function stepData(step: SyncStep<FimRow>): object {
  switch (step.type) {
    case 'integrity_clear':
      return { id: step.id };
    case 'integrity_check_global':
    case 'integrity_check_right':
      return checkData(step.check);
    case 'integrity_check_left':
      return { ...checkData(step.check), tail: step.check.tail };
    case 'state':
      return { attributes: stateAttributes(step.row), index: step.row.key, timestamp: step.row.lastEvent };
  }
}

function checkData({ begin, checksum, end, id }: RangeCheck): object {
  return { begin, checksum, end, id };
}

/** Every attribute, those not set as `""` or `0` (4.3). */
function stateAttributes({ attributes: set, inode }: FimRow): object {
  return {
    attributes: set.attributes ?? '',
    checksum: set.checksum,
    gid: set.gid ?? '',
    group_name: set.group_name ?? '',
    hash_md5: set.hash_md5 ?? '',
    hash_sha1: set.hash_sha1 ?? '',
    hash_sha256: set.hash_sha256 ?? '',
    inode,
    mtime: set.mtime ?? 0,
    perm: set.perm ?? '',
    size: set.size ?? 0,
    type: 'file',
    uid: set.uid ?? '',
    user_name: set.user_name ?? '',
  };
}
