import { availableParallelism } from 'node:os';
import { expect } from 'chai';
import { ConfigError } from '../../../../lib/config/config-error.js';
import { parseManagerConfig } from '../../../../lib/config/load-manager-config.js';

const FILE = 'etc/manager.conf';

function parse(body: string): ReturnType<typeof parseManagerConfig> {
  return parseManagerConfig(`<manager_config>\n${body}\n</manager_config>`, FILE);
}

function errorOf(body: string): ConfigError {
  try {
    parse(body);
  } catch (error) {
    if (error instanceof ConfigError) {
      return error;
    }
    throw error;
  }
  throw new Error(`accepted: ${body}`);
}

/** A cluster of these NATS servers. */
function cluster(...nodes: string[]): string {
  const list = nodes.map((node) => `<node>${node}</node>`).join('');
  return `<cluster><key>${'a1'.repeat(16)}</key><nodes>${list}</nodes></cluster>`;
}

describe('main configuration: the file', () => {
  it('has the documented defaults when empty', () => {
    const config = parse('');
    expect(config.global).to.include({
      jsonout_output: true,
      alerts_log: true,
      logall: false,
      logall_json: false,
      email_notification: undefined,
      helo_server: 'notify.ossec.net',
      email_maxperhour: 12,
      email_log_source: 'alerts.json',
      memory_size: 8192,
      stats: 4,
      integrity_checking: 8,
      agents_disconnection_time: 900,
      agents_disconnection_alert_time: 0,
      rotate_interval: 0,
      max_output_size: 0,
    });
    expect(config.global.limits).to.deep.equal({ eps: { maximum: 0, timeframe: 10 } });
    expect(config.alerts).to.include({ log_alert_level: 1, email_alert_level: 7 });
    expect(config.ruleset.rule_dir).to.deep.equal([{ path: 'ruleset/rules', pattern: '.xml$' }]);
    expect(config.ruleset.decoder_dir).to.deep.equal([{ path: 'ruleset/decoders', pattern: '.xml$' }]);
    expect(config.rule_test).to.deep.equal({ enabled: true, threads: 1, max_sessions: 64, session_timeout: 900 });
    expect(config.journal).to.deep.equal({
      sync: 10,
      segment_size: 64 * 1024 ** 2,
      max_size: 8 * 1024 ** 3,
      checkpoint_interval: 10,
    });
    expect(config.analysis).to.deep.equal({ threads: 1 });
    expect(config.auth).to.equal(undefined);
    expect(config.syscheck).to.equal(undefined);
    expect(config.rootcheck).to.equal(undefined);
    expect(config.sca).to.equal(undefined);
    expect(config.cluster).to.equal(undefined);
    expect(config.logging).to.equal(undefined);
    expect(config.remote).to.deep.equal([]);
    expect(config.localfile).to.deep.equal([]);
    expect(config.wdb.backup).to.deep.equal({ enabled: true, interval: 86400, max_files: 3 });
    expect(config.warnings).to.deep.equal([]);
  });

  it('reads several roots of both names in file order', () => {
    const config = parseManagerConfig(
      '<ossec_config><global><logall>yes</logall><white_list>10.0.0.1</white_list></global></ossec_config>\n' +
        '<manager_config><global><logall>no</logall><white_list>10.0.0.2</white_list></global></manager_config>',
      FILE,
    );
    expect(config.global.logall).to.equal(false);
    expect(config.global.white_list).to.deep.equal(['10.0.0.1', '10.0.0.2']);
  });

  it('tolerates comments with dashes, a bare & and a bare <', () => {
    const config = parse(
      '<!-- a -- b --><localfile><log_format>command</log_format><command>test 1 < 2 && echo a & b</command></localfile>',
    );
    expect(config.localfile[0]!.command).to.equal('test 1 < 2 && echo a & b');
  });

  it('keeps the markup inside a query as text and the line numbers right', () => {
    const config = parse(
      '<localfile><log_format>eventchannel</log_format><location>Security</location>' +
        '<query type="x"><QueryList>\n<Select Path="a">*</Select></QueryList></query></localfile>',
    );
    expect(config.localfile[0]!.query).to.deep.equal({
      type: 'x',
      level: undefined,
      text: '<QueryList>\n<Select Path="a">*</Select></QueryList>',
    });
    const error = errorOf(
      '<localfile><log_format>eventchannel</log_format><location>S</location><query>\n\n</query></localfile>\n<nope/>',
    );
    expect(error.line).to.equal(5);
  });

  it('does not take a query tag inside a comment for one', () => {
    const config = parse('<!-- <query> --><global><logall>yes</logall></global><!-- </query> -->');
    expect(config.global.logall).to.equal(true);
  });

  it('refuses an unknown root, section and element with 1230', () => {
    expect(() => parseManagerConfig('<other/>', FILE)).to.throw(
      ConfigError,
      "(1230): Invalid element in the configuration: 'other'.",
    );
    const section = errorOf('<globl/>');
    expect(section).to.include({
      code: 1230,
      text: "(1230): Invalid element in the configuration: 'globl'.",
      file: FILE,
      line: 2,
    });
    expect(section.logLines()).to.deep.equal({
      error: "(1230): Invalid element in the configuration: 'globl'.",
      critical: "(1202): Configuration error at 'etc/manager.conf'. Line 2.",
    });
    expect(errorOf('<global>\n<jsonout/></global>')).to.include({ code: 1230, element: 'jsonout', line: 3 });
    expect(errorOf('<global><__proto__>1</__proto__></global>')).to.include({ code: 1230, element: '__proto__' });
    expect(errorOf('<constructor/>')).to.include({ code: 1230 });
  });

  it('refuses broken XML with 1226, file and line', () => {
    const error = errorOf('<global>\n<logall>yes</global>');
    expect(error.text).to.equal(
      "(1226): Error reading XML file 'etc/manager.conf': XMLERR: Element 'logall' not closed. (line 3).",
    );
    expect(error.line).to.equal(3);
  });

  it('names what was opened and is not closed, and where', () => {
    const error = errorOf('<global></global>\n<alerts>\n<log_alert_level>3</log_alert_level>\n<logging></logging>\n');
    const text = "(1226): Error reading XML file 'etc/manager.conf': XMLERR: Element 'alerts' not closed. (line 7).";
    expect(error.text).to.equal(text);
    expect(error.logLines()).to.deep.equal({
      error: `${text} <alerts> was opened in line 3 and is not closed.`,
      critical: "(1202): Configuration error at 'etc/manager.conf'. Line 3.",
    });
    expect(errorOf('\n<!-- x\n<global/>').logLines().error).to.match(
      /The comment was opened in line 3 and is not closed/,
    );
  });

  it('names the missing and the wrong value', () => {
    expect(errorOf('<global><logall></logall></global>').text).to.equal(
      '(1234): Invalid NULL content for element: logall.',
    );
    expect(errorOf('<global><logall>Yes</logall></global>').text).to.equal(
      "(1235): Invalid value for element 'logall': Yes.",
    );
    expect(errorOf('<auth>\n<port>x</port></auth>').message).to.equal(
      "(1235): Invalid value for element 'port': x. (etc/manager.conf, line 3)",
    );
  });

  it('warns of an attribute that nobody reads', () => {
    const config = parse('<global><logall wrong="1">yes</logall></global>');
    expect(config.warnings).to.deep.equal([
      {
        file: FILE,
        line: 2,
        section: 'global',
        text: "(1233): Invalid attribute 'wrong' in the configuration: 'logall'.",
      },
    ]);
  });

  it('looks only into the sections asked for, but refuses unknown ones always', () => {
    const broken = '<manager_config><auth><port>x</port></auth></manager_config>';
    expect(parseManagerConfig(broken, FILE, ['global', 'remote']).global.logall).to.equal(false);
    expect(() => parseManagerConfig(broken, FILE, ['auth'])).to.throw(ConfigError);
    expect(() => parseManagerConfig('<manager_config><nope/></manager_config>', FILE, ['global'])).to.throw(
      ConfigError,
    );
  });

  it('accepts cloud and old sections with any children', () => {
    const config = parse('<office365><a><b/></a></office365><gcp-bucket/><database_output><x/></database_output>');
    expect(config.office365).to.have.length(1);
    expect(config['gcp-bucket']).to.have.length(1);
    expect(config.warnings).to.deep.equal([]);
  });

  it('refuses more items than it can hold', () => {
    const many = '<white_list>10.0.0.1</white_list>'.repeat(10_001);
    expect(errorOf(`<global>${many}</global>`)).to.include({ code: 1236 });
  });
});

