import { type EngineEvent, STATIC_FIELDS } from '../event.js';
import type { AlertRecord } from './alert-record.js';
import { DataShape } from './data-shape.js';

/** Bytes that steps and shapes may take, about; a flood of made-up names only makes them begin anew. */
const MAX_BYTES = 8 * 1024 * 1024;
/** What a step takes beside its name, with its place in a map; measured on V8 and rounded up. */
const STEP_BYTES = 160;

/** Events that begin with the same members. */
type Step = {
  /** Name of the last of them. */
  readonly name: string;
  /** Where events went on from here the last time. */
  usual: Step | undefined;
  others: Map<string, Step> | undefined;
  shape: DataShape | undefined;
};

/**
 * The data of one event after the other, as alerts show it: members that decoders set, without those that are empty.
 * Events of one source have the same members, so what they have in common is kept (see `DataShape`).
 */
export class EventData {
  /** Static members that are set, as bits, to the step behind them. */
  readonly #roots = new Map<number, Step>();
  #bytes = 0;
  #event: EngineEvent | undefined = undefined;
  #shape: DataShape | undefined = undefined;
  #values: string[] = [];
  /** What `DataShape.arraysOf` says of the values, once somebody asked: alert and archive show the same. */
  #arrays: (string | undefined)[] | undefined | null = null;

  /** Adds the `data` member of the JSON form with a comma before it, if there is anything. */
  addJson(record: AlertRecord, event: EngineEvent): void {
    const shape = this.#shapeOf(event);
    if (this.#arrays === null) this.#arrays = shape.arraysOf(this.#values);
    shape.addJson(record, this.#values, this.#arrays);
  }

  /** Adds the lines of the text form. */
  addLines(record: AlertRecord, event: EngineEvent): void {
    this.#shapeOf(event).addLines(record, this.#values);
  }

  /** The shape of the event, whose values are in `#values` then. An event is complete when it is shown for the first time. */
  #shapeOf(event: EngineEvent): DataShape {
    if (event === this.#event && this.#shape !== undefined) return this.#shape;
    const values: string[] = [];
    const statics = takeStatics(event, values);
    const { fieldNames, fieldValues } = event;
    let step = this.#roots.get(statics) ?? this.#makeRoot(statics);
    for (let i = 0; i < fieldNames.length; i += 1) {
      const value = fieldValues[i];
      if (value === undefined || value === '') continue;
      values.push(value);
      const name = fieldNames[i] ?? '';
      const { usual } = step;
      step = usual?.name === name ? usual : this.#unusual(step, name);
    }
    const shape = step.shape ?? this.#makeShape(step, statics, event);
    this.#event = event;
    this.#values = values;
    this.#arrays = null;
    this.#shape = shape;
    return shape;
  }

  #unusual(step: Step, name: string): Step {
    let next = step.others?.get(name);
    if (next === undefined) {
      next = this.#makeStep(name);
      step.others ??= new Map<string, Step>();
      step.others.set(name, next);
    }
    step.usual = next;
    return next;
  }

  #makeRoot(statics: number): Step {
    const step = this.#makeStep('');
    this.#roots.set(statics, step);
    return step;
  }

  #makeStep(name: string): Step {
    this.#makeRoom(STEP_BYTES + name.length);
    return { name, usual: undefined, others: undefined, shape: undefined };
  }

  #makeShape(step: Step, statics: number, { fieldNames, fieldValues }: EngineEvent): DataShape {
    const present = STATIC_FIELDS.flatMap((_, i) => ((statics & (1 << i)) === 0 ? [] : [i]));
    const shape = new DataShape(
      present,
      fieldNames.filter((_, i) => fieldValues[i] !== undefined && fieldValues[i] !== ''),
    );
    this.#makeRoom(shape.bytes);
    step.shape = shape;
    return shape;
  }

  #makeRoom(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= MAX_BYTES) return;
    this.#roots.clear();
    this.#bytes = bytes;
  }
}

/** Adds the values of the static members that are set; says which these are, a bit each as in `STATIC_FIELDS`. */
function takeStatics(event: EngineEvent, values: string[]): number {
  const { protocol, action, srcip, srcport, srcuser, dstip, dstport, dstuser } = event;
  let present = 0;
  present |= take(protocol, 0, values);
  present |= take(action, 1, values);
  present |= take(srcip, 2, values);
  present |= take(srcport, 3, values);
  present |= take(srcuser, 4, values);
  present |= take(dstip, 5, values);
  present |= take(dstport, 6, values);
  present |= take(dstuser, 7, values);
  present |= take(event.id, 8, values);
  present |= take(event.status, 9, values);
  present |= take(event.url, 10, values);
  present |= take(event.data, 11, values);
  present |= take(event.extra_data, 12, values);
  present |= take(event.system_name, 13, values);
  return present;
}

function take(value: string | undefined, bit: number, values: string[]): number {
  if (value === undefined) return 0;
  values.push(value);
  return 1 << bit;
}
