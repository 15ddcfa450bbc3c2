import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { Outputs, type OutputSettings, type OutputsState } from '../../../../daemons/analysisd/outputs.js';
import { datedPath } from '../../../../lib/output/dated-files.js';
import { memoryDirectory } from '../../../support/memory-directory.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const EVENING = new Date(2025, 2, 4, 23, 50).getTime();
const MINUTE = 60_000;

describe('outputs', () => {
  let home: TemporaryHome;
  let logger: RecordingLogger;
  let settings: OutputSettings;
  beforeEach(() => {
    home = new TemporaryHome();
    logger = new RecordingLogger();
    settings = {
      alertsText: true,
      alertsJson: true,
      archivesText: false,
      archivesJson: false,
      rotateIntervalSeconds: 0,
      maxOutputBytes: 100,
      minRotateIntervalSeconds: 600,
    };
  });
  afterEach(() => {
    home.remove();
  });

  const open = (from: Date | OutputsState) => new Outputs(home, settings, logger, from);
  const dated = (name: string) => home.path('logs', 'alerts', '2025', 'Mar', `ossec-alerts-${name}`);
  const read = (name: string) => readFileSync(dated(name), 'latin1');
  /** Alerts and rotations of twenty minutes around midnight, from one minute on; gives the offset in each alert's id. */
  const run = (outputs: Outputs, from: number): number[] => {
    const offsets: number[] = [];
    for (let minute = from; minute < 20; minute += 1) {
      outputs.rotate(new Date(EVENING + minute * MINUTE));
      offsets.push(outputs.alertOffset);
      outputs.append('alertsText', `** Alert ${String(minute)}\nof two lines\n\n`);
      outputs.append('alertsJson', `{"minute":${String(minute)}}\n`);
      outputs.flush();
    }
    return offsets;
  };

  it('gives every alert the offset it had, over a day and a part, after a crash', () => {
    const first = open(new Date(EVENING));
    const state = structuredClone(first.state());
    const offsets = run(first, 0);
    first.close();
    expect(offsets.filter((offset) => offset === 0)).to.have.length(3);
    const names = ['04.log', '04.json', '05.log', '05-001.log', '05.json'];
    const whole = names.map(read);
    // As if the disk had taken only some of the last parts.
    truncateSync(dated('05-001.log'), 60);
    truncateSync(dated('05.json'), 3);

    const second = open(state);
    expect(run(second, 0)).to.deep.equal(offsets);
    second.endReplay();
    second.close();
    expect(names.map(read)).to.deep.equal(whole);
    expect(logger.lines).to.have.length(2);
    expect(logger.lines[1]).to.match(
      /^warn: Cut \d+ bytes of an unfinished record off the end of '.*05-001.log', at byte \d+\.$/,
    );
  });

  it('keeps no file open when another cannot be, however often it is tried', () => {
    open(new Date(EVENING)).close();
    const descriptors = () => readdirSync('/proc/self/fd').length;
    const before = descriptors();
    // In the way of the last stream: its directory first, then the link to its file.
    const firewall = home.path('logs', 'firewall');
    for (const inTheWay of [firewall, `${firewall}/firewall.log.new`]) {
      rmSync(firewall, { recursive: true });
      if (inTheWay === firewall) writeFileSync(firewall, '');
      else mkdirSync(inTheWay, { recursive: true });
      for (let attempt = 0; attempt < 5; attempt += 1) expect(() => open(new Date(EVENING))).to.throw(/firewall/);
    }
    expect(descriptors()).to.equal(before);
    rmSync(firewall, { recursive: true });
    open(new Date(EVENING)).close();
  });

  it('counts the time since the last rotation over a restart', () => {
    const first = open(new Date(EVENING));
    first.append('alertsText', `${'x'.repeat(200)}\n\n`);
    first.flush();
    const state = first.state();
    first.close();
    const second = open(state);
    second.endReplay();
    expect(second.isRotationDue(new Date(EVENING + 9 * MINUTE))).to.equal(false);
    expect(second.isRotationDue(new Date(EVENING + 10 * MINUTE))).to.equal(true);
    expect(second.alertOffset).to.equal(202);
    second.close();
  });

  it('opens a stream that was switched on since at the end of its file', () => {
    settings = { ...settings, alertsJson: false };
    const first = open(new Date(EVENING));
    const state = first.state();
    first.close();
    writeFileSync(dated('04.json'), '{"from":"before"}\n');
    settings = { ...settings, alertsJson: true };
    const second = open(state);
    second.append('alertsJson', '{"now":1}\n');
    second.endReplay();
    second.close();
    expect(read('04.json')).to.equal('{"from":"before"}\n{"now":1}\n');
  });

  it('is on the disk itself after sync, and can be written to meanwhile', async () => {
    const outputs = open(new Date(EVENING));
    outputs.append('alertsText', 'one\n\n');
    const synced = outputs.sync();
    outputs.append('alertsText', 'two\n\n');
    outputs.rotate(new Date(EVENING + 15 * MINUTE));
    await synced;
    outputs.append('alertsText', 'three\n\n');
    await outputs.sync();
    outputs.close();
    expect(read('04.log')).to.equal('one\n\ntwo\n\n');
    expect(read('05.log')).to.equal('three\n\n');
  });

  it('syncs, goes on with the next day and closes after somebody removed its directories', async () => {
    const descriptors = () => readdirSync('/proc/self/fd').length;
    const before = descriptors();
    const outputs = open(new Date(EVENING));
    outputs.append('alertsText', 'one\n\n');
    rmSync(home.path('logs'), { recursive: true });
    await outputs.sync();
    outputs.append('alertsText', 'two\n\n');
    expect(outputs.alertOffset, 'in the file that has no name any more').to.equal(10);
    outputs.rotate(new Date(EVENING + 15 * MINUTE));
    expect(outputs.alertOffset).to.equal(0);
    outputs.append('alertsText', 'three\n\n');
    await outputs.sync();
    outputs.close();
    expect(read('05.log')).to.equal('three\n\n');
    expect(readFileSync(home.path('logs', 'alerts', 'alerts.log'), 'latin1')).to.equal('three\n\n');
    expect(descriptors()).to.equal(before);
  });

  it('leaves the files and offsets of a run without a crash, by any limits and from any checkpoint', async function () {
    this.timeout(20_000);
    const steps = fc.array(
      fc.record({
        minutes: fc.constantFrom(0, 1, 5, 12, 700),
        bytes: fc.integer({ min: 0, max: 90 }),
        save: fc.nat({ max: 4 }),
      }),
      { minLength: 1, maxLength: 25 },
    );
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.nat({ max: 25 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom(0, 3600),
        fc.constantFrom(0, 150),
        async (script, crashAt, kept, rotateIntervalSeconds, maxOutputBytes) => {
          const limits = { ...settings, rotateIntervalSeconds, maxOutputBytes, archivesJson: true };
          let time = EVENING;
          const times = script.map(({ minutes }) => (time += minutes * MINUTE));
          const results = [];
          for (const stop of [script.length, crashAt]) {
            const place = new TemporaryHome(undefined, memoryDirectory());
            try {
              let outputs = new Outputs(place, limits, logger, new Date(EVENING));
              let saved = { next: 0, state: outputs.state() };
              const offsets: number[] = [];
              const runTo = async (from: number, to: number) => {
                for (const [index, { bytes, save }] of script.slice(0, to).entries()) {
                  if (index < from) continue;
                  const now = new Date(times[index]!);
                  if (outputs.isRotationDue(now)) outputs.rotate(now);
                  offsets[index] = outputs.alertOffset;
                  const record = `${String(index)}${'x'.repeat(bytes)}\n`;
                  outputs.append('alertsText', `${record}\n`);
                  outputs.append('alertsJson', record);
                  if (bytes > 80) outputs.append('archivesJson', record);
                  outputs.flush();
                  if (save > 0) continue;
                  saved = { next: index + 1, state: structuredClone(outputs.state()) };
                  await outputs.sync();
                }
              };
              await runTo(0, stop);
              if (stop < script.length) {
                const current = outputs.state().files.alertsJson!;
                outputs.close();
                const { day, part, length } = current;
                const path = datedPath(
                  { directory: place.path('logs', 'alerts'), stem: 'ossec-alerts', extension: 'json' },
                  day,
                  part,
                );
                const safe = saved.state.files.alertsJson!;
                const least = safe.part === part && safe.day.day === day.day ? safe.length : 0;
                if (length > 0) truncateSync(path, least + Math.floor(kept * (length - least)));
                outputs = new Outputs(place, limits, logger, saved.state);
                await runTo(saved.next, stop);
                outputs.endReplay();
                await runTo(stop, script.length);
              }
              outputs.close();
              const files = readdirSync(place.path('logs'), { recursive: true, encoding: 'utf8' }).sort();
              results.push({
                offsets,
                files: files.map((file) => {
                  const path = place.path('logs', file);
                  return [file, statSync(path).isFile() ? readFileSync(path, 'latin1') : ''];
                }),
              });
            } finally {
              place.remove();
            }
          }
          expect(results[1]).to.deep.equal(results[0]);
        },
      ),
      { numRuns: 20 },
    );
  });
});
