import { expect } from 'chai';
import { ApiError } from '../../../../api/http/api-error.js';
import { dataResult, rawResult, type WholeResult } from '../../../../api/http/envelope.js';
import { PreparedAnswers } from '../../../../api/http/prepared-answers.js';

const request = (parameters: object = {}, id = 'getRules') => ({ operation: { id }, parameters });

describe('PreparedAnswers', () => {
  let prepared: PreparedAnswers;
  let made: number;
  const ask = (source: object, about = request(), data: unknown = 'x'): WholeResult =>
    prepared.of(source, about, () => {
      made += 1;
      return dataResult(data);
    });
  beforeEach(() => {
    prepared = new PreparedAnswers();
    made = 0;
  });

  it('are made once for one source, operation and parameters', () => {
    const source = {};
    const first = ask(source);
    expect(first).to.include({ kind: 'raw', status: 200, contentType: 'application/json' });
    expect(String(first.body)).to.equal('{"data": "x", "error": 0}');
    expect(ask(source)).to.equal(first);
    expect(made).to.equal(1);
    ask({});
    ask(source, request({}, 'getDecoders'));
    ask(source, request({ limit: 5 }));
    ask(source, request({ pretty: true }));
    expect(made).to.equal(5);
  });

  it('have the same ETag for the same bytes, and another for others', () => {
    const etag = (result: WholeResult) => (result.kind === 'raw' ? result.etag : undefined);
    const one = etag(ask({}));
    expect(one).to.match(/^"[\w-]{27}"$/);
    expect(etag(ask({}))).to.equal(one);
    expect(etag(ask({}, request(), 'y'))).not.to.equal(one);
    expect(etag(ask({}, request({ pretty: true })))).not.to.equal(one);
  });

  it('are none of refusals and of what is no JSON', () => {
    const source = {};
    const refuse = () =>
      prepared.of(source, request(), () => {
        throw new ApiError(1203);
      });
    expect(refuse).to.throw(ApiError);
    const file = rawResult('text/plain', 'x');
    expect(prepared.of(source, request(), () => file)).to.equal(file);
    const accepted: WholeResult = { kind: 'json', status: 202, body: {} };
    expect(prepared.of(source, request(), () => accepted)).to.equal(accepted);
    expect(prepared.size).to.equal(0);
  });

  it('are a bounded number of bytes, those that were asked for last', () => {
    const source = {};
    const mebibyte = 'x'.repeat(1024 * 1024);
    for (let limit = 1; limit <= 20; limit += 1) {
      ask(source, request({ limit }), mebibyte);
      ask(source, request({ limit: 1 }), mebibyte);
    }
    expect(prepared.size).to.equal(15);
    expect(made).to.equal(20);
    ask(source, request({ limit: 2 }), mebibyte);
    expect(made).to.equal(21);
    ask(source, request({ limit: 100 }), mebibyte.repeat(5));
    expect(prepared.size, 'one that is too large').to.equal(15);
    ask(source, request({ search: mebibyte }));
    expect(prepared.size, 'a question that is too long').to.equal(15);
  });

  it('are a bounded number', () => {
    const source = {};
    for (let offset = 0; offset < 1500; offset += 1) ask(source, request({ offset }));
    expect(prepared.size).to.equal(1000);
  });
});
