import { expect } from 'chai';
import { rewriteRfc5424 } from '../../../../../daemons/remoted/syslog/rewrite-rfc5424.js';
import { stripPriority } from '../../../../../daemons/remoted/syslog/strip-priority.js';

const NOON = new Date(2026, 2, 7, 12, 0, 5).getTime();

describe('the text of a syslog message', () => {
  for (const [message, text] of [
    ['<134>Mar  7 09:15:02 gate doord: open\n', 'Mar  7 09:15:02 gate doord: open'],
    ['<165>1 2003-10-11T22:14:15.003Z host app - - - said', '1 2003-10-11T22:14:15.003Z host app - - - said'],
    ['no priority', 'no priority'],
    ['<a > b> c', ' b> c'],
    ['<13 without an end', '<13 without an end'],
    ['one newline\n\n', 'one newline\n'],
    ['NULs behind it\n\0\0', 'NULs behind it'],
    ['<13>', ''],
    ['<13>\n', ''],
    ['\n', ''],
    ['', ''],
  ] as const) {
    it(`of ${JSON.stringify(message)} is ${JSON.stringify(text)}`, () => {
      expect(stripPriority(Buffer.from(message)).toString()).to.equal(text);
    });
  }
});

describe('a message of RFC 5424 in the form of RFC 3164', () => {
  const rewrite = (text: string): string =>
    rewriteRfc5424(Buffer.from(text, 'latin1'), '192.0.2.7', NOON).toString('latin1');

  for (const [message, text] of [
    [
      '1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \xef\xbb\xbfsaid it',
      'Oct 11 22:14:15 mymachine.example.com su: said it',
    ],
    [
      '1 2026-03-07T09:15:02+01:00 web02 sshd 4711 - - Failed password',
      'Mar  7 09:15:02 web02 sshd[4711]: Failed password',
    ],
    [
      '1 2026-03-07T09:15:02Z web02 app 1 - [a@1 x="]\\"" y="2"][b] said',
      'Mar  7 09:15:02 web02 app[1]: said [a@1 x="]\\"" y="2"][b]',
    ],
    ['1 2026-03-07T09:15:02Z web02 app 1 - [a@1 x="2"]', 'Mar  7 09:15:02 web02 app[1]:  [a@1 x="2"]'],
    ['1 - - - - - - said', 'Mar  7 12:00:05 192.0.2.7 said'],
    ['1 2026-03-07T09:15:02Z web02 app - - -', 'Mar  7 09:15:02 web02 app:'],
  ] as const) {
    it(`is, for ${JSON.stringify(message)}, ${JSON.stringify(text)}`, () => {
      expect(rewrite(message)).to.equal(text);
    });
  }

  for (const other of [
    'Mar  7 09:15:02 gate doord: open',
    '1 message',
    '2 2026-03-07T09:15:02Z web02 app 1 - - said',
    '1 2026-03-07 web02 app 1 - - said',
    '1 2026-03-07T09:15:02Z web02 app 1 - [a@1 x="2" said',
    '1 2026-03-07T09:15:02Z web02 app 1 - nodata said',
    '1 2026-03-07T09:15:02Z web02 app 1 - -said',
  ]) {
    it(`is left as it is: ${other}`, () => {
      expect(rewrite(other)).to.equal(other);
    });
  }
});
