import { expect } from 'chai';
import { KeyNotice } from '../../../../daemons/authd/key-notice.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

/** Sleeps end when the test says so. */
class StillClock {
  #wake: (() => void) | undefined;

  readonly sleep = (): Promise<void> => new Promise((resolve) => (this.#wake = resolve));

  /** Waits until somebody sleeps, wakes them, and lets them do what they do then. */
  async pass(): Promise<void> {
    const wake = await eventually('a pause', () => this.#wake);
    this.#wake = undefined;
    wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('KeyNotice', () => {
  let clock: StillClock;

  beforeEach(() => (clock = new StillClock()));

  it('joins notices that come together and tells of the last', async () => {
    let told = 0;
    const releases: (() => void)[] = [];
    const reload = () => {
      told += 1;
      return new Promise<void>((resolve) => releases.push(resolve));
    };
    const notice = new KeyNotice(reload, new RecordingLogger(), clock.sleep);
    for (let count = 0; count < 50; count += 1) notice.changed();
    expect(told).to.equal(1);
    releases.shift()?.();
    await clock.pass();
    expect(told, 'the others are told as one').to.equal(2);
    releases.shift()?.();
    await clock.pass();
    expect(told).to.equal(2);
    notice.changed();
    expect(told, 'a later one is told').to.equal(3);
    notice.stop();
    releases.shift()?.();
  });

  it('goes on when svc-remoted is away', async () => {
    let told = 0;
    const notice = new KeyNotice(() => Promise.reject(new Error(`away ${told++}`)), new RecordingLogger(), clock.sleep);
    notice.changed();
    expect(told).to.equal(1);
    await clock.pass();
    expect(told, 'it is not tried again by itself').to.equal(1);
    notice.changed();
    expect(told).to.equal(2);
    notice.stop();
  });
});
