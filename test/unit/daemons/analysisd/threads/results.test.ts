import { expect } from 'chai';
import fc from 'fast-check';
import type { Stream } from '../../../../../daemons/analysisd/outputs.js';
import { ResultMemory, SLOT_BYTES } from '../../../../../daemons/analysisd/threads/result-memory.js';
import {
  type OpenResult,
  ResultReader,
  type ResultTarget,
  ResultWriter,
} from '../../../../../daemons/analysisd/threads/results.js';
import type { EventCounting } from '../../../../../lib/engine/event-counting.js';
import type { CompiledRule } from '../../../../../lib/engine/rules/ruleset.js';

const RULES = Array.from({ length: 5 }, (_, ordinal) => ({ ordinal }) as CompiledRule);

type Record = { readonly stream: Stream; readonly open: OpenResult; readonly isNew: boolean };
type Made = {
  readonly firewall: boolean;
  readonly statistics: boolean;
  readonly rule: number | undefined;
  readonly records: readonly Record[];
};

const text = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 30,
});
const record: fc.Arbitrary<Record> = fc.record({
  stream: fc.constantFrom<Stream>('alertsText', 'alertsJson', 'archivesText', 'archivesJson', 'firewall', 'responses'),
  isNew: fc.boolean(),
  open: fc
    .tuple(
      text,
      fc.array(fc.record({ at: fc.nat(30), late: fc.constantFrom('id', 'offset', 'firedTimes') }), { maxLength: 3 }),
    )
    .map(([all, gaps]): OpenResult => ({
      text: all,
      gaps: gaps.map(({ at, late }) => ({ at: Math.min(at, all.length), late })).sort((a, b) => a.at - b.at),
    })),
});
const events: fc.Arbitrary<Made[]> = fc.array(
  fc.record({
    firewall: fc.boolean(),
    statistics: fc.boolean(),
    rule: fc.option(fc.nat(RULES.length - 1), { nil: undefined }),
    records: fc.array(record, { maxLength: 4 }),
  }),
  { maxLength: 30 },
);

/** Writes down what it is told. */
class Journal implements EventCounting, ResultTarget {
  readonly lines: string[] = [];
  #ids = 0;
  #fired = 0;
  #open = '';

  begin(): undefined {
    this.lines.push('event');
  }
  firewall(): void {
    this.lines.push('firewall');
  }
  statistics(said?: string): string | undefined {
    this.lines.push(said === undefined ? 'count' : `alert ${said}`);
    return said === undefined ? 'too many' : undefined;
  }
  fired(rule: CompiledRule): number {
    this.lines.push(`fired ${String(rule.ordinal)}`);
    this.#fired += 1;
    return this.#fired;
  }
  addBytes(_: Stream, bytes: Buffer, from: number, to: number): void {
    this.#open += bytes.toString('latin1', from, to);
  }
  addText(_: Stream, part: string): void {
    this.#open += part;
  }
  endRecord(stream: Stream): void {
    this.lines.push(`${stream} ${this.#open}`);
    this.#open = '';
  }
  idAt(): string {
    this.#ids += 1;
    return `17.${String(this.#ids)}`;
  }
  hourEnded(): void {
    this.lines.push('hour');
  }
}

/** What a place that analyses by itself does with the same events. */
function direct(made: readonly Made[]): string[] {
  const journal = new Journal();
  let id = '';
  for (const { firewall, statistics, rule, records } of made) {
    journal.begin();
    if (firewall) journal.firewall();
    const told = statistics ? journal.statistics() : undefined;
    const times = rule === undefined ? 0 : journal.fired(RULES[rule]!);
    if (told !== undefined) journal.statistics(told);
    for (const { stream, open, isNew } of records) {
      if (isNew) id = journal.idAt();
      const late = { id, offset: id.split('.')[1] ?? '', firedTimes: String(times) };
      let from = 0;
      for (const gap of open.gaps) {
        journal.addText(stream, open.text.slice(from, gap.at) + late[gap.late]);
        from = gap.at;
      }
      journal.addText(stream, open.text.slice(from));
      journal.endRecord(stream);
    }
  }
  return journal.lines;
}

function write(writer: ResultWriter, { firewall, statistics, rule, records }: Made): void {
  if (firewall) writer.firewall();
  if (statistics) writer.statistics();
  if (rule !== undefined) writer.fired(RULES[rule]!);
  for (const { stream, open, isNew } of records) {
    if (isNew) writer.newId();
    writer.record(stream, open);
  }
  writer.close();
}

/** What the other side gets of it. */
function received(memory: ResultMemory, slots: readonly SharedArrayBuffer[]): ResultMemory {
  const { slot, count, bytes, own } = memory;
  if (own !== undefined) return ResultMemory.of(structuredClone(own));
  return new ResultMemory(slot, slots[slot ?? -1], { count, bytes });
}

describe('results of threads', () => {
  it('are read as they were written, in slots and out of them, handed on in the middle of an event, too', () => {
    const slots = [new SharedArrayBuffer(SLOT_BYTES), new SharedArrayBuffer(SLOT_BYTES)];
    fc.assert(
      fc.property(events, fc.array(fc.nat(30), { maxLength: 4 }), fc.boolean(), (made, cuts, inSlots) => {
        const writer = new ResultWriter();
        const reader = new ResultReader();
        const journal = new Journal();
        let slot = 0;
        let next = 0;
        const handOn = (): void => {
          const { count } = writer;
          slot = 1 - slot;
          const full = writer.take(inSlots ? new ResultMemory(slot, slots[slot]) : new ResultMemory());
          reader.begin(count, received(full, slots));
          for (; !reader.isDone; next += 1) reader.read({ receivedAt: next, queue: '1' }, journal, RULES, journal);
        };
        made.forEach((event, index) => {
          writer.open();
          if (cuts.includes(index)) handOn();
          write(writer, event);
        });
        handOn();
        expect(journal.lines).to.deep.equal(direct(made));
      }),
    );
  });

  it('leave a slot that is too small', () => {
    const slots = [new SharedArrayBuffer(SLOT_BYTES)];
    const writer = new ResultWriter();
    writer.take(new ResultMemory(0, slots[0]));
    const long = 'x'.repeat(SLOT_BYTES);
    writer.open();
    writer.record('alertsText', { text: 'short', gaps: [] });
    writer.record('alertsJson', { text: `${long}!`, gaps: [{ at: long.length, late: 'firedTimes' }] });
    writer.close();
    expect(writer.isFull).to.equal(true);
    const full = writer.take(new ResultMemory());
    expect([full.slot, full.own === undefined]).to.deep.equal([0, false]);
    const reader = new ResultReader();
    const journal = new Journal();
    reader.begin(1, received(full, slots));
    reader.read({ receivedAt: 0, queue: '1' }, journal, RULES, journal);
    expect(journal.lines).to.deep.equal(['event', 'alertsText short', `alertsJson ${long}0!`]);
  });
});
