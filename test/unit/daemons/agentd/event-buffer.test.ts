import { expect } from 'chai';
import { bufferNotice } from '../../../../daemons/agentd/buffer-notice.js';
import { BufferSender } from '../../../../daemons/agentd/buffer-sender.js';
import { type BufferLevel, EventBuffer } from '../../../../daemons/agentd/event-buffer.js';
import { eventually } from '../../../support/eventually.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

const LIMITS = { size: 10, warn: 90, normal: 70, tolerance: 15_000 };

describe("the agent's buffer", () => {
  let levels: BufferLevel[];
  let buffer: EventBuffer;

  beforeEach(() => {
    levels = [];
    buffer = new EventBuffer(LIMITS, (level) => levels.push(level));
  });

  const append = (count: number, now = 0): void => {
    for (let index = 0; index < count; index += 1) buffer.append(Buffer.from(String(index)), now);
  };
  const shift = (count: number): void => {
    for (let index = 0; index < count; index += 1) buffer.shift();
  };

  it('warns at 90 %, is full without a place, flooded 15 s later, and normal at 70 %', () => {
    append(8);
    expect(levels).to.deep.equal([]);
    append(2);
    expect(levels).to.deep.equal(['warning']);
    append(1, 1000);
    append(1, 15_999);
    expect(levels).to.deep.equal(['warning', 'full']);
    append(3, 16_000);
    expect(levels).to.deep.equal(['warning', 'full', 'flood']);
    expect(buffer.dropped).to.equal(5);
    shift(1);
    expect(buffer.level).to.equal('warning');
    shift(1);
    expect(buffer.level).to.equal('warning');
    shift(1);
    expect(levels).to.deep.equal(['warning', 'full', 'flood', 'normal']);
    append(2);
    expect(levels.at(-1)).to.equal('warning');
  });

  it('keeps the oldest events in their order, whatever is dropped', () => {
    append(12);
    const kept = Array.from({ length: 10 }, () => {
      const event = buffer.first()?.toString();
      buffer.shift();
      return event;
    });
    expect(kept).to.deep.equal(Array.from({ length: 10 }, (_, index) => String(index)));
    expect(buffer.first()).to.equal(undefined);
    const large = new EventBuffer({ ...LIMITS, size: 100_000 }, () => {});
    for (let index = 0; index < 5000; index += 1) {
      large.append(Buffer.from(String(index)), 0);
      if (index % 2 === 1) large.shift();
    }
    expect(large.length).to.equal(2500);
    expect(large.first()?.toString()).to.equal('2500');
  });

  it('counts a tolerance of zero as flooded with the next event', () => {
    buffer = new EventBuffer({ ...LIMITS, tolerance: 0 }, (level) => levels.push(level));
    append(12);
    expect(levels).to.deep.equal(['warning', 'full', 'flood']);
  });

  it('holds 64 MiB at most', () => {
    const large = new EventBuffer({ ...LIMITS, size: 100_000 }, (level) => levels.push(level));
    const event = Buffer.alloc(16 * 1024 * 1024);
    for (let index = 0; index < 5; index += 1) large.append(event, 0);
    expect(large.length).to.equal(4);
    expect(levels).to.deep.equal(['warning', 'full']);
  });

  it('says of each level what users of the protocol know', () => {
    expect(bufferNotice('warning', 90, 70)).to.include({
      log: 'Agent buffer at 90 %.',
      event: "wazuh: Agent buffer: '90%'.",
    });
    expect(bufferNotice('full', 90, 70).event).to.equal("wazuh: Agent buffer: 'full'.");
    expect(bufferNotice('flood', 90, 70).event).to.equal("wazuh: Agent buffer: 'flooded'.");
    expect(bufferNotice('normal', 90, 70).event).to.equal("wazuh: Agent buffer: 'normal'.");
  });

  it('is emptied at its pace', async () => {
    append(10);
    const sent: string[] = [];
    const sender = new BufferSender(
      buffer,
      (event) => {
        sent.push(event.toString());
        return Promise.resolve();
      },
      100,
      new RecordingLogger(),
    );
    const begun = performance.now();
    const running = sender.run();
    await eventually('all are sent', () => sent.length === 10);
    // Ten events at a hundred a second; the first ones may catch up with a late timer.
    expect(performance.now() - begun).to.be.greaterThan(50);
    buffer.append(Buffer.from('late'), 0);
    sender.wake();
    await eventually('what comes later is sent', () => sent.at(-1) === 'late');
    sender.stop();
    await running;
  });
});