/** Bodies that are refused, with the text of the error. */
const REFUSED: readonly (readonly [string, string])[] = [
  [
    '<global><email_maxperhour>0</email_maxperhour></global>',
    "(1235): Invalid value for element 'email_maxperhour': 0.",
  ],
  [
    '<global><email_maxperhour>1000001</email_maxperhour></global>',
    "(1235): Invalid value for element 'email_maxperhour': 1000001.",
  ],
  ['<global><email_to>nobody</email_to></global>', "(1235): Invalid value for element 'email_to': nobody."],
  ['<global><stats>17</stats></global>', "(1235): Invalid value for element 'stats': 17."],
  ['<global><stats>-1</stats></global>', "(1235): Invalid value for element 'stats': -1."],
  [
    '<global><rotate_interval>2d</rotate_interval></global>',
    "(1235): Invalid value for element 'rotate_interval': 2d.",
  ],
  ['<global><rotate_interval>9</rotate_interval></global>', "(1235): Invalid value for element 'rotate_interval': 9."],
  [
    '<global><max_output_size>999999</max_output_size></global>',
    "(1235): Invalid value for element 'max_output_size': 999999.",
  ],
  [
    '<global><max_output_size>1025G</max_output_size></global>',
    "(1235): Invalid value for element 'max_output_size': 1025G.",
  ],
  [
    '<global><agents_disconnection_time>0</agents_disconnection_time></global>',
    "(1235): Invalid value for element 'agents_disconnection_time': 0.",
  ],
  [
    '<global><limits><eps><maximum>100001</maximum></eps></limits></global>',
    "(1235): Invalid value for element 'maximum': 100001.",
  ],
  ['<global><limits><bps/></limits></global>', "(1230): Invalid element in the configuration: 'bps'."],
  [
    '<alerts><log_alert_level>17</log_alert_level></alerts>',
    "(1235): Invalid value for element 'log_alert_level': 17.",
  ],
  ['<alerts><log_alert_level>0</log_alert_level></alerts>', "(1235): Invalid value for element 'log_alert_level': 0."],
  [
    '<ruleset><rule_dir patern="x">etc/rules</rule_dir></ruleset>',
    "(1233): Invalid attribute 'patern' in the configuration: 'rule_dir'.",
  ],
  ['<ruleset><rules>x</rules></ruleset>', "(1230): Invalid element in the configuration: 'rules'."],
  ['<rule_test><threads>0</threads></rule_test>', "(1235): Invalid value for element 'threads': 0."],
  ...['0ms', '1001ms', '10', '10s', '-1ms', 'Batch', '1.5ms'].map((value): [string, string] => [
    `<journal><sync>${value}</sync></journal>`,
    `(1235): Invalid value for element 'sync': ${value}.`,
  ]),
  ...['0', '65', '-1', '1.5', 'all', 'Auto', '0x2', '1e1', '999'].map((value): [string, string] => [
    `<analysis><threads>${value}</threads></analysis>`,
    `(1235): Invalid value for element 'threads': ${value}.`,
  ]),
  ['<analysis><threads/></analysis>', '(1234): Invalid NULL content for element: threads.'],
  ['<analysis><cores>2</cores></analysis>', "(1230): Invalid element in the configuration: 'cores'."],
  ['<journal><sync/></journal>', '(1234): Invalid NULL content for element: sync.'],
  ['<journal><fsync>batch</fsync></journal>', "(1230): Invalid element in the configuration: 'fsync'."],
  ['<journal><segment_size>1023K</segment_size></journal>', "(1235): Invalid value for element 'segment_size': 1023K."],
  [
    '<journal><segment_size>1025MB</segment_size></journal>',
    "(1235): Invalid value for element 'segment_size': 1025MB.",
  ],
  ['<journal><max_size>1MB</max_size></journal>', "(1235): Invalid value for element 'max_size': 1MB."],
  [
    '<journal><max_size>100MB</max_size></journal>',
    "(1235): Invalid value for element 'max_size': 100MB: max_size is 100 MB and must hold 2 segments of 64 MB.",
  ],
  [
    '<journal><max_size>8G</max_size></journal><journal><segment_size>4097M</segment_size></journal>',
    "(1235): Invalid value for element 'segment_size': 4097M.",
  ],
  [
    '<journal><checkpoint_interval>0</checkpoint_interval></journal>',
    "(1235): Invalid value for element 'checkpoint_interval': 0.",
  ],
  [
    '<journal><checkpoint_interval>61m</checkpoint_interval></journal>',
    "(1235): Invalid value for element 'checkpoint_interval': 61m.",
  ],
  ['<remote><port>1514</port></remote>', '(1234): Invalid NULL content for element: connection.'],
  ['<remote><connection>plain</connection></remote>', "(1235): Invalid value for element 'connection': plain."],
  [
    '<remote><connection>secure</connection><port>65536</port></remote>',
    "(1235): Invalid value for element 'port': 65536.",
  ],
  [
    '<remote><connection>syslog</connection><allowed-ips>10.0.0.300</allowed-ips></remote>',
    "(1237): Invalid ip address: '10.0.0.300'.",
  ],
  ['<remote><connection>secure</connection><local_ip>here</local_ip></remote>', "(1237): Invalid ip address: 'here'."],
  [
    '<remote><connection>secure</connection></remote>'.repeat(2),
    "(1244): Only one 'remote' block may have the connection 'secure'.",
  ],
  [
    '<auth><force><disconnected_time enabled="maybe">1h</disconnected_time></force></auth>',
    "(1233): Invalid attribute 'maybe' in the configuration: 'disconnected_time'.",
  ],
  ['<auth><key_request><threads>33</threads></key_request></auth>', "(1235): Invalid value for element 'threads': 33."],
  ['<logging><log_format>xml</log_format></logging>', "(1235): Invalid value for element 'log_format': xml."],
  ['<localfile><location>/a</location></localfile>', "(1901): A 'localfile' has no 'log_format'."],
  ['<localfile><log_format>syslog</log_format></localfile>', "(1902): A 'localfile' has no 'location'."],
  ['<localfile><log_format>sislog</log_format></localfile>', "(1235): Invalid value for element 'log_format': sislog."],
  [
    '<localfile><log_format>multi-line: 0</log_format></localfile>',
    "(1235): Invalid value for element 'log_format': multi-line: 0.",
  ],
  ['<localfile><log_format>command</log_format></localfile>', '(1234): Invalid NULL content for element: command.'],
  [
    '<localfile><log_format>json</log_format><location>/a</location><label>x</label></localfile>',
    '(1234): Invalid NULL content for element: key.',
  ],
  [
    '<localfile><log_format>syslog</log_format><location>/a</location><ignore type="perl">x</ignore></localfile>',
    "(1233): Invalid attribute 'perl' in the configuration: 'ignore'.",
  ],
  [
    '<localfile><log_format>syslog</log_format><location>/a</location><only-future-events max-size="3G">no</only-future-events></localfile>',
    "(1233): Invalid attribute '3G' in the configuration: 'only-future-events'.",
  ],
  ['<socket><name>agent</name><location>/a</location></socket>', "(1235): Invalid value for element 'name': agent."],
  ['<syscheck><disabled>maybe</disabled></syscheck>', "(1235): Invalid value for element 'disabled': maybe."],
  ['<syscheck><frequency>1h</frequency></syscheck>', "(1235): Invalid value for element 'frequency': 1h."],
  [
    '<syscheck><process_priority>-21</process_priority></syscheck>',
    "(1235): Invalid value for element 'process_priority': -21.",
  ],
  [
    '<rootcheck><check_everything>yes</check_everything></rootcheck>',
    "(1230): Invalid element in the configuration: 'check_everything'.",
  ],
  ['<sca><interval>1x</interval></sca>', "(1235): Invalid value for element 'interval': 1x."],
  ['<sca><time>25:00</time></sca>', "(1240): Invalid time format: '25:00'."],
  ['<sca><wday>someday</wday></sca>', "(1241): Invalid day format: 'someday'."],
  ['<sca><day>32</day></sca>', "(1241): Invalid day format: '32'."],
  ['<sca><interval>1M</interval><day>3</day><wday>monday</wday></sca>', "Options 'day' and 'wday' are not compatible."],
  ['<wodle name="nothing"/>', "(1233): Invalid attribute 'nothing' in the configuration: 'wodle'."],
  ['<wodle/>', '(1234): Invalid NULL content for element: wodle name.'],
  ['<wodle name="command"><tag>a</tag></wodle>', '(1234): Invalid NULL content for element: command.'],
  [
    '<wodle name="command"><command>x</command><verify_md5>12</verify_md5></wodle>',
    "(1235): Invalid value for element 'verify_md5': 12.",
  ],
  ['<wodle name="syscollector"><port>yes</port></wodle>', "(1230): Invalid element in the configuration: 'port'."],
  ['<command><name>x</name></command>', "(1280): Missing command options. You must specify a 'name' and 'executable'."],
  ['<command><name>!x</name><executable>x</executable></command>', "(1235): Invalid value for element 'name': !x."],
  [
    '<command><name>x</name><executable>../../bin/sh</executable></command>',
    "(1235): Invalid value for element 'executable': ../../bin/sh.",
  ],
  [
    '<active-response><level>7</level></active-response>',
    '(1281): Missing options in the active response configuration.',
  ],
  [
    '<active-response><command>x</command><location>local</location></active-response>',
    "(1303): Invalid command 'x' in the active response.",
  ],
  [
    '<active-response><rules_group>(web</rules_group></active-response>',
    "(1235): Invalid value for element 'rules_group': (web: Groups must be balanced and not nested.",
  ],
  ['<active-response><level>21</level></active-response>', "(1235): Invalid value for element 'level': 21."],
  ['<cluster><key>short</key></cluster>', "(1235): Invalid value for element 'key': it must be 32 letters and digits."],
  ['<cluster><port>1024</port></cluster>', "(1235): Invalid value for element 'port': 1024."],
  [
    `<cluster><key>${'a1'.repeat(16)}</key><nodes><node>NODE_IP</node></nodes></cluster>`,
    "(1235): Invalid value for element 'node': NODE_IP.",
  ],
  [
    cluster('http://10.1.1.1:4222'),
    "(1235): Invalid value for element 'node': http://10.1.1.1:4222, which is no tls://HOST:PORT.",
  ],
  [cluster('10.1.1.1:99999'), "(1235): Invalid value for element 'node': 10.1.1.1:99999, which is no tls://HOST:PORT."],
  [
    cluster('nats://10.1.1.1:4222'),
    "(1235): Invalid value for element 'node': nats://10.1.1.1:4222: nats:// is without TLS, which is for servers on this " +
      'host alone (127.0.0.1, ::1, localhost).',
  ],
  [
    cluster('tls://10.1.1.1', 'nats://127.0.0.1'),
    "(1235): Invalid value for element 'node': either all are connected to by TLS, or all with nats://.",
  ],
  [cluster(), '(1234): Invalid NULL content for element: node.'],
  [
    `<cluster><key>${'a1'.repeat(16)}</key><nodes><node>a</node></nodes><nats><certificate>c</certificate></nats></cluster>`,
    '(1234): Invalid NULL content for element: certificate_key.',
  ],
  ['<integration><name>../x</name></integration>', "(1235): Invalid value for element 'name': ../x."],
  [
    '<integration><name>slack</name><options>{</options></integration>',
    "(1235): Invalid value for element 'options': {.",
  ],
  [
    '<integration><name>slack</name><max_log>100</max_log></integration>',
    "(1235): Invalid value for element 'max_log': 100.",
  ],
  ['<syslog_output><port>514</port></syslog_output>', '(1234): Invalid NULL content for element: server.'],
  ['<email_alerts><level>3</level></email_alerts>', '(1234): Invalid NULL content for element: email_to.'],
  ['<labels><label>x</label></labels>', '(1234): Invalid NULL content for element: key.'],
  [
    '<labels><label key="a" hidden="maybe">x</label></labels>',
    "(1233): Invalid attribute 'maybe' in the configuration: 'label'.",
  ],
  [
    '<client_buffer><queue_size>100001</queue_size></client_buffer>',
    "(1235): Invalid value for element 'queue_size': 100001.",
  ],
  [
    '<integration><name>slack</name><level>ten</level></integration>',
    "(1235): Invalid value for element 'level': ten.",
  ],
  ['<integration><name>slack</name><level>17</level></integration>', "(1235): Invalid value for element 'level': 17."],
  [
    '<integration><name>slack</name><hook_url>not a url</hook_url></integration>',
    "(1235): Invalid value for element 'hook_url': not a url.",
  ],
  [
    '<integration><name>slack</name><hook_url>file:///etc/passwd</hook_url></integration>',
    "(1235): Invalid value for element 'hook_url': file:///etc/passwd.",
  ],
  [
    '<integration><name>slack</name><rule_id>1,x</rule_id></integration>',
    "(1235): Invalid value for element 'rule_id': 1,x.",
  ],
  [
    '<integration><name>slack</name><alert_format>xml</alert_format></integration>',
    "(1235): Invalid value for element 'alert_format': xml.",
  ],
  [
    '<integration><name>slack</name><timeout>soon</timeout></integration>',
    "(1235): Invalid value for element 'timeout': soon.",
  ],
  [
    '<syslog_output><server>10.0.0.256</server></syslog_output>',
    "(1235): Invalid value for element 'server': 10.0.0.256.",
  ],
  ['<syslog_output><server>my siem</server></syslog_output>', "(1235): Invalid value for element 'server': my siem."],
  [
    '<syslog_output><server>siem</server><port>65536</port></syslog_output>',
    "(1235): Invalid value for element 'port': 65536.",
  ],
  [
    '<syslog_output><server>siem</server><use_fqdn>true</use_fqdn></syslog_output>',
    "(1235): Invalid value for element 'use_fqdn': true.",
  ],
  ['<email_alerts><email_to>nobody</email_to></email_alerts>', "(1235): Invalid value for element 'email_to': nobody."],
  [
    '<email_alerts><email_to>a@x.test</email_to><level>high</level></email_alerts>',
    "(1235): Invalid value for element 'level': high.",
  ],
  ['<reports><level>17</level></reports>', "(1235): Invalid value for element 'level': 17."],
  ['<reports><rule>5712|5713</rule></reports>', "(1235): Invalid value for element 'rule': 5712|5713."],
  ['<reports><user type="relation">host</user></reports>', "(1235): Invalid value for element 'user': host."],
  [
    '<reports><user type="other">bob</user></reports>',
    "(1233): Invalid attribute 'other' in the configuration: 'user'.",
  ],
  ['<reports><type>fax</type></reports>', "(1235): Invalid value for element 'type': fax."],
  ['<reports><email_to>nobody</email_to></reports>', "(1235): Invalid value for element 'email_to': nobody."],
  ['<reports><level>high</level></reports>', "(1235): Invalid value for element 'level': high."],
  ['<reports><showlogs>1</showlogs></reports>', "(1235): Invalid value for element 'showlogs': 1."],
  [
    '<agentless><type>a</type><host>h</host><frequency>1h</frequency></agentless>',
    "(1235): Invalid value for element 'frequency': 1h.",
  ],
  [
    '<indexer><hosts><host>10.0.0.1:9200</host></hosts></indexer>',
    "(1235): Invalid value for element 'host': 10.0.0.1:9200.",
  ],
  ['<indexer><enabled>on</enabled></indexer>', "(1235): Invalid value for element 'enabled': on."],
  [
    '<vulnerability-detection><feed-update-interval>often</feed-update-interval></vulnerability-detection>',
    "(1235): Invalid value for element 'feed-update-interval': often.",
  ],
  [
    '<vulnerability-detection><offline-url>feed.zip</offline-url></vulnerability-detection>',
    "(1235): Invalid value for element 'offline-url': feed.zip.",
  ],
  [
    '<task-manager><task_timeout>x</task_timeout></task-manager>',
    "(1235): Invalid value for element 'task_timeout': x.",
  ],
  ['<sca><enabled>maybe</enabled></sca>', "(1235): Invalid value for element 'enabled': maybe."],
  [
    '<wodle name="syscollector"><packages>some</packages></wodle>',
    "(1235): Invalid value for element 'packages': some.",
  ],
  [
    '<global><email_notification>true</email_notification></global>',
    "(1235): Invalid value for element 'email_notification': true.",
  ],
  [
    '<global><smtp_server>mail server</smtp_server></global>',
    "(1235): Invalid value for element 'smtp_server': mail server.",
  ],
  ['<global><cti-url>cti</cti-url></global>', "(1235): Invalid value for element 'cti-url': cti."],
  ['<wdb><backup database="agents"/></wdb>', "(1233): Invalid attribute 'agents' in the configuration: 'backup'."],
  ['<agentless><type>../x</type><host>a@b</host></agentless>', "(1235): Invalid value for element 'type': ../x."],
  ['<agent-upgrade><chunk_size>63</chunk_size></agent-upgrade>', "(1235): Invalid value for element 'chunk_size': 63."],
];

