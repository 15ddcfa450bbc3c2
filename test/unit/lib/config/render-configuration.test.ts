import { expect } from 'chai';
import {
  type ConfigurationView,
  ConfigurationViewError,
  renderConfiguration,
} from '../../../../lib/config/render-configuration.js';
import { renderRawConfiguration } from '../../../../lib/config/render-raw-configuration.js';

const FILE = 'etc/manager.conf';

function render(body: string, view: Partial<ConfigurationView> = {}, warn?: (message: string) => void): unknown {
  const text = `<ossec_config>${body}</ossec_config>`;
  return JSON.parse(JSON.stringify(renderConfiguration(text, FILE, { secrets: true, ...view }, warn)));
}

function errorOf(run: () => unknown): ConfigurationViewError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigurationViewError) {
      return error;
    }
    throw error;
  }
  throw new Error('no error');
}

/** The worked example of the specification. */
const EXAMPLE = `
  <global><email_to>a@x.test</email_to><email_to>b@x.test</email_to><logall>no</logall></global>
  <command><name>blk</name><executable>host-deny</executable><timeout_allowed>yes</timeout_allowed></command>
  <wodle name="command"><tag>disk</tag><command>/bin/df -P</command><interval>1h</interval></wodle>
  <logging><log_format>plain</log_format></logging>
  <syscheck><directories check_all="yes" realtime="yes">/etc, /opt/app</directories><frequency>3600</frequency></syscheck>
</ossec_config>
<ossec_config>
  <global><white_list>127.0.0.1</white_list><logall>yes</logall></global>
  <syscheck><directories>/srv</directories><ignore type="sregex">.log$</ignore></syscheck>`;

const EXAMPLE_RENDERED =
  '{"global":{"email_to":"b@x.test","logall":"yes","white_list":["127.0.0.1"]},' +
  '"command":[{"name":"blk","executable":"host-deny","timeout_allowed":"yes"},' +
  '{"tag":"disk","command":"/bin/df -P","interval":"1h"}],' +
  '"syscheck":{"directories":[{"check_all":"yes","realtime":"yes","path":"/etc"},' +
  '{"check_all":"yes","realtime":"yes","path":"/opt/app"},{"path":"/srv"}],' +
  '"frequency":"3600","ignore":[{"type":"sregex","item":".log$"}]}}';

