import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { sendCommand } from '../../../../bin/send/send-command.js';
import { splitLines } from '../../../../bin/send/split-lines.js';
import { EventSink } from '../../../../lib/bus/event-sink.js';
import { MemoryStreamPositions } from '../../../../lib/bus/stream-positions.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

async function* chunksOf(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) {
    await Promise.resolve();
    yield Buffer.from(text, 'latin1');
  }
}

describe('svc-send', () => {
  let home: TemporaryHome;
  beforeEach(() => (home = new TemporaryHome()));
  afterEach(() => {
    home.remove();
  });

  it('sends every line and ends when all are acknowledged', async () => {
    const seen: string[] = [];
    const sink = new EventSink({
      path: home.eventsSocket(),
      positions: new MemoryStreamPositions(),
      logger: new RecordingLogger(),
      onBatch: ({ events }) => {
        for (const { queue, location, message } of events) {
          seen.push(`${queue}:${location}:${message.toString('latin1')}`);
        }
        return Promise.resolve();
      },
    });
    await sink.start();
    const errors: string[] = [];
    const code = await sendCommand(['my-script', '--home', home.root], {
      input: chunksOf('one\ntw', 'o\n\nthree'),
      writeError: (text) => errors.push(text),
    });
    await sink.stop();
    expect([code, errors]).to.deep.equal([0, []]);
    expect(seen).to.deep.equal(['1:my-script:one', '1:my-script:two', '1:my-script:three']);
  });

  it('says how many were not acknowledged when nobody takes them', async () => {
    const errors: string[] = [];
    // It accepts connections, and says nothing.
    const mute = createServer().listen(home.eventsSocket());
    await once(mute, 'listening');
    const code = await sendCommand(['my-script', '--home', home.root, '--timeout', '1'], {
      input: chunksOf('one\ntwo\n'),
      writeError: (text) => errors.push(text),
    });
    mute.close();
    expect(code).to.equal(1);
    expect(errors).to.include('svc-send: nothing was acknowledged for 1 s; 2 of 2 events were not acknowledged.\n');
  });

  it('splits lines alike, however the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: fc.constantFrom('a', '\n', 'é'), maxLength: 8 })), async (texts) => {
        const lines: string[] = [];
        for await (const { bytes } of splitLines(chunksOf(...texts), 100)) lines.push(bytes.toString('latin1'));
        const expected = texts.join('').split('\n');
        if (expected.at(-1) === '') expected.pop();
        expect(lines).to.deep.equal(expected);
      }),
    );
  });

  it('keeps nothing of a line that is too long', async () => {
    const lines: [string, boolean][] = [];
    for await (const { bytes, tooLong } of splitLines(chunksOf('ab', 'cd', 'e\nok\n'), 4)) {
      lines.push([bytes.toString('latin1'), tooLong]);
    }
    expect(lines).to.deep.equal([
      ['', true],
      ['ok', false],
    ]);
  });
});
