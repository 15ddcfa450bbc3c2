import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Home } from '../../lib/home/home.js';
import { removeTree } from './remove-tree.js';

/** A home with the directories and the record a daemon needs, in the system's temporary directory or below another. */
export class TemporaryHome extends Home {
  constructor(record: Record<string, unknown> = { version: 1, role: 'server' }, below = tmpdir()) {
    super(mkdtempSync(join(below, 'svc-')));
    for (const directory of ['etc', 'logs', 'var/run', 'tmp', 'bin', 'queue']) {
      mkdirSync(this.path(directory), { recursive: true });
    }
    writeFileSync(this.path('etc', 'home.json'), JSON.stringify(record));
  }

  remove(): void {
    removeTree(this.root);
  }
}
