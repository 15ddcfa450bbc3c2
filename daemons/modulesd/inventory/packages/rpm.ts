import { lstatSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { InventoryRow } from '../../../../lib/events/inventory/row-marks.js';
import type { HostFiles } from '../host/host-files.js';
import { parseRpmHeader } from './rpm-header.js';

/** Databases of rpm 4.16 and later, which are files of SQLite. */
const SQLITE = ['/usr/lib/sysimage/rpm/rpmdb.sqlite', '/var/lib/rpm/rpmdb.sqlite'];
/** Those in a form of their own, which is not read. */
const OTHERS = ['/var/lib/rpm/Packages', '/usr/lib/sysimage/rpm/Packages.db', '/var/lib/rpm/Packages.db'];
const HEADERS = 'SELECT blob FROM Packages';

/** What is needed of `node:sqlite`, which Node 20 does not have. */
type Sqlite = {
  readonly DatabaseSync: new (path: string | URL, options: { readonly readOnly: true }) => Database;
};
type Database = {
  prepare(query: string): { iterate(): Iterable<Readonly<Record<string, unknown>>> };
  close(): void;
};

/** Packages of rpm. What cannot be read by this version of Node is noted. @throws Error for a database that is broken */
export async function readRpm(files: HostFiles): Promise<InventoryRow[]> {
  const path = SQLITE.find((one) => isThere(files, one));
  if (path === undefined) {
    const other = OTHERS.find((one) => isThere(files, one));
    if (other !== undefined) files.notes.add('unreadable', `${other} (only databases of rpm 4.16 and later are read)`);
    return [];
  }
  const sqlite = await loadSqlite();
  if (sqlite === undefined) {
    files.notes.add('unreadable', `${path} (Node 22.13 or newer is needed)`);
    return [];
  }
  const database = open(sqlite, files.at(path));
  try {
    const rows: InventoryRow[] = [];
    for (const { blob } of database.prepare(HEADERS).iterate()) {
      const row = blob instanceof Uint8Array ? parseRpmHeader(blob) : undefined;
      if (row !== undefined) rows.push(row);
    }
    return rows;
  } finally {
    database.close();
  }
}

function isThere(files: HostFiles, path: string): boolean {
  return lstatSync(files.at(path), { throwIfNoEntry: false })?.isFile() === true;
}

async function loadSqlite(): Promise<Sqlite | undefined> {
  const name = 'node:sqlite';
  try {
    return (await import(name)) as Sqlite;
  } catch {
    return undefined;
  }
}

/** Without a trace beside the file where this version of Node can; a log that is being written is not read then. */
function open({ DatabaseSync }: Sqlite, path: string): Database {
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  try {
    return new DatabaseSync(url, { readOnly: true });
  } catch {
    return new DatabaseSync(path, { readOnly: true });
  }
}
