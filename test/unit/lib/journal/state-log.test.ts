import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { JournalFiles } from '../../../../lib/journal/segment-file.js';
import { StateLog } from '../../../../lib/journal/state-log.js';
import { readStateLog, type StateLogFile } from '../../../../lib/journal/state-log-file.js';
import { eventually } from '../../../support/eventually.js';
import { FailingFiles } from '../../../support/journal/failing-files.js';

describe('StateLog', () => {
  let directory: string;
  let logs: StateLog[];
  let troubles: unknown[];

  beforeEach(() => {
    directory = join(mkdtempSync(join(tmpdir(), 'svc-state-')), 'journal');
    logs = [];
    troubles = [];
  });
  afterEach(async () => {
    for (const log of logs) await log.close();
    rmSync(join(directory, '..'), { recursive: true });
  });

  const open = (files: readonly StateLogFile[] = [], system?: JournalFiles): StateLog => {
    const onTrouble = (error: unknown): void => {
      troubles.push(error);
    };
    const log = new StateLog({ directory, onTrouble, ...(system === undefined ? {} : { files: system }) }, files);
    logs.push(log);
    return log;
  };
  const begun = async (system?: JournalFiles): Promise<StateLog> => {
    const log = open([], system);
    await log.prepare(0);
    log.turn();
    return log;
  };
  const entries = (files: readonly StateLogFile[]): { texts: string[]; damage: string | undefined } => {
    const texts: string[] = [];
    const damage = readStateLog(directory, files, (part, payload) =>
      texts.push(`${String(part)}${payload.toString()}`),
    );
    return { texts, damage };
  };
  const put = (log: StateLog, ...texts: string[]): void => {
    for (const [part, text] of texts.entries()) log.append(part, Buffer.from(text));
  };

  it('gives back what a checkpoint says that counts, and no more', async () => {
    const log = await begun();
    put(log, 'a', 'b');
    const early = log.counting;
    put(log, 'c');
    await log.sync();
    put(log, 'd');
    await log.sync();
    expect(entries(early)).to.deep.equal({ texts: ['0a', '1b'], damage: undefined });
    expect(entries(log.counting)).to.deep.equal({ texts: ['0a', '1b', '0c', '0d'], damage: undefined });
    expect(statSync(join(directory, 'state.1')).mode & 0o777).to.equal(0o640);
  });

  it('goes on behind what counts, over what was written there and did not', async () => {
    const log = await begun();
    put(log, 'a');
    const counting = log.counting;
    put(log, 'x'.repeat(1000), 'lost');
    await log.sync();
    const again = open(counting);
    put(again, 'b');
    await again.sync();
    expect(entries(again.counting)).to.deep.equal({ texts: ['0a', '0b'], damage: undefined });
    expect(entries(counting)).to.deep.equal({ texts: ['0a'], damage: undefined });
  });

  it('begins another file, and needs the older one until all of it is there', async () => {
    const log = await begun();
    put(log, 'a');
    await log.prepare(10_000);
    put(log, 'b');
    log.turn();
    put(log, 'c');
    const between = log.counting;
    put(log, 'd');
    log.dropOlder();
    const whole = log.counting;
    // It was not safe when it was dropped, and a checkpoint that is being made names it.
    await log.sync();
    expect(entries(between)).to.deep.equal({ texts: ['0a', '0b', '0c'], damage: undefined });
    expect(entries(whole)).to.deep.equal({ texts: ['0c', '0d'], damage: undefined });
    log.retain(new Set(between.map(({ generation }) => generation)));
    await log.close();
    expect(readdirSync(directory).sort()).to.deep.equal(['state.1', 'state.2']);
    log.retain(new Set(whole.map(({ generation }) => generation)));
    await eventually('the older file is removed', () => !existsSync(join(directory, 'state.1')));
    expect(troubles).to.deep.equal([]);
  });

  it('finds all damage of what counts, and gives what is whole behind it', async () => {
    const log = await begun();
    for (let number = 0; number < 20; number += 1) put(log, `entry ${String(number)}`);
    const counting = log.counting;
    await log.sync();
    const path = join(directory, 'state.1');
    const bytes = readFileSync(path);
    const { length = 0 } = counting[0] ?? {};
    fc.assert(
      fc.property(fc.nat(length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const flipped = Buffer.from(bytes);
        flipped[at]! ^= flip;
        writeFileSync(path, flipped);
        const { texts, damage } = entries(counting);
        expect(damage).to.include(path);
        for (const text of texts) expect(text).to.match(/^\d+entry \d+$/);
      }),
      { numRuns: 300 },
    );
    const flipped = Buffer.from(bytes);
    flipped[24 + 12]! ^= 1;
    writeFileSync(path, flipped);
    expect(entries(counting).texts).to.have.length(19);
    writeFileSync(path, bytes);
    truncateSync(path, length - 1);
    expect(entries(counting)).to.deep.include({ damage: `'${path}': it is cut off at byte ${String(length - 20)}` });
    rmSync(path);
    expect(entries(counting)).to.deep.equal({ texts: [], damage: `'${path}': it is not there` });
    expect(entries([{ generation: 1, length: 24, checksum: 0 }]).damage).to.include('it is not there');
  });

  it('takes no other log for the one a checkpoint was made with', async () => {
    const log = await begun();
    put(log, 'a', 'b');
    const counting = log.counting;
    await log.sync();
    rmSync(directory, { recursive: true });
    const other = await begun();
    put(other, 'a', 'c');
    await other.sync();
    expect(entries(counting).damage).to.match(/it is not the one that the checkpoint was made with$/);
  });

  it('keeps what the disk does not take, and writes it later', async () => {
    const failing = new FailingFiles();
    const log = await begun(failing);
    put(log, 'a');
    failing.failing.set('write', 'ENOSPC');
    expect(await log.sync().catch((error: unknown) => String(error))).to.equal('Error: ENOSPC: write fails');
    put(log, 'b');
    expect(log.waitingBytes).to.be.above(0);
    expect(await log.prepare(0).catch((error: unknown) => String(error))).to.equal('Error: ENOSPC: write fails');
    expect(readdirSync(directory), 'what could not be made is removed').to.deep.equal(['state.1']);
    failing.failing.clear();
    await log.sync();
    expect(log.waitingBytes).to.equal(0);
    expect(entries(log.counting)).to.deep.equal({ texts: ['0a', '0b'], damage: undefined });
  });

  it('has room for what comes while the disk is full', async () => {
    const log = await begun();
    put(log, 'a');
    await log.sync();
    const { size } = statSync(join(directory, 'state.1'));
    expect(size).to.be.at.least(1024 * 1024);
    for (let number = 0; number < 1100; number += 1) put(log, 'x'.repeat(1024));
    await log.sync();
    expect(statSync(join(directory, 'state.1')).size).to.be.at.least(size + 1024 * 1024);
    expect(entries(log.counting).texts).to.have.length(1101);
  });

  it('says when a file was taken away, until another one has everything', async () => {
    const log = await begun();
    put(log, 'a');
    await log.sync();
    rmSync(join(directory, 'state.1'));
    put(log, 'b');
    expect(await log.sync().catch((error: unknown) => String(error))).to.include("state.1' was removed");
    expect(log.isLost).to.equal(true);
    await log.prepare(0);
    log.turn();
    put(log, 'c');
    log.dropOlder();
    await log.sync();
    expect(log.isLost).to.equal(false);
    expect(entries(log.counting)).to.deep.equal({ texts: ['0c'], damage: undefined });
  });

  it('never takes the name of a file that is there', async () => {
    const log = await begun();
    await log.sync();
    appendFileSync(join(directory, 'state.7'), 'something');
    const other = await begun();
    expect(other.counting.map(({ generation }) => generation)).to.deep.equal([8]);
    other.retain(new Set());
    await other.close();
    expect(readdirSync(directory)).to.deep.equal(['state.8']);
  });
});
