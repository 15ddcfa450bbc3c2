import { copyFileSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { expect } from 'chai';
import { SETTINGS, upgradesAtOnce } from '../../../../daemons/modulesd/modulesd-settings.js';
import { checkOwnSections } from '../../../../lib/daemon/check-own-sections.js';
import { productRoot } from '../../../../lib/product/product-root.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

describe('the settings of svc-modulesd', () => {
  let home: TemporaryHome;

  beforeEach(() => {
    home = new TemporaryHome();
    copyFileSync(new URL('etc/internal_options.conf', productRoot()), home.path('etc', 'internal_options.conf'));
  });
  afterEach(() => {
    home.remove();
  });

  function load(sections: string) {
    writeFileSync(home.path('etc', 'manager.conf'), `<manager_config>\n${sections}\n</manager_config>`);
    const logger = new RecordingLogger();
    const settings = SETTINGS.load({ name: 'svc-modulesd', home, logger, ownFlags: {} });
    SETTINGS.logWarnings(settings, logger);
    return { settings, lines: logger.lines };
  }

  it('have defaults and shows them as agents show theirs', async () => {
    const { settings, lines } = load('');
    expect([upgradesAtOnce(settings), lines]).to.deep.equal([8, []]);
    expect(await SETTINGS.sections?.(() => settings).get('wmodules')?.()).to.deep.equal({
      wmodules: [
        {
          'agent-upgrade': {
            ...{ enabled: 'yes', max_threads: 8, chunk_size: 32_768 },
            wpk_repository: 'packages.wazuh.com/4.x/wpk/',
          },
        },
        { 'task-manager': { enabled: 'yes', task_timeout: 900, cleanup_time: 604_800 } },
      ],
    });
  });

  it('tell what has no effect', () => {
    const { settings, lines } = load(`<agent-upgrade><chunk_size>60000</chunk_size><max_threads>100</max_threads>
<wpk_repository>example.com/wpk/</wpk_repository><notification_wait_start>10s</notification_wait_start></agent-upgrade>
<task-manager><task_timeout>1m</task_timeout></task-manager>`);
    expect(upgradesAtOnce(settings)).to.equal(32);
    const own = checkOwnSections('svc-modulesd', home, 'server').messages.map(({ text }) => text);
    expect(own).to.have.length(2);
    expect(own[0]).to.match(/wpk_repository.*packages are taken from var\/upgrade/);
    expect(own[1]).to.match(/notification_wait_start.*it concerns agents/);
    expect(lines).to.have.length(2);
    expect(lines[0]).to.match(/^warn: 'agent-upgrade' 'max_threads' 100 is more than there is: 32 agents/);
    expect(lines[1]).to.match(/^warn: 'agent-upgrade' 'chunk_size' 60000 does not fit into a message: .* 45000 bytes/);
  });

  it('have policies, whose commands a manager may not have run on itself', async () => {
    writeFileSync(home.path('etc', 'local_internal_options.conf'), 'sca.remote_commands=1\n');
    mkdirSync(home.path('ruleset', 'sca'), { recursive: true });
    for (const name of ['a.yml', 'b.yaml', 'c.txt']) writeFileSync(home.path('ruleset', 'sca', name), 'policy: {');
    const sca =
      '<sca><interval>2w</interval><wday>monday</wday><time>04:30</time><scan_on_start>no</scan_on_start><policies><policy enabled="no">a.yml</policy></policies></sca>';
    const { settings } = load(sca);
    expect(settings.policies.remoteCommands).to.equal(false);
    const { wmodules } = ((await SETTINGS.sections?.(() => settings).get('wmodules')?.()) ?? {}) as {
      wmodules: unknown[];
    };
    expect(wmodules[0]).to.deep.equal({
      sca: {
        ...{ interval: 1_209_600, wday: 'monday', time: '04:30', enabled: 'yes', scan_on_start: 'no', skip_nfs: 'yes' },
        policies: [realpathSync(home.path('ruleset', 'sca', 'b.yaml'))],
      },
    });
    const logger = new RecordingLogger();
    SETTINGS.check?.({ name: 'svc-modulesd', home, logger, ownFlags: {} });
    expect(logger.lines.at(-1)).to.equal(
      "warn: Error found while validating policy file: 'ruleset/sca/b.yaml'. Skipping it.",
    );
    writeFileSync(home.path('etc', 'home.json'), JSON.stringify({ version: 1, role: 'agent' }));
    expect(load(sca).settings.policies.remoteCommands).to.equal(true);
  });

  it('are read anew, but for the number of places', () => {
    const before = load('').settings;
    const restart = (sections: string) => {
      const next = load(sections).settings;
      return SETTINGS.restartNeeded?.(next, { started: before, before });
    };
    expect(restart('<agent-upgrade><chunk_size>64</chunk_size></agent-upgrade>')).to.deep.equal([]);
    expect(restart('<agent-upgrade><max_threads>2</max_threads></agent-upgrade>')).to.deep.equal(['agent-upgrade']);
    const { settings } = load('<agent-upgrade><max_threads>0</max_threads></agent-upgrade>');
    expect(upgradesAtOnce(settings)).to.equal(Math.min(availableParallelism(), 32));
    expect(() => load('<agent-upgrade><max_threads>x</max_threads></agent-upgrade>')).to.throw(/max_threads/);
  });
});
