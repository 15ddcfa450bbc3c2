import type { ApiClient } from '../support/api/api-client.js';
import type { ApiList } from '../support/api/api-list.js';
import type { FileFacts } from './file-facts.js';

/** A record of a file as the API gives it. */
export type FileRecord = { readonly facts: FileFacts; readonly changes: number };

const PAGE = 5000;

/** `GET /syscheck/000`, all pages. @throws Error when it is not answered */
export async function readRecords(api: ApiClient): Promise<Map<string, FileRecord>> {
  const records = new Map<string, FileRecord>();
  for (let offset = 0; ; offset += PAGE) {
    const answer = await api.call('GET', `/syscheck/000?sort=%2Bfile&limit=${String(PAGE)}&offset=${String(offset)}`);
    if (answer?.status !== 200) throw new Error(`GET /syscheck/000: ${answer?.text ?? 'no answer'}`);
    const { affected_items: items, total_affected_items: total } = (answer.json() as ApiList).data;
    for (const item of items) records.set(text(item['file']), recordOf(item));
    if (offset + PAGE >= total) return records;
  }
}

function recordOf(item: Readonly<Record<string, unknown>>): FileRecord {
  return {
    facts: {
      size: text(item['size']),
      perm: text(item['perm']),
      uid: text(item['uid']),
      gid: text(item['gid']),
      md5: text(item['md5']),
      sha1: text(item['sha1']),
      sha256: text(item['sha256']),
      mtime: String(Date.parse(text(item['mtime'])) / 1000),
      inode: text(item['inode']),
    },
    changes: Number(item['changes']),
  };
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
