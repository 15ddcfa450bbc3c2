import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { eventually } from '../../../support/eventually.js';
import { FollowerHarness } from '../../../support/logcollector/follower-harness.js';

const APP = '<log_format>syslog</log_format><location>%DIR%/app.log</location>';
const ALL = '<log_format>syslog</log_format><location>%DIR%/*.log</location>';
const FROM_START = '<only-future-events>no</only-future-events>';

describe('FileFollower', () => {
  let harness: FollowerHarness;
  const said = (part: string): number => harness.logger.lines.filter((line) => line.includes(part)).length;
  const own = (): string[] => harness.sink.own.map(({ message }) => message.toString());

  beforeEach(() => {
    harness = new FollowerHarness();
  });
  afterEach(async () => {
    await harness.stop();
    harness.remove();
  });

  describe('where reading begins', () => {
    it('takes only what is new in files that are there at the first start', async () => {
      harness.append('app.log', 'old\nhalf');
      await harness.start(APP);
      harness.append('app.log', ' done\nnew\n');
      await harness.expectTexts(['half done', 'new']);
    });

    it('takes everything where the block says so, unless it is more than max-size', async () => {
      harness.append('app.log', 'old\n');
      harness.append('big.log', `${'x'.repeat(2000)}\n`);
      await harness.start(
        APP + FROM_START,
        `<log_format>syslog</log_format><location>%DIR%/big.log</location><only-future-events max-size="1KB">no</only-future-events>`,
      );
      harness.append('big.log', 'new\n');
      await harness.expectTexts(['old', 'new']);
      expect(said('more than max-size (1024)')).to.equal(1);
    });

    it('takes everything in a file that appears later', async () => {
      await harness.start(ALL);
      harness.append('b.log', 'first\n');
      await harness.follower?.scan();
      await harness.expectTexts(['first']);
      expect(said('(1957): New file that matches')).to.equal(1);
    });

    it('takes everything in a file that appeared while nobody followed', async () => {
      harness.append('a.log', 'old\n');
      await harness.start(ALL);
      await harness.stop();
      harness.append('b.log', 'missed\n');
      await harness.start(ALL);
      await harness.expectTexts(['missed']);
    });

    it('takes only what is new in files of a block that is added later', async () => {
      await harness.start(APP);
      await harness.stop();
      harness.append('other.log', 'old\n');
      await harness.start(APP, '<log_format>syslog</log_format><location>%DIR%/other.log</location>');
      harness.append('other.log', 'new\n');
      await harness.expectTexts(['new']);
    });
  });

  describe('after a restart', () => {
    it('goes on where it was, after a stop and after a kill', async () => {
      harness.append('app.log', '');
      await harness.start(APP);
      harness.append('app.log', '1\n2\n');
      await harness.expectTexts(['1', '2']);
      await harness.stop();
      harness.append('app.log', '3\n');
      await harness.start(APP);
      await harness.expectTexts(['1', '2', '3']);
      harness.append('app.log', '4\n');
      await harness.expectTexts(['1', '2', '3', '4']);
      // Not saved since: only the sink knows.
      await harness.kill();
      harness.append('app.log', '5\n');
      await harness.start(APP);
      await harness.expectTexts(['1', '2', '3', '4', '5']);
    });

    it('sends again what was not acknowledged', async () => {
      harness.append('app.log', '');
      await harness.start(APP);
      harness.sink.held = true;
      harness.append('app.log', '1\n2\n');
      await harness.settle();
      await harness.save();
      await harness.kill();
      harness.sink.held = false;
      await harness.start(APP);
      await harness.expectTexts(['1', '2']);
    });

    it('does not read lines again that are no event, and were behind the last one', async () => {
      const block = `${APP}${FROM_START}<ignore>^debug</ignore>`;
      harness.append('app.log', '1\ndebug a\ndebug b\n');
      await harness.start(block);
      await harness.expectTexts(['1']);
      await harness.stop();
      harness.append('app.log', '2\n');
      // Without the filter the lines would be events if they were read again.
      await harness.start(APP + FROM_START);
      await harness.expectTexts(['1', '2']);
      await harness.kill();
      await harness.start(APP + FROM_START);
      await harness.expectTexts(['1', '2']);
    });

    it('reads again what the sink lost', async () => {
      harness.append('app.log', '1\n2\n3\n');
      await harness.start(APP + FROM_START);
      await harness.expectTexts(['1', '2', '3']);
      await harness.stop();
      harness.sink.forgetFrom(1);
      harness.append('app.log', '4\n');
      await harness.start(APP + FROM_START);
      await harness.expectTexts(['1', '2', '3', '4']);
      expect(said('is read again from 2, not 6: events behind it were lost')).to.equal(1);
    });

    describe('of the host, when the power was cut', () => {
      const line = (number: number): string => `Nov 22 11:00:${String(number).padStart(2, '0')} web app: line`;
      const lines = (from: number, to: number): string[] =>
        Array.from({ length: to - from }, (_, index) => line(from + index));
      const append = (from: number, to: number): void => {
        harness.append(
          'app.log',
          lines(from, to)
            .map((text) => `${text}\n`)
            .join(''),
        );
      };
      const bytes = (count: number): number => count * (line(0).length + 1);
      /** Lines 0 to 29 are read, with positions saved after each third one. */
      const readThirty = async (): Promise<void> => {
        append(0, 3);
        await harness.start(APP + FROM_START);
        for (let end = 3; end < 30; end += 3) {
          await eventually('they are read', async () => {
            await harness.follower?.poll();
            return harness.sink.texts.length === end;
          });
          await harness.save();
          append(end, end + 3);
        }
        await harness.expectTexts(lines(0, 30));
      };
      const boot = async (): Promise<void> => {
        await harness.kill();
        harness.boot = 'second';
      };

      it('reads on where a file that lost its end is still the same', async () => {
        await readThirty();
        await boot();
        truncateSync(harness.path('app.log'), bytes(20));
        append(40, 55);
        await harness.start(APP + FROM_START);
        // Saved were 3, 6, ... 27; of those 3, 18, 21 and 24 are kept beside the last.
        await harness.expectTexts([...lines(0, 30), ...lines(18, 20), ...lines(40, 55)]);
        expect(said(`lost its end when the host went down: it is read from ${bytes(18)} on`)).to.equal(1);
        await harness.stop();
        append(55, 56);
        await harness.start(APP + FROM_START);
        await harness.expectTexts([...lines(0, 30), ...lines(18, 20), ...lines(40, 56)]);
      });

      it('reads what stands where the sink had other lines', async () => {
        await readThirty();
        await boot();
        // Behind the position that was saved last, 27, and with no line end where the sink is.
        truncateSync(harness.path('app.log'), bytes(28));
        harness.append('app.log', 'a new first line which is long enough to go beyond it\nsecond\n');
        await harness.start(APP + FROM_START);
        const added = ['a new first line which is long enough to go beyond it', 'second'];
        await harness.expectTexts([...lines(0, 30), line(27), ...added]);
        await harness.kill();
        await harness.start(APP + FROM_START);
        await harness.expectTexts([...lines(0, 30), line(27), ...added]);
      });

      it('reads nothing twice when nothing was lost', async () => {
        await readThirty();
        await boot();
        append(30, 31);
        await harness.start(APP + FROM_START);
        await harness.expectTexts(lines(0, 31));
      });

      it('reads a file from its start that is another one', async () => {
        await readThirty();
        await boot();
        truncateSync(harness.path('app.log'), 0);
        append(40, 60);
        await harness.start(APP + FROM_START);
        await harness.expectTexts([...lines(0, 30), ...lines(40, 60)]);
      });
    });

    it('reads no file that would not be known again, until its position can be written', async () => {
      harness.append('known.log', '1\n');
      await harness.start(ALL + FROM_START);
      await harness.expectTexts(['1']);
      await harness.stop();
      harness.append('known.log', '2\n');
      harness.append('new.log', 'a\n');
      harness.writable = false;
      await harness.start(ALL + FROM_START);
      await harness.expectTexts(['1', '2']);
      harness.writable = true;
      await harness.expectTexts(['1', '2', 'a']);
      await harness.kill();
      await harness.start(ALL + FROM_START);
      await harness.expectTexts(['1', '2', 'a']);
    });

    it('takes the positions before the last when those cannot be read', async () => {
      harness.append('app.log', '1\n');
      await harness.start(APP + FROM_START);
      await harness.expectTexts(['1']);
      await harness.save();
      harness.append('app.log', '2\n');
      await harness.expectTexts(['1', '2']);
      await harness.stop();
      // As after a power cut on a file system that renames before it writes.
      truncateSync(harness.statePath, 20);
      harness.append('app.log', '3\n');
      await harness.start(APP + FROM_START);
      await harness.expectTexts(['1', '2', '3']);
      expect(said('cannot be used, kept as')).to.equal(1);
    });

    it('reads a file that was written anew from its start', async () => {
      harness.append('app.log', 'first content\n');
      await harness.start(APP + FROM_START);
      await harness.expectTexts(['first content']);
      await harness.stop();
      writeFileSync(harness.path('app.log'), 'other content, which is longer\n');
      await harness.start(APP + FROM_START);
      await harness.expectTexts(['first content', 'other content, which is longer']);
    });

    it('reads what is left of a file that was renamed meanwhile, and then the new one', async () => {
      harness.append('app.log', '1\n');
      await harness.start(APP + FROM_START);
      await harness.expectTexts(['1']);
      await harness.stop();
      harness.append('app.log', '2\n');
      renameSync(harness.path('app.log'), harness.path('app.log.1'));
      harness.append('app.log', '3\n');
      await harness.start(APP + FROM_START);
      await harness.expectTexts(['1', '2', '3']);
      expect(said("'2' is")).to.equal(0);
    });

    it('reads what is left of a file that is renamed between being found and being opened', async () => {
      const first = APP.replace('app.log', 'first.log') + FROM_START;
      harness.append('first.log', 'a\n');
      harness.append('app.log', '1\n');
      await harness.start(first, APP + FROM_START);
      await harness.expectTexts(['a', '1']);
      await harness.stop();
      harness.append('app.log', '2\n');
      // Files are found together and opened one after the other.
      harness.opening = (name) => {
        if (name !== 'first.log') return;
        renameSync(harness.path('app.log'), harness.path('app.log.1'));
        harness.append('app.log', '3\n');
      };
      await harness.start(first, APP + FROM_START);
      await harness.expectTexts(['a', '1', '2', '3']);
      expect(said('is not the file that was read before')).to.equal(0);
    });

    it('reads what had the name meanwhile, and nothing else that stands there', async () => {
      harness.append('app.log.1', 'older, read long ago\n');
      harness.append('other.log', 'none of ours\n');
      harness.appendAfter('app.log.1', 'app.log', '');
      await harness.start(APP);
      harness.append('app.log', 'one\n');
      await harness.expectTexts(['one']);
      await harness.save();
      await harness.kill();
      harness.append('app.log', 'two\n');
      renameSync(harness.path('app.log.1'), harness.path('app.log.4'));
      renameSync(harness.path('app.log'), harness.path('app.log.3'));
      harness.append('app.log', 'three\n');
      renameSync(harness.path('app.log'), harness.path('app.log.2'));
      harness.appendAfter('app.log.2', 'app.log', 'four\n');
      renameSync(harness.path('app.log'), harness.path('app.log.1'));
      copyFileSync(harness.path('app.log.3'), harness.path('app.log.20261126'));
      copyFileSync(harness.path('app.log.2'), harness.path('app.log.2.kept'));
      copyFileSync(harness.path('app.log.2'), harness.path('app.log.1.gz'));
      copyFileSync(harness.path('app.log.2'), harness.path('other.log.1'));
      symlinkSync(harness.path('other.log.1'), harness.path('app.log.7'));
      harness.append('app.log', 'five\n');
      harness.appendAfter('app.log', 'app.log.5', 'three\n');
      await harness.start(APP);
      await harness.expectTexts(['one', 'two', 'three', 'four', 'five']);
      expect(said("had the name '")).to.equal(2);
      // Once is enough, whatever becomes of them.
      harness.later = 60_000;
      await harness.settle();
      await harness.kill();
      await harness.start(APP);
      await harness.follower?.scan();
      await harness.expectTexts(['one', 'two', 'three', 'four', 'five']);
    });

    for (const [how, after] of [
      ['shorter', '5\n'],
      ['longer', `${'a line that is longer than everything before it'.repeat(3)}\n`],
    ] as const) {
      it(`reads what is left in the copy of a file that was cut meanwhile and is ${how} now`, async () => {
        harness.append('app.log', '');
        await harness.start(APP);
        const lines = ['a line of some length', 'another line of some length'];
        harness.append('app.log', `${lines[0] ?? ''}\n`);
        await harness.expectTexts(lines.slice(0, 1));
        await harness.save();
        // The sink has more than the saved position says.
        harness.append('app.log', `${lines[1] ?? ''}\n`);
        await harness.expectTexts(lines);
        await harness.kill();
        harness.append('app.log', '3\n4\n');
        copyFileSync(harness.path('app.log'), harness.path('app.log.1'));
        truncateSync(harness.path('app.log'));
        harness.append('app.log', after);
        await harness.start(APP);
        await harness.expectTexts([...lines, '3', '4', after.trimEnd()]);
        // Killed again, at whatever the last position says.
        await harness.save();
        await harness.kill();
        await harness.start(APP);
        await harness.expectTexts([...lines, '3', '4', after.trimEnd()]);
      });
    }

    it('reads no other file that was given the inode of one that is gone', async () => {
      harness.append('app.log', '');
      await harness.start(APP);
      harness.append('app.log', 'one\n');
      await harness.expectTexts(['one']);
      await harness.stop();
      rmSync(harness.path('app.log'));
      harness.append('secret.log', 'much that nobody asked for\n');
      const { ino } = statSync(harness.path('secret.log'), { bigint: true });
      const state = readFileSync(harness.statePath, 'utf8');
      writeFileSync(harness.statePath, state.replace(/"inode":"\d+"/, `"inode":"${String(ino)}"`));
      await harness.start(APP);
      harness.append('app.log', 'two\n');
      await harness.follower?.scan();
      await harness.expectTexts(['one', 'two']);
    });

    it('reads a file from its start that was given the inode of the one before', async () => {
      harness.append('app.log', '');
      await harness.start(APP);
      harness.append('app.log', 'one\n');
      await harness.expectTexts(['one']);
      await harness.stop();
      rmSync(harness.path('app.log'));
      harness.append('app.log', 'quite another line\n');
      const { ino } = statSync(harness.path('app.log'), { bigint: true });
      const state = readFileSync(harness.statePath, 'utf8');
      writeFileSync(harness.statePath, state.replace(/"inode":"\d+"/, `"inode":"${String(ino)}"`));
      await harness.start(APP);
      await harness.expectTexts(['one', 'quite another line']);
    });

    it('uses positions that the reference wrote', async () => {
      const content = 'one\ntwo\n';
      harness.append('app.log', `${content}three\n`);
      const hash = createHash('sha1').update(content).digest('hex');
      mkdirSync(dirname(harness.statePath));
      const file = { path: harness.path('app.log'), hash, offset: String(content.length) };
      writeFileSync(harness.statePath, JSON.stringify({ files: [file] }));
      await harness.start(APP);
      await harness.expectTexts(['three']);
    });

    it('puts a state aside that cannot be read, and says so', async () => {
      mkdirSync(dirname(harness.statePath));
      writeFileSync(harness.statePath, '{"files":[{"path":1}]}');
      harness.append('app.log', 'old\n');
      await harness.start(APP);
      expect(said('cannot be used, kept as')).to.equal(1);
      expect(readFileSync(`${harness.statePath}.bad`, 'utf8')).to.include('"path":1');
    });
  });

  describe('files that change', () => {
    it('keeps a line back until it is complete', async () => {
      harness.append('app.log', '');
      await harness.start(APP);
      harness.append('app.log', 'ha');
      await harness.settle();
      harness.append('app.log', 'lf\r\n\nnext\n');
      await harness.expectTexts(['half', 'next']);
    });

    it('follows a rename: the old file to its end, then the new one', async () => {
      harness.append('app.log', '');
      await harness.start(APP);
      harness.append('app.log', '1\n');
      await harness.expectTexts(['1']);
      harness.append('app.log', '2\n');
      renameSync(harness.path('app.log'), harness.path('app.log.1'));
      harness.append('app.log.1', '3\nunfinished');
      harness.append('app.log', '4\n');
      await harness.expectTexts(['1', '2', '3', '4']);
      // Whoever still writes the old file is heard for a while.
      harness.append('app.log.1', ' line\n5\n');
      await harness.expectTexts(['1', '2', '3', '4', 'unfinished line', '5']);
      harness.append('app.log.1', 'rest');
      harness.later = 60_000;
      await harness.expectTexts(['1', '2', '3', '4', 'unfinished line', '5', 'rest']);
      expect(own()).to.deep.equal([`ossec: File rotated (inode changed): '${harness.path('app.log')}'.`]);
    });

    it('reads a file whose name came and went between two looks', async () => {
      harness.append('app.log', '');
      await harness.start(APP);
      harness.append('app.log', '1\n');
      await harness.expectTexts(['1']);
      harness.append('app.log', '2\n');
      renameSync(harness.path('app.log'), harness.path('app-2026-11-25.log'));
      harness.append('app.log', '3\n');
      renameSync(harness.path('app.log'), harness.path('app-2026-11-26.log'));
      harness.append('app.log', '4\n');
      await harness.expectTexts(['1', '2', '3', '4']);
      // The same while nobody has the name for some time.
      renameSync(harness.path('app.log'), harness.path('app-2026-11-27.log'));
      await harness.settle();
      harness.append('app.log', '5\n');
      renameSync(harness.path('app.log'), harness.path('app-2026-11-28.log'));
      harness.append('app.log', '6\n');
      await harness.expectTexts(['1', '2', '3', '4', '5', '6']);
    });

    it('knows a file again that is renamed to a name it follows too', async () => {
      harness.append('a.log', '');
      await harness.start(ALL);
      harness.append('a.log', '1\n');
      await harness.expectTexts(['1']);
      renameSync(harness.path('a.log'), harness.path('b.log'));
      harness.append('a.log', '2\n');
      await harness.settle();
      harness.append('b.log', '3\n');
      await harness.expectTexts(['1', '2', '3']);
      harness.later = 60_000;
      await harness.settle();
      await harness.expectTexts(['1', '2', '3']);
    });

    it('follows a copy and truncation', async () => {
      harness.append('app.log', '');
      await harness.start(APP);
      harness.append('app.log', '1\n2\n');
      await harness.expectTexts(['1', '2']);
      copyFileSync(harness.path('app.log'), harness.path('app.log.1'));
      truncateSync(harness.path('app.log'));
      await harness.settle();
      harness.append('app.log', '3\n');
      await harness.expectTexts(['1', '2', '3']);
      expect(own()).to.deep.equal([`ossec: File size reduced (inode remained): '${harness.path('app.log')}'.`]);
    });

    it('reads in the copy what was not read of a file before it was cut', async () => {
      harness.append('app.log', '');
      await harness.start(APP);
      harness.append('app.log', 'the first line is read\nthe second has no end');
      await harness.expectTexts(['the first line is read']);
      harness.append('app.log', ' yet\n3\n4\n');
      copyFileSync(harness.path('app.log'), harness.path('app.log.1'));
      truncateSync(harness.path('app.log'));
      harness.append('app.log', '5\n');
      await harness.expectTexts(['the first line is read', 'the second has no end yet', '3', '4', '5']);
      // Another file of such a name that begins in the same way was made by somebody else, and read already.
      harness.append('app.log', 'and a line that is longer than the first was, and longer than the others\n');
      harness.later = 60_000;
      await harness.settle();
      writeFileSync(harness.path('app.log.2'), 'the first line is read\nbut this one is of others\n');
      truncateSync(harness.path('app.log'));
      harness.append('app.log', '6\n');
      await eventually('the last line', async () => {
        await harness.follower?.poll();
        return harness.sink.texts.at(-1) === '6';
      });
      expect(harness.sink.texts).to.have.length(7);
    });

    it('reads no copies again when the file is renamed one day', async () => {
      harness.append('app.log', '');
      await harness.start(APP);
      const lines = ['the first line of the file', 'and what was written after it was cut'];
      harness.append('app.log', `${lines[0] ?? ''}\n`);
      await harness.expectTexts(lines.slice(0, 1));
      copyFileSync(harness.path('app.log'), harness.path('app.log.1'));
      truncateSync(harness.path('app.log'));
      harness.appendAfter('app.log.1', 'a-tick-later', '');
      harness.append('app.log', `${lines[1] ?? ''}\n`);
      await harness.expectTexts(lines);
      renameSync(harness.path('app.log.1'), harness.path('app.log.2'));
      renameSync(harness.path('app.log'), harness.path('app.log.1'));
      harness.append('app.log', '3\n');
      await harness.expectTexts([...lines, '3']);
    });

    it('waits with the copy until what was read before is acknowledged', async () => {
      harness.append('app.log', '');
      await harness.start(APP);
      harness.append('app.log', 'a line of some length, which is acknowledged\n');
      await harness.expectTexts(['a line of some length, which is acknowledged']);
      harness.sink.held = true;
      harness.append('app.log', '2\n');
      await eventually('it is read', async () => {
        await harness.follower?.poll();
        return harness.sink.pending === 1;
      });
      harness.append('app.log', '3\n');
      copyFileSync(harness.path('app.log'), harness.path('app.log.1'));
      truncateSync(harness.path('app.log'));
      await harness.settle();
      expect(harness.sink.pending).to.equal(1);
      harness.sink.release();
      await harness.expectTexts(['a line of some length, which is acknowledged', '2', '3']);
    });

    it('sees a truncation although the file grew beyond the position again', async () => {
      harness.append('app.log', '');
      await harness.start(APP);
      harness.append('app.log', 'one\n');
      await harness.expectTexts(['one']);
      writeFileSync(harness.path('app.log'), 'a longer line than before\n');
      await harness.expectTexts(['one', 'a longer line than before']);
    });

    it('follows a file that goes away and comes back', async () => {
      harness.append('app.log', '');
      await harness.start(APP);
      harness.append('app.log', '1\n');
      await harness.expectTexts(['1']);
      rmSync(harness.path('app.log'));
      await harness.settle();
      expect(said("(1959): File '")).to.equal(1);
      harness.append('app.log', '2\n');
      await harness.follower?.scan();
      await harness.expectTexts(['1', '2']);
    });

    it('goes over to the file of a new day', async () => {
      const today = new Date();
      const name = `app-${String(today.getFullYear())}.log`;
      harness.append(name, 'old\n');
      await harness.start('<log_format>syslog</log_format><location>%DIR%/app-%Y.log</location>');
      harness.append(name, 'new\n');
      await harness.expectTexts(['new']);
    });
  });

  describe('lines', () => {
    it('drops lines with zero bytes and cuts long ones, with a warning', async () => {
      harness.append('app.log', '');
      await harness.start(APP);
      harness.append('app.log', `a\0b\n${'y'.repeat(70_000)}\nend\n`);
      await harness.expectTexts(['y'.repeat(65_279), 'end']);
      const warning = `Large message size from file '${harness.path('app.log')}' (length = 70000): '${'y'.repeat(64)}'...`;
      expect(said(warning)).to.equal(1);
    });

    it('passes what ignore and restrict leave', async () => {
      harness.append('app.log', '');
      await harness.start(`${APP}<ignore>noise</ignore><restrict>^app</restrict>`);
      harness.append('app.log', 'app noise\nother\napp ok\n');
      await harness.expectTexts(['app ok']);
      await harness.save();
      const { files } = JSON.parse(readFileSync(harness.statePath, 'utf8')) as { files: { offset: string }[] };
      expect(files[0]?.offset).to.equal('23');
    });

    it('goes on behind lines that are no event', async () => {
      harness.append('app.log', '');
      await harness.start(`${APP}<ignore>x</ignore>`);
      harness.append('app.log', 'x\nx\n');
      await harness.settle();
      await harness.stop();
      await harness.start(APP);
      harness.append('app.log', 'y\n');
      await harness.expectTexts(['y']);
    });

    it('sends an event of several lines when its time is over', async () => {
      harness.append('app.log', '');
      await harness.start(
        '<log_format>multi-line-regex</log_format><location>%DIR%/app.log</location><multiline_regex>^\\d</multiline_regex>',
      );
      harness.append('app.log', '1 a\n b\n');
      await harness.settle();
      expect(harness.sink.texts).to.deep.equal([]);
      await harness.save();
      const { files } = JSON.parse(readFileSync(harness.statePath, 'utf8')) as { files: { offset: string }[] };
      expect(files[0]?.offset).to.equal('0');
      harness.later = 6000;
      await harness.expectTexts(['1 a\n b']);
    });

    it('reads nothing on while the sink has no room, and loses nothing', async () => {
      harness.append('app.log', '');
      await harness.start(APP);
      harness.sink.window = 10;
      harness.sink.held = true;
      const lines = Array.from({ length: 5000 }, (_, index) => `line ${String(index)}`);
      harness.append('app.log', lines.map((line) => `${line}\n`).join(''));
      await harness.settle();
      expect(harness.sink.taken).to.have.length(0);
      harness.sink.release();
      await harness.expectTexts(lines);
    });

    it('gives every file its turn', async () => {
      harness.limits = { ...harness.limits, maxLines: 100 };
      harness.append('a.log', '');
      harness.append('b.log', '');
      await harness.start(ALL);
      harness.append('a.log', 'a long line that fills chunks\n'.repeat(20_000));
      harness.append('b.log', 'b\n');
      await eventually('all lines', () => harness.sink.taken.length === 20_001);
      const place = harness.sink.texts.indexOf('b');
      expect(place).to.be.within(0, 19_000);
    });
  });

  describe('what is not followed', () => {
    it('says once that a file is not there', async () => {
      await harness.start(APP);
      await harness.follower?.scan();
      expect(said('(1904): File not available, ignoring it')).to.equal(1);
    });

    it('leaves out what is no regular file', async () => {
      mkdirSync(harness.path('dir.log'));
      spawnSync('mkfifo', [harness.path('pipe.log')]);
      const server = createServer();
      await new Promise<void>((resolve) => {
        server.listen(harness.path('socket.log'), resolve);
      });
      harness.append('a.log', '');
      const follower = await harness.start(ALL);
      server.close();
      expect(follower.counters['files']).to.equal(1);
      expect(said('is not a regular file and is not followed')).to.equal(2);
    });

    it('leaves out excluded, old and binary files, and one file of two names', async () => {
      harness.append('a.log', '');
      harness.append('excluded.log', '');
      harness.append('old.log', '');
      utimesSync(harness.path('old.log'), 1, 1);
      writeFileSync(harness.path('binary.log'), Buffer.from([0x7f, 0, 1]));
      linkSync(harness.path('a.log'), harness.path('z.log'));
      symlinkSync(harness.path('a.log'), harness.path('y.log'));
      const follower = await harness.start(
        `${ALL}<exclude>%DIR%/exc*.log</exclude><age>1d</age><ignore_binaries>yes</ignore_binaries>`,
      );
      expect(follower.counters['files']).to.equal(1);
      expect(said('holds binary data')).to.equal(1);
      expect(said('(1965): File excluded')).to.equal(1);
      expect(said('(1966): Inode for file')).to.equal(2);
    });

    it('leaves out the file of today, by a date', async () => {
      const year = String(new Date().getFullYear());
      harness.append(`app-${year}.log`, '');
      harness.append('app-1999.log', '');
      const follower = await harness.start(`${ALL}<exclude>%DIR%/*-%Y.log</exclude>`);
      expect(follower.counters['files']).to.equal(1);
      expect(said(`(1965): File excluded: '${harness.path(`app-${year}.log`)}'`)).to.equal(1);
    });

    it('says once that a file may not be read, and follows it when it may', async function () {
      if (process.getuid?.() === 0) {
        this.skip();
      }
      harness.append('app.log', 'x\n');
      chmodSync(harness.path('app.log'), 0);
      await harness.start(APP + FROM_START);
      await harness.follower?.scan();
      expect(said('(1103): Could not open file')).to.equal(1);
      chmodSync(harness.path('app.log'), 0o600);
      await harness.follower?.scan();
      await harness.expectTexts(['x']);
    });

    it('follows no more files than allowed', async () => {
      harness.limits = { ...harness.limits, maxFiles: 2 };
      for (const name of ['a.log', 'b.log', 'c.log']) harness.append(name, '');
      const follower = await harness.start(ALL);
      expect(follower.counters['files']).to.equal(2);
      expect(said('(1960): File limit has been reached (2)')).to.equal(1);
    });
  });

  it('goes over to other blocks without losing or doubling a line', async () => {
    harness.append('app.log', '');
    harness.append('b.log', '');
    await harness.start(APP, '<log_format>syslog</log_format><location>%DIR%/b.log</location>');
    harness.append('app.log', '1\n');
    await harness.expectTexts(['1']);
    await harness.follower?.reload(harness.sources(`${APP}<ignore>noise</ignore>`));
    harness.append('app.log', 'noise\n2\n');
    harness.append('b.log', 'unheard\n');
    await harness.expectTexts(['1', '2']);
    expect(harness.follower?.counters['files']).to.equal(1);
  });

  it('loses and doubles nothing, whatever happens to a file and its reader', async () => {
    const step = fc.constantFrom(
      'write',
      'write',
      'write',
      'partial',
      'rotate',
      'cut',
      'stop',
      'kill',
      'hold',
      'save',
      'settle',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
        const run = new FollowerHarness();
        try {
          run.append('app.log', '');
          await run.start(APP);
          const lines: string[] = [];
          let open = '';
          let rotated = 0;
          /** The last line of the copy of a file that was cut. */
          let notRead: string | undefined;
          const heard = (line: string): Promise<unknown> =>
            eventually(`'${line}' is read`, async () => {
              await run.follower?.poll();
              return run.sink.texts.includes(line);
            });
          /** As logrotate: each file that was rotated before gets the next number. */
          const shift = (): void => {
            rotated += 1;
            for (let number = rotated; number > 1; number -= 1) {
              renameSync(run.path(`app.log.${String(number - 1)}`), run.path(`app.log.${String(number)}`));
            }
          };
          for (const each of steps) {
            const line = `line ${String(lines.length)} ${'z'.repeat(20 + (lines.length % 7))}`;
            if (each === 'write') {
              run.append('app.log', `${open === '' ? line : ' end'}\n`);
              lines.push(open === '' ? line : `${open} end`);
              open = '';
            } else if (each === 'partial' && open === '') {
              run.append('app.log', line);
              open = line;
            } else if (each === 'cut' && open === '') {
              // Only a file of which a position is written down, as each second, can be told from others.
              run.sink.release();
              const cut = [`${line} read`, `${line} not read`];
              run.append('app.log', `${cut[0] ?? ''}\n`);
              lines.push(...cut);
              await heard(cut[0] ?? '');
              await run.save();
              run.append('app.log', `${cut[1] ?? ''}\n`);
              shift();
              copyFileSync(run.path('app.log'), run.path('app.log.1'));
              truncateSync(run.path('app.log'));
              // The copy was made a tick of the kernel before the file is looked at again.
              for (const end = performance.now() + 12; performance.now() < end;);
              notRead = cut[1];
            } else if (each === 'rotate' && open === '') {
              // Nobody cuts and renames a file at once.
              if (notRead !== undefined) {
                run.sink.release();
                await heard(notRead);
                notRead = undefined;
              }
              shift();
              renameSync(run.path('app.log'), run.path('app.log.1'));
              run.appendAfter('app.log.1', 'app.log', '');
            } else if (each === 'stop' || each === 'kill') {
              run.sink.release();
              await run[each]();
              await run.start(APP);
            } else if (each === 'hold') {
              run.sink.held = true;
            } else if (each === 'save') {
              await run.save();
            } else if (each === 'settle') {
              await run.settle();
            }
          }
          run.sink.release();
          await run.expectTexts(lines);
        } finally {
          await run.stop();
          run.remove();
        }
      }),
      { numRuns: 25 },
    );
  }).timeout(60_000);
});
