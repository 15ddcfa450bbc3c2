import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { compressFile } from '../../../lib/files/compress-file.js';
import { AlertWatch } from '../../chaos/alert-watch.js';
import { Effects, EFFECTS_LOG } from '../../chaos/effects.js';
import { eventText } from '../../chaos/numbered-events.js';
import { outputPart, outputParts } from '../../chaos/output-parts.js';
import { eventually } from '../../support/eventually.js';
import { readOutput } from '../../support/read-output.js';
import { TemporaryHome } from '../../support/temporary-home.js';

const YESTERDAY = { year: 2026, month: 10, day: 30 };
const TODAY = { year: 2026, month: 11, day: 1 };

/** A line of alerts.json about a visitor. */
function alertOf(number: number): string {
  const time = '2026-12-01T00:00:00.000+0000';
  return `{"timestamp":"${time}","rule":{"id":"100205"},"id":"1795824000.0","full_log":"${eventText(number, 'bus')}"}\n`;
}

describe('counting in a run of chaos over midnight', () => {
  let home: TemporaryHome;
  let parts: string[];
  const effects = new Effects(() => home);
  let watch: AlertWatch;
  before(async () => {
    home = new TemporaryHome();
    await effects.syslog.start();
    watch = new AlertWatch(home);
    parts = [
      outputPart(home, 'alerts.json', { day: YESTERDAY, part: 0 }),
      outputPart(home, 'alerts.json', { day: YESTERDAY, part: 1 }),
      outputPart(home, 'alerts.json', { day: TODAY, part: 0 }),
    ];
    for (const path of parts) mkdirSync(dirname(path), { recursive: true });
    const [first = '', second = '', third = ''] = parts;
    writeFileSync(first, alertOf(50) + alertOf(100));
    watch.look();
    appendFileSync(first, alertOf(150));
    writeFileSync(second, alertOf(200));
    await compressFile(first);
    await compressFile(second);
    // As when svc-monitord was killed between its last two steps.
    writeFileSync(second, alertOf(200));
    writeFileSync(third, alertOf(250));
  });
  after(async () => {
    watch.stop();
    await effects.syslog.stop();
    home.remove();
  });

  it('finds files in the order of writing, compressed or not, each once', () => {
    expect(outputParts(home, 'alerts.json')).to.deep.equal(parts);
    expect(parts.map((path) => readOutput(path).toString())).to.deep.equal([
      alertOf(50) + alertOf(100) + alertOf(150),
      alertOf(200),
      alertOf(250),
    ]);
    expect(readOutput(home.path('logs', 'alerts', 'nothing'))).to.have.length(0);
  });

  it('sees alerts that were not read before their file was compressed, and takes no file for changed', () => {
    watch.look();
    watch.look();
    expect([50, 100, 150, 200, 250, 300].map((number) => watch.has(number))).to.deep.equal([
      ...Array<boolean>(5).fill(true),
      false,
    ]);
    expect(watch.changedFiles()).to.deep.equal([]);
  });

  it('holds effects against the alerts of both days', async () => {
    const numbers = [50, 100, 150, 200, 250];
    const socket = connect(effects.syslog.port, '127.0.0.1');
    const texts = numbers.map((number) => `<132>Dec  1 00:00:00 gate wazuh: ${alertOf(number).trimEnd()}`);
    socket.end(texts.map((text) => `${String(text.length)} ${text}`).join(''));
    await eventually('all has come', () => effects.syslog.messages.length === numbers.length);
    expect(effects.isComplete()).to.equal(false);
    const ends = { monitord: 1, execd: 1 };
    expect(effects.judge(ends).problems).to.have.length(1);
    writeFileSync(home.path(EFFECTS_LOG), numbers.map(alertOf).join(''));
    expect(effects.isComplete()).to.equal(true);
    expect(effects.judge(ends)).to.deep.equal({
      forwarded: 5,
      forwardedAgain: 0,
      responded: 5,
      respondedAgain: 0,
      problems: [],
    });
  });

  it('names what is missing so that it can be found', () => {
    appendFileSync(parts[2] ?? '', alertOf(300).replace('1795824000.0', '1795824000.717'));
    const { problems } = effects.judge({ monitord: 1, execd: 1 });
    expect(problems).to.deep.equal([
      'alerts that syslog does not have: 1: 1795824000.717 at 2026-12-01T00:00:00.000+0000 of number 300',
      'visitors without a response: 1: 300',
    ]);
  });
});
