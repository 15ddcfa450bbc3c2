import { expect } from 'chai';
import { syslogMessage } from '../../../../../../daemons/monitord/outputs/syslog/syslog-format.js';
import type { SyslogFormat } from '../../../../../../lib/config/sections/outputs.js';
import { AlertView } from '../../../../../../lib/output/alert-view.js';
import { sampleAlert } from '../../../../../support/monitord/alert-files.js';

const LOG = 'Jun  5 10:11:23 web sshd[7]: Failed password for bob from 203.0.113.9 port 4123 ssh2';
const FIM = {
  rule: { level: 12, description: 'File changed: a|b', id: '550', groups: ['syscheck'] },
  agent: { id: '000', name: 'mgr' },
  manager: { name: 'mgr' },
  data: undefined,
  full_log: "File '/etc/a=b' modified\nMode: realtime\nSize changed from '1' to '2'",
  syscheck: {
    path: '/etc/a=b',
    size_before: '1',
    size_after: '2',
    perm_before: 'rw-------',
    perm_after: 'rw-r--r--',
    uid_before: '0',
    uid_after: '5',
    gid_before: '0',
    gid_after: '6',
    md5_before: 'm1',
    md5_after: 'm2',
    sha1_before: 's1',
    sha1_after: 's2',
    sha256_before: 'x1',
    sha256_after: 'x2',
  },
  location: 'syscheck',
};

/** Local time, whatever the zone of the machine is. */
function localTimestamp(): string {
  const minutes = -new Date(2025, 5, 5, 10).getTimezoneOffset();
  const size = Math.abs(minutes);
  const pad = (n: number) => String(n).padStart(2, '0');
  return `2025-06-05T10:11:23.123${minutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}${pad(size % 60)}`;
}

function message(format: SyslogFormat, changes: Record<string, unknown> = {}): string {
  const text = JSON.stringify(sampleAlert({ timestamp: localTimestamp(), ...changes }));
  return syslogMessage(format, AlertView.parse(text)!, text, 'mgr');
}

describe('a forwarded alert', () => {
  it('has the default form', () => {
    expect(message('default')).to.equal(
      '<132>Jun  5 10:11:23 mgr ossec: Alert Level: 10; Rule: 5712 - Many failures; ' +
        'Location: (web) 10.0.0.7->/var/log/auth.log; classification:  sshd,auth,; srcip: 203.0.113.9; ' +
        `dstip: 10.0.0.7; user: bob; ${LOG}`,
    );
    expect(message('default', FIM)).to.equal(
      '<132>Jun  5 10:11:23 mgr ossec: Alert Level: 12; Rule: 550 - File changed: a|b; Location: mgr->syscheck; ' +
        'classification:  syscheck,; Previous MD5: m1; Current MD5: m2; Previous SHA1: s1; Current SHA1: s2; ' +
        "Previous SHA256: x1; Current SHA256: x2; Size changed: from '1' to '2'; User ownership: was '0', now it is '5'; " +
        "Group ownership: was '0', now it is '6'; Permissions changed: from 'rw-------' to 'rw-r--r--'; " +
        "File '/etc/a=b' modified Mode: realtime Size changed from '1' to '2'",
    );
  });

  it('has the form of CEF, with its separators quoted', () => {
    expect(message('cef')).to.equal(
      '<132>Jun  5 10:11:23 mgr CEF:0|Wazuh Inc.|Wazuh|v4.14.7|5712|Many failures|10|dvc=mgr ' +
        'cs1=(web) 10.0.0.7->/var/log/auth.log cs1Label=Location cat=sshd,auth, src=203.0.113.9 dpt=22 spt=4123 ' +
        `dhost=10.0.0.7 shost=203.0.113.9 suser=bob dst=10.0.0.7 suser=bob dst=10.0.0.7 msg=${LOG}`,
    );
    expect(message('cef', FIM)).to.equal(
      '<132>Jun  5 10:11:23 mgr CEF:0|Wazuh Inc.|Wazuh|v4.14.7|550|File changed: a\\|b|10|dvc=mgr cs1=mgr->syscheck ' +
        "cs1Label=Location cat=syscheck, fname=/etc/a\\=b msg=File '/etc/a\\=b' modified Mode: realtime Size changed " +
        "from '1' to '2' cs2Label=OldMD5 cs2=m1 cs3Label=NewMD5 cs3=m2 oldFileHash=s1 fhash=s2 fileHash=x2",
    );
  });

  it('has the form of Splunk', () => {
    expect(message('splunk', { full_log: 'say "hi"' })).to.equal(
      '<132>Jun  5 10:11:23 mgr ossec: crit=10 id=5712 description="Many failures" ' +
        'component="(web) 10.0.0.7->/var/log/auth.log", classification="sshd,auth,", src_ip="203.0.113.9", ' +
        'src_port=4123, dst_ip="10.0.0.7", dst_port=22, acct="bob", message="say \\"hi\\""',
    );
    expect(message('splunk', FIM)).to.contain(
      'file="/etc/a=b", md5_old="m1", md5_new="m2", sha1_old="s1", sha1_new="s2", sha256_old="x1", sha256_new="x2", message=',
    );
  });

  it('is the very line of alerts.json', () => {
    const text = JSON.stringify(sampleAlert({ timestamp: localTimestamp() }));
    expect(message('json')).to.equal(`<132>Jun  5 10:11:23 mgr ossec: ${text}`);
  });

  it('is one line, and no longer than its parts may be', () => {
    const long = message('default', {
      rule: { level: 3, id: '1', description: 'é'.repeat(5000), groups: [] },
      full_log: `a\n<0>fake\r\0${'ü'.repeat(40_000)}`,
    });
    const at = long.indexOf(' a <0>fake ');
    expect(Buffer.byteLength(long.slice(0, at))).to.be.within(2047, 2048);
    expect(Buffer.byteLength(long.slice(at + 1))).to.be.within(61_439, 61_440);
    expect(long.endsWith('ü...')).to.equal(true);

    expect(long).not.to.match(/[\u0000-\u001f\ufffd]/);
  });

  it('is made of an alert that has next to nothing', () => {
    const text = JSON.stringify({ rule: { level: 5, id: '7' } });
    const made = syslogMessage('default', AlertView.parse(text)!, text, 'mgr');
    expect(made).to.match(/^<132>\w{3} [ \d]\d [\d:]{8} mgr ossec: Alert Level: 5; Rule: 7 - ; Location: ->; $/);
  });
});
