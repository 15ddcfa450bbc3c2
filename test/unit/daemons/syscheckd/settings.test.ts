import { copyFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { activeSections } from '../../../../daemons/syscheckd/active-sections.js';
import { loadSyscheckdSettings } from '../../../../daemons/syscheckd/settings.js';
import { SETTINGS } from '../../../../daemons/syscheckd/syscheckd-settings.js';
import { ConfigError } from '../../../../lib/config/config-error.js';
import { productRoot } from '../../../../lib/product/product-root.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

describe('settings of svc-syscheckd', () => {
  const home = new TemporaryHome();

  before(() => {
    copyFileSync(new URL('etc/internal_options.conf', productRoot()), home.path('etc/internal_options.conf'));
  });
  after(() => {
    home.remove();
  });

  const load = (sections: string) => {
    writeFileSync(home.path('etc/manager.conf'), `<manager_config>\n${sections}\n</manager_config>\n`);
    return loadSyscheckdSettings(home);
  };
  const show = async (sections: string, name: string): Promise<Record<string, unknown> | undefined> => {
    const settings = load(sections);
    const directories = await settings.scan.directories();
    return activeSections(
      () => settings,
      () => directories,
    ).get(name)?.();
  };

  it('watch files when there is a block that names some', () => {
    expect(load('').watchesFiles).to.equal(false);
    expect(load('<syscheck></syscheck>').watchesFiles).to.equal(false);
    expect(load('<syscheck><directories>/etc</directories></syscheck>').watchesFiles).to.equal(true);
    const off = load('<syscheck><disabled>yes</disabled><directories>/etc</directories></syscheck>');
    expect(off.watchesFiles).to.equal(false);
  });

  it('want a restart for another prefilter than that of the start, however often they are reloaded', () => {
    const withPrefilter = (command: string) =>
      load(`<syscheck><directories>/etc</directories><prefilter_cmd>${command}</prefilter_cmd></syscheck>`);
    const [started, changed] = [withPrefilter('/bin/cat'), withPrefilter('/bin/echo')];
    expect(SETTINGS.restartNeeded?.(changed, { started, before: started })).to.deep.equal(['syscheck']);
    expect(SETTINGS.restartNeeded?.(changed, { started, before: changed })).to.deep.equal(['syscheck']);
    expect(SETTINGS.restartNeeded?.(started, { started, before: changed })).to.deep.equal([]);
  });

  it('scan once a week at the latest when there is a time of day', () => {
    expect(load('<syscheck><frequency>60</frequency></syscheck>').times).to.deep.equal({
      frequency: 60,
      time: undefined,
      days: undefined,
    });
    const { times } = load('<syscheck><frequency>60</frequency><scan_time>9pm</scan_time></syscheck>');
    expect(times).to.deep.equal({ frequency: 604_800, time: 1260, days: undefined });
    const { frequency, days } = load('<syscheck><scan_day>weekends</scan_day></syscheck>').times;
    expect({ frequency, days }).to.deep.equal({
      frequency: 604_800,
      days: [true, false, false, false, false, false, true],
    });
  });

  it('are refused with the place of what is wrong', () => {
    expect(() => load('<syscheck>\n<scan_time>noon</scan_time></syscheck>')).to.throw(
      ConfigError,
      /\(1240\): Invalid time format: 'noon'\..*3/,
    );
    expect(() => load('<syscheck>\n<scan_day>someday</scan_day></syscheck>')).to.throw(ConfigError, '(1241)');
  });

  it('have no limit of files when it is switched off', () => {
    expect(load('<syscheck></syscheck>').fileLimit).to.equal(100_000);
    expect(load('<syscheck><file_limit><enabled>no</enabled></file_limit></syscheck>').fileLimit).to.equal(0);
  });

  it('are shown as agents show them (integrity-and-inventory.md 2.2)', async () => {
    const shown = await show(
      `<syscheck>
        <directories check_all="no" check_md5sum="yes" check_sha256sum="yes" realtime="yes" report_changes="yes"
          restrict=".conf$" tags="one, two" recursion_level="2" diff_size_limit="10KB">/srv/a</directories>
        <directories whodata="yes">/srv/b</directories>
        <ignore>/srv/a/old</ignore>
        <ignore type="sregex">.log$</ignore>
        <nodiff>/srv/a/key</nodiff>
        <diff><nodiff type="sregex">secret</nodiff></diff>
        <scan_day>monday</scan_day>
      </syscheck>`,
      'syscheck',
    );
    expect(shown).to.deep.equal({
      syscheck: {
        disabled: 'no',
        frequency: 604_800,
        skip_nfs: 'yes',
        skip_dev: 'yes',
        skip_sys: 'yes',
        skip_proc: 'yes',
        scan_on_start: 'yes',
        scan_day: 'monday',
        max_files_per_second: 0,
        file_limit: { enabled: 'yes', entries: 100_000 },
        diff: {
          disk_quota: { enabled: 'yes', limit: 1_048_576 },
          file_size: { enabled: 'yes', limit: 51_200 },
        },
        directories: [
          {
            opts: ['check_md5sum', 'realtime', 'report_changes', 'check_sha256sum'],
            dir: '/srv/a',
            recursion_level: 2,
            restrict: '.conf$',
            tags: 'one,two',
            diff_size_limit: 10,
          },
          {
            opts: [
              'check_md5sum',
              'check_sha1sum',
              'check_perm',
              'check_size',
              'check_owner',
              'check_group',
              'check_mtime',
              'check_inode',
              'check_sha256sum',
              'check_whodata',
            ],
            dir: '/srv/b',
            recursion_level: 256,
            diff_size_limit: 51_200,
          },
        ],
        nodiff: ['/srv/a/key'],
        nodiff_sregex: ['secret'],
        ignore: ['/srv/a/old'],
        ignore_sregex: ['.log$'],
        whodata: { restart_audit: 'yes', startup_healthcheck: 'yes', queue_size: 16_384, provider: 'audit' },
        allow_remote_prefilter_cmd: 'no',
        synchronization: {
          enabled: 'yes',
          queue_size: 16_384,
          interval: 300,
          max_eps: 10,
          response_timeout: 30,
          max_interval: 3600,
          thread_pool: 1,
        },
        max_eps: 50,
        process_priority: 10,
        database: 'disk',
      },
    });
    const off = await show('', 'syscheck');
    expect(off?.['syscheck']).to.include({ disabled: 'yes', frequency: 43_200 });
  });

  it('are shown for rootcheck and the internal options', async () => {
    const sections = `<rootcheck>
      <rootkit_files>etc/rootcheck/rootkit_files.txt</rootkit_files>
      <check_files>yes</check_files>
      <system_audit>etc/rootcheck/one.txt</system_audit>
      <system_audit>etc/rootcheck/two.txt</system_audit>
      <ignore>/var/tmp</ignore>
    </rootcheck>`;
    expect(await show(sections, 'rootcheck')).to.deep.equal({
      rootcheck: {
        disabled: 'no',
        base_directory: '',
        rootkit_files: 'etc/rootcheck/rootkit_files.txt',
        scanall: 'no',
        skip_nfs: 'no',
        frequency: 43_200,
        check_dev: 'yes',
        check_files: 'yes',
        check_if: 'yes',
        check_pids: 'yes',
        check_ports: 'yes',
        check_sys: 'yes',
        check_trojans: 'no',
        check_unixaudit: 'yes',
        system_audit: ['etc/rootcheck/one.txt', 'etc/rootcheck/two.txt'],
        ignore: ['/var/tmp'],
      },
    });
    expect((await show('', 'rootcheck'))?.['rootcheck']).to.include({ disabled: 'yes' });
    expect(await show('', 'internal')).to.deep.equal({
      internal: {
        syscheck: {
          rt_delay: 5,
          default_max_depth: 256,
          symlink_scan_interval: 600,
          file_max_size: 1024,
          max_audit_entries: 256,
          debug: 0,
        },
        rootcheck: { sleep: 50 },
      },
    });
  });
});
