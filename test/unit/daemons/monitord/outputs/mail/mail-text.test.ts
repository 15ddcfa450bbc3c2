import { expect } from 'chai';
import { mailBody, mailSubject, shortMessage } from '../../../../../../daemons/monitord/outputs/mail/mail-text.js';
import { AlertView } from '../../../../../../lib/output/alert-view.js';
import { sampleAlert } from '../../../../../support/monitord/alert-files.js';

const view = (changes: Record<string, unknown> = {}) => new AlertView(sampleAlert(changes));

describe('the text of a mail', () => {
  it('is that of 8.3, with lines that end CRLF', () => {
    const body = mailBody([view({ previous_output: 'one\ntwo' })]);
    expect(body).to.match(/^\r\nWazuh Notification\.\r\n2025 Jun 0\d \d\d:\d\d:\d\d\r\n\r\nReceived From: /);
    expect(body.slice(body.indexOf('Received'))).to.equal(
      [
        'Received From: (web) 10.0.0.7->/var/log/auth.log',
        'Rule: 5712 fired (level 10) -> "Many failures"',
        'Src IP: 203.0.113.9',
        'Dst IP: 10.0.0.7',
        'User: bob',
        'Portion of the log(s):',
        '',
        'Jun  5 10:11:23 web sshd[7]: Failed password for bob from 203.0.113.9 port 4123 ssh2',
        'one',
        'two',
        '',
        '',
        ' --END OF NOTIFICATION',
        '',
        '',
        '',
      ].join('\r\n'),
    );
  });

  it('leaves out what the alert does not have, and takes alerts together', () => {
    const body = mailBody([view({ data: undefined }), view()]);
    expect(body.split('Wazuh Notification.')).to.have.length(3);
    expect(body.split('Src IP')).to.have.length(2);
  });

  it('has the subject of the highest level', () => {
    const high = view({ rule: { level: 13, id: '1', description: 'worst\r\nBcc: x@y' }, agent: { id: '000' } });
    expect(mailSubject([view(), high, view()], false)).to.equal(
      'Wazuh notification - mgr.example.test - Alert level 13',
    );
    expect(mailSubject([view()], true)).to.equal(
      'Wazuh alert - (web) 10.0.0.7->/var/log/auth.log - Level 10 - Many failures',
    );
    expect(mailSubject([high], true)).to.equal(
      'Wazuh alert - mgr.example.test->/var/log/auth.log - Level 13 - worst Bcc: x@y',
    );
  });

  it('is short where it goes to a telephone', () => {
    const { subject, text } = shortMessage(view({ full_log: `a\nb${'x'.repeat(200)}` }));
    expect(subject).to.equal('Wazuh 10 - 5712 - Many failures');
    expect(text).to.equal(`a b${'x'.repeat(124)}`);
  });
});