/** Section, its XML, and the picture of the specification (1.4). */
const PICTURES: readonly (readonly [string, string, unknown])[] = [
  [
    'global',
    '<global><jsonout_output>yes</jsonout_output><email_to>ops@example.test</email_to><email_maxperhour>12</email_maxperhour>' +
      '<agents_disconnection_time>15m</agents_disconnection_time><white_list>127.0.0.1</white_list>' +
      '<white_list>^localhost.localdomain$</white_list></global>',
    {
      jsonout_output: 'yes',
      email_to: 'ops@example.test',
      email_maxperhour: '12',
      agents_disconnection_time: '15m',
      white_list: ['127.0.0.1', '^localhost.localdomain$'],
    },
  ],
  [
    'global',
    '<global><limits><eps><maximum>500</maximum><timeframe>10</timeframe></eps></limits></global>',
    { limits: { eps: [{ maximum: ['500'], timeframe: ['10'] }] } },
  ],
  [
    'alerts',
    '<alerts><log_alert_level>3</log_alert_level><email_alert_level>12</email_alert_level></alerts>',
    { log_alert_level: '3', email_alert_level: '12' },
  ],
  [
    'remote',
    '<remote><connection>secure</connection><port>1514</port><protocol>tcp</protocol><queue_size>131072</queue_size></remote>',
    [{ connection: 'secure', port: '1514', protocol: ['tcp'], queue_size: '131072' }],
  ],
  ['remote', '<remote><protocol>tcp, udp</protocol></remote>', [{ protocol: ['tcp', 'udp'] }]],
  [
    'auth',
    '<auth><disabled>no</disabled><port>1515</port><force><enabled>yes</enabled>' +
      '<disconnected_time enabled="yes">1h</disconnected_time></force></auth>',
    { disabled: 'no', port: '1515', force: { enabled: ['yes'], disconnected_time: [{ enabled: 'yes', item: '1h' }] } },
  ],
  [
    'command',
    '<command><name>host-deny</name><executable>host-deny</executable><timeout_allowed>yes</timeout_allowed></command>',
    [{ name: 'host-deny', executable: 'host-deny', timeout_allowed: 'yes' }],
  ],
  [
    'active-response',
    '<active-response><command>host-deny</command><location>local</location><level>7</level><timeout>600</timeout></active-response>',
    [{ command: 'host-deny', location: 'local', level: '7', timeout: '600' }],
  ],
  [
    'localfile',
    '<localfile><log_format>syslog</log_format><location>/srv/a.log</location>' +
      '<only-future-events max-size="1M">no</only-future-events><ignore>noise</ignore><ignore type="osmatch">chatty</ignore></localfile>',
    [
      {
        log_format: 'syslog',
        location: '/srv/a.log',
        'only-future-events': { 'max-size': '1M', item: 'no' },
        ignore: ['noise', { type: 'osmatch', item: 'chatty' }],
      },
    ],
  ],
  [
    'localfile',
    '<localfile><location>Security</location><query><QueryList><Select Path="S">*[System/Level &lt; 3]</Select></QueryList></query></localfile>',
    [{ location: 'Security', query: '<QueryList><Select Path="S">*[System/Level &lt; 3]</Select></QueryList>' }],
  ],
  [
    'ruleset',
    '<ruleset><decoder_dir>ruleset/decoders</decoder_dir><decoder_dir>etc/decoders</decoder_dir>' +
      '<rule_dir pattern=".xml$">etc/rules</rule_dir><rule_exclude>0215-policy_rules.xml</rule_exclude>' +
      '<list>etc/lists/audit-keys</list></ruleset>',
    {
      decoder_dir: ['ruleset/decoders', 'etc/decoders'],
      rule_dir: [{ pattern: '.xml$', item: 'etc/rules' }],
      rule_exclude: ['0215-policy_rules.xml'],
      list: ['etc/lists/audit-keys'],
    },
  ],
  [
    'syscheck',
    '<syscheck><directories realtime="yes">/etc,/srv</directories><ignore>/x</ignore><ignore type="sregex">.log$</ignore>' +
      '<synchronization><enabled>yes</enabled><interval>5m</interval></synchronization><whodata><audit_key>k1,k2</audit_key></whodata>' +
      '<file_limit><enabled>yes</enabled><entries>9</entries></file_limit><diff><disk_quota><limit>1GB</limit></disk_quota></diff></syscheck>',
    {
      directories: [
        { realtime: 'yes', path: '/etc' },
        { realtime: 'yes', path: '/srv' },
      ],
      ignore: ['/x', { type: 'sregex', item: '.log$' }],
      synchronization: { enabled: 'yes', interval: '5m' },
      whodata: { audit_key: ['k1', 'k2'] },
      file_limit: { enabled: ['yes'], entries: ['9'] },
      diff: { disk_quota: [{ limit: ['1GB'] }] },
    },
  ],
  [
    'labels',
    '<labels><label key="site" hidden="no">berlin</label></labels>',
    [{ label: [{ value: 'berlin', key: 'site', hidden: 'no' }] }],
  ],
  [
    'cluster',
    '<cluster><name>c1</name><node_name>n1</node_name><node_type>master</node_type><key>*****</key><port>1516</port>' +
      '<bind_addr>0.0.0.0</bind_addr><nodes><node>10.1.1.1</node></nodes><hidden>no</hidden><disabled>yes</disabled></cluster>',
    {
      name: 'c1',
      node_name: 'n1',
      node_type: 'master',
      key: '*****',
      port: '1516',
      bind_addr: '0.0.0.0',
      nodes: ['10.1.1.1'],
      hidden: 'no',
      disabled: 'yes',
    },
  ],
  [
    'cluster',
    '<cluster><haproxy_helper><haproxy_port>5555</haproxy_port><excluded_nodes>a, b</excluded_nodes></haproxy_helper></cluster>',
    { haproxy_helper: { haproxy_port: '5555', excluded_nodes: ['a', 'b'] } },
  ],
  [
    'cluster',
    '<cluster><haproxy_helper><excluded_nodes><node>a</node><node>b</node></excluded_nodes></haproxy_helper></cluster>',
    { haproxy_helper: { excluded_nodes: ['a', 'b'] } },
  ],
  [
    'sca',
    '<sca><enabled>yes</enabled><policies><policy enabled="no">etc/shared/p.yml</policy></policies></sca>',
    { enabled: 'yes', policies: ['etc/shared/p.yml'] },
  ],
  [
    'syscollector',
    '<wodle name="Syscollector"><disabled>no</disabled><ports all="yes">yes</ports>' +
      '<synchronization><max_eps>10</max_eps></synchronization></wodle>',
    { disabled: 'no', ports: { all: 'yes', item: 'yes' }, synchronization: { max_eps: ['10'] } },
  ],
  [
    'indexer',
    '<indexer><enabled>yes</enabled><hosts><host>https://h:9200</host></hosts><ssl><certificate_authorities><ca>/ca</ca>' +
      '</certificate_authorities><key>/k</key></ssl></indexer>',
    {
      enabled: 'yes',
      hosts: ['https://h:9200'],
      ssl: { certificate_authorities: [{ ca: ['/ca'] }], key: ['/k'] },
    },
  ],
  [
    'email_alerts',
    '<email_alerts><email_to>a@x.test</email_to><level>10</level><do_not_delay/></email_alerts>',
    { email_to: ['a@x.test'], level: '10' },
  ],
  [
    'open-scap',
    '<wodle name="open-scap"><content type="xccdf" path="p.xml"><profile>a</profile><profile>b</profile></content></wodle>',
    { content: [{ type: 'xccdf', path: 'p.xml', profiles: ['a', 'b'] }] },
  ],
];

