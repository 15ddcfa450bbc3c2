import { expect } from 'chai';
import { Counters } from '../../../../../daemons/analysisd/counters.js';
import type { RecordedEvents } from '../../../../../daemons/analysisd/pipeline/journal-record.js';
import { TakenEvents } from '../../../../../daemons/analysisd/pipeline/taken-events.js';
import type { AnalysisThreads } from '../../../../../daemons/analysisd/threads/analysis-threads.js';
import {
  Committer,
  type CommitterParts,
  type PendingUnit,
} from '../../../../../daemons/analysisd/threads/committer.js';
import { EventsAhead } from '../../../../../daemons/analysisd/threads/events-ahead.js';
import { MAX_GROUP_EVENTS } from '../../../../../lib/bus/bus-limits.js';
import { EventHeads } from '../../../../../lib/journal/event-heads.js';
import { sampleEvent } from '../../../../support/bus/bus-events.js';
import { encodeEvents } from '../../../../support/bus/listed-batch.js';

/** The way of events to threads that do none of them, and the units that they got. */
function ahead(count: number): { readonly events: EventsAhead; readonly units: PendingUnit[] } {
  const units: PendingUnit[] = [];
  const threads = {
    count,
    get pending() {
      return units.reduce((sum, { unit }) => sum + unit.count, 0);
    },
    get pendingBytes() {
      return units.reduce((sum, { bytes }) => sum + bytes, 0);
    },
    ownerOf: () => 0,
    dispatch: (unit: PendingUnit) => units.push(unit),
  } as unknown as AnalysisThreads;
  return { events: new EventsAhead({ threads, taken: new TakenEvents(), counters: new Counters(0) }), units };
}

let sequence = 0;

/** A record of so many events. */
function recordOf(count: number, location = 'x'): RecordedEvents {
  const events = Array.from({ length: count }, () => {
    sequence += 1;
    return { ...sampleEvent('text', { location }), stream: 's', sequence };
  });
  const payload = encodeEvents(events);
  return { position: 0, next: 1, writtenAt: 0, content: new EventHeads().read(payload), payload };
}

describe('events on their way to threads', () => {
  it('are bounded by the bytes of their records, however little the messages have of them', () => {
    const { events, units } = ahead(2);
    let taken = 0;
    for (; !events.isFull && taken < 1000; taken += 1) events.take(recordOf(1, 'l'.repeat(60_000)), 0, 1);
    expect(taken).to.be.lessThan(200);
    for (const { unit } of units) expect(unit.memory.byteLength).to.be.at.most(2 * 1024 * 1024);
  });

  for (const count of [2, 64]) {
    it(`are no more than keys that may be added before one is forgotten, with ${String(count)} threads`, () => {
      const { events, units } = ahead(count);
      const unitEvents = 512 * count;
      // Records such that as many events as can be are on their way.
      const record = recordOf(Math.max(unitEvents - 1, MAX_GROUP_EVENTS));
      for (let turn = 0; !events.isFull; turn += 1) {
        events.take(record, 0, turn % 2 === 0 ? unitEvents - 1 : MAX_GROUP_EVENTS);
      }
      const onTheWay = units.reduce((sum, { unit }) => sum + unit.count, 0);

      const left = { keys: 0 };
      let distrusted = 0;
      const thread = { distrustKeys: () => (distrusted += 1) };
      const firstTimeSeen = { hasRoomFor: (more: number) => more <= left.keys };
      const committer = new Committer({
        analysis: { engine: { state: { firstTimeSeen } } },
        threads: Array.from({ length: count }, () => thread),
      } as unknown as CommitterParts);
      left.keys = onTheWay - 1;
      committer.watchKeys();
      expect(distrusted).to.equal(count);
      left.keys = 400_000;
      committer.watchKeys();
      expect(distrusted).to.equal(count);
    });
  }
});
