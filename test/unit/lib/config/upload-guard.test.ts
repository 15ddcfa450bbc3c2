import { expect } from 'chai';
import { parseApiConfig } from '../../../../lib/config/load-api-config.js';
import { refuseUpload } from '../../../../lib/config/upload-guard.js';

const FILE = 'etc/manager.conf';
const NOTHING = `upload_configuration:
  remote_commands:
    localfile: {allow: no, exceptions: [uptime]}
    wodle_command: {allow: no, exceptions: [uptime]}
  file_contents: {allow: no, exceptions: [/var/log, /srv/App/]}
  limits: {eps: {allow: no}}
  agents: {allow_higher_versions: {allow: no}}
  indexer: {allow: no}
  integrations: {virustotal: {public_key: {allow: no}}}
`;

const command = (text: string, format = 'full_command') =>
  `<localfile><log_format>${format}</log_format><command>${text}</command></localfile>`;
const followed = (location: string) =>
  `<localfile><log_format>syslog</log_format><location>${location}</location></localfile>`;
const compared = (path: string, more = '') =>
  `<syscheck><directories report_changes="yes">${path}</directories>${more}</syscheck>`;
const LEAVING = 'localfile /var/log/../../etc/shadow';
const wodle = (text: string) => `<wodle name="command"><tag>t</tag><command>${text}</command></wodle>`;
const conf = (...sections: string[]) => `<manager_config>${sections.join('\n')}</manager_config>`;

