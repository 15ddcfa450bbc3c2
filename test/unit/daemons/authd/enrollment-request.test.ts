import { expect } from 'chai';
import fc from 'fast-check';
import {
  EnrollmentError,
  parseEnrollmentRequest,
  type RequestRules,
} from '../../../../daemons/authd/enrollment-request.js';
import type { AgentAddress } from '../../../../lib/network/agent-address.js';

const OPEN: RequestRules = { password: undefined, allowHigherVersions: false };
const SECRET: RequestRules = { ...OPEN, password: 'TopSecret' };
const HASH = 'e16d73574b34ca713f79a430d2c0d7cd4be963de';

function refusal(line: string, rules = OPEN): string {
  try {
    parseEnrollmentRequest(line, rules, '192.0.2.1');
  } catch (error) {
    if (error instanceof EnrollmentError) return error.reply;
    throw error;
  }
  return 'accepted';
}

describe('enrolment request', () => {
  it('reads all parts in their order', () => {
    const line = `OSSEC A:'web01' V:'v4.14.7' G:'default,web,default' IP:'10.1.0.0/255.255.0.0' K:'${HASH}'`;
    const request = parseEnrollmentRequest(line, OPEN, '192.0.2.1');
    expect(request.name).to.equal('web01');
    expect(request.groups).to.deep.equal(['default', 'web']);
    expect((request.ip as AgentAddress).text).to.equal('10.1.0.0/16');
    expect(request.keyHash).to.equal(HASH);
  });

  it('takes only the name when there is nothing else', () => {
    const request = parseEnrollmentRequest("OSSEC A:'ossecagent'", OPEN, '192.0.2.1');
    expect(request).to.deep.equal({ name: 'ossecagent', groups: undefined, ip: undefined, keyHash: undefined });
  });

  it('stops at a part out of order', () => {
    const line = `OSSEC A:'web01' IP:'src' G:'no such group' V:'v99.0'`;
    expect(parseEnrollmentRequest(line, OPEN, '192.0.2.1')).to.include({ ip: 'src', groups: undefined });
    expect(refusal("OSSEC A:'web01'  V:'v99.0'")).to.equal('accepted');
  });

  for (const [line, text] of [
    ['', 'Invalid request for new agent'],
    ["OSSEC a:'web01'", 'Invalid request for new agent'],
    ["OSSEC A:'web01", 'Invalid request for new agent'],
    [" OSSEC A:'web01'", 'Invalid request for new agent'],
    ["OSSEC PASS: x OSSEC A:'web01'", 'Invalid request for new agent'],
    ["OSSEC A:''", 'Invalid agent name: '],
    ["OSSEC A:'x'", 'Invalid agent name: x'],
    ["OSSEC A:'.hidden'", 'Invalid agent name: .hidden'],
    ["OSSEC A:'two words'", 'Invalid agent name: two words'],
    ["OSSEC A:'web\n01'", 'Invalid agent name: web\n01'],
    [`OSSEC A:'${'a'.repeat(128)}'`, `Invalid agent name: ${'a'.repeat(128)}`],
    ["OSSEC A:'web01' V:'v4.14", 'Unterminated version field'],
    ["OSSEC A:'web01' V:'v4.15.0'", 'Agent version must be lower or equal to manager version'],
    ["OSSEC A:'web01' V:'5.0.0'", 'Agent version must be lower or equal to manager version'],
    ["OSSEC A:'web01' G:'default", 'Unterminated group field'],
    ["OSSEC A:'web01' G:''", 'Invalid group name: Empty Group'],
    ["OSSEC A:'web01' G:'a b'", 'Invalid group name: a b... white spaces are not allowed'],
    ["OSSEC A:'web01' G:'a,,b'", "Invalid group name: a,,b... consecutive ',' are not allowed"],
    ["OSSEC A:'web01' G:'a,'", "Invalid group name: a,... cannot start or end with ','"],
    ["OSSEC A:'web01' G:'a/b'", `Invalid group name: a/b... characters '\\/:*?"<>|,' are prohibited`],
    [`OSSEC A:'web01' G:'${'g'.repeat(256)}'`, `Invalid group name: ${'g'.repeat(255)}... group is too large`],
    ["OSSEC A:'web01' IP:'10.0.0.1", 'Unterminated IP field'],
    ["OSSEC A:'web01' IP:'10.0.0.256'", 'Invalid IP: 10.0.0.256'],
    ["OSSEC A:'web01' IP:''", 'Invalid IP: '],
    ["OSSEC A:'web01' K:'abc", 'Unterminated key field'],
  ] as const) {
    it(`answers ${JSON.stringify(line).slice(0, 60)}`, () => {
      expect(refusal(line)).to.equal(`ERROR: ${text}. Unable to add agent`);
    });
  }

  it('takes names up to their largest size, and empty parts up to the quote', () => {
    expect(refusal(`OSSEC A:'${'n'.repeat(127)}'`)).to.equal('accepted');
    expect(refusal(`OSSEC A:'${'n'.repeat(128)}'`)).to.equal(
      `ERROR: Invalid agent name: ${'n'.repeat(128)}. Unable to add agent`,
    );
    expect(refusal("OSSEC A:''")).to.equal('ERROR: Invalid agent name: . Unable to add agent');
  });

  it('compares versions without the patch number', () => {
    for (const version of ['v4.14.99', '4.14.7', 'v3.13.6', 'v4.14', 'nonsense', '']) {
      expect(refusal(`OSSEC A:'web01' V:'${version}'`), version).to.equal('accepted');
    }
    expect(refusal("OSSEC A:'web01' V:'v9.0'", { ...OPEN, allowHigherVersions: true })).to.equal('accepted');
  });

  it('demands the exact password first', () => {
    const wrong = 'ERROR: Invalid password. Unable to add agent';
    for (const line of [
      "OSSEC A:'web01'",
      "OSSEC PASS: wrong OSSEC A:'web01'",
      "OSSEC PASS: TopSecre OSSEC A:'web01'",
      "OSSEC PASS: TopSecretOSSEC A:'web01'",
      "OSSEC PASS: TopSecrets OSSEC A:'web01'",
      'OSSEC PASS: TopSecret',
      'OSSEC PASS: TopSecret ',
      'OSSEC PASS: ',
      '',
    ]) {
      expect(refusal(line, SECRET), line).to.equal(wrong);
    }
    expect(refusal("OSSEC PASS: TopSecret OSSEC A:'web01'", SECRET)).to.equal('accepted');
    expect(refusal('OSSEC PASS: TopSecret x', SECRET)).to.contain('Invalid request');
    // The newline of an OSSEC agent's password file.
    expect(refusal("OSSEC PASS: TopSecret\n OSSEC A:'osspw'", SECRET)).to.equal('accepted');
  });

  it('never throws anything but a refusal, whatever comes', () => {
    const pieces = [
      "OSSEC A:'",
      "'",
      " V:'",
      " G:'",
      " IP:'",
      " K:'",
      'OSSEC PASS: ',
      'TopSecret',
      ' ',
      ',',
      'src',
      '::1',
      '\0',
    ];
    const bytes = fc.uint8Array({ maxLength: 8 }).map((part) => Buffer.from(part).toString('latin1'));
    const piece = fc.oneof(fc.constantFrom(...pieces), bytes);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), fc.boolean(), (parts, secret) => {
        const reply = refusal(parts.join(''), secret ? SECRET : OPEN);
        expect(reply === 'accepted' || /^ERROR: [^]*\. Unable to add agent$/.test(reply)).to.equal(true);
      }),
      { numRuns: 200 },
    );
  });
});
