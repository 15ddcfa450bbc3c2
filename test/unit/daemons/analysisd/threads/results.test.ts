import { expect } from 'chai';
import fc from 'fast-check';
import type { Outputs, Stream } from '../../../../../daemons/analysisd/outputs.js';
import { OutputStages, STAGES_BYTES } from '../../../../../daemons/analysisd/threads/output-stages.js';
import { ResultMemory, type ResultSlot, SLOT_BYTES } from '../../../../../daemons/analysisd/threads/result-memory.js';
import {
  type HappeningTarget,
  type OpenResult,
  ResultReader,
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

/** Writes down what it is told; also the outputs. */
class Journal implements EventCounting, HappeningTarget {
  readonly lines: string[] = [];
  readonly files = new Map<Stream, string>();
  readonly lengths: number[] = [];
  readonly alertOffsetStream = 'alertsText' as const;
  #fired = 0;

  begin(): undefined {
    this.lines.push('event');
  }
  firewall(): void {
    this.lines.push('firewall');
  }
  statistics(said?: string): string | undefined {
    this.lines.push(said === undefined ? 'count' : `alert ${said} at ${String(this.alertOffset)}`);
    return said === undefined ? 'too many' : undefined;
  }
  fired(rule: CompiledRule): number {
    this.lines.push(`fired ${String(rule.ordinal)}`);
    this.#fired += FIRED_AT_ONCE;
    return this.#fired;
  }
  hourEnded(): void {
    this.lines.push('hour');
  }
  get alertOffset(): number {
    return this.textOf('alertsText').length;
  }
  textOf(stream: Stream): string {
    return this.files.get(stream) ?? '';
  }
  add(stream: Stream, text: string): void {
    if (text === '') return;
    this.files.set(stream, this.textOf(stream) + text);
    this.lengths.push(text.length);
  }
  addRecords(stream: Stream, bytes: Buffer, from: number, to: number, lengths: readonly number[]): void {
    let at = from;
    for (const length of lengths) this.add(stream, bytes.toString('latin1', at, (at += length)));
    expect(at).to.equal(to);
  }
  /** What was written; records of different streams have no order. */
  get all(): unknown {
    return [this.lines, [...this.files].sort(), this.lengths.toSorted((a, b) => a - b)];
  }
}

/** A counter that has few digits, and later many. */
const FIRED_AT_ONCE = 98_765_432;

/** What a place that analyses by itself does with the same events, each received in its own second. */
function direct(made: readonly Made[]): Journal {
  const journal = new Journal();
  let id = '.0';
  made.forEach(({ firewall, statistics, rule, records }, second) => {
    journal.begin();
    if (firewall) journal.firewall();
    const told = statistics ? journal.statistics() : undefined;
    const times = rule === undefined ? 0 : journal.fired(RULES[rule]!);
    if (told !== undefined) journal.statistics(told);
    for (const { stream, open, isNew } of records) {
      if (isNew) id = `${String(second)}.${String(journal.alertOffset)}`;
      const late = { id, offset: id.split('.')[1] ?? '', firedTimes: String(times) };
      let text = '';
      let from = 0;
      for (const gap of open.gaps) {
        text += open.text.slice(from, gap.at) + late[gap.late];
        from = gap.at;
      }
      journal.add(stream, text + open.text.slice(from));
    }
  });
  return journal;
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

/** Memory of two slots and the stages, and both sides of it. */
class Sides {
  readonly #memory = new SharedArrayBuffer(2 * SLOT_BYTES + STAGES_BYTES);
  readonly journal = new Journal();
  readonly writer = new ResultWriter();
  readonly stages = new OutputStages({ outputs: this.journal as unknown as Outputs }, this.#memory, 2 * SLOT_BYTES);
  readonly #reader = new ResultReader();
  #next = 0;

  slot(number: number): ResultSlot {
    return { number, memory: this.#memory, at: number * SLOT_BYTES };
  }

  /** Hands on what was written, and reads it. */
  handOn(next: ResultMemory): ResultMemory {
    const { count } = this.writer;
    const full = this.writer.take(next);
    const { slot, count: numbers, bytes, own } = full;
    const given =
      own === undefined
        ? new ResultMemory(this.slot(slot ?? -1), { count: numbers, bytes })
        : ResultMemory.of(structuredClone(own));
    this.#reader.begin(count, given);
    const happenings = {
      hourEnded: () => {},
      statistics: (text: string) => {
        this.stages.drain();
        this.journal.statistics(text);
      },
    };
    for (; !this.#reader.isDone; this.#next += 1) {
      const event = { receivedAt: this.#next * 1000 + 7, queue: '1' };
      this.#reader.read(event, this.journal, RULES, this.stages, happenings);
    }
    return full;
  }
}

describe('results of threads', () => {
  it('are put together as they were written, in slots and out of them, handed on in the middle of an event, too', () => {
    fc.assert(
      fc.property(events, fc.array(fc.nat(30), { maxLength: 4 }), fc.boolean(), (made, cuts, inSlots) => {
        const sides = new Sides();
        const { writer } = sides;
        let slot = 0;
        const handOn = (): void => {
          slot = 1 - slot;
          sides.handOn(inSlots ? new ResultMemory(sides.slot(slot)) : new ResultMemory());
        };
        made.forEach((event, index) => {
          writer.open();
          if (cuts.includes(index)) handOn();
          write(writer, event);
        });
        handOn();
        sides.stages.drain();
        expect(sides.journal.all).to.deep.equal(direct(made).all);
      }),
      { numRuns: 200 },
    );
  });

  it('leave a slot that is too small, and a stage', () => {
    const sides = new Sides();
    const { writer, journal } = sides;
    sides.handOn(new ResultMemory(sides.slot(0)));
    const long = 'x'.repeat(SLOT_BYTES);
    writer.open();
    writer.record('alertsText', { text: 'short', gaps: [] });
    writer.record('alertsText', { text: `${long}!`, gaps: [{ at: long.length, late: 'firedTimes' }] });
    writer.record('alertsText', { text: 'end', gaps: [] });
    writer.close();
    expect(writer.isFull).to.equal(true);
    const full = sides.handOn(new ResultMemory());
    expect([full.slot, full.own === undefined]).to.deep.equal([0, false]);
    sides.stages.drain();
    expect(journal.textOf('alertsText')).to.equal(`short${long}0!end`);
  });

  it('fill stages', () => {
    const sides = new Sides();
    const text = 'y'.repeat(9999);
    const made = Array.from({ length: 90 }, (_, index): Made => {
      const gaps = Array.from({ length: 40 }, () => ({ at: 3, late: 'id' as const }));
      const record: Record = {
        stream: index % 3 === 0 ? 'alertsJson' : 'alertsText',
        isNew: true,
        open: { text, gaps },
      };
      return { firewall: false, statistics: false, rule: 0, records: [record] };
    });
    for (const event of made) {
      sides.writer.open();
      write(sides.writer, event);
    }
    sides.handOn(new ResultMemory());
    sides.stages.drain();
    expect(sides.journal.all).to.deep.equal(direct(made).all);
  });
});