describe('upload_configuration', () => {
  const limits = (yaml: string) => parseApiConfig(yaml, 'api.yaml').config.upload_configuration;
  const refuse = (next: string, current: string | undefined = conf(), yaml = NOTHING) =>
    refuseUpload(next, current, FILE, limits(yaml));

  for (const [what, section, refusal] of [
    ['full_command', command('id'), { code: 1124, text: 'id' }],
    ['command', command('id', 'command'), { code: 1124, text: 'id' }],
    [
      'a command whose format stands twice',
      '<localfile><log_format>syslog</log_format><command>id</command><log_format>command</log_format></localfile>',
      { code: 1124, text: 'id' },
    ],
    ['wodle command', wodle('id'), { code: 1124, text: 'id' }],
    ['prefilter_cmd', '<syscheck><prefilter_cmd>/tmp/x</prefilter_cmd></syscheck>', { code: 1124, text: '/tmp/x' }],
    [
      'a socket',
      '<socket><name>d</name><location>/run/docker.sock</location></socket>',
      { code: 1124, text: '/run/docker.sock' },
    ],
    [
      'limits of events',
      '<global><limits><eps><maximum>1</maximum><timeframe>2</timeframe></eps></limits></global>',
      { code: 1127, text: 'limits/eps' },
    ],
    ['the indexer', '<indexer><enabled>no</enabled></indexer>', { code: 1127, text: 'indexer' }],
    [
      'agents of a higher version',
      '<auth><agents><allow_higher_versions>yes</allow_higher_versions></agents></auth>',
      { code: 1129, text: 'agents/allow_higher_versions' },
    ],
    ['the lines of a file', followed('/etc/shadow'), { code: 1127, text: 'localfile /etc/shadow' }],
    ['a way out of a directory', followed('/var/log/../../etc/shadow'), { code: 1127, text: LEAVING }],
    ['a directory that begins alike', followed('/var/logs/x'), { code: 1127, text: 'localfile /var/logs/x' }],
    ['the differences of files', compared('/root'), { code: 1127, text: 'report_changes /root' }],
    [
      'an audit of files',
      '<rootcheck><system_audit>etc/rules/a.txt</system_audit></rootcheck>',
      { code: 1127, text: 'system_audit etc/rules/a.txt' },
    ],
    [
      'a list of trojans',
      '<rootcheck><rootkit_trojans>/tmp/list</rootkit_trojans></rootcheck>',
      { code: 1127, text: 'rootkit_trojans /tmp/list' },
    ],
    [
      'a list of rootkits',
      '<rootcheck><rootkit_files>/etc/shadow</rootkit_files></rootcheck>',
      { code: 1127, text: 'rootkit_files /etc/shadow' },
    ],
    [
      'a key of VirusTotal',
      '<integration><name>virustotal</name><api_key>k</api_key></integration>',
      { code: 1131, text: 'integration virustotal' },
    ],
  ] as const) {
    it(`refuses ${what} that is new, and takes it where it is there or allowed`, () => {
      expect(refuse(conf(section))).to.deep.equal(refusal);
      expect(refuseUpload(conf(section), undefined, FILE, limits(NOTHING)), 'nothing in force').to.deep.equal(refusal);
      expect(refuse(conf(section), conf(section), ''), 'without limits').to.equal(undefined);
      expect(refuse(conf(section), conf(), ''), 'without limits').to.equal(undefined);
      if (refusal.code !== 1129) expect(refuse(conf(section), conf(section))).to.equal(undefined);
    });
  }

  it('knows exceptions, and one command from another', () => {
    expect(refuse(conf(command('Uptime'), wodle('uptime')))).to.equal(undefined);
    expect(refuse(conf(command('uptime -p')))).to.deep.equal({ code: 1124, text: 'uptime -p' });
    // What one kind has is not the other's.
    expect(refuse(conf(wodle('df')), conf(command('df')))).to.deep.equal({ code: 1124, text: 'df' });
    expect(refuse(conf(command('df'), command('df; id')), conf(command('df')))).to.deep.equal({
      code: 1124,
      text: 'df; id',
    });
  });

  it('takes files below the directories of file_contents', () => {
    expect(refuse(conf(followed('/var/log/nginx/access*.log'), compared('/srv/app/etc')))).to.equal(undefined);
    expect(refuse(conf(compared('/var/log,/srv/app'))), 'the directories themselves').to.equal(undefined);
  });

  it('takes directories that are watched without differences, and keys of other integrations', () => {
    for (const options of ['check_all="yes"', 'report_changes="no"', 'check_all="yes" report_changes="no"']) {
      const watched = `<syscheck><directories ${options}>/root</directories></syscheck>`;
      expect(refuse(conf(watched)), options).to.equal(undefined);
    }
    expect(refuse(conf('<integration><name>slack</name><api_key>k</api_key></integration>'))).to.equal(undefined);
    expect(refuse(conf('<integration><name>virustotal</name></integration>'))).to.equal(undefined);
  });

  it('takes what the journal of systemd has, which is no file', () => {
    const journal = '<localfile><log_format>journald</log_format><location>journald</location></localfile>';
    expect(refuse(conf(journal))).to.equal(undefined);
  });

  it('takes what is left out and what is compared for two things', () => {
    // Of one kind is not of another, whatever its path.
    const left = (what: string) => compared('/etc', `<${what}>/etc/shadow</${what}>`);
    expect(refuse(conf(left('nodiff')), conf(left('ignore')))).to.deep.equal({
      code: 1127,
      text: 'report_changes /etc',
    });
    expect(refuse(conf(left('ignore')), conf(left('nodiff')))).to.deep.equal({
      code: 1127,
      text: 'report_changes /etc',
    });
    const own = compared('/etc', '<directories>/etc/shadow</directories>');
    expect(refuse(conf(left('ignore')), conf(own))).to.deep.equal({ code: 1127, text: 'report_changes /etc' });
    expect(refuse(conf(own), conf(left('ignore')))).to.deep.equal({ code: 1127, text: 'report_changes /etc' });
  });

  it('takes no differences of what was left out of them', () => {
    const kept = compared('/etc', '<nodiff>/etc/shadow</nodiff>');
    expect(refuse(conf(kept), conf(kept))).to.equal(undefined);
    expect(refuse(conf(kept), conf(compared('/etc'))), 'more left out').to.equal(undefined);
    for (const left of [
      '<nodiff>/etc/shadow</nodiff>',
      '<diff><nodiff>/etc/shadow</nodiff></diff>',
      '<ignore>/etc/shadow</ignore>',
      '<directories>/etc/ssl/private</directories>',
    ]) {
      const refusal = { code: 1127, text: 'report_changes /etc' };
      expect(refuse(conf(compared('/etc')), conf(compared('/etc', left))), left).to.deep.equal(refusal);
    }
  });

  it('is not led astray by comments and several roots', () => {
    expect(refuse(conf(`<!-- ${command('id')} -->`))).to.equal(undefined);
    expect(refuse(`${conf()}<ossec_config>${command('id')}</ossec_config>`)).to.deep.equal({ code: 1124, text: 'id' });
  });
});
