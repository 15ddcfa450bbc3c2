import net from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { ResponseChecker } from '../../support/api/response-checker.js';
import { TestApi } from '../../support/api/test-api.js';

const NAMES = [
  'limit',
  'offset',
  'sort',
  'search',
  'select',
  'q',
  'distinct',
  'level',
  'rule_ids',
  'status',
  'group',
  'pretty',
  'relative_dirname',
  'x',
];

describe('hostile requests', () => {
  const checker = new ResponseChecker();
  let api: TestApi;
  before(async () => {
    api = await new TestApi().start({ access: { maxLoginAttempts: 99, blockSeconds: 1, maxRequestsPerMinute: 0 } });
  });
  after(() => api.remove());

  it('get 200 or 400 for any parameters of a list', async () => {
    const pair = fc.tuple(fc.constantFrom(...NAMES), fc.string({ unit: 'binary', maxLength: 30 }));
    await fc.assert(
      fc.asyncProperty(fc.array(pair, { maxLength: 5 }), async (pairs) => {
        const query = new URLSearchParams(pairs);
        const answer = await api.call('GET', `/rules?${query.toString()}`);
        expect(answer.status).to.be.oneOf([200, 400]);
        checker.check('GET', '/rules', answer);
      }),
      { numRuns: 200 },
    );
  });

  it('get a refusal for any path', async () => {
    const segment = fc.oneof(
      fc.constantFrom('agents', 'rules', '..', '.', '', '%2e%2e', '%00', 'files'),
      fc.string({ maxLength: 8 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(segment, { maxLength: 6 }), async (segments) => {
        const path = `/${segments.map((text) => (['%2e%2e', '%00'].includes(text) ? text : encodeURIComponent(text))).join('/')}`;
        const answer = await api.request('GET', path);
        expect(answer.status).to.be.oneOf([307, 401, 404, 405]);
      }),
      { numRuns: 200 },
    );
  });

  it('get 400, 406, 413 or 415 for any body but a right one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string({ unit: 'binary', maxLength: 50 })), async (body) => {
        const answer = await api.call('POST', '/events', body);
        expect(answer.status).to.equal(400);
        checker.check('POST', '/events', answer);
      }),
      { numRuns: 200 },
    );
  });

  it('get 401 for any Authorization header', async () => {
    const value = fc.string({ unit: fc.constantFrom(...'Bearer basicYWRtaW46.=_-!"{}'), maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('', 'Bearer ', 'Basic ', 'bearer a.b.'), value, async (scheme, rest) => {
        const headers = { authorization: scheme + rest };
        expect((await api.request('GET', '/', { headers })).status).to.equal(401);
      }),
      { numRuns: 200 },
    );
  });

  it('get 401 for any token that was changed', async () => {
    const parts = (await api.login()).split('.');
    const refused = async (token: string) => {
      const answer = await api.request('GET', '/', { headers: { authorization: `Bearer ${token}` } });
      expect(answer.status, token).to.equal(401);
    };
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.json(),
      fc.constantFrom('', '[]', 'null', '"x"', '{"sub":"admin"}', '{"sub":{}}', '{', '\u0000'),
    );
    const encoded = text.map((value) => Buffer.from(value).toString('base64url'));
    const header = fc.oneof(
      encoded,
      fc
        .record({ alg: fc.constantFrom('ES512', 'none', 'HS512', 'ES256', ''), typ: fc.constantFrom('JWT', 'x') })
        .map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
      fc.constantFrom(parts[0] ?? ''),
    );
    const signature = fc.oneof(fc.base64String({ maxLength: 200 }), fc.constantFrom(parts[2] ?? '', ''));
    await fc.assert(
      fc.asyncProperty(header, encoded, signature, async (...token) => refused(token.join('.'))),
      { numRuns: 500 },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.nat(2),
        fc.nat(),
        fc.constantFrom('', 'A', '_', '.', '=', '%', ' '),
        (part, at, character) => {
          const changed = parts.map((value, index) => {
            const place = at % value.length;
            return index === part ? value.slice(0, place) + character + value.slice(place + 1) : value;
          });
          // The last character of a part has bits that mean nothing.
          const same = changed.every((value, index) => bytesOf(value).equals(bytesOf(parts[index] ?? '')));
          return same ? Promise.resolve() : refused(changed.join('.'));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('do not stop the server when they are broken off', async () => {
    for (const text of [
      'GE',
      'GET / HTTP/1.1\r\n',
      'POST /events HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\n{"ev',
    ]) {
      await new Promise<void>((resolve) => {
        const socket = net.connect(api.port, '127.0.0.1', () => {
          socket.write(text);
          socket.destroy();
        });
        socket.once('close', () => resolve());
      });
    }
    expect((await api.call('GET', '/')).status).to.equal(200);
    expect(api.logger.lines.filter((line) => line.startsWith('error'))).to.deep.equal([]);
  });
});

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}
