import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.js';
import { JournalKit, readAll } from '../../../support/journal/journal-kit.js';

const SCRIPT = fileURLToPath(new URL('../../../support/journal/journal-child.js', import.meta.url));

/** What a child has said of each of its appends. */
type Said = {
  readonly acknowledged: Map<number, number>;
  readonly refused: Map<number, string>;
  readonly damage: string[];
};

describe('journal of a process that is killed', () => {
  let kit: JournalKit;
  let child: ChildProcess | undefined;
  beforeEach(() => {
    kit = new JournalKit();
  });
  afterEach(async () => {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    kit.remove();
  });

  /** Starts a child, waits until it has said so many lines or ended, kills it, and gives what it has said. */
  async function run(command: readonly string[], lines: number): Promise<Said> {
    const [program = '', ...rest] = command;
    const started = spawn(program, rest, { stdio: ['ignore', 'pipe', 'ignore'] });
    child = started;
    const closed = once(started, 'close');
    let output = '';
    started.stdout.on('data', (data: Buffer) => (output += data.toString()));
    await eventually('enough is appended', () => output.split('\n').length > lines || started.exitCode !== null);
    started.kill('SIGKILL');
    await closed;
    const said: Said = { acknowledged: new Map(), refused: new Map(), damage: [] };
    // The last line may be torn, as the process is.
    for (const line of output.slice(0, output.lastIndexOf('\n')).split('\n')) {
      const [kind, number, more = ''] = line.split(' ');
      if (kind === 'ok') said.acknowledged.set(Number(number), Number(more));
      else if (kind === 'no') said.refused.set(Number(number), more);
      else said.damage.push(line);
    }
    return said;
  }

  /** Numbers of all records by position, in order; every payload is checked. */
  async function numbers(): Promise<Map<number, number>> {
    const journal = await kit.open({ segmentBytes: 64 * 1024 });
    const reader = journal.reader(journal.start);
    const { records, damage } = readAll(reader);
    reader.close();
    await journal.close();
    expect(damage).to.deep.equal([]);
    const found = new Map<number, number>();
    for (const { position, payload, writtenAt } of records) {
      const number = payload.readDoubleLE();
      expect(writtenAt).to.equal(number);
      expect(payload.length).to.equal(8 + ((number * 7919) % 3000));
      expect(payload.subarray(8).every((byte) => byte === number % 251)).to.equal(true);
      expect([...found.values()].includes(number), `${number} is there twice`).to.equal(false);
      found.set(position, number);
    }
    return found;
  }

  for (const sync of ['batch', '5', 'never']) {
    it(`holds all that was acknowledged, each in its place, after several kills (sync ${sync})`, async () => {
      const acknowledged = new Map<number, number>();
      let next = 0;
      for (const lines of [1, 40, 150]) {
        const said = await run([process.execPath, SCRIPT, kit.directory, sync, String(next)], lines);
        expect(said.refused.size).to.equal(0);
        expect(said.damage.filter((line) => line !== 'damage torn')).to.deep.equal([]);
        for (const [number, position] of said.acknowledged) acknowledged.set(number, position);
        const found = await numbers();
        for (const [number, position] of acknowledged) expect(found.get(position)).to.equal(number);
        next = Math.max(0, ...found.values()) + 100_000;
      }
      expect(acknowledged.size).to.be.at.least(190);
      for (const { kind } of kit.damage) expect(kind).to.equal('torn');
    });
  }

  it('takes back what a full disk has cut short, and holds what was acknowledged before', async () => {
    // A limit on the size of files gives short writes and then an error, as a full disk does.
    const limited = [
      'sh',
      '-c',
      'ulimit -f 40 && exec "$@"',
      'sh',
      process.execPath,
      SCRIPT,
      kit.directory,
      'batch',
      '0',
    ];
    const said = await run(limited, 1_000_000);
    expect(child?.exitCode).to.equal(0);
    expect(said.refused.size).to.be.at.least(20);
    expect(new Set(said.refused.values())).to.deep.equal(new Set(['EFBIG']));
    const found = await numbers();
    expect(kit.damage).to.deep.equal([]);
    expect([...found].map(([position, number]) => [number, position])).to.deep.equal(
      [...said.acknowledged].sort((a, b) => a[1] - b[1]),
    );
    const sizes = readdirSync(kit.directory).map((name) => statSync(join(kit.directory, name)).size);
    expect(Math.max(...sizes)).to.be.at.most(40 * 1024);
  });
});
