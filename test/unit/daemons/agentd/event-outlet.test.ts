import { expect } from 'chai';
import { EventOutlet, type OutletSettings } from '../../../../daemons/agentd/event-outlet.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

const ON: OutletSettings = { disabled: false, size: 10, perSecond: 1000 };
const OFF: OutletSettings = { ...ON, disabled: true };

describe("the way of an agent's events", () => {
  let logger: RecordingLogger;
  let sent: string[];
  /** Lets that many events go; all that come are held before. */
  let release: (count: number) => Promise<void>;
  let outlet: EventOutlet;
  let notices: string[];

  beforeEach(() => {
    logger = new RecordingLogger();
    sent = [];
    notices = [];
  });

  function make(settings: OutletSettings): void {
    let free = 0;
    let changed = (): void => {};
    let next = new Promise<void>((resolve) => (changed = resolve));
    release = async (count) => {
      const goal = sent.length + count;
      free += count;
      changed();
      next = new Promise((resolve) => (changed = resolve));
      await eventually(`${String(goal)} were sent`, () => sent.length >= goal);
      // What the last one leaves behind is done without waiting for anything.
      await new Promise((resolve) => setImmediate(resolve));
    };
    outlet = new EventOutlet(
      {
        warn: 90,
        normal: 70,
        tolerance: 15_000,
        notify: (event) => notices.push(event.toString()),
        send: async (event) => {
          while (free === 0) await next;
          free -= 1;
          sent.push(event.toString());
        },
        logger,
      },
      settings,
    );
    outlet.start();
  }
  const take = async (from: number, to: number): Promise<void> => {
    for (let index = from; index < to; index += 1) await outlet.take(Buffer.from(String(index)));
  };
  const range = (from: number, to: number): string[] =>
    Array.from({ length: to - from }, (_, index) => String(from + index));
  const said = (): string[] => logger.lines.filter((line) => !line.includes('Agent buffer'));

  it('grows: more events wait, and the levels are those of the new size', async () => {
    make(ON);
    await take(0, 12);
    expect(outlet.dropped).to.equal(2);
    expect(outlet.state).to.deep.equal({ enabled: true, level: 'full', size: 10 });
    outlet.apply({ ...ON, size: 20 });
    expect(said()).to.deep.equal(['info: Client buffer resized from 10 to 20 elements.']);
    expect(notices.at(-1)).to.equal("1:wazuh-agent:wazuh: Agent buffer: 'normal'.");
    await take(12, 22);
    expect(outlet).to.include({ dropped: 2, waiting: 20 });
    await release(20);
    expect(sent).to.deep.equal([...range(0, 10), ...range(12, 22)]);
    outlet.apply({ ...ON, size: 20 });
    expect(said().length, 'the same again is no news').to.equal(1);
  });

  it('shrinks: the oldest events stay, the others are counted', async () => {
    make(ON);
    await take(0, 8);
    outlet.apply({ ...ON, size: 3 });
    expect(said()).to.deep.equal([
      'warn: Shrinking client buffer from 10 to 3 (messages: 8).',
      'warn: The 5 newest messages were dropped: there is no room for them any more.',
      'info: Successfully copied 3 messages to the new buffer.',
      'info: Client buffer resized from 10 to 3 elements.',
    ]);
    expect(outlet).to.include({ dropped: 5, waiting: 3 });
    expect(notices).to.deep.equal(["1:wazuh-agent:wazuh: Agent buffer: '90%'."]);
    await release(3);
    await take(8, 9);
    await release(1);
    expect(sent).to.deep.equal(['0', '1', '2', '8']);
  });

  it('is switched off: what waits goes first, and nothing is dropped', async () => {
    make(ON);
    await take(0, 5);
    outlet.apply(OFF);
    const later = take(5, 30);
    expect(outlet.waiting).to.equal(5);
    expect(said()).to.deep.equal([]);
    await release(5);
    expect(said()).to.deep.equal([
      'info: Dispatch buffer thread received stop signal. Exiting.',
      'info: Client buffer freed successfully.',
    ]);
    expect(outlet.state).to.include({ enabled: false, size: 0 });
    await release(25);
    await later;
    expect(sent).to.deep.equal(range(0, 30));
    expect(outlet).to.include({ dropped: 0, waiting: undefined });
    outlet.apply({ ...ON, size: 40 });
    await take(30, 60);
    expect(outlet).to.include({ dropped: 0, waiting: 30 });
    expect(said().length).to.equal(2);
  });

  it('is switched on again before it was empty', async () => {
    make(ON);
    await take(0, 5);
    outlet.apply(OFF);
    const later = take(5, 8);
    outlet.apply(ON);
    await later;
    expect(outlet.waiting).to.equal(8);
    await release(8);
    expect(sent).to.deep.equal(range(0, 8));
    expect(said()).to.deep.equal([]);
  });

  it('gives out what waits when it ends', async () => {
    make(OFF);
    outlet.apply(ON);
    await take(0, 4);
    const stopped = outlet.stop();
    // The one in hand is not given out again.
    await release(1);
    await stopped;
    expect([...outlet.rest()].map(String)).to.deep.equal(range(1, 4));
  });
});
