import { expect } from 'chai';
import fc from 'fast-check';
import { MessageAssembler, PART_BYTES, partsOf } from '../../../../daemons/clusterd/nats/long-messages.js';

describe('long messages', () => {
  it('come whole, however the parts of several are mixed', () => {
    const sizes = [0, 1, PART_BYTES, PART_BYTES + 1, 3 * PART_BYTES - 1];
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...sizes), { minLength: 1, maxLength: 4 }),
        fc.infiniteStream(fc.nat()),
        (lengths, picks) => {
          const messages = lengths.map((length, index) => Buffer.alloc(length, index + 1));
          const queues = messages.map((message) => [...partsOf(message)]);
          const assembler = new MessageAssembler();
          const whole: Buffer[] = [];
          for (let waiting = queues; waiting.length > 0; waiting = queues.filter((queue) => queue.length > 0)) {
            const [pick = 0] = picks.take(1);
            const part = waiting[pick % waiting.length]?.shift();
            const message = part === undefined ? undefined : assembler.take(part);
            if (message !== undefined) whole.push(message);
          }
          expect(whole).to.have.length(messages.length);
          for (const message of messages) expect(whole.some((other) => other.equals(message))).to.equal(true);
          expect(assembler.dropped).to.equal(0);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('drops what is none, takes no part twice, and forgets what never becomes whole', () => {
    let now = 0;
    const assembler = new MessageAssembler(() => now);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        // Whatever comes, it neither throws nor keeps more than it got.
        assembler.take(bytes);
      }),
    );
    const [first, second] = [...partsOf(Buffer.alloc(PART_BYTES + 5))];
    if (first === undefined || second === undefined) throw new Error('two parts');
    assembler.take(first);
    const before = assembler.dropped;
    expect(assembler.take(first)).to.equal(undefined);
    expect(assembler.dropped).to.equal(before + 1);
    now = 31_000;
    assembler.take([...partsOf(Buffer.alloc(PART_BYTES + 6))][0] ?? Buffer.alloc(0));
    expect(assembler.take(second)).to.equal(undefined);
  });
});
