import type { FtsSpec } from './load/fts-spec.js';

/** Category of an event, from the decoder's `type` (rules-and-alerts.md 3.1); undecoded events are `syslog`. */
export type Category =
  | 'syslog'
  | 'firewall'
  | 'ids'
  | 'web-log'
  | 'squid'
  | 'windows'
  | 'ossec'
  | 'host-information'
  | 'ossec-alert';

/** Static members a decoder can set, in the order they are written under `data` (decoding.md 5). */
export const STATIC_FIELDS = [
  'protocol',
  'action',
  'srcip',
  'srcport',
  'srcuser',
  'dstip',
  'dstport',
  'dstuser',
  'id',
  'status',
  'url',
  'data',
  'extra_data',
  'system_name',
] as const;
export type StaticField = (typeof STATIC_FIELDS)[number];

/** Where in a ruleset a message belongs. */
export type SourcePlace = {
  /** As the caller named the source, for example `etc/rules/local_rules.xml`. */
  readonly file: string;
  /** First line 1; 0 = the file as a whole. */
  readonly line: number;
  readonly ruleId?: number;
  /** Name of the decoder. */
  readonly decoder?: string;
  /** Of a pattern that does not compile: where in it, and why. */
  readonly pattern?: string;
  /** Path of the list that is missing, as the rule names it. */
  readonly list?: string;
};

/**
 * What the engine reports while it works: texts are those of the specs, the daemon's logger stands behind it and
 * appends the place, where there is one.
 */
export interface Diagnostics {
  debug(message: string, place?: SourcePlace): void;
  info(message: string, place?: SourcePlace): void;
  warn(message: string, place?: SourcePlace): void;
  error(message: string, place?: SourcePlace): void;
}

/** The decoder as decided for an event: what alerts show and what rules compare (decoding.md 4.4, 4.5). */
export type DecoderIdentity = {
  /** Number for `decoded_as`: children share the parent's unless `use_own_name`. */
  readonly id: number;
  readonly name: string;
  /** Shown as `decoder.parent`; present only when a child with `prematch` was selected. */
  readonly parent?: string;
  readonly ftscomment?: string;
  readonly accumulate: boolean;
  /** Parts of the first-time-seen key that `if_fts` looks up; absent when the decoder declares no `fts`. */
  readonly fts?: FtsSpec;
};

/** Who an event comes from, in byte strings (decoding.md 3.2). `readLocation` makes it of a text. */
export type EventOrigin = {
  /** What rules see as `location`, unescaped: of agents `(name) ip->location`. */
  readonly location: string;
  /** Absent: the manager itself, which is agent `000`. The name may be empty; it is the event's host name. */
  readonly agent?: { readonly id: string; readonly name: string } | undefined;
};

/** An event as it arrives: all texts are byte strings (one char code 0..255 a byte), as every text in the engine. */
export type IncomingEvent = EventOrigin & {
  /** Queue id of the envelope, one character (decoding.md 3.1). */
  readonly queue: string;
  readonly message: string;
  /** Receive time, epoch milliseconds. Correlation and alert timestamps use it, so that replay gives the same result. */
  readonly receivedAt: number;
  /** Labels of the agent, name to value (UTF-8 as byte strings). */
  readonly labels?: ReadonlyMap<string, string> | undefined;
};

/**
 * An event on its way through pre-decoding, decoding and rules. Mutable and filled in place; every member exists from
 * the start, so that all events have one hidden class.
 */
export class EngineEvent {
  readonly queue: string;
  readonly receivedAt: number;
  readonly labels: ReadonlyMap<string, string> | undefined;
  agentId = '000';
  /** Whether an agent sent it; then the host name of a syslog header does not count. */
  fromAgent = false;
  /** What rules see as `location`. */
  location: string;
  /** Agent name for agents' events, else the header's host or the manager's short name. What rules see. */
  hostname = '';
  /** The complete message; some decoders put another text in its place. */
  fullLog: string;
  /** The part after the header: what decoders and `match`/`regex` look at. */
  log: string;
  programName: string | undefined = undefined;
  /** Time stamp text of the header. */
  timestamp: string | undefined = undefined;

  decoder: DecoderIdentity | undefined = undefined;
  category: Category = 'syslog';

  protocol: string | undefined = undefined;
  action: string | undefined = undefined;
  srcip: string | undefined = undefined;
  srcport: string | undefined = undefined;
  srcuser: string | undefined = undefined;
  dstip: string | undefined = undefined;
  dstport: string | undefined = undefined;
  dstuser: string | undefined = undefined;
  id: string | undefined = undefined;
  status: string | undefined = undefined;
  url: string | undefined = undefined;
  data: string | undefined = undefined;
  extra_data: string | undefined = undefined;
  system_name: string | undefined = undefined;

  /** Dynamic fields in order of capture; with equal names (case-insensitively) the first counts (decoding.md 4.6). */
  readonly fieldNames: string[] = [];
  readonly fieldValues: string[] = [];
  /** Bytes of names and values that decoding gave the event, its static members among them. */
  fieldBytes = 0;
  /** The first `count` fields by their names in lower case; made when many are looked up (see `findField`). */
  fieldIndex: { count: number; readonly values: Map<string, string> } | undefined = undefined;
  /**
   * Rule an alert of another manager names: the event is that rule's without any matching. Of category `ossec-alert`, an
   * event without it is not looked at further (decoding.md 4.8).
   */
  generatedRule: number | undefined = undefined;
  /** A rootcheck entry that was not stored before; it passes `if_fts` at once (rules-and-alerts.md 6.2). */
  firstSeen = false;

  constructor(incoming: IncomingEvent) {
    this.queue = incoming.queue;
    this.receivedAt = incoming.receivedAt;
    this.labels = incoming.labels;
    this.location = incoming.location;
    const { agent } = incoming;
    if (agent !== undefined) {
      this.agentId = agent.id;
      this.fromAgent = true;
      this.hostname = agent.name;
    }
    const end = incoming.message.indexOf('\0');
    this.fullLog = end < 0 ? incoming.message : incoming.message.slice(0, end);
    this.log = this.fullLog;
  }
}
