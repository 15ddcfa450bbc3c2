import { expect } from 'chai';
import fc from 'fast-check';
import { asciiLowerCase } from '../../../../lib/engine/ascii-case.js';
import { EngineEvent } from '../../../../lib/engine/event.js';
import { findField } from '../../../../lib/engine/event-field.js';

describe('findField', () => {
  it('finds the first field with the name, whatever its case and however many there are', () => {
    const name = fc
      .array(fc.constantFrom('a', 'A', 'z', 'Z', '.', '@', '[', '\xc9', '\xe9'), { maxLength: 3 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.array(name, { maxLength: 100 }), name, (names, wanted) => {
        const event = new EngineEvent({ queue: '1', location: '/x', message: 'x', receivedAt: 0 });
        names.forEach((each, i) => {
          event.fieldNames.push(each);
          event.fieldValues.push(String(i));
        });
        const key = asciiLowerCase(wanted);
        const first = names.findIndex((each) => asciiLowerCase(each) === key);
        expect(findField(event, key)).to.equal(first < 0 ? undefined : String(first));
      }),
      { numRuns: 2000 },
    );
  });
});
