import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { HostFiles } from '../../../daemons/modulesd/inventory/host/host-files.js';
import { type Note, ScanNotes } from '../../../daemons/modulesd/inventory/host/scan-notes.js';
import { removeTree } from '../remove-tree.js';

/** A directory that stands for the root of a host. */
export class FakeRoot {
  readonly path = mkdtempSync(join(tmpdir(), 'svc-root-'));
  #notes = new ScanNotes();

  /** @param path from the root @returns where it really lies */
  write(path: string, content: string | Uint8Array): string {
    const real = this.at(path);
    mkdirSync(dirname(real), { recursive: true });
    writeFileSync(real, content);
    return real;
  }

  /** @param target as it stands in the link */
  link(path: string, target: string): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    symlinkSync(target, this.at(path));
  }

  at(path: string): string {
    return join(this.path, path);
  }

  /** The files of the host as a scan reads them, with notes of its own. */
  files(): HostFiles {
    this.#notes = new ScanNotes();
    return new HostFiles(this.path, this.#notes);
  }

  /** Of the last `files`. */
  get notes(): Note[] {
    return this.#notes.all;
  }

  remove(): void {
    removeTree(this.path);
  }
}
