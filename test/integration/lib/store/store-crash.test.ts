import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import * as z from 'zod';
import { LmdbStore } from '../../../../lib/store/lmdb-store.js';
import { eventually } from '../../../support/eventually.js';
import { removeTree } from '../../../support/remove-tree.js';

const CHILD = fileURLToPath(new URL('../../../support/store/store-child.js', import.meta.url));

describe('LMDB store in a process that is killed, or that finds the disk full', () => {
  let directory: string;
  let child: ChildProcess | undefined;
  let output: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-store-'));
  });

  afterEach(async () => {
    await kill();
    removeTree(directory);
  });

  function start(command: string, args: readonly string[]): ChildProcess {
    output = '';
    const started = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [started.stdout, started.stderr]) {
      stream.on('data', (data: Buffer) => (output += String(data)));
    }
    child = started;
    return started;
  }

  async function kill(): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  }

  it('opens with whole transactions and everything that was acknowledged, after kill -9 at any moment', async () => {
    for (let round = 0; round < 4; round += 1) {
      start(process.execPath, [CHILD, 'pairs', directory]);
      const lines = 3 + 17 * round;
      await eventually('commits are acknowledged', () => output.split('\n').length > lines);
      await kill();
      const acknowledged = Number(output.split('\n').at(-2));

      const store = await LmdbStore.open({ directory, tables: ['left', 'right'] });
      try {
        const left = [...store.table<number, string>('left', z.string()).entries()];
        const right = [...store.table<number, string>('right', z.string()).entries()];
        expect(left.length).to.equal(right.length).and.to.be.greaterThan(acknowledged);
        for (const [index, [key, value]] of left.entries()) {
          expect([key, value]).to.deep.equal([index, `l${index}`]);
          expect(right[index]).to.deep.equal([index, `r${index}`]);
        }
      } finally {
        await store.close();
      }
    }
  }).timeout(30_000);

  it('refuses a commit on a full disk, goes on with smaller ones, and opens again', async () => {
    const program = start('bash', [
      '-c',
      `ulimit -f 12000; exec "$0" "$@"`,
      process.execPath,
      CHILD,
      'fill',
      directory,
    ]);
    await once(program, 'close');
    expect(program.exitCode, output).to.equal(0);
    expect(output).to.equal('refused full undone 1\nlast absent\nsmall changed\n');

    const store = await LmdbStore.open({ directory, tables: ['left', 'right'] });
    try {
      expect(store.table<number, string>('left', z.string()).get(0)).to.equal('changed');
    } finally {
      await store.close();
    }
  }).timeout(30_000);
});
