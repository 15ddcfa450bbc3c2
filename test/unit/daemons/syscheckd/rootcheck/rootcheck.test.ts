import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import { Rootcheck } from '../../../../../daemons/syscheckd/rootcheck/rootcheck.js';
import type { OutEvent } from '../../../../../daemons/syscheckd/store/outbox.js';
import { MOST_UNTAKEN } from '../../../../../lib/rootcheck/run-rootcheck.js';
import { RecordingLogger } from '../../../../support/recording-logger.js';
import { RootcheckTree } from '../../../../support/syscheckd/rootcheck-kit.js';

describe('rootcheck of svc-syscheckd', () => {
  let tree: RootcheckTree;
  let events: OutEvent[];
  let logger: RecordingLogger;
  const signal = new AbortController().signal;
  beforeEach(() => {
    tree = new RootcheckTree();
    events = [];
    logger = new RecordingLogger();
  });
  afterEach(() => {
    tree.remove();
  });

  type Put = (added: readonly OutEvent[]) => Promise<void>;
  const keep: Put = (added) => {
    events.push(...added);
    return Promise.resolve();
  };
  const rootcheck = (put: Put = keep) => new Rootcheck({ outbox: { put }, logger, endPauseMs: 0 });
  const texts = () => events.map(({ message }) => message.toString('latin1').replaceAll(tree.root, '%'));

  /** A list of which so many files are there. */
  function plant(count: number): { readonly rootkitFiles: string } {
    const names = Array.from({ length: count }, (_value, index) => `tmp/kit${String(index)}`);
    for (const name of names) tree.write(name);
    return { rootkitFiles: tree.write('list.txt', names.map((name) => `${name} ! Kit ::/kit\n`).join('')) };
  }

  it('tells what it found between the marks of its scan', async () => {
    const settings = tree.settings({ checks: ['files'], ...plant(1) });
    await rootcheck().run(settings, signal);
    expect(texts()).to.deep.equal([
      'Starting rootcheck scan.',
      "Rootkit 'Kit' detected by the presence of file '%/tmp/kit0'.",
      'Ending rootcheck scan.',
    ]);
    expect(events.map(({ queue, location }) => `${queue}:${location}`)).to.deep.equal(Array(3).fill('9:rootcheck'));
    expect(logger.lines).to.deep.equal(['info: Starting rootcheck scan.', 'info: Ending rootcheck scan.']);
  });

  it('does nothing where it is off', async () => {
    await rootcheck().run(undefined, signal);
    expect(events).to.be.empty;
  });

  it('waits for the outbox, and loses nothing', async () => {
    const count = 5 * MOST_UNTAKEN;
    let most = 0;
    let waiting = 0;
    const put = async (added: readonly OutEvent[]): Promise<void> => {
      most = Math.max(most, ++waiting);
      await new Promise((resolve) => setImmediate(resolve));
      waiting -= 1;
      events.push(...added);
    };
    await rootcheck(put).run(tree.settings({ checks: ['files'], ...plant(count) }), signal);
    expect(texts()).to.have.length(count + 2);
    expect(texts().at(-2)).to.include(`kit${String(count - 1)}'`);
    expect(most).to.equal(1);
  });

  it('makes one scan at a time', async () => {
    const settings = tree.settings({ checks: ['files'], ...plant(1) });
    const daemon = rootcheck();
    const first = daemon.run(settings, signal);
    expect(daemon.running).to.equal(true);
    await Promise.all([first, daemon.run(settings, signal)]);
    expect(daemon.running).to.equal(false);
    expect(events).to.have.length(3);
    await daemon.run(settings, signal);
    expect(events).to.have.length(6);
  });

  it('is called off without a mark of its end', async () => {
    const controller = new AbortController();
    const put = (added: readonly OutEvent[]): Promise<void> => {
      events.push(...added);
      if (events.length === 2) controller.abort(new Error('the daemon stops'));
      return Promise.resolve();
    };
    const running = rootcheck(put).run(tree.settings({ checks: ['files'], ...plant(500) }), controller.signal);
    const reason = await running.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(reason).to.have.property('message', 'the daemon stops');
    expect(texts()).not.to.include('Ending rootcheck scan.');
  });

  it('fails when what it found cannot be kept', async () => {
    const put = () => Promise.reject(new Error('disk full'));
    const reason = await rootcheck(put)
      .run(tree.settings({ checks: ['files'], ...plant(1) }), signal)
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    expect(reason).to.have.property('message', 'disk full');
  });

  it('says what it cannot use of a list', async () => {
    mkdirSync(tree.path('directory'));
    const list = tree.write('list.txt', '../etc/passwd ! Kit ::/kit\n# comment\n\ntmp/kit ! Kit: of two words\n');
    tree.write('tmp/kit');
    await rootcheck().run(tree.settings({ checks: ['files'], rootkitFiles: list }), signal);
    await rootcheck().run(tree.settings({ checks: ['files'], rootkitFiles: tree.path('directory') }), signal);
    await rootcheck().run(tree.settings({ checks: ['files'], rootkitFiles: tree.path('none') }), signal);
    expect(texts().filter((text) => text.startsWith('Rootkit'))).to.deep.equal([
      "Rootkit 'Kit' detected by the presence of file '%/tmp/kit'.",
    ]);
    expect(logger.lines.filter((line) => line.startsWith('warn'))).to.deep.equal([
      `warn: '${list}': '../etc/passwd' leads out of its directory and is left out`,
      `warn: The list '${tree.path('directory')}' is not used: it is no regular file`,
      `warn: The list '${tree.path('none')}' is not used: ENOENT: no such file or directory, open '${tree.path('none')}'`,
    ]);
  });
});
