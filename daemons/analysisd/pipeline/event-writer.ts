import type { ReceivedEvent } from '../../../lib/bus/bus-event.js';
import type { Logger } from '../../../lib/log/logger.js';
import type { Analysis } from '../analysis.js';
import type { Counters } from '../counters.js';
import { AppendingOutputs } from './appending-outputs.js';
import { EventJudge } from './event-judge.js';
import type { TakenEvent, TakenEvents } from './taken-events.js';

/** Takes one event after the other through the engine and appends what comes of it to the outputs; nothing is flushed. */
export class EventWriter {
  readonly #taken: TakenEvents;
  readonly #counters: Counters;
  readonly #judge: EventJudge;

  constructor(analysis: Analysis, taken: TakenEvents, counters: Counters, logger: Logger) {
    this.#taken = taken;
    this.#counters = counters;
    this.#judge = new EventJudge(analysis, new AppendingOutputs(analysis, counters), counters, logger);
  }

  /** Never throws, whatever the event holds. */
  take(event: ReceivedEvent): void {
    if (isNew(event, event.message.length, this.#taken, this.#counters)) this.#judge.judge(event);
  }
}

/** Counts an event and notes it; false when it was analysed before. @param bytes of its message */
export function isNew(event: TakenEvent, bytes: number, taken: TakenEvents, counters: Counters): boolean {
  counters.eventsReceived += 1;
  counters.bytesReceived += bytes;
  if (taken.take(event)) return true;
  counters.duplicates += 1;
  return false;
}