describe('configuration as the API shows it', () => {
  it('is the worked example, member by member', () => {
    expect(JSON.stringify(render(EXAMPLE))).to.equal(EXAMPLE_RENDERED);
  });

  for (const [section, xml, expected] of PICTURES) {
    it(`shows ${section}: ${JSON.stringify(expected).slice(0, 60)}`, () => {
      expect(JSON.stringify(render(xml))).to.equal(JSON.stringify({ [section]: expected }));
    });
  }

  it('keeps text as written', () => {
    expect(
      render('<GLOBAL><Email_From> a &amp; b &lt;c&gt; \\<d </Email_From><smtp_server></smtp_server></GLOBAL>'),
    ).to.deep.equal({
      global: { email_from: ' a & b &lt;c&gt; \\<d ' },
    });
    expect(render('<command><name>a & b</name><extra_args>1 < 2</extra_args></command>')).to.deep.equal({
      command: [{ name: 'a & b', extra_args: '1 < 2' }],
    });
  });

  it('shows only the last block of some sections and says so', () => {
    const warnings: string[] = [];
    const shown = render('<cluster><name>a</name></cluster><cluster><port>1</port></cluster>', {}, (text) =>
      warnings.push(text),
    );
    expect(shown).to.deep.equal({ cluster: { port: '1' } });
    expect(warnings).to.deep.equal(['There are multiple cluster sections in configuration. Using only last section.']);
  });

  it('shows the section of the journal, which the reference does not have', () => {
    const body = '<journal><sync>10ms</sync></journal><journal><max_size>1GB</max_size></journal>';
    expect(render(body, { section: 'journal' })).to.deep.equal({ journal: { sync: '10ms', max_size: '1GB' } });
  });

  it('never shows sections outside the table', () => {
    const hidden = ['logging', 'rule_test', 'client_buffer', 'socket', 'wdb', 'github', 'task-manager', 'nonsense'];
    expect(
      render(`${hidden.map((name) => `<${name}><a>1</a></${name}>`).join('')}<wodle name="aws-s3"><a>1</a></wodle>`),
    ).to.deep.equal({});
    for (const section of [...hidden, 'aws-s3', 'docker-listener']) {
      expect(errorOf(() => render('<logging><a>1</a></logging>', { section })).code).to.equal(1102);
    }
  });

  it('shows one section or one field of it', () => {
    expect(render(EXAMPLE, { section: 'global' })).to.deep.equal({
      global: { email_to: 'b@x.test', logall: 'yes', white_list: ['127.0.0.1'] },
    });
    expect(render(EXAMPLE, { section: 'global', field: 'white_list' })).to.deep.equal({
      global: { white_list: ['127.0.0.1'] },
    });
    const two = '<command><name>a</name></command><command><name>b</name><tag>t</tag></command>';
    expect(render(two, { section: 'command', field: 'name' })).to.deep.equal({
      command: [{ name: 'a' }, { name: 'b' }],
    });
    expect(errorOf(() => render(two, { section: 'command', field: 'tag' }))).to.include({
      code: 1103,
      message: 'Invalid field in section',
    });
  });

  it('tells an unknown section from one that is absent', () => {
    expect(errorOf(() => render(EXAMPLE, { section: 'logging' }))).to.include({
      code: 1102,
      message: 'Invalid section',
    });
    expect(errorOf(() => render(EXAMPLE, { section: 'remote' }))).to.include({
      code: 1106,
      message: 'Requested section not present in configuration: remote',
    });
    expect(errorOf(() => render(EXAMPLE, { section: '__proto__' }))).to.include({ code: 1102 });
    expect(errorOf(() => render(EXAMPLE, { section: 'global', field: '__proto__' }))).to.include({ code: 1103 });
    expect(errorOf(() => render(EXAMPLE, { section: 'global', field: 'constructor' }))).to.include({ code: 1103 });
  });

  it('answers 1101 with the parser text for a file that is no XML', () => {
    expect(errorOf(() => render('<global>'))).to.include({
      code: 1101,
      message:
        "Requested component does not exist: (1226): Error reading XML file 'etc/manager.conf': XMLERR: Element 'global' not closed. (line 1).",
    });
  });

  it('removes duplicates of directories on request', () => {
    const xml =
      '<ruleset><rule_dir>a</rule_dir><rule_dir pattern="x">a</rule_dir><rule_dir>a</rule_dir><list>l</list><list>l</list></ruleset>';
    expect(render(xml, { distinct: true })).to.deep.equal({
      ruleset: { rule_dir: ['a', { pattern: 'x', item: 'a' }], list: ['l', 'l'] },
    });
  });

  it('masks secrets for a caller who may not change the configuration', () => {
    const xml =
      '<cluster><key>c0ffee</key><haproxy_helper><haproxy_password>pw</haproxy_password></haproxy_helper></cluster>' +
      '<integration><name>slack</name><api_key>topsecret</api_key><hook_url>https://topsecret.example/x</hook_url></integration>';
    const shown = JSON.stringify(render(xml, { secrets: false }));
    expect(shown).not.to.match(/c0ffee|pw"|topsecret/);
    expect(shown).to.contain('"key":"*****"');
    expect(render(xml, { secrets: false, section: 'cluster', field: 'key' })).to.deep.equal({
      cluster: { key: '*****' },
    });
    expect(JSON.stringify(render(xml))).to.contain('c0ffee');
  });

  it('takes names that mean something to JavaScript for names', () => {
    const shown = renderConfiguration(
      '<ossec_config><global><__proto__>1</__proto__><constructor>2</constructor><toString a="1">3</toString></global></ossec_config>',
      FILE,
      { secrets: false },
    );
    expect(JSON.stringify(shown)).to.equal(
      '{"global":{"__proto__":"1","constructor":"2","tostring":{"a":"1","item":"3"}}}',
    );
    expect(({} as Record<string, unknown>)['a']).to.equal(undefined);
  });
});

describe('configuration file as it is', () => {
  it('hides secrets of a caller who may not change it', () => {
    const text =
      '<ossec_config><client><key>not secret</key></client>\n<cluster>\n  <key>c0ffee</key> <!-- x -->\n</cluster>' +
      '<integration><api_key>topsecret</api_key><hook_url>https://x</hook_url></integration></ossec_config>';
    expect(renderRawConfiguration(text, true)).to.equal(text);
    expect(renderRawConfiguration(text, false)).to.equal(
      '<ossec_config><client><key>not secret</key></client>\n<cluster>\n  <key>*****</key> <!-- x -->\n</cluster>' +
        '<integration><api_key>*****</api_key><hook_url>*****</hook_url></integration></ossec_config>',
    );
  });

  it('hides the rest of a broken file rather than a part of the key', () => {
    expect(renderRawConfiguration('<cluster><key>c0f<!-- -->fee</key></cluster>', false)).to.equal(
      '<cluster><key>*****</key></cluster>',
    );
    expect(renderRawConfiguration('<cluster><KEY >c0ffee', false)).to.equal('<cluster><KEY >*****');
  });
});