describe('main configuration: values that are refused', () => {
  for (const [body, text] of REFUSED) {
    it(text.length > 100 ? text.slice(0, 100) : `${body.slice(1, body.search(/[\s>/]/))}: ${text}`, () => {
      const error = errorOf(body);
      expect(error.text).to.equal(text);
      expect(error.line).to.equal(2);
      expect(error.file).to.equal(FILE);
    });
  }
});

describe('main configuration: sections', () => {
  it('reads global', () => {
    const { global } = parse(
      '<global><email_to>a@x.test</email_to><email_to>b@x.test</email_to><email_log_source>alerts.log</email_log_source>' +
        '<agents_disconnection_time>15m</agents_disconnection_time><max_output_size>2G</max_output_size>' +
        '<rotate_interval>1h</rotate_interval><memory_size>100</memory_size><geoipdb>x</geoipdb>' +
        '<white_list>!10.0.0.0/8</white_list><white_list>^localhost$</white_list><forward_to>a, b</forward_to></global>',
    );
    expect(global.email_to).to.deep.equal(['a@x.test', 'b@x.test']);
    expect(global).to.include({
      email_log_source: 'alerts.log',
      agents_disconnection_time: 900,
      max_output_size: 2 * 1024 ** 3,
      rotate_interval: 3600,
      memory_size: 2048,
    });
    expect(global.white_list).to.deep.equal(['!10.0.0.0/8', '^localhost$']);
    expect(global.forward_to).to.deep.equal(['a', 'b']);
  });

  it('reads ruleset directories with their pattern', () => {
    const { ruleset } = parse(
      '<ruleset><rule_dir>ruleset/rules</rule_dir><rule_dir pattern="_rules.xml$">etc/rules</rule_dir>' +
        '<rule_exclude>0215-policy_rules.xml</rule_exclude><list>etc/lists/audit-keys</list></ruleset>',
    );
    expect(ruleset.rule_dir).to.deep.equal([
      { path: 'ruleset/rules', pattern: '.xml$' },
      { path: 'etc/rules', pattern: '_rules.xml$' },
    ]);
    expect(ruleset.decoder_dir).to.deep.equal([{ path: 'ruleset/decoders', pattern: '.xml$' }]);
    expect(ruleset.rule_exclude).to.deep.equal(['0215-policy_rules.xml']);
    expect(ruleset.list).to.deep.equal(['etc/lists/audit-keys']);
  });

  it('clamps the logtest limits with a warning', () => {
    const { rule_test, warnings } = parse(
      '<rule_test><threads>999</threads><max_sessions>501</max_sessions><session_timeout>9999w</session_timeout></rule_test>',
    );
    expect(rule_test).to.include({ threads: 128, max_sessions: 500, session_timeout: 31_536_000 });
    expect(warnings).to.have.length(3);
    expect(parse('<rule_test><threads>auto</threads></rule_test>').rule_test.threads).to.be.at.least(1);
  });

  it('reads how many threads analyse events', () => {
    expect(parse('<analysis><threads>64</threads></analysis>').analysis.threads).to.equal(64);
    expect(parse('<analysis><threads>auto</threads></analysis>').analysis.threads).to.equal(
      Math.min(64, availableParallelism()),
    );
  });

  it('reads the journal, sizes against each other only when all blocks are read', () => {
    const { journal } = parse(
      `<journal><sync>1000ms</sync><max_size>4MB</max_size><checkpoint_interval>1h</checkpoint_interval></journal>
      <journal><segment_size>2M</segment_size></journal>`,
    );
    expect(journal).to.deep.equal({
      sync: 1000,
      segment_size: 2 * 1024 ** 2,
      max_size: 4 * 1024 ** 2,
      checkpoint_interval: 3600,
    });
    expect(parse('<journal><sync>batch</sync></journal>').journal.sync).to.equal('batch');
    expect(parse('<journal><sync>never</sync></journal>').journal.sync).to.equal('never');
    const error = errorOf(
      '<journal><max_size>8MB</max_size></journal>\n<journal><segment_size>5M</segment_size></journal>',
    );
    expect(error.line).to.equal(3);
    expect(error.text).to.equal(
      "(1235): Invalid value for element 'segment_size': 5M: max_size is 8 MB and must hold 2 segments of 5 MB.",
    );
  });

  it('reads remote blocks and their protocols', () => {
    const { remote, warnings } = parse(
      '<remote><connection>secure</connection><protocol>TCP, udp,sctp</protocol><queue_size>300000</queue_size></remote>' +
        '<remote><connection>syslog</connection><protocol>tcp,udp</protocol></remote>' +
        '<remote><connection>syslog</connection><port>0</port><allowed-ips>10.0.0.0/255.0.0.0</allowed-ips>' +
        '<allowed-ips>fe80::/10</allowed-ips></remote>',
    );
    expect(remote.map(({ connection, port, protocol }) => ({ connection, port, protocol }))).to.deep.equal([
      { connection: 'secure', port: 1514, protocol: ['tcp', 'udp'] },
      { connection: 'syslog', port: 514, protocol: ['tcp'] },
      { connection: 'syslog', port: 0, protocol: ['tcp'] },
    ]);
    expect(remote[2]!['allowed-ips']).to.deep.equal(['10.0.0.0/255.0.0.0', 'fe80::/10']);
    expect(warnings.map(({ text }) => text.slice(0, 20))).to.deep.equal([
      'Queue size of 300000',
      '(9001): Ignored inva',
      'A syslog listener wi',
      '(9002): A syslog lis',
    ]);
  });

  it('reads auth with its defaults, and maps the old force elements', () => {
    expect(parse('<auth></auth>').auth).to.deep.include({
      disabled: false,
      port: 1515,
      remote_enrollment: true,
      ssl_manager_cert: 'etc/sslmanager.cert',
      force: {
        enabled: true,
        key_mismatch: true,
        disconnected_time: { enabled: true, seconds: 3600 },
        after_registration_time: 3600,
      },
      key_request: undefined,
    });
    const old = parse('<auth><force_insert>no</force_insert><force_time>120</force_time></auth>');
    expect(old.auth?.force).to.include({ enabled: false });
    expect(old.auth?.force.disconnected_time).to.deep.equal({ enabled: true, seconds: 120 });
    expect(old.warnings).to.have.length(2);
    const both = parse('<auth><force_insert>no</force_insert><force><key_mismatch>no</key_mismatch></force></auth>');
    expect(both.auth?.force).to.include({ enabled: true, key_mismatch: false });
  });

  it('reads localfile blocks', () => {
    const { localfile } = parse(
      '<localfile><log_format>syslog</log_format><location>/var/log/*.log</location><exclude>/var/log/x*</exclude>' +
        '<only-future-events max-size="1M">no</only-future-events><ignore>noise</ignore>' +
        '<ignore type="osmatch">chatty</ignore><target>agent,siem</target><age>2h</age></localfile>\n' +
        '<localfile><log_format>full_command</log_format><command>uptime</command><alias>load</alias>' +
        '<frequency>hourly</frequency></localfile>\n' +
        '<localfile><log_format>multi-line: 3</log_format><location>/a</location></localfile>\n' +
        '<localfile><log_format>multi-line-regex</log_format><location>/a</location>' +
        '<multiline_regex match="end" timeout="20">x$</multiline_regex></localfile>\n' +
        '<localfile><log_format>journald</log_format><location>journald</location>' +
        '<filter field="_SYSTEMD_UNIT" ignore_if_missing="yes">^ssh</filter></localfile>\n' +
        '<localfile><log_format>json</log_format><location>/j</location><label key="app">shop</label></localfile>',
    );
    expect(localfile[0]).to.deep.include({
      log_format: { name: 'syslog' },
      location: '/var/log/*.log',
      exclude: '/var/log/x*',
      'only-future-events': { enabled: false, maxSize: 1024 ** 2 },
      ignore: [
        { type: 'pcre2', pattern: 'noise' },
        { type: 'osmatch', pattern: 'chatty' },
      ],
      target: ['agent', 'siem'],
      age: 7200,
      line: 2,
    });
    expect(localfile[1]).to.include({ command: 'uptime', alias: 'load', frequency: 3600, location: '', line: 3 });
    expect(localfile[2]!.log_format).to.deep.equal({ name: 'multi-line', lines: 3 });
    expect(localfile[3]!.multiline_regex).to.deep.equal({
      pattern: 'x$',
      match: 'end',
      replace: 'no-replace',
      timeout: 20,
    });
    expect(localfile[4]!.filter).to.deep.equal([{ field: '_SYSTEMD_UNIT', ignoreIfMissing: true, pattern: '^ssh' }]);
    expect(localfile[5]!.label).to.deep.equal([{ key: 'app', value: 'shop' }]);
    expect(localfile[5]!['only-future-events']).to.deep.equal({ enabled: true, maxSize: 10 * 1024 ** 2 });
  });

  it('reads syscheck leniently where the reference does', () => {
    const { syscheck, warnings } = parse(
      '<syscheck><directories check_all="no" check_md5sum="yes" tags="a, b" recursion_level="3" strange="1">/etc, /opt</directories>' +
        '<directories realtime="maybe">/lost</directories><ignore type="sregex">.log$</ignore><ignore>/x,/y</ignore>' +
        '<max_eps>many</max_eps><synchronization><interval>10m</interval><queue_size>1</queue_size></synchronization>' +
        '<diff><file_size><limit>1MB</limit></file_size></diff><whodata><audit_key>k1, k2</audit_key></whodata>' +
        '<unknown_thing>1</unknown_thing></syscheck>\n<syscheck><directories>/srv</directories></syscheck>',
    );
    expect(syscheck?.directories.map(({ path }) => path)).to.deep.equal(['/etc', '/opt', '/srv']);
    expect(syscheck?.directories[0]!.options).to.deep.equal([
      { name: 'check_all', value: false },
      { name: 'check_md5sum', value: true },
      { name: 'tags', value: ['a', 'b'] },
      { name: 'recursion_level', value: 3 },
    ]);
    expect(syscheck?.ignore).to.deep.equal([
      { kind: 'sregex', value: '.log$' },
      { kind: 'path', value: '/x' },
      { kind: 'path', value: '/y' },
    ]);
    expect(syscheck?.max_eps).to.equal(50);
    expect(syscheck?.synchronization).to.include({ interval: 600, queue_size: 16_384 });
    expect(syscheck?.diff.file_size.limit).to.equal(1024);
    expect(syscheck?.whodata.audit_key).to.deep.equal(['k1', 'k2']);
    expect(warnings.map(({ text }) => text)).to.deep.equal([
      "(6701): Unknown attribute 'strange' for directory option.",
      "(6924): Invalid option 'maybe' for attribute 'realtime'. The paths '/lost' will not be monitored.",
      "(1235): Invalid value for element 'max_eps': many.",
      "(1235): Invalid value for element 'queue_size': 1.",
      "(1230): Invalid element in the configuration: 'unknown_thing'.",
    ]);
  });

  it('drops more than 64 paths of one directories element', () => {
    const paths = Array.from({ length: 65 }, (_, i) => `/d${String(i)}`).join(',');
    const { syscheck, warnings } = parse(`<syscheck><directories>${paths}</directories></syscheck>`);
    expect(syscheck?.directories).to.have.length(64);
    expect(warnings[0]!.text).to.match(/^\(6930\)/);
  });

  it('reads rootcheck with its defaults', () => {
    expect(parse('<rootcheck/>').rootcheck).to.include({
      disabled: false,
      frequency: 43_200,
      check_files: false,
      check_dev: true,
      skip_nfs: false,
    });
  });

  it('makes schedules agree', () => {
    const { sca, wodle, warnings } = parse(
      '<sca><day>5</day></sca><wodle name="command"><tag>a</tag><command>x</command><wday>Tue</wday><interval>1d</interval></wodle>' +
        '<wodle name="syscollector"><time>04:30</time></wodle>',
    );
    expect(sca).to.deep.include({ interval: { unit: 'month', count: 1 }, day: 5, time: 0 });
    expect(wodle.command[0]).to.deep.include({ interval: { unit: 'second', count: 604_800 }, wday: 2, time: 0 });
    expect(wodle.syscollector).to.deep.include({ interval: { unit: 'second', count: 86_400 }, time: 270 });
    expect(warnings).to.have.length(3);
  });

  it('tells wodles apart by name and tag', () => {
    const { wodle } = parse(
      '<wodle name="command"><tag>a</tag><command>x</command><interval>1h</interval></wodle>' +
        '<wodle name="command"><tag>b</tag><command>y</command><interval>2h</interval></wodle>' +
        '<wodle name="command"><tag>a</tag><command>z</command><interval>3h</interval></wodle>' +
        '<wodle name="syscollector"><ports all="yes">no</ports></wodle><wodle name="aws-s3"><bucket/></wodle>',
    );
    expect(wodle.command.map(({ tag, command }) => [tag, command])).to.deep.equal([
      ['b', 'y'],
      ['a', 'z'],
    ]);
    expect(wodle.syscollector?.ports).to.deep.equal({ enabled: false, all: true });
    expect(wodle.other.map(({ name }) => name)).to.deep.equal(['aws-s3']);
  });

  it('binds active responses to commands', () => {
    const commands =
      '<command><name>blk</name><executable>block</executable><timeout_allowed>yes</timeout_allowed></command>' +
      '<command><name>once</name><executable>once</executable></command>';
    const config = parse(
      `${commands}<active-response><repeated_offenders>30,60</repeated_offenders></active-response>` +
        `<active-response><disabled>yes</disabled><command>blk</command><location>all</location></active-response>` +
        `<active-response><command>blk</command><location>local,server</location><level>7</level><timeout>600</timeout>` +
        `<rules_id>5712, 5720 5551</rules_id></active-response>` +
        `<active-response><command>once</command><location>analysis-server</location><timeout>60</timeout></active-response>` +
        `<active-response><command>once</command><location>defined-agent</location><agent_id>000</agent_id></active-response>` +
        `<active-response><command>once</command><location>defined-agent</location><agent_id>001,007</agent_id></active-response>`,
    );
    const { responses, execdDisabled, repeatedOffenders } = config['active-response'];
    expect(responses.map(({ command, locations, timeout }) => [command.name, locations, timeout])).to.deep.equal([
      ['blk', ['server', 'local'], 600],
      ['once', ['server'], 0],
      ['once', ['defined-agent'], 0],
    ]);
    expect(responses[0]!.rules_id).to.deep.equal([5712, 5720, 5551]);
    expect(responses[2]!.agent_id).to.deep.equal(['001', '007']);
    expect(execdDisabled).to.equal(true);
    expect(repeatedOffenders).to.deep.equal([30, 60]);
    expect(config.warnings.map(({ text }) => text.slice(0, 6))).to.deep.equal(['(1305)', '(1306)']);
    const response = (location: string, more = '') =>
      `${commands}<active-response><command>blk</command><location>${location}</location>${more}</active-response>`;
    expect(errorOf(response('nowhere')).text).to.equal("(1302): Invalid active response location: 'nowhere'.");
    expect(errorOf(response('defined-agent')).text).to.equal('(1304): No agent defined for response.');
  });

  it('takes the last cluster block and its placeholders while disabled', () => {
    const { cluster } = parse(
      '<cluster><name>a</name><disabled>yes</disabled><key></key><nodes><node>NODE_IP</node></nodes></cluster>' +
        '<cluster><node_type>client</node_type><disabled>yes</disabled><bind_addr>any</bind_addr></cluster>',
    );
    expect(cluster).to.deep.include({ name: 'wazuh', node_type: 'worker', bind_addr: '0.0.0.0', disabled: true });
    const enabled = parse(
      `<cluster><key>${'a1'.repeat(16)}</key><nodes><node>10.1.1.1</node></nodes><haproxy_helper>` +
        '<excluded_nodes><node>n1</node><node>n2</node></excluded_nodes></haproxy_helper></cluster>',
    );
    expect(enabled.cluster?.haproxy_helper?.excluded_nodes).to.deep.equal(['n1', 'n2']);
  });

  it('takes NATS servers of a cluster by TLS, and without it on this host', () => {
    const far = ['10.1.1.1', 'manager.example.org', 'tls://10.1.1.2:5222', '2001:db8::1', 'tls://[2001:db8::2]:5222'];
    expect(parse(cluster(...far)).cluster?.nodes.node).to.deep.equal(far);
    const near = ['nats://127.0.0.1:4222', 'nats://localhost', 'nats://[::1]:4222'];
    expect(parse(cluster(...near)).cluster?.nodes.node).to.deep.equal(near);
  });

  it('names the line of a NATS server that it does not take', () => {
    const lines = '<cluster>\n<key>a</key><nodes>\n<node>a</node>\n<node>nats://b</node></nodes></cluster>';
    const error = errorOf(lines.replace('<key>a', `<key>${'a1'.repeat(16)}`));
    expect(error.line).to.equal(5);
  });

  it('leaves out integrations that lack what they need, with their line', () => {
    const config = parse(
      '<integration><name>slack</name></integration>\n<integration><name>pagerduty</name></integration>\n' +
        '<integration><name>slack</name><hook_url>https://h.test</hook_url></integration>',
    );
    expect(config.integration.map(({ name }) => name)).to.deep.equal(['slack']);
    expect(config.warnings.map(({ line, text, level }) => ({ line, text, level }))).to.deep.equal([
      { line: 2, text: "Unable to enable integration for: 'slack'. Missing hook URL.", level: 'error' },
      { line: 3, text: "Unable to enable integration for: 'pagerduty'. Missing API Key.", level: 'error' },
    ]);
  });

  it('reads the outputs', () => {
    const config = parse(
      '<integration><name>custom-hook</name><hook_url>https://h.test</hook_url><level>10</level><rule_id>1,2</rule_id>' +
        '<group>a,b</group><alert_format>json</alert_format></integration>' +
        '<syslog_output><server>10.0.0.9</server><format>cef</format></syslog_output>' +
        '<email_alerts><email_to>a@x.test</email_to><do_not_delay/></email_alerts>' +
        '<reports><group>auth</group><srcip type="relation">user</srcip><email_to>a@x.test</email_to></reports>',
    );
    expect(config.integration[0]).to.deep.include({
      name: 'custom-hook',
      level: 10,
      rule_id: [1, 2],
      group: ['a', 'b'],
      timeout: 10,
    });
    expect(config.syslog_output[0]).to.include({ server: '10.0.0.9', port: 514, format: 'cef', use_fqdn: false });
    expect(config.email_alerts[0]).to.deep.include({ email_to: ['a@x.test'], do_not_delay: true, do_not_group: false });
    expect(config.reports[0]).to.deep.include({
      title: 'OSSEC Report (unnamed)',
      category: { value: 'auth', related: [] },
      srcip: { value: undefined, related: ['user'] },
    });
  });

  it('keeps filters and relations of a report, and leaves one out that nobody gets', () => {
    const { reports, warnings } = parse(
      '<reports><title>Logins</title><category>auth</category><user type="relation">srcip</user><user>bob</user>' +
        '<user type="relation">rule</user><group type="relation">user</group><email_to>a@x.test</email_to></reports>\n' +
        '<reports><title>Nobody</title></reports>',
    );
    expect(reports).to.have.length(1);
    expect(reports[0]).to.deep.include({
      title: 'Logins',
      category: { value: 'auth', related: ['user'] },
      user: { value: 'bob', related: ['srcip', 'rule'] },
      line: 2,
    });
    expect(warnings.map(({ line, text, level }) => ({ line, text, level }))).to.deep.equal([
      { line: 3, text: "Report 'Nobody' is left out: it has no <email_to>.", level: 'error' },
    ]);
  });

  it('reads labels and leaves reserved keys out', () => {
    const { labels, warnings } = parse(
      '<labels><label key="site" hidden="yes">berlin</label><label key="_x">1</label></labels><labels><label key="b">2</label></labels>',
    );
    expect(labels).to.deep.equal([
      { key: 'site', value: 'berlin', hidden: true },
      { key: 'b', value: '2', hidden: false },
    ]);
    expect(warnings).to.have.length(1);
  });

  it('reads logging, backups, agents and the rest', () => {
    const config = parse(
      '<logging><log_format>plain,json</log_format></logging>' +
        '<wdb><backup database="global"><interval>12h</interval></backup></wdb>' +
        '<client><server><address>10.0.0.1</address></server></client><client_buffer><queue_size>10</queue_size></client_buffer>' +
        '<indexer><hosts><host>https://a:9200</host></hosts></indexer><indexer><enabled>no</enabled></indexer>' +
        '<agent-upgrade><notification_wait_factor>1.5</notification_wait_factor></agent-upgrade>' +
        '<task-manager><task_timeout>20m</task_timeout></task-manager><anti_tampering/>' +
        '<agentless><type>ssh_generic_diff</type><host>a@b</host><state>periodic_diff</state></agentless>',
    );
    expect(config.logging?.log_format).to.deep.equal({ plain: true, json: true });
    expect(config.wdb.backup.interval).to.equal(43_200);
    expect(config.client?.server[0]).to.include({ address: '10.0.0.1', port: 1514 });
    expect(config.client_buffer.queue_size).to.equal(10);
    expect(config.indexer).to.deep.include({ enabled: false, hosts: { host: [] } });
    expect(config['agent-upgrade'].notification_wait_factor).to.equal(1.5);
    expect(config['task-manager'].task_timeout).to.equal(1200);
    expect(config.agentless[0]).to.include({ type: 'ssh_generic_diff', state: 'periodic_diff' });
  });
});

