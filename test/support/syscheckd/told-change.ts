import type { FileAttributes } from '../../../lib/events/fim/file-attributes.js';

/** A change as an event of queue 8 tells it (integrity-and-inventory.md 4.2). */
export type ToldChange = {
  readonly path: string;
  readonly change: 'added' | 'modified' | 'deleted';
  readonly mode: string;
  readonly timestamp: number;
  readonly attributes: FileAttributes;
  readonly before: FileAttributes | undefined;
  readonly changed: readonly string[];
  readonly contentChanges: string | undefined;
  readonly tags: string | undefined;
};

type EventJson = {
  readonly type: string;
  readonly data: Omit<ToldChange, 'change' | 'before' | 'changed' | 'contentChanges'> & {
    readonly type: ToldChange['change'];
    readonly old_attributes?: FileAttributes;
    readonly changed_attributes?: readonly string[];
    readonly content_changes?: string;
  };
};

/** Takes an event apart. @param text byte string @returns undefined for a mark of a scan */
export function toldChange(text: string): ToldChange | undefined {
  const { type, data } = JSON.parse(text) as EventJson;
  if (type !== 'event') return undefined;
  const { path, mode, timestamp, attributes, tags } = data;
  return {
    path,
    change: data.type,
    mode,
    timestamp,
    attributes,
    before: data.old_attributes,
    changed: data.changed_attributes ?? [],
    contentChanges: data.content_changes,
    tags,
  };
}
