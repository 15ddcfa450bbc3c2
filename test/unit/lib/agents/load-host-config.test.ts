import { copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { loadHostConfig, sharedProblem } from '../../../../lib/agents/load-host-config.js';
import type { AgentIdentityText } from '../../../../lib/config/agent-conf.js';
import { ConfigError, describeWarning, logConfigWarnings } from '../../../../lib/config/config-error.js';
import { productRoot } from '../../../../lib/product/product-root.js';
import { LARGE_AGENT_CONF } from '../../../support/config/large-agent-conf.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

const SHARED = 'etc/shared/agent.conf';

describe('configuration of a host', () => {
  let home: TemporaryHome;

  beforeEach(() => {
    home = agentHome();
  });

  afterEach(() => {
    home.remove();
  });

  function agentHome(role = 'agent'): TemporaryHome {
    const made = new TemporaryHome({ version: 1, role });
    mkdirSync(made.path('etc', 'shared'));
    copyFileSync(new URL('etc/internal_options.conf', productRoot()), made.path('etc/internal_options.conf'));
    return made;
  }

  function local(sections: string): void {
    writeFileSync(home.path('etc/manager.conf'), `<ossec_config>\n${sections}\n</ossec_config>\n`);
  }

  function shared(text: string): void {
    writeFileSync(home.path(SHARED), text);
  }

  const forAll = (sections: string): void => {
    shared(`<agent_config>\n${sections}\n</agent_config>\n`);
  };

  function allow(option: string): void {
    writeFileSync(home.path('etc/local_internal_options.conf'), `${option}=1\n`);
  }

  describe('where agent.conf counts', () => {
    beforeEach(() => {
      local('<labels><label key="a">local</label></labels>');
      forAll('<labels><label key="b">shared</label></labels>');
    });

    const keys = (): string[] => loadHostConfig(home, ['labels']).labels.map(({ key }) => key);

    it('is laid over the configuration of an agent', () => {
      expect(keys()).to.deep.equal(['a', 'b']);
      expect(loadHostConfig(home, ['labels']).shared).to.deep.equal({ state: 'used' });
    });

    it('is nothing to a server', () => {
      home.remove();
      home = agentHome('server');
      local('<labels><label key="a">local</label></labels>');
      forAll('<labels><label key="b">shared</label></labels>');
      expect(keys()).to.deep.equal(['a']);
      expect(loadHostConfig(home, ['labels']).shared).to.deep.equal({ state: 'none' });
    });

    it('may be absent', () => {
      rmSync(home.path(SHARED));
      expect(keys()).to.deep.equal(['a']);
      expect(loadHostConfig(home, ['labels']).shared).to.deep.equal({ state: 'none' });
    });

    it('is ignored with agent.remote_conf=0, even a broken one', () => {
      writeFileSync(home.path('etc/local_internal_options.conf'), 'agent.remote_conf=0\n');
      shared('<agent_config>');
      expect(keys()).to.deep.equal(['a']);
      expect(loadHostConfig(home, ['labels']).shared).to.deep.equal({ state: 'off' });
    });

    it('is left out whole when a section of it is wrong, also one that was not asked for', () => {
      forAll('<labels><label key="b">x</label></labels>\n<syscheck><disabled>maybe</disabled></syscheck>');
      expect(keys()).to.deep.equal(['a']);
      expect(loadHostConfig(home, ['labels']).shared).to.deep.equal({
        state: 'refused',
        problem: `(1235): Invalid value for element 'disabled': maybe. (${SHARED}, line 3)`,
      });
    });

    it('gives way to the last good one, as long as that is right', () => {
      const keep = (sections: string) => {
        mkdirSync(home.path('var/last-good'), { recursive: true });
        writeFileSync(home.path('var/last-good/agent.conf'), `<agent_config>\n${sections}\n</agent_config>\n`);
      };
      keep('<labels><label key="c">kept</label></labels>');
      expect(keys(), 'while the other is right').to.deep.equal(['a', 'b']);
      shared('<agent_config>');
      expect(keys()).to.deep.equal(['a', 'c']);
      const kept = loadHostConfig(home, ['labels']).shared;
      expect(kept.state).to.equal('kept');
      expect(kept.problem).to.include(`Error reading XML file '${SHARED}'`);
      expect(sharedProblem(kept)).to.include('the last good one stays: (1226)');
      keep('<labels><label key="c">kept</label></labels><nonsense/>');
      expect(loadHostConfig(home, ['labels']).shared).to.deep.equal({ ...kept, state: 'refused' });
      rmSync(home.path('var/last-good/agent.conf'));
      symlinkSync('/etc/passwd', home.path('var/last-good/agent.conf'));
      expect(loadHostConfig(home, ['labels']).shared.state).to.equal('refused');
      expect(keys()).to.deep.equal(['a']);
      rmSync(home.path(SHARED));
      expect(loadHostConfig(home, ['labels']).shared).to.deep.equal({ state: 'none' });
    });

    it('is left out when it only goes wrong together with the main file', () => {
      local('<sca><wday>1</wday><interval>1w</interval></sca>');
      forAll('<sca><day>1</day><interval>1M</interval></sca>');
      const { sca, shared: state } = loadHostConfig(home, ['sca']);
      expect(sca).to.include({ wday: 1, day: undefined });
      expect(state.state).to.equal('refused');
      expect(state.problem).to.include(`Options 'day' and 'wday' are not compatible. (${SHARED}, line 2)`);
    });

    it('is no link, no directory and no huge file', () => {
      rmSync(home.path(SHARED));
      symlinkSync('/etc/passwd', home.path(SHARED));
      expect(loadHostConfig(home, ['labels']).shared.problem).to.include(`Could not open file '${SHARED}'`);
      rmSync(home.path(SHARED));
      mkdirSync(home.path(SHARED));
      expect(loadHostConfig(home, ['labels']).shared.problem).to.include('is not a regular file');
      rmSync(home.path(SHARED), { recursive: true });
      shared(' '.repeat(10_485_761));
      expect(loadHostConfig(home, ['labels']).shared.problem).to.include('at most 10485760 are allowed');
      expect(keys()).to.deep.equal(['a']);
    });

    it('does not hide an error of the main file', () => {
      local('<labels><label>x</label></labels>');
      expect(() => loadHostConfig(home, ['labels'])).to.throw(ConfigError, 'etc/manager.conf, line 2');
    });
  });

  describe('filters', () => {
    it('choose by key, system and profile of this host', () => {
      local('<client><config-profile>web, debian12</config-profile></client>');
      writeFileSync(home.path('etc/client.keys'), `007 web-07 any ${'0'.repeat(64)}\n`);
      const label = (attributes: string, key: string): string =>
        `<agent_config ${attributes}><labels><label key="${key}">x</label></labels></agent_config>\n`;
      shared(
        label('name="^web-0"', 'name') +
          label('name="db"', 'other name') +
          label('os="Linux"', 'os') +
          label('os="Wazuh v4.14.7$"', 'version') +
          label('os="Windows"', 'other os') +
          label('profile="debian12"', 'profile') +
          label('profile="debian13"', 'other profile') +
          label('name="web" os="Linux" profile="web"', 'all'),
      );
      const { labels } = loadHostConfig(home, ['labels']);
      expect(labels.map(({ key }) => key)).to.deep.equal(['name', 'os', 'version', 'profile', 'all']);
    });

    it('may be tried for another host', () => {
      local('');
      shared('<agent_config os="Windows"><labels><label key="w">x</label></labels></agent_config>');
      const windows: AgentIdentityText = { name: 'pc', os: 'Microsoft Windows 11 |pc |x86_64', profile: undefined };
      expect(loadHostConfig(home, ['labels'], windows).labels).to.have.length(1);
      expect(loadHostConfig(home, ['labels']).labels).to.have.length(0);
    });
  });

  describe('merging', () => {
    const modules: [name: string, off: string, on: string, isOn: () => boolean | undefined][] = [
      [
        'syscheck',
        '<syscheck><disabled>yes</disabled></syscheck>',
        '<syscheck><disabled>no</disabled></syscheck>',
        () => loadHostConfig(home, ['syscheck']).syscheck?.disabled === false,
      ],
      [
        'rootcheck',
        '<rootcheck><disabled>yes</disabled></rootcheck>',
        '<rootcheck><disabled>no</disabled></rootcheck>',
        () => loadHostConfig(home, ['rootcheck']).rootcheck?.disabled === false,
      ],
      [
        'sca',
        '<sca><enabled>no</enabled></sca>',
        '<sca><enabled>yes</enabled></sca>',
        () => loadHostConfig(home, ['sca']).sca?.enabled,
      ],
      [
        'syscollector',
        '<wodle name="syscollector"><disabled>yes</disabled></wodle>',
        '<wodle name="syscollector"><disabled>no</disabled></wodle>',
        () => loadHostConfig(home, ['wodle']).wodle.syscollector?.disabled === false,
      ],
      [
        'client_buffer',
        '<client_buffer><disabled>yes</disabled></client_buffer>',
        '<client_buffer><disabled>no</disabled></client_buffer>',
        () => loadHostConfig(home, ['client_buffer']).client_buffer.disabled === false,
      ],
    ];
    for (const [name, off, on, isOn] of modules) {
      it(`enables ${name}, which the host has disabled`, () => {
        local(off);
        expect(isOn()).to.equal(false);
        forAll(on);
        expect(isOn()).to.equal(true);
      });
    }

    it('keeps paths and patterns of both files', () => {
      local(
        '<syscheck><directories>/etc,/usr/bin</directories><ignore>/etc/mtab</ignore><frequency>100</frequency></syscheck>' +
          '<rootcheck><system_audit>a.txt</system_audit><ignore>/a</ignore></rootcheck>' +
          '<localfile><log_format>syslog</log_format><location>/var/log/a</location></localfile>',
      );
      forAll(
        '<syscheck><directories realtime="yes">/srv</directories><ignore type="sregex">.tmp$</ignore><nodiff>/k</nodiff><frequency>200</frequency></syscheck>' +
          '<rootcheck><system_audit>b.txt</system_audit><ignore>/b</ignore></rootcheck>' +
          '<localfile><log_format>json</log_format><location>/var/log/b</location></localfile>',
      );
      const { syscheck, rootcheck, localfile } = loadHostConfig(home, ['syscheck', 'rootcheck', 'localfile']);
      expect(syscheck?.directories.map(({ path }) => path)).to.deep.equal(['/etc', '/usr/bin', '/srv']);
      expect(syscheck?.ignore.map(({ value }) => value)).to.deep.equal(['/etc/mtab', '.tmp$']);
      expect(syscheck).to.deep.include({ frequency: 200, nodiff: [{ kind: 'path', value: '/k' }] });
      expect(rootcheck?.system_audit).to.deep.equal(['a.txt', 'b.txt']);
      expect(rootcheck?.ignore.map(({ value }) => value)).to.deep.equal(['/a', '/b']);
      expect(localfile.map(({ location, file, line }) => ({ location, file, line }))).to.deep.equal([
        { location: '/var/log/a', file: 'etc/manager.conf', line: 2 },
        { location: '/var/log/b', file: SHARED, line: 2 },
      ]);
    });

    it('lets policies add up and the last of single values count', () => {
      local(
        '<sca><enabled>no</enabled><interval>1d</interval><skip_nfs>no</skip_nfs><policies><policy>a.yml</policy></policies></sca>',
      );
      shared(
        '<agent_config><sca><enabled>yes</enabled><interval>12h</interval><policies><policy>b.yml</policy></policies></sca></agent_config>' +
          '<agent_config><sca><interval>6h</interval></sca></agent_config>',
      );
      const { sca } = loadHostConfig(home, ['sca']);
      expect(sca).to.deep.include({
        enabled: true,
        interval: { unit: 'second', count: 21_600 },
        skip_nfs: false,
        policies: {
          policy: [
            { path: 'a.yml', enabled: true },
            { path: 'b.yml', enabled: true },
          ],
        },
      });
    });

    it('overrides what is given of syscollector and keeps the rest of the host', () => {
      local(
        '<wodle name="syscollector"><disabled>yes</disabled><interval>2h</interval><packages>no</packages></wodle>',
      );
      shared(
        '<agent_config><wodle name="syscollector"><disabled>no</disabled></wodle></agent_config>' +
          '<agent_config><wodle name="syscollector"><processes>no</processes></wodle></agent_config>',
      );
      expect(loadHostConfig(home, ['wodle']).wodle.syscollector).to.deep.include({
        disabled: false,
        interval: { unit: 'second', count: 7200 },
        packages: false,
        processes: false,
        network: true,
      });
    });

    it('replaces the value of a label whose key comes again', () => {
      local('<labels><label key="site" hidden="yes">berlin</label><label key="rack">1</label></labels>');
      shared(
        '<agent_config><labels><label key="site">rome</label></labels></agent_config>' +
          '<agent_config><labels><label key="rack">2</label><label key="row">3</label></labels></agent_config>',
      );
      expect(loadHostConfig(home, ['labels']).labels).to.deep.equal([
        { key: 'site', value: 'rome', hidden: false },
        { key: 'rack', value: '2', hidden: false },
        { key: 'row', value: '3', hidden: false },
      ]);
    });

    it('takes force_reconnect_interval and keeps the manager of the host', () => {
      local('<client><server><address>10.0.0.1</address></server></client>');
      forAll('<client><force_reconnect_interval>1h</force_reconnect_interval></client>');
      const { client } = loadHostConfig(home, ['client']);
      expect(client?.force_reconnect_interval).to.equal(3600);
      expect(client?.server.map(({ address }) => address)).to.deep.equal(['10.0.0.1']);
    });

    it('ignores what a manager cannot set, says so for other sections, and keeps the order of warnings', () => {
      local('<active-response><disabled>no</disabled></active-response>');
      forAll(
        '<active-response><disabled>yes</disabled></active-response><global><logall>yes</logall></global><agent-upgrade><enabled>no</enabled></agent-upgrade>',
      );
      const config = loadHostConfig(home, ['global', 'active-response', 'agent-upgrade', 'command']);
      expect(config.global.logall).to.equal(false);
      expect(config['agent-upgrade'].enabled).to.equal(true);
      expect(config.warnings.map(describeWarning)).to.deep.equal([
        `Section 'global' is not taken from the manager; it is ignored. (${SHARED}, line 2)`,
      ]);
    });

    it('takes a large file', () => {
      local('<syscheck><directories>/root</directories></syscheck>');
      shared(LARGE_AGENT_CONF);
      writeFileSync(home.path('etc/client.keys'), `001 db-01 any ${'0'.repeat(64)}\n`);
      const config = loadHostConfig(home);
      expect(config.shared).to.deep.equal({ state: 'used' });
      expect(config.syscheck?.directories.map(({ path }) => path)).to.deep.equal([
        '/root',
        '/etc',
        '/usr/bin',
        '/usr/sbin',
        '/srv/app',
        '/opt/*/bin',
      ]);
      expect(config.localfile.map(({ location }) => location)).to.deep.equal([
        'journald',
        '/var/log/app/*.log',
        '/var/log/suricata/eve.json',
        '/var/log/tomcat/catalina.%Y-%m-%d.log',
        '/var/log/postgresql/postgresql-%Y-%m-%d.log',
      ]);
      expect(
        config.socket.map(({ name }) => name),
        'not without logcollector.remote_sockets',
      ).to.deep.equal([]);
      expect(config.client_buffer).to.include({ queue_size: 20_000, events_per_second: 750 });
    });
  });

  describe('sockets of the host', () => {
    const SHARED_SOCKET =
      '<socket><name>own</name><location>/run/root.sock</location><mode>tcp</mode></socket>\n' +
      '<localfile><log_format>syslog</log_format><location>/a</location><target>agent, own</target></localfile>\n' +
      '<localfile><log_format>syslog</log_format><location>/b</location><target>local</target></localfile>\n' +
      '<localfile><log_format>syslog</log_format><location>/c</location></localfile>';
    beforeEach(() => {
      local(
        '<socket><name>local</name><location>/run/local.sock</location></socket>' +
          '<localfile><log_format>syslog</log_format><location>/own</location><target>local</target></localfile>',
      );
      forAll(SHARED_SOCKET);
    });
    const loaded = () => {
      const { socket, localfile, warnings } = loadHostConfig(home, ['localfile', 'socket']);
      return {
        sockets: socket.map(({ name }) => name),
        files: localfile.map(({ location, target }) => `${location} to ${target.join()}`),
        warnings: warnings.map(describeWarning),
      };
    };

    it('are written to for a manager only when the host allows it', () => {
      const why = "'logcollector.remote_sockets' of this host is not 1";
      expect(loaded()).to.deep.equal({
        sockets: ['local'],
        files: ['/own to local', '/a to agent', '/c to agent'],
        warnings: [
          `Socket 'own' is not taken from the manager: ${why}; it is ignored. (${SHARED}, line 2)`,
          `Sockets as 'target' are not taken from the manager: ${why}; they are ignored. (${SHARED}, line 3)`,
          `Sockets as 'target' are not taken from the manager: ${why}; the block is ignored. (${SHARED}, line 4)`,
        ],
      });
      allow('logcollector.remote_commands');
      expect(loaded().sockets, 'commands are another matter').to.deep.equal(['local']);
    });

    it('are taken with logcollector.remote_sockets=1', () => {
      allow('logcollector.remote_sockets');
      expect(loaded()).to.deep.equal({
        sockets: ['local', 'own'],
        files: ['/own to local', '/a to agent,own', '/b to local', '/c to agent'],
        warnings: [],
      });
    });
  });

  describe('remote commands', () => {
    const COMMANDS =
      '<localfile><log_format>command</log_format><command>id</command></localfile>' +
      '<localfile><log_format>full_command</log_format><command>df</command></localfile>' +
      '<wodle name="command"><tag>disk</tag><command>df</command><interval>1h</interval></wodle>';

    it('are refused unless the host allows them, with the lines users know', () => {
      local('<localfile><log_format>command</log_format><command>own</command></localfile>');
      forAll(`${COMMANDS}<localfile><log_format>syslog</log_format><location>/x</location></localfile>`);
      const { localfile, wodle, warnings, shared: state } = loadHostConfig(home, ['localfile', 'wodle']);
      expect(localfile.map(({ command, location }) => command || location)).to.deep.equal(['own', '/x']);
      expect(wodle.command).to.deep.equal([]);
      expect(state).to.deep.equal({ state: 'used' });
      const logger = new RecordingLogger();
      logConfigWarnings(warnings, logger);
      expect(logger.lines).to.deep.equal([
        'error: Remote commands are not accepted from the manager. Ignoring it on the agent.conf',
        'error: Remote commands are not accepted from the manager. Ignoring it on the agent.conf',
        "warn: Remote commands are disabled. Ignoring 'disk'.",
      ]);
    });

    it('of logs are taken with logcollector.remote_commands=1', () => {
      local('');
      forAll(COMMANDS);
      allow('logcollector.remote_commands');
      const { localfile, wodle } = loadHostConfig(home, ['localfile', 'wodle']);
      expect(localfile.map(({ command }) => command)).to.deep.equal(['id', 'df']);
      expect(wodle.command).to.deep.equal([]);
    });

    it('of the command module are taken with wazuh_command.remote_commands=1, the same tag replacing the whole', () => {
      local(
        '<wodle name="command"><tag>disk</tag><command>du</command><interval>1h</interval><timeout>9</timeout></wodle>' +
          '<wodle name="command"><tag>own</tag><command>id</command><interval>1h</interval></wodle>',
      );
      forAll(COMMANDS);
      allow('wazuh_command.remote_commands');
      const { wodle } = loadHostConfig(home, ['wodle']);
      expect(wodle.command.map(({ tag, command, timeout }) => ({ tag, command, timeout }))).to.deep.equal([
        { tag: 'own', command: 'id', timeout: 0 },
        { tag: 'disk', command: 'df', timeout: 0 },
      ]);
    });

    it('before a hash need allow_remote_prefilter_cmd of the host, which no manager gives', () => {
      const text =
        '<syscheck><allow_remote_prefilter_cmd>yes</allow_remote_prefilter_cmd><prefilter_cmd>/bin/x</prefilter_cmd></syscheck>';
      local('<syscheck><prefilter_cmd>/bin/own</prefilter_cmd></syscheck>');
      forAll(text);
      const refused = loadHostConfig(home, ['syscheck']);
      expect(refused.syscheck).to.include({ prefilter_cmd: '/bin/own', allow_remote_prefilter_cmd: false });
      expect(refused.warnings.map(({ text }) => text)).to.deep.equal([
        "'allow_remote_prefilter_cmd' is not taken from the manager; it is ignored.",
        "'prefilter_cmd' is not taken from the manager: 'allow_remote_prefilter_cmd' of this host is not 'yes'; it is ignored.",
      ]);
      local('<syscheck><allow_remote_prefilter_cmd>yes</allow_remote_prefilter_cmd></syscheck>');
      expect(loadHostConfig(home, ['syscheck']).syscheck).to.include({ prefilter_cmd: '/bin/x' });
    });
  });
});
