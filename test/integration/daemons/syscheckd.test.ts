import { createHash } from 'node:crypto';
import { appendFileSync, chmodSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { ApiList } from '../../support/api/api-list.js';
import { eventually } from '../../support/eventually.js';
import { removeTree } from '../../support/remove-tree.js';
import { FimHome } from '../../support/syscheckd/fim-home.js';

const WAIT_MS = 60_000;

describe('svc-syscheckd on a manager', function () {
  this.timeout(180_000);
  const home = new FimHome();

  /** `<syscheck>` with directories below the tree, as `path attributes`. */
  const sections = (...directories: readonly string[]): string => `
    <remote><connection>secure</connection><port>0</port><local_ip>127.0.0.1</local_ip></remote>
    <rootcheck><disabled>yes</disabled></rootcheck>
    <syscheck>
      <frequency>86400</frequency>
      <max_eps>0</max_eps>
      <synchronization><interval>1s</interval><response_timeout>0</response_timeout><max_eps>0</max_eps></synchronization>
      <ignore>${home.file('a', 'ignored')}</ignore>
      ${directories
        .map((text) => {
          const [path = '', ...attributes] = text.split(' ');
          return `<directories ${attributes.join(' ')}>${home.file(path)}</directories>`;
        })
        .join('\n')}
    </syscheck>`;
  const restart = async (): Promise<void> => {
    await home.daemon('svc-syscheckd').stop();
    await home.start('svc-syscheckd');
  };
  const scanOverApi = async (): Promise<void> => {
    await eventually('no scan runs', async () => !(await home.status()).fim.running, WAIT_MS);
    const { count } = (await home.status()).fim;
    const { data } = await home.ask<ApiList>('PUT', '/syscheck?agents_list=000');
    expect(data).to.deep.include({ affected_items: ['000'], failed_items: [] });
    await home.scanned(count + 1);
  };
  const reload = async (text: string): Promise<void> => {
    const { count } = (await home.status()).fim;
    home.configure(text);
    await home.syscheckd.call('reload', {});
    await home.scanned(count + 1);
  };
  const recordsBecome = (...paths: readonly string[]) =>
    eventually(
      `records of ${paths.join(', ')}`,
      async () => {
        const records = await home.records();
        return [...records.keys()].sort().join() === [...paths].sort().join() ? records : undefined;
      },
      WAIT_MS,
    );

  before(async () => {
    await home.init(sections('a report_changes="yes"'));
    for (const name of ['kept', 'changed', 'removed', 'ignored']) home.write(`a/${name}`, `${name}\n`);
    home.write('b/other', 'other\n');
    home.write('b/later', 'later\n');
    await home.start('svc-db', 'svc-analysisd', 'svc-syscheckd', 'svc-apid');
  });
  after(() => home.close());

  it('takes a baseline that alerts nothing, and the manager knows the files', async () => {
    await home.scanned(1);
    const records = await recordsBecome('a/kept', 'a/changed', 'a/removed');
    expect(records.get('a/kept')).to.include({ size: 5, type: 'file', perm: 'rw-r--r--' });
    const scan = await eventually('the scan has ended', async () => {
      const { data } = await home.ask<ApiList>('GET', '/syscheck/000/last_scan');
      return data.affected_items.find(({ end }) => end !== null);
    });
    expect(scan).to.have.keys('start', 'end');
    expect(home.alerts()).to.deep.equal([]);
  });

  it('alerts what was added, modified and deleted, and the records follow', async () => {
    home.write('a/new', 'new\n');
    home.write('a/changed', 'other\n');
    chmodSync(home.file('a/kept'), 0o600);
    rmSync(home.file('a/removed'));
    home.write('a/ignored', 'nobody looks\n');
    await scanOverApi();
    const expected = ['550 a/changed', '550 a/kept', '553 a/removed', '554 a/new'];
    expect(await home.alerted(0, ...expected)).to.deep.equal(expected);
    const alert = (path: string) => home.fileAlerts().find(({ syscheck }) => syscheck.path === home.file(path));
    expect(alert('a/changed')?.syscheck).to.include({
      mode: 'scheduled',
      event: 'modified',
      size_before: '8',
      size_after: '6',
      diff: '1c1\n< changed\n---\n> other\n',
    });
    expect(alert('a/changed')?.syscheck['changed_attributes']).to.include.members(['size', 'md5', 'sha1', 'sha256']);
    expect(alert('a/kept')?.syscheck['changed_attributes']).to.deep.equal(['permission']);
    expect(alert('a/removed')).to.deep.include({ location: 'syscheck' });
    const records = await recordsBecome('a/kept', 'a/changed', 'a/new');
    expect(records.get('a/changed')).to.include({ size: 6 });
    expect(records.get('a/kept')).to.include({ perm: 'rw-------' });
    await scanOverApi();
    expect(home.alerts(), 'nothing is told twice').to.have.length(4);
  });

  it('alerts at its next start what was changed while it was stopped', async () => {
    const known = home.alerts().length;
    await home.daemon('svc-syscheckd').stop();
    home.write('a/new', 'newer\n');
    rmSync(home.file('a/kept'));
    home.write('a/arrived', 'arrived\n');
    await home.start('svc-syscheckd');
    const expected = ['550 a/new', '553 a/kept', '554 a/arrived'];
    expect(await home.alerted(known, ...expected)).to.deep.equal(expected);
    const [modified] = home.fileAlerts().filter(({ syscheck }) => syscheck.path === home.file('a/new'));
    expect(modified?.rule.id).to.equal('554');
    const last = home.fileAlerts().findLast(({ syscheck }) => syscheck.path === home.file('a/new'));
    expect(last?.syscheck['diff']).to.equal('1c1\n< new\n---\n> newer\n');
  });

  it('alerts once what was changed while it was killed again and again', async () => {
    const known = home.alerts().length;
    await home.daemon('svc-syscheckd').stop('SIGKILL');
    home.write('a/one', 'one\n');
    await home.start('svc-syscheckd');
    await home.daemon('svc-syscheckd').stop('SIGKILL');
    home.write('a/two', 'two\n');
    await home.start('svc-syscheckd');
    const expected = ['554 a/one', '554 a/two'];
    expect(await home.alerted(known, ...expected)).to.deep.equal(expected);
    await scanOverApi();
    expect(home.alerts().slice(known)).to.have.length(2);
  });

  it('baselines silently what is configured anew, and forgets silently what is not any more', async () => {
    const known = home.alerts().length;
    await reload(sections('a report_changes="yes"', 'b'));
    await recordsBecome('a/arrived', 'a/changed', 'a/new', 'a/one', 'a/two', 'b/later', 'b/other');
    home.write('b/later', 'much later\n');
    await scanOverApi();
    expect(await home.alerted(known, '550 b/later')).to.deep.equal(['550 b/later']);
    await reload(sections('b'));
    await recordsBecome('b/later', 'b/other');
    rmSync(home.file('b/other'));
    await scanOverApi();
    expect(await home.alerted(known + 1, '553 b/other')).to.deep.equal(['553 b/other']);
  });

  it('alerts at once what changes where realtime is asked for, and a scan does not tell it again', async () => {
    home.write('c/first', 'first\n');
    await reload(sections('b', 'c realtime="yes"'));
    const known = home.alerts().length;
    home.write('c/first', 'changed\n');
    expect(await home.alerted(known, '550 c/first')).to.deep.equal(['550 c/first']);
    home.write('c/new/deep/file', 'new\n');
    expect(await home.alerted(known + 1, '554 c/new/deep/file')).to.deep.equal(['554 c/new/deep/file']);
    removeTree(home.file('c/new'));
    expect(await home.alerted(known + 2, '553 c/new/deep/file')).to.deep.equal(['553 c/new/deep/file']);
    await scanOverApi();
    expect(home.alerts().slice(known)).to.have.length(3);
    expect(
      home
        .fileAlerts()
        .slice(known)
        .map(({ syscheck }) => syscheck['mode']),
    ).to.deep.equal(['realtime', 'realtime', 'realtime']);
    await reload(sections('b'));
  });

  it('keeps what is in force when a configuration is wrong', async () => {
    home.configure('<syscheck><frequency>soon</frequency></syscheck>');
    const failure = await home.syscheckd.call('reload', {}).catch((error: unknown) => error);
    expect(failure).to.include({ code: 'bad_configuration' });
    expect((failure as Error).message).to.include('etc/manager.conf');
    const { syscheck } = (await home.syscheckd.call('config', { section: 'syscheck' })) as {
      syscheck: { frequency: number; directories: { dir: string }[] };
    };
    expect(syscheck.frequency).to.equal(86_400);
    expect(syscheck.directories.map(({ dir }) => dir)).to.deep.equal([home.file('b')]);
    const prefiltered = sections('b').replace('</syscheck>', '<prefilter_cmd>/bin/cat</prefilter_cmd></syscheck>');
    home.configure(prefiltered);
    expect(await home.syscheckd.call('reload', {})).to.deep.equal({ restartNeeded: ['syscheck'] });
    home.configure(sections('b'));
    await home.syscheckd.call('reload', {});
  });

  it('shows over the API what is in force', async () => {
    const { data } = await home.ask<ApiList>('GET', '/manager/configuration/syscheck/syscheck');
    expect(data.affected_items[0]?.['syscheck']).to.include({ disabled: 'no', frequency: 86_400, max_eps: 0 });
  });

  it('forgets at the start what it knew when it is told to', async () => {
    const known = home.alerts().length;
    home.options('syscheck.alert_changes_while_stopped=0');
    await home.daemon('svc-syscheckd').stop();
    home.write('b/later', 'changed while stopped\n');
    await home.start('svc-syscheckd');
    await home.scanned(1);
    const records = await eventually('the manager knows it', async () => {
      const all = await home.records();
      return all.get('b/later')?.['size'] === 22 ? all : undefined;
    });
    expect([...records.keys()]).to.deep.equal(['b/later']);
    home.write('b/later', 'changed\n');
    await scanOverApi();
    expect(await home.alerted(known, '550 b/later')).to.deep.equal(['550 b/later']);
    home.options();
  });

  it('alerts a change under all names of a file at once', async () => {
    const known = home.alerts().length;
    home.write('c/other', 'other\n');
    linkSync(home.file('b', 'later'), home.file('c', 'linked'));
    home.configure(sections('b realtime="yes"', 'c realtime="yes"'));
    await restart();
    await home.scanned(1);
    appendFileSync(home.file('c', 'linked'), 'more\n');
    const expected = ['550 b/later', '550 c/linked'];
    expect(await home.alerted(known, ...expected)).to.deep.equal(expected);
    const modes = home
      .fileAlerts()
      .slice(known)
      .map(({ syscheck }) => syscheck['mode']);
    expect(modes).to.deep.equal(['realtime', 'realtime']);
  });

  it('records files anew and alerts nothing when prefilter_cmd is another one', async () => {
    const known = home.alerts().length;
    const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');
    const filter = '<prefilter_cmd>/usr/bin/head -c 7</prefilter_cmd>';
    home.configure(sections('b').replace('<max_eps>', `${filter}<max_eps>`));
    expect(await home.syscheckd.call('reload', {})).to.deep.include({ restartNeeded: ['syscheck'] });
    await restart();
    await home.scanned(1);
    await eventually('the manager knows it', async () => {
      const record = (await home.records()).get('b/later');
      return record?.['sha1'] === sha1('changed');
    });
    expect(home.alerts().slice(known)).to.deep.equal([]);
    appendFileSync(home.file('b', 'later'), 'and more\n');
    await restart();
    expect(await home.alerted(known, '550 b/later')).to.deep.equal(['550 b/later']);
    const changed = home.fileAlerts().at(-1)?.syscheck['changed_attributes'];
    expect(changed).to.include('size').and.not.include('sha1');
  });

  it('stays when there is nothing to watch, and refuses what it does not know', async () => {
    home.configure('<rootcheck><disabled>yes</disabled></rootcheck><syscheck></syscheck>');
    await restart();
    const log = readFileSync(home.path('logs', 'manager.log'), 'utf8');
    expect(log).to.include('(6678): No directory provided for syscheck to monitor.');
    expect(log).to.include('(6001): File integrity monitoring disabled.');
    expect(await home.status()).to.deep.include({
      rootcheck: { enabled: false, running: false, started: null, ended: null, count: 0 },
    });
    expect((await home.status()).fim).to.include({ enabled: false, count: 0 });
    await home.syscheckd.call('order', { text: 'syscheck restart' });
    const refused = await home.syscheckd.call('order', { text: 'getconfig' }).catch((error: unknown) => error);
    expect(refused).to.include({ code: 'unrecognized' });
    await home.syscheckd.call('order', { text: 'fim_file dbsync no_data {' });
    expect(await home.daemon('svc-syscheckd').stop()).to.equal(0);
  });

  it('is refused with the place of a wrong configuration', async () => {
    writeFileSync(home.path('etc', 'manager.conf'), '<manager_config>\n<syscheck>\n<scan_time>noon</scan_time>');
    home.configure('<syscheck>\n<scan_time>noon</scan_time></syscheck>');
    const failure = await home.start('svc-syscheckd').catch((error: unknown) => String(error));
    expect(failure).to.include('(1240)').and.include('manager.conf');
  });
});
