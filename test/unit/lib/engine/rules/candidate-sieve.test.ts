import { expect } from 'chai';
import { type AskedTexts, attributeBit } from '../../../../../lib/engine/asked-text.js';
import { FieldTable } from '../../../../../lib/engine/decode/field-table.js';
import { EngineEvent } from '../../../../../lib/engine/event.js';
import { EventFields } from '../../../../../lib/engine/event-fields.js';
import { CandidateSieve } from '../../../../../lib/engine/rules/candidate-sieve.js';
import { compilePattern } from '../../../../../lib/patterns/compile-pattern.js';
import { MatchContext } from '../../../../../lib/patterns/matcher.js';

const table = new FieldTable();
const mode = table.slotOf('app.mode');
const level = table.slotOf('App.Level');
const context = new MatchContext();
const fields = new EventFields(table);

function asking(element: string, ...slots: readonly number[]): AskedTexts {
  return { attributes: attributeBit(element), slots };
}

function eventOf(log: string, values: Readonly<Record<string, string>>): EngineEvent {
  const event = new EngineEvent({ queue: '1', location: '/x', message: log, receivedAt: 0 });
  for (const [name, value] of Object.entries(values)) {
    if (name === 'dstuser' || name === 'url') {
      event[name] = value;
    } else {
      event.fieldNames.push(name);
      event.fieldValues.push(value);
    }
  }
  return event;
}

describe('a sieve of candidates', () => {
  const sieve = new CandidateSieve([
    { ofLog: undefined, asks: asking('user', mode) },
    { ofLog: compilePattern('osmatch', 'denied|refused').requirements, asks: asking('', level) },
    { ofLog: compilePattern('osmatch', 'denied').requirements, asks: asking('') },
    { ofLog: undefined, asks: asking('srcgeoip') },
    { ofLog: undefined, asks: asking('') },
  ]);

  function named(log: string, values: Readonly<Record<string, string>>): number[] {
    const event = eventOf(log, values);
    fields.load(event);
    const subject = context.pin(log);
    const result: number[] = [];
    for (let i = sieve.next(0, subject, fields); i >= 0; i = sieve.next(i + 1, subject, fields)) result.push(i);
    return result;
  }

  it('passes over those that ask for a text that the event has not got', () => {
    expect(named('access', {})).to.deep.equal([4]);
    expect(named('access', { 'APP.MODE': '', dstuser: '' })).to.deep.equal([0, 4]);
    expect(named('access', { 'app.mode': 'x' })).to.deep.equal([4]);
    expect(named('denied', { dstuser: 'x' })).to.deep.equal([2, 4]);
    expect(named('refused', { 'app.level': 'x' })).to.deep.equal([1, 4]);
  });

  it('takes nothing over from earlier events', () => {
    for (let i = 0; i < 600; i += 1) {
      expect(named('denied', i % 300 === 0 ? { 'app.level': '1' } : {})).to.deep.equal(
        i % 300 === 0 ? [1, 2, 4] : [2, 4],
      );
    }
  });

  it('says whether an event has all fields that are asked for', () => {
    fields.load(eventOf('x', { 'app.mode': '' }));
    expect(fields.hasAll(asking('', mode))).to.equal(true);
    expect(fields.hasAll(asking('', mode, level))).to.equal(false);
    expect(fields.hasAll(asking('id', mode))).to.equal(false);
  });

  it('names the attributes that conditions ask for', () => {
    const event = eventOf('x', { url: '/', dstuser: 'root' });
    fields.load(event);
    const has = (element: string): boolean => fields.hasAll(asking(element));
    expect(['url', 'user', 'match', 'location', 'hostname'].every(has)).to.equal(true);
    expect(['id', 'status', 'srcgeoip', 'program_name', 'srcip'].some(has)).to.equal(false);
  });
});
