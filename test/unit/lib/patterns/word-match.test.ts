import { expect } from 'chai';
import { wordMatch } from '../../../../lib/patterns/word-match.js';

describe('wordMatch', () => {
  const cases: [pattern: string, subject: string, matched: boolean][] = [
    ['auth', 'syslog,authentication_success,', true],
    ['^auth', 'syslog,authentication_success,', false],
    ['^sys', 'SYSLOG,sshd,', true],
    ['foo|SSHD', 'syslog,sshd,', true],
    ['foo|bar', 'syslog,sshd,', false],
    ['', 'anything', false],
    ['foo|', 'anything', true],
    ['sshd,$', 'syslog,sshd,', false],
    ['!foo', 'bar', false],
    ['!foo', 'a!foo', true],
  ];
  for (const [pattern, subject, matched] of cases) {
    it(`'${pattern}' on '${subject}': ${String(matched)}`, () => {
      expect(wordMatch(pattern, subject)).to.equal(matched);
    });
  }
});
