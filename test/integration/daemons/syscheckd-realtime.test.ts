import { mkdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { removeTree } from '../../support/remove-tree.js';
import { FimHome } from '../../support/syscheckd/fim-home.js';

const WAIT_MS = 60_000;

describe('svc-syscheckd in real time', function () {
  this.timeout(180_000);
  const home = new FimHome();
  const sections = (disabled: 'yes' | 'no', inner = ''): string => `
    <remote><connection>secure</connection><port>0</port><local_ip>127.0.0.1</local_ip></remote>
    <rootcheck><disabled>yes</disabled></rootcheck>
    <syscheck>
      <disabled>${disabled}</disabled>
      <frequency>86400</frequency>
      <max_eps>0</max_eps>
      <directories realtime="yes">${home.file('a')},${home.file('later', 'deep')}</directories>
      <directories whodata="yes">${home.file('who')}</directories>
      <directories realtime="yes" follow_symbolic_link="yes">${home.file('link')}</directories>
      <directories>${home.file('scheduled')}</directories>
      ${inner}
    </syscheck>`;

  /** Puts a whole file in its place, so that nobody sees it empty. */
  const write = (path: string, content: string): void => {
    home.write('.new', content);
    mkdirSync(home.file(path, '..'), { recursive: true });
    renameSync(home.file('.new'), home.file(path));
  };
  let known = 0;
  /** Waits for exactly these alerts, in any order. */
  const alerted = async (...expected: readonly string[]): Promise<void> => {
    await eventually(
      `${expected.join(', ')}; there are ${home.alerts().slice(known).join(', ')}`,
      () => expected.every((alert) => home.alerts().slice(known).includes(alert)),
      WAIT_MS,
    );
    const all = home.alerts();
    expect(all.slice(known).sort()).to.deep.equal([...expected].sort());
    known = all.length;
  };
  const scanned = async (count: number): Promise<void> => {
    await home.scanned(count);
    await eventually('no scan goes on', async () => !(await home.status()).fim.running, WAIT_MS);
  };
  const reload = async (configuration: string): Promise<void> => {
    home.configure(configuration);
    await home.syscheckd.call('reload', {});
  };

  before(async () => {
    write('a/1', 'one');
    write('a/sub/2', 'two');
    write('scheduled/3', 'three');
    write('target/4', 'four');
    write('other/5', 'five');
    mkdirSync(home.file('who'));
    symlinkSync('target', home.file('link'));
    await home.init(sections('no'));
    await home.start('svc-db', 'svc-analysisd', 'svc-syscheckd');
    await home.scanned(1);
  });
  after(() => home.close());

  it('alerts each change as it happens', async () => {
    write('scheduled/3', 'nobody looks before the next scan');
    write('a/1', 'other');
    await alerted('550 a/1');
    renameSync(home.file('a/sub'), home.file('a/moved'));
    await alerted('553 a/sub/2', '554 a/moved/2');
    removeTree(home.file('a/moved'));
    await alerted('553 a/moved/2');
    write('later/deep/er/6', 'six');
    write('who/7', 'seven');
    await alerted('554 later/deep/er/6', '554 who/7');
    const { syscheck } = home.fileAlerts().at(-1) ?? {};
    expect(syscheck?.['mode']).to.equal('realtime');
    expect(readFileSync(home.path('logs', 'manager.log'), 'utf8')).to.include(
      'svc-syscheckd: WARNING: (6913): Who-data engine could not start. Switching who-data to real-time.',
    );
  });

  it('follows a link that leads elsewhere, without alerts for what was there and is there', async () => {
    write('target/4', 'changed');
    await alerted('550 target/4');
    const { count } = (await home.status()).fim;
    symlinkSync('other', home.file('.link'));
    renameSync(home.file('.link'), home.file('link'));
    await scanned(count + 1);
    // The scan has seen what it was to see of the scheduled directory as well.
    write('other/5', 'changed');
    write('target/4', 'nobody looks');
    await alerted('550 scheduled/3', '550 other/5');
  });

  it('stops when it is disabled, and goes on when it is enabled again', async () => {
    await reload(sections('yes'));
    write('a/8', 'eight');
    write('later/deep/9', 'nine');
    const { count } = (await home.status()).fim;
    await reload(sections('no'));
    await scanned(count + 1);
    await alerted('554 a/8', '554 later/deep/9');
    // Of the scan: nobody has looked before.
    expect(home.fileAlerts().at(-1)?.syscheck['mode']).to.equal('scheduled');
    write('a/8', 'changed');
    await alerted('550 a/8');
    expect(home.fileAlerts().at(-1)?.syscheck['mode']).to.equal('realtime');
  });
});