describe('main configuration of an existing installation', () => {
  it('is read as it is', () => {
    const config = parseManagerConfig(
      `<!-- a manager as it is found -->
<ossec_config>
  <global>
    <jsonout_output>yes</jsonout_output>
    <email_notification>no</email_notification>
    <smtp_server>smtp.example.test</smtp_server>
    <agents_disconnection_time>10m</agents_disconnection_time>
    <agents_disconnection_alert_time>0</agents_disconnection_alert_time>
    <update_check>yes</update_check>
  </global>
  <logging><log_format>plain</log_format></logging>
  <rootcheck>
    <check_unixaudit>yes</check_unixaudit>
    <system_audit>etc/shared/system_audit_rcl.txt</system_audit>
    <ignore>/var/lib/containerd</ignore>
    <ignore type="sregex">^/proc</ignore>
  </rootcheck>
  <wodle name="cis-cat"><disabled>yes</disabled><timeout>1800</timeout><java_path>wodles/java</java_path></wodle>
  <wodle name="osquery"><disabled>yes</disabled><run_daemon>yes</run_daemon><pack name="a">/p</pack></wodle>
  <wodle name="syscollector">
    <disabled>no</disabled><interval>1h</interval><packages>yes</packages><ports all="no">yes</ports>
    <synchronization><max_eps>10</max_eps></synchronization>
  </wodle>
  <vulnerability-detection>
    <enabled>yes</enabled><index-status>yes</index-status><feed-update-interval>60m</feed-update-interval>
  </vulnerability-detection>
  <syscheck>
    <frequency>43200</frequency>
    <alert_new_files>yes</alert_new_files>
    <auto_ignore frequency="10" timeframe="3600">no</auto_ignore>
    <directories>/etc,/usr/bin,/usr/sbin</directories>
    <ignore type="sregex">.log$|.swp$</ignore>
    <synchronization><enabled>yes</enabled><interval>5m</interval><max_eps>10</max_eps></synchronization>
  </syscheck>
  <localfile>
    <log_format>full_command</log_format>
    <command>ss -tuln | sed 's/\\([[:alnum:]]\\+\\) \\+\\([0-9]*\\)/\\1 == \\2/' | sort -k 4 -g</command>
    <alias>listening ports</alias>
    <frequency>360</frequency>
  </localfile>
  <cluster>
    <name>wazuh</name><node_name>node01</node_name><node_type>master</node_type><key></key>
    <nodes><node>NODE_IP</node></nodes><disabled>yes</disabled>
  </cluster>
</ossec_config>

<ossec_config>
  <localfile><log_format>journald</log_format><location>journald</location></localfile>
</ossec_config>
`,
      'etc/ossec.conf',
    );
    expect(config.warnings).to.deep.equal([]);
    expect(config.syscheck?.auto_ignore).to.deep.equal({ enabled: false, frequency: 10, timeframe: 3600 });
    expect(config['vulnerability-detection']).to.include({ enabled: true, 'feed-update-interval': 3600 });
    expect(config.localfile[0]!.command).to.contain(String.raw`s/\([[:alnum:]]\+\)`);
    expect(config.localfile.map(({ log_format }) => log_format.name)).to.deep.equal(['full_command', 'journald']);
    expect(config.wodle.other.map(({ name }) => name)).to.deep.equal(['cis-cat', 'osquery']);
  });
});
