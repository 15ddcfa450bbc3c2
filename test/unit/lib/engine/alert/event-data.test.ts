import { expect } from 'chai';
import fc from 'fast-check';
import { AlertRecord } from '../../../../../lib/engine/alert/alert-record.js';
import { EventData } from '../../../../../lib/engine/alert/event-data.js';
import { NestedJson } from '../../../../../lib/engine/decode/nested-json.js';
import { setStaticField } from '../../../../../lib/engine/decode/static-field.js';
import { EngineEvent, STATIC_FIELDS } from '../../../../../lib/engine/event.js';
import { jsonString } from '../../../../../lib/engine/json-text.js';

type Field = readonly [name: string, value: string];
type Data = {
  readonly statics: readonly (readonly [(typeof STATIC_FIELDS)[number], string])[];
  readonly fields: readonly Field[];
};

function eventOf({ statics, fields }: Data): EngineEvent {
  const event = new EngineEvent({ queue: '1', location: 'x', message: 'm', receivedAt: 0 });
  for (const [name, value] of statics) setStaticField(event, name, value);
  for (const [name, value] of fields) {
    event.fieldNames.push(name);
    event.fieldValues.push(value);
  }
  return event;
}

/** The same, member by member. */
function expectedJson(event: EngineEvent): string {
  const object = new NestedJson();
  for (const name of STATIC_FIELDS) {
    const value = event[name];
    if (value !== undefined) object.set(name, jsonString(value));
  }
  event.fieldNames.forEach((name, i) => {
    if (event.fieldValues[i] !== '') object.addText(name, event.fieldValues[i] ?? '');
  });
  return object.isEmpty ? '' : `,"data":${object.toString()}`;
}

function expectedLines({ fieldNames, fieldValues }: EngineEvent): string {
  return fieldNames.map((name, i) => (fieldValues[i] === '' ? '' : `${name}: ${fieldValues[i] ?? ''}\n`)).join('');
}

function shown(data: EventData, event: EngineEvent): { json: string; lines: string } {
  const json = new AlertRecord(false);
  const lines = new AlertRecord(false);
  data.addJson(json, event);
  data.addLines(lines, event);
  return { json: json.complete('', undefined), lines: lines.complete('', undefined) };
}

const name = fc.oneof(
  fc.constantFrom(
    'a',
    'A',
    'a.b',
    'a.B',
    'a.b.c',
    'b',
    'b.a',
    'id',
    'data',
    'data.x',
    '.',
    'a..b',
    '',
    'q"\\\0\n',
    '\xe9',
  ),
  fc.string({ maxLength: 4 }),
);
const value = fc.oneof(
  fc.constantFrom('', 'plain', 'q"\\\0\n', '[', '[1, "x"]', '[1,{"a":2}]', '[1]x', '\xff\xfe', '\x000\x00'),
  fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);
const data: fc.Arbitrary<Data> = fc.record({
  statics: fc.array(fc.tuple(fc.constantFrom(...STATIC_FIELDS), value), { maxLength: 4 }),
  fields: fc.array(fc.tuple(name, value), { maxLength: 8 }),
});

describe('data of events', () => {
  it('is written as member by member, whatever came before', () => {
    fc.assert(
      fc.property(
        fc.array(data, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(3), { maxLength: 12 }),
        (all, order) => {
          const written = new EventData();
          for (const index of order) {
            const event = eventOf(all[index % all.length] ?? { statics: [], fields: [] });
            const { json, lines } = shown(written, event);
            expect(json).to.equal(expectedJson(event));
            expect(lines).to.equal(expectedLines(event));
            if (json !== '') expect(() => JSON.parse(`{${json.slice(1)}}`) as unknown).to.not.throw();
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('shows each static member under its name', () => {
    for (const field of STATIC_FIELDS) {
      const event = eventOf({ statics: [[field, 'v']], fields: [] });
      expect(shown(new EventData(), event).json).to.equal(`,"data":{"${field}":"v"}`);
    }
  });

  it('stays right when made-up names use up what is kept, and keeps its memory', function () {
    this.timeout(20_000);
    const written = new EventData();
    const usual = eventOf({
      statics: [['srcip', '10.0.0.1']],
      fields: [
        ['a.b', 'x'],
        ['a.c', '[1, 2]'],
      ],
    });
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 20_000; i += 1) {
      const fields = Array.from({ length: 40 }, (_, k): Field => [
        k < 39 ? `common.${String(k)}` : `made.up.${String(i)}`,
        'v',
      ]);
      const event = eventOf({ statics: [], fields });
      const { json } = shown(written, event);
      if (i % 997 === 0) {
        expect(json).to.equal(expectedJson(event));
        expect(shown(written, usual).json).to.equal(',"data":{"srcip":"10.0.0.1","a":{"b":"x","c":[1,2]}}');
      }
    }
    expect(process.memoryUsage().heapUsed - before).to.be.below(96 * 1024 * 1024);
  });
});
