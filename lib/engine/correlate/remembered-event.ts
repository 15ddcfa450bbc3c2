import type { Category, EngineEvent } from '../event.js';
import { findField } from '../event-field.js';
import type { CORRELATION_ATTRIBUTES } from '../load/rule.js';

/** What an event knows of the lists that remember it. */
export interface ListOfEvents {
  remove(node: ListNode): void;
}

/** An event's place in one group of one index. */
export type ChainLink = {
  readonly event: RememberedEvent;
  readonly node: ListNode;
  readonly chain: Chain;
  older: ChainLink | undefined;
  newer: ChainLink | undefined;
};

/** Events of one group of one index. */
export type Chain = {
  readonly index: number;
  readonly key: string;
  newest: ChainLink | undefined;
  oldest: ChainLink | undefined;
  size: number;
};

/** An event's place in one list. */
export type ListNode = {
  readonly list: ListOfEvents;
  readonly event: RememberedEvent;
  readonly links: ChainLink[];
  /** Which of the event's places it is. */
  at: number;
  /** Estimate of the memory that the place takes, with its links. */
  bytes: number;
  older: ListNode | undefined;
  newer: ListNode | undefined;
};

/** What an event knows of the block that it is encoded with. */
export interface BlockOfEvents {
  release(event: RememberedEvent): void;
}

/** What is remembered of one agent. */
export type AgentShare = {
  /** Estimated memory of its events. */
  bytes: number;
  oldest: RememberedEvent | undefined;
  newest: RememberedEvent | undefined;
};

/** What an object of this kind costs beside its texts, in bytes; measured on V8 and rounded up. */
const OBJECT_BYTES = 480;

/** What correlation needs to know of an event, alone or in the lists that remember it (rules-and-alerts.md 5.1). */
export class RememberedEvent {
  /** Seconds since the epoch at which the event was received. */
  readonly time: number;
  readonly agentId: string;
  readonly category: Category;
  readonly fullLog: string;
  readonly log: string;
  /** Values in the order of `CORRELATION_ATTRIBUTES`. */
  readonly attributes: readonly (string | undefined)[];
  readonly hasFields: boolean;
  /** Values of the fields that some rule of the ruleset compares, in the order of `Ruleset.correlationFields`. */
  readonly fields: readonly (string | undefined)[];
  /** Level of the composite rule that used this event up (5.2). */
  mark = 0;
  /** Its number among the events of the capture that is being made. */
  position = 0;
  /** Places in lists, in no order; without any, the event is not remembered. */
  readonly nodes: ListNode[] = [];
  /** Neighbours in the order of arrival of all remembered events. */
  older: RememberedEvent | undefined = undefined;
  newer: RememberedEvent | undefined = undefined;
  /** The block that it is encoded with for checkpoints, and its place there. */
  block: BlockOfEvents | undefined = undefined;
  blockIndex = 0;
  /** Its agent's events, while it is remembered, and neighbours among those. */
  share: AgentShare | undefined = undefined;
  olderOfAgent: RememberedEvent | undefined = undefined;
  newerOfAgent: RememberedEvent | undefined = undefined;

  constructor(
    time: number,
    agentId: string,
    category: Category,
    fullLog: string,
    log: string,
    attributes: readonly (string | undefined)[],
    hasFields: boolean,
    fields: readonly (string | undefined)[],
  ) {
    this.time = time;
    this.agentId = agentId;
    this.category = category;
    this.fullLog = fullLog;
    this.log = log;
    this.attributes = attributes;
    this.hasFields = hasFields;
    this.fields = fields;
  }

  /** @param fieldKeys lower-case names whose values are kept */
  static of(event: EngineEvent, time: number, fieldKeys: readonly string[]): RememberedEvent {
    return new RememberedEvent(
      time,
      event.agentId,
      event.category,
      event.fullLog,
      event.log,
      attributesOf(event),
      event.fieldNames.length > 0,
      event.fieldNames.length === 0 ? NO_FIELDS : fieldKeys.map((key) => findField(event, key)),
    );
  }

  /** Estimate of the memory held, in bytes. */
  get bytes(): number {
    return OBJECT_BYTES + this.fullLog.length;
  }
}

const NO_FIELDS: readonly undefined[] = [];

/** In the order of `CORRELATION_ATTRIBUTES`. */
function attributesOf(event: EngineEvent): ValuesOf<typeof CORRELATION_ATTRIBUTES> {
  return [
    event.id,
    event.srcip,
    event.dstip,
    event.srcport,
    event.dstport,
    event.srcuser,
    event.dstuser,
    event.protocol,
    event.action,
    event.url,
    event.data,
    event.extra_data,
    event.status,
    event.system_name,
    // These need a GeoIP database, which this product has none of (rules-and-alerts.md 6.9).
    undefined,
    undefined,
    event.location,
  ];
}

/** A value for each of some names. */
type ValuesOf<Names extends readonly string[]> = { readonly [Position in keyof Names]: string | undefined };
