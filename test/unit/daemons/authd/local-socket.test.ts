import { expect } from 'chai';
import fc from 'fast-check';
import { type LocalAgents, LocalRequestError } from '../../../../daemons/authd/local-agents.js';
import { LocalSocketService } from '../../../../daemons/authd/local-socket.js';
import { RecordingLogger } from '../../../support/recording-logger.js';

/** Refuses everything that gets as far as this. */
const NOBODY = {
  add: () => Promise.reject(new LocalRequestError('duplicate_name', 'there')),
  remove: () => Promise.resolve([]),
} as unknown as LocalAgents;

describe('LocalSocketService', () => {
  const service = new LocalSocketService(NOBODY, { byId: () => undefined }, () => ({}), new RecordingLogger());
  const ask = (text: string) => service.answer(Buffer.from(text));

  it('answers whatever comes with a text of its own', async () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    const request = fc.record(
      {
        function: fc.oneof(fc.constantFrom('add', 'remove', 'get'), value),
        arguments: fc.oneof(
          fc.record(
            {
              id: value,
              name: value,
              ip: value,
              key: value,
              groups: value,
              force: value,
              purge: value,
              key_hash: value,
            },
            { requiredKeys: [] },
          ),
          value,
        ),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(request, async (given) => {
        const { error, message } = JSON.parse(await ask(JSON.stringify(given))) as { error: number; message: string };
        expect(error).to.be.within(9001, 9014);
        expect(message).to.be.a('string').with.length.greaterThan(5);
      }),
      { numRuns: 200 },
    );
    for (const text of ['{', '{}', '{"function":1}', '{"function":"add"}', '{"function":"add","arguments":[]}']) {
      expect(JSON.parse(await ask(text)), text)
        .to.have.property('error')
        .that.is.within(9002, 9004);
    }
    for (const text of ['', ' ', '[]', 'getconfig', 'getconfig other', '\0\0']) {
      expect(await ask(text)).to.match(/^err /);
    }
  });
});
