import { expect } from 'chai';
import { loadContract } from '../../../lib/contract/api-contract.js';
import { basic, TEST_PASSWORD, TestApi } from '../../support/api/test-api.js';

describe('order of processing', () => {
  let api: TestApi;
  before(async () => {
    api = await new TestApi().start({ access: { maxLoginAttempts: 1000, blockSeconds: 300, maxRequestsPerMinute: 0 } });
  });
  after(() => api.remove());

  it('sets the headers of every answer', async () => {
    for (const path of ['/', '/nothing', '/docs']) {
      const { headers } = await api.request('GET', path);
      expect(headers).to.include({
        server: 'Security Manager',
        'strict-transport-security': 'max-age=63072000; includeSubdomains',
        'x-frame-options': 'deny',
        'x-xss-protection': '0',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer, strict-origin-when-cross-origin',
        'cache-control': 'no-store',
      });
      expect(headers).not.to.have.property('x-powered-by');
      expect(headers).not.to.have.property('etag');
    }
    expect((await api.request('GET', '/')).headers['content-security-policy']).to.equal('none');
  });

  it('says of every operation that the contract calls deprecated that it is, refused or not', async () => {
    const { operations } = loadContract();
    const named = operations.filter(({ deprecated }) => deprecated).map(({ method, path }) => `${method} ${path}`);
    expect(named).to.include.members(['GET /manager/stats/remoted', 'GET /security/user/authenticate']);
    for (const { method, path, deprecated } of operations) {
      const { headers, status } = await api.request(method, path.replace(/\{.*?\}/g, '001'));
      expect(status, path).to.equal(401);
      expect(headers['deprecated'], `${method} ${path}`).to.equal(deprecated ? 'true' : undefined);
    }
  });

  it('answers unknown paths and methods before it asks for a token', async () => {
    const unknown = await api.request('GET', '/nothing/here');
    expect(unknown.status).to.equal(404);
    expect(unknown.headers['content-type']).to.equal('application/problem+json; charset=utf-8');
    expect(unknown.text).to.equal('{"title": "Not Found", "detail": "404: Not Found"}');
    const method = await api.request('POST', '/rules');
    expect(method.status).to.equal(405);
    expect(method.json()).to.deep.equal({ title: 'Method Not Allowed', detail: '405: Method Not Allowed' });
    expect((await api.request('OPTIONS', '/rules')).status).to.equal(405);
    expect((await api.request('GET', '/Rules')).status).to.equal(404);
    expect((await api.request('GET', '/agents/001%2fkey')).status).to.equal(401);
    expect((await api.request('GET', '/rules/files/a%2fb.xml')).status).to.equal(404);
  });

  it('leads a trailing slash to the path without it', async () => {
    const answer = await api.request('GET', '/agents/?limit=2');
    expect(answer.status).to.equal(307);
    expect(answer.headers.location).to.equal('/agents?limit=2');
    expect((await api.request('GET', '//example.test/')).status).to.equal(404);
    expect((await api.request('GET', '/agents%2f')).headers.location).to.equal('/agents');
  });

  it('asks for a token before it looks at parameters', async () => {
    expect((await api.request('GET', '/rules?foo=1')).json()).to.deep.equal({
      title: 'Unauthorized',
      detail: 'No authorization token provided',
    });
    const details = async (authorization: string) =>
      ((await api.request('GET', '/', { headers: { authorization } })).json() as { detail: string }).detail;
    expect(await details('xx')).to.equal('Invalid authorization header');
    expect(await details(basic('admin', TEST_PASSWORD))).to.equal('No authorization token provided');
    expect(await details('Bearer rubbish')).to.equal('Invalid token');
    expect(await details('BEARER a.b.c')).to.equal('Invalid token');
  });

  it('looks at names, then at query values, then at path values', async () => {
    const detail = async (path: string) => ((await api.call('GET', path)).json() as { detail: string }).detail;
    expect(await detail('/rules?foo=1&limit=0')).to.equal('Extra query parameter(s) foo not in spec');
    expect(await detail('/rules?limit=0')).to.match(
      /^0 is less than the minimum of 1\. Failed validating 'minimum' in schema: \{'type': 'integer'.*\}\. On instance: 0$/,
    );
    expect(await detail('/agents/abc/key?pretty=1')).to.match(
      /^'1' is not of type 'boolean'\. Failed validating 'type'/,
    );
    expect(await detail('/agents/abc/key')).to.match(
      /^'abc' is not a 'numbers'\. Failed validating 'format' in schema: /,
    );
    expect(await detail('/agents/1/key')).to.match(/^'1' is too short\. /);
  });

  it('knows the texts of refused parameters', async () => {
    const detail = async (query: string) =>
      ((await api.call('GET', `/agents?${query}`)).json() as { detail: string }).detail;
    expect(await detail('agents_list=001,abc')).to.equal(
      "'abc' is not a 'numbers'. Failed validating 'format' in schema['items']: " +
        "{'type': 'string', 'minLength': 3, 'format': 'numbers'}. On instance[1]: 'abc'",
    );
    expect(await detail('status=foo')).to.match(
      /^'foo' is not one of \['active', 'pending', 'never_connected', 'disconnected'\]\. /,
    );
    expect(await detail('limit=abc')).to.match(/^'abc' is not of type 'integer'\. /);
    expect(await detail('limit=100001')).to.match(/^100001 is greater than the maximum of 100000\. /);
    expect(await detail('sort=$x')).to.match(/^'\$x' is not a 'sort'\. /);
    expect(await detail('search=')).to.match(/^'' is not a 'search'\. /);
    expect(await detail('select=')).to.match(/^'' is not a 'names'\. /);
    expect(await detail('b=1&a=1&b=2')).to.equal('Extra query parameter(s) b,a not in spec');
    const missing = (await api.call('DELETE', '/agents?status=all')).json();
    expect(missing).to.deep.equal({ title: 'Bad Request', detail: "Missing query parameter 'agents_list'" });
    const date = (await api.call('GET', '/manager/stats?date=2026-13-01')).json() as { detail: string };
    expect(date.detail).to.match(/^'2026-13-01' is not a 'date'\. /);
  });

  it('accepts any capitals of booleans and of lower-cased parameters, and the last of repeated scalars', async () => {
    for (const path of [
      '/?pretty=True',
      '/agents?status=ACTIVE&limit=0&limit=5',
      '/agents?q=',
      '/rules/requirement/PCI_DSS',
    ]) {
      // Some need a daemon that does not run here; none is refused for its parameters.
      expect((await api.call('GET', path)).status, path).to.be.oneOf([200, 500, 501]);
    }
  });

  it('looks at the content type before the body, and at the body before its size', async () => {
    const wrongType = await api.call('PUT', '/logtest', 'x', { 'content-type': 'text/plain' });
    expect(wrongType.status).to.equal(415);
    expect(wrongType.json()).to.deep.equal({
      title: 'Unsupported Media Type',
      detail: "Invalid Content-type (text/plain), expected ['application/json']",
    });
    const json = await api.call('PUT', '/rules/files/a.xml', '{}');
    expect((json.json() as { detail: string }).detail).to.equal(
      "Invalid Content-type (application/json), expected ['application/octet-stream']",
    );
    const empty = await api.call('PUT', '/logtest', '');
    expect(empty.json()).to.deep.equal({ title: 'Bad Request', detail: 'Request body must not be empty' });
    const broken = await api.call('PUT', '/logtest', '{"event": ');
    expect(broken.status).to.equal(400);
    expect(broken.json()).to.include({ title: 'Bad Request' });
    const missing = await api.call('PUT', '/logtest', { event: 'x', log_format: 'syslog' });
    expect((missing.json() as { detail: string }).detail).to.equal("'location' is a required property");
    const item = await api.call('POST', '/events', { events: [{ foo: 1 }] });
    expect((item.json() as { detail: string }).detail).to.equal("{'foo': 1} is not of type 'string' - 'events.0'");
    const unknown = await api.call('PUT', '/logtest', { event: 'x', log_format: 'syslog', location: 'y', foo: 1 });
    expect((unknown.json() as { detail: string }).detail).to.equal("Invalid field found {'foo'}");
    const nested = await api.call('POST', '/agents', { name: 'a', force: { now: true } });
    expect((nested.json() as { detail: string }).detail).to.equal("Invalid field found {'now'}");
  });

  it('wants the type of a JSON body said', async () => {
    const token = await api.login();
    const answer = await api.request('PUT', '/logtest', {
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ event: 'x', log_format: 'syslog', location: 'y' }),
    });
    expect(answer.status).to.equal(406);
    expect(answer.json()).to.deep.equal({
      title: 'Not Acceptable',
      detail: 'The body type is not the one specified in the content-type',
      error: 6002,
    });
  });

  it('refuses bodies over the limit with 413', async () => {
    const body = Buffer.alloc(11 * 1024 * 1024, 'a');
    const answer = await api.call('PUT', '/rules/files/a.xml', body, { 'content-type': 'application/octet-stream' });
    expect(answer.status).to.equal(413);
    expect(answer.json()).to.deep.equal({
      title: 'Content size exceeded.',
      detail: `Maximum content size limit (10485760) exceeded (${body.length} bytes read)`,
    });
    const stranger = await api.request('PUT', '/rules/files/a.xml', { body });
    expect(stranger.status).to.equal(401);
  });

  it('meets the Expect header', async () => {
    const unknown = await api.call('PUT', '/logtest', '{}', { expect: 'miracles' });
    expect(unknown.status).to.equal(417);
    expect(unknown.json()).to.deep.equal({ title: 'Expectation failed', detail: 'Unknown Expect' });
    const large = await api
      .call('PUT', '/logtest', '{}', { expect: '100-continue', 'content-length': '99999999' })
      .then(
        (answer) => answer,
        (error: unknown) => error,
      );
    expect(large).to.have.property('status', 417);
    expect((large as { text: string }).text).to.include('(99999999 bytes read)');
  });

  it('refuses JSON that is nested too deeply, whoever sends it', async () => {
    for (const depth of [600, 200_000]) {
      const body = '['.repeat(depth) + ']'.repeat(depth);
      const answer = await api.request('POST', '/nothing', { headers: { 'content-type': 'application/json' }, body });
      expect(answer.status).to.equal(400);
      expect(answer.json()).to.deep.equal({
        title: 'Maximum recursion depth exceeded.',
        detail: 'The JSON structure of the request exceeds the maximum nesting depth allowed by the API.',
      });
    }
  });

  it('is not impressed by names of the prototype', async () => {
    const body = '{"event":"x","log_format":"syslog","location":"y","__proto__":{"polluted":1},"constructor":1}';
    const answer = await api.call('PUT', '/logtest', body);
    expect((answer.json() as { detail: string }).detail).to.equal("Invalid field found {'__proto__', 'constructor'}");
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
    const query = await api.call('GET', '/rules?__proto__=1');
    expect((query.json() as { detail: string }).detail).to.equal('Extra query parameter(s) __proto__ not in spec');
    const inherited = await api.call('PUT', '/logtest', '{"__proto__":{"event":"x","log_format":"y","location":"z"}}');
    expect((inherited.json() as { detail: string }).detail).to.equal("'event' is a required property");
  });

  it('indents refusals and answers when asked', async () => {
    const refusal = await api.request('GET', '/rules?pretty=true');
    expect(refusal.text).to.equal('{\n   "title": "Unauthorized",\n   "detail": "No authorization token provided"\n}');
    expect((await api.call('GET', '/?pretty=TRUE')).text).to.match(/^\{\n {3}"data": \{\n {6}"title"/);
    expect((await api.call('GET', '/')).text).to.match(
      /^\{"data": \{"title": "Security Manager API REST", "api_version": "4\.14\.7", /,
    );
  });

  it('answers HEAD as GET without the body', async () => {
    const answer = await api.call('HEAD', '/');
    expect(answer.status).to.equal(200);
    expect(answer.text).to.equal('');
    expect(Number(answer.headers['content-length'])).to.be.greaterThan(100);
  });

  it('ignores Accept and answers ASCII', async () => {
    const answer = await api.call('GET', '/rules?sort=%C3%BC$', undefined, { accept: 'text/html' });
    expect(answer.headers['content-type']).to.equal('application/problem+json; charset=utf-8');
    expect(answer.text).to.include('\\u00fc');
  });
});
