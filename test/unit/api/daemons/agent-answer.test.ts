import { expect } from 'chai';
import fc from 'fast-check';
import { parseAnswer } from '../../../../api/daemons/agent-answer.js';

describe('answers of agents', () => {
  it('are objects behind ok, or as data without an error', () => {
    expect(parseAnswer('ok {"client":{}}')).to.deep.equal({ ok: true, value: { client: {} } });
    expect(parseAnswer('ok  {"a":1}')).to.deep.equal({ ok: true, value: { a: 1 } });
    expect(parseAnswer('{"error":0,"data":{"status":"connected"}}')).to.deep.equal({
      ok: true,
      value: { status: 'connected' },
    });
  });

  it('say whether the part of the agent was reached', () => {
    for (const text of [
      'err Could not get requested section',
      '{"error":5,"message":"No"}',
      'ok [1]',
      'ok 5',
      '',
      'ok',
    ]) {
      expect(parseAnswer(text), text).to.include({ ok: false, reached: true });
    }
    for (const text of ['err No such file or directory', 'err Cannot send request', 'err Response timeout']) {
      expect(parseAnswer(text), text).to.include({ ok: false, reached: false });
    }
  });

  it('may be anything', () => {
    expect(parseAnswer(`ok {"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`)).to.include({ ok: false });
    expect(parseAnswer('ok {"__proto__":{"polluted":true}}').ok).to.equal(true);
    expect(({} as { polluted?: boolean }).polluted).to.equal(undefined);
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((text) => `ok ${text}`),
        ),
        (text) => {
          const answer = parseAnswer(text);
          if (answer.ok) expect(answer.value).to.be.an('object');
          else expect(answer.text).to.be.a('string');
        },
      ),
      { numRuns: 300 },
    );
  });
});
