import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { LookThreads } from '../../../../../daemons/modulesd/sca/look-threads.js';
import { TemporaryHome } from '../../../../support/temporary-home.js';

const MODULE = new URL('../../../../../daemons/modulesd/sca/look-thread.js', import.meta.url);
const NEVER = new AbortController().signal;

describe('the thread that looks for policies', function () {
  this.timeout(20_000);
  let home: TemporaryHome;
  let looks: LookThreads;

  before(() => {
    home = new TemporaryHome();
    for (let index = 0; index < 200; index += 1) {
      mkdirSync(home.path('many', String(index)), { recursive: true });
      writeFileSync(home.path('many', String(index), 'f.conf'), `${'a'.repeat(60_000)}cb\n`);
    }
    writeFileSync(
      home.path('good.yml'),
      'policy: {id: g, file: g.yml, name: n, description: d}\nchecks: [{id: 1, title: t, condition: all, rules: ["f:/a"]}]\n',
    );
    writeFileSync(home.path('bad.yml'), 'policy: [');
  });
  after(() => {
    home.remove();
  });
  afterEach(() => {
    looks.rest();
  });

  const order = (rule: string) => ({ rule, language: 'pcre2' as const, skipNfs: true, base: home.root });
  /** Takes its steps for a while. */
  const SLOW = 'd:/many -> r:.conf$ -> r:^(a|aa|a?)+\\1c$';

  it('looks, and reads policies', async () => {
    looks = new LookThreads({ module: MODULE });
    expect(await looks.look(order('f:/etc'), NEVER)).to.have.property('finding', 'invalid');
    expect(await looks.look(order('d:/many -> f.conf'), NEVER)).to.deep.equal({ finding: 'found' });
    const place = (name: string) => ({ path: name, real: home.path(name), home: home.root, remoteCommands: false });
    const good = await looks.load(place('good.yml'), NEVER);
    expect(good).to.have.nested.property('policy.id', 'g');
    expect(await looks.load(place('bad.yml'), NEVER)).to.match(/^bad\.yml line \d+: /);
    expect(await looks.load(place('none.yml'), NEVER)).to.match(/^none\.yml: it cannot be read/);
  });

  it('is given up when it takes too long, and the next look has another', async () => {
    looks = new LookThreads({ module: MODULE, mostMs: 300 });
    await looks.look(order('f:/none'), NEVER);
    expect(await looks.look(order(SLOW), NEVER)).to.deep.equal({ finding: 'invalid', reason: 'it took too long' });
    // Starting a thread takes its time, too.
    looks = new LookThreads({ module: MODULE });
    expect(await looks.look(order('f:/none'), NEVER)).to.deep.equal({ finding: 'not-found' });
  });

  it('ends when nobody wants it any more, and serves others afterwards', async () => {
    looks = new LookThreads({ module: MODULE });
    const off = new AbortController();
    const looking = looks.look(order(SLOW), off.signal).catch((error: unknown) => error);
    setTimeout(() => off.abort(new Error('called off')), 50);
    expect(await looking).to.have.property('message', 'called off');
    expect(await looks.look(order('d:/many'), NEVER)).to.deep.equal({ finding: 'found' });
    const before = await looks
      .look(order('f:/a'), AbortSignal.abort(new Error('off')))
      .catch((error: unknown) => error);
    expect(before).to.have.property('message', 'off');
  });
});
