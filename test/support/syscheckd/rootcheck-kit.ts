import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CheckContext } from '../../../lib/rootcheck/check-context.js';
import type { RootcheckSettings } from '../../../lib/rootcheck/rootcheck-settings.js';
import { removeTree } from '../remove-tree.js';

/** A tree that stands for `/`, with what a check says of it. */
export class RootcheckTree {
  readonly root = mkdtempSync(join(tmpdir(), 'svc-rootcheck-'));
  readonly findings: string[] = [];
  readonly notes: string[] = [];

  path(name: string): string {
    return join(this.root, name);
  }

  /** @param name relative to the tree; directories are made */
  write(name: string, content: string | Buffer = ''): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  settings(settings: Partial<RootcheckSettings> = {}): RootcheckSettings {
    return {
      checks: [],
      base: this.root,
      rootkitFiles: undefined,
      rootkitTrojans: undefined,
      systemAudit: [],
      ignore: [],
      scanAll: false,
      readAll: false,
      skipNfs: false,
      sleepMs: 0,
      ...settings,
    };
  }

  /** What a check is given; findings have `%` for the tree. */
  context(settings: Partial<RootcheckSettings> = {}): CheckContext {
    return {
      settings: this.settings(settings),
      report: (text) => {
        this.findings.push(text.replaceAll(this.root, '%'));
        return Promise.resolve();
      },
      note: (level, text) => this.notes.push(`${level}: ${text.replaceAll(this.root, '%')}`),
      step: () => {},
      pause: () => new Promise((resolve) => setImmediate(resolve)),
    };
  }

  remove(): void {
    removeTree(this.root);
  }
}
