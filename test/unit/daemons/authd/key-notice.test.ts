import { expect } from 'chai';
import { KeyNotice } from '../../../../daemons/authd/key-notice.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

describe('KeyNotice', () => {
  it('joins notices that come together and tells of the last', async () => {
    let told = 0;
    const releases: (() => void)[] = [];
    const reload = () => {
      told += 1;
      return new Promise<void>((resolve) => releases.push(resolve));
    };
    const notice = new KeyNotice(reload, new RecordingLogger(), 1);
    for (let count = 0; count < 50; count += 1) notice.changed();
    expect(told).to.equal(1);
    releases.shift()?.();
    await eventually('the others are told as one', () => told === 2);
    releases.shift()?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(told).to.equal(2);
    notice.changed();
    await eventually('a later one is told', () => told === 3);
    notice.stop();
    releases.shift()?.();
  });

  it('goes on when svc-remoted is away', async () => {
    let told = 0;
    const notice = new KeyNotice(() => Promise.reject(new Error(`away ${told++}`)), new RecordingLogger(), 1);
    notice.changed();
    await eventually('it was tried', () => told === 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    notice.changed();
    await eventually('it is tried again', () => told === 2);
    notice.stop();
  });
});
