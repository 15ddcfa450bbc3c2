import { expect } from 'chai';
import { DaemonParts } from '../../../../lib/daemon/daemon-parts.js';

describe('DaemonParts', () => {
  let parts: DaemonParts;
  let said: string[];

  beforeEach(() => {
    parts = new DaemonParts();
    said = [];
  });

  const part = (name: string) => ({
    start: () => said.push(`${name} starts`),
    stop: async () => {
      said.push(`${name} stops`);
      await Promise.resolve();
      said.push(`${name} stopped`);
    },
  });

  it('stops in reverse order, each when those after it have ended', async () => {
    await parts.start(part('a'));
    parts.use(part('b'));
    parts.adopt('c', (name) => said.push(`${name} stopped`));
    expect(await parts.stop()).to.deep.equal([]);
    expect(said).to.deep.equal(['a starts', 'c stopped', 'b stops', 'b stopped', 'a stops', 'a stopped']);
  });

  it('stops a part that is closed, and stops everything once', async () => {
    parts.use({ close: () => said.push('closed') });
    await parts.stop();
    await parts.stop();
    expect(said).to.deep.equal(['closed']);
  });

  it('does not stop a part that did not start', async () => {
    const error = new Error('no');
    const broken = { start: () => Promise.reject(error), stop: () => said.push('stopped') };
    expect(await parts.start(broken).catch((reason: unknown) => reason)).to.equal(error);
    await parts.stop();
    expect(said).to.deep.equal([]);
  });

  it('goes on with the others when one cannot stop, and tells why', async () => {
    const [first, second] = [new Error('first'), new Error('second')];
    parts.use(part('a'));
    parts.defer(() => Promise.reject(second));
    parts.together().defer(() => {
      throw first;
    });
    expect(await parts.stop()).to.deep.equal([first, second]);
    expect(said).to.deep.equal(['a stops', 'a stopped']);
  });

  it('stops a group at once, at its place', async () => {
    parts.use(part('a'));
    const group = parts.together();
    parts.use(part('d'));
    group.use(part('b'));
    group.use(part('c'));
    await parts.stop();
    expect(said).to.deep.equal([
      'd stops',
      'd stopped',
      'c stops',
      'b stops',
      'c stopped',
      'b stopped',
      'a stops',
      'a stopped',
    ]);
  });

  it('leaves a group behind that takes too long, and waits for it at the end', async () => {
    let end: () => void = () => {};
    parts.defer(() => {
      said.push('a stopped');
      end();
    });
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    parts.together({ withinMs: 1 }).defer(async () => {
      await ended;
      said.push('group stopped');
    });
    await parts.stop();
    expect(said).to.deep.equal(['a stopped', 'group stopped']);
  });

  it('waits at its place for what later parts have begun to end', async () => {
    let end: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    parts.defer(() => said.push('first'));
    const waiting = parts.waitPoint();
    parts.defer(() => {
      said.push('between');
      end();
    });
    parts.defer(() => {
      waiting(ended.then(() => said.push('ended')));
    });
    await parts.stop();
    expect(said).to.deep.equal(['between', 'ended', 'first']);
  });

  it('leaves what was handed over to itself after the time that was given', async () => {
    parts.use(part('a'));
    const waiting = parts.waitPoint({ withinMs: 1 });
    parts.defer(() => {
      waiting(new Promise(() => {}));
    });
    expect(await parts.stop()).to.deep.equal([]);
    expect(said).to.deep.equal(['a stops', 'a stopped']);
  });

  it('does something again and again until the stop', async () => {
    await new Promise<void>((resolve) => {
      parts.every(1, resolve);
    });
    await parts.stop();
  });
});
