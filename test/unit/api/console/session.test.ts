import { expect } from 'chai';
import { Notices } from '../../../../api/console/browser/client/notices.js';
import { Session } from '../../../../api/console/browser/client/session.js';

const TOKEN = `x.${btoa(JSON.stringify({ nbf: 0, exp: 900 }))}.x`;
const POLICIES = JSON.stringify({ data: { rbac_mode: 'white', 'rules:update': { '*:*:*': 'allow' } } });

describe('console: a session', () => {
  const { fetch } = globalThis;
  before(() => {
    globalThis.fetch = (address) =>
      Promise.resolve(new Response(String(address).includes('authenticate') ? TOKEN : POLICIES));
  });
  after(() => {
    globalThis.fetch = fetch;
  });

  it('counts logins of another user, and no other ones', async () => {
    const session = new Session();
    const seen: number[] = [];
    session.listen(() => seen.push(session.generation));
    await session.logIn('alice', 'secret');
    const { generation } = session;
    await session.logIn('alice', 'secret');
    session.end();
    await session.logIn('alice', 'secret');
    expect(session.generation).to.equal(generation);
    await session.logIn('bob', 'secret');
    await session.logIn('alice', 'secret');
    expect(seen.map((each) => each - generation)).to.deep.equal([0, 0, 0, 0, 1, 2]);
  });

  it('leaves no notices to the next user', () => {
    const notices = new Notices();
    let texts: string[] = [];
    notices.listen((shown) => (texts = shown.map(({ text }) => text)));
    notices.failed(new Error('no'));
    expect(texts).to.deep.equal(['no']);
    notices.clear();
    expect(texts).to.deep.equal([]);
  });
});
