import { pause } from '../../lib/async/pause.js';
import { type NodePlaces, packPlaces, parseAlertName, placeBehind, unpackPlaces } from '../alerts/alert-place.js';
import { shownNode } from '../http/api-request.js';
import type { SpreadCall } from '../http/dispatcher.js';
import type { ApiResult } from '../http/envelope.js';
import type { EventSink, StreamBody } from '../http/event-stream.js';
import { NodeAlertFollower } from './node-alert-follower.js';
import { WHOLE_REQUEST } from './request-part.js';
import type { SpreaderParts } from './spreader-parts.js';

/** How long another node may take to answer, milliseconds: one that stands still must not hold up what else this one asks. */
const ASK_MS = 4000;
/** How long all nodes may take to say where they are, milliseconds: one that needs longer begins later. */
const BEGIN_MS = 3000;
/** Parameters that say whose alerts are meant. */
const WHOSE = ['agents_list', 'agent_groups'];
/** How often it is looked whether the cluster has more nodes, milliseconds. */
const NODES_MS = 15_000;

/**
 * Alerts of all nodes as they are written: this one's own stream, and what each other node is asked for, in the order in which it
 * comes here. The ids of events say how far every node is read, so that another stream goes on at each, at whichever node it is asked for.
 */
export async function spreadAlertStream(parts: SpreaderParts, asked: SpreadCall): Promise<ApiResult> {
  const own = await asked.here(WHOLE_REQUEST);
  if (own.kind !== 'stream') return own;
  const last = asked.call.parameters['Last-Event-ID'];
  const merged = new MergedStream(parts, asked, own, typeof last === 'string' ? placesOf(last, parts) : {});
  return { kind: 'stream', run: (sink) => merged.run(sink), done: own.done };
}

/** @param last how far each node was read, or an alert of one */
function placesOf(last: string, { members }: SpreaderParts): NodePlaces {
  if (!/^\d{8}-/.test(last)) return unpackPlaces(last);
  const { id, node = members.self } = parseAlertName(last);
  return { [node]: placeBehind(id) };
}

type Followed = { readonly node: string; readonly follower: NodeAlertFollower };

class MergedStream {
  readonly #parts: SpreaderParts;
  readonly #asked: SpreadCall;
  readonly #own: StreamBody;
  readonly #places: Map<string, string | null>;
  readonly #followed = new Set<string>();
  readonly #since: number;

  constructor(parts: SpreaderParts, asked: SpreadCall, own: StreamBody, places: NodePlaces) {
    this.#parts = parts;
    this.#asked = asked;
    this.#own = own;
    this.#places = new Map(Object.entries(places));
    this.#since = parts.now();
  }

  async run(sink: EventSink): Promise<void> {
    const first = await this.#followers();
    // Alerts that come from now on are in the stream, also those of other nodes.
    await Promise.race([
      Promise.allSettled(first.map(({ follower }) => follower.begin(sink.signal))),
      pause(BEGIN_MS, sink.signal),
    ]);
    let fail: (error: unknown) => void = () => {};
    const failed = new Promise<never>((_resolve, reject) => (fail = reject));
    const follow = (each: Followed): void => {
      this.#follow(each, sink).catch(fail);
    };
    first.forEach(follow);
    await Promise.race([failed, Promise.all([this.#own.run(this.#merged(sink)), this.#watchNodes(sink, follow)])]);
  }

  /** Follows nodes that the cluster gets while the stream is open. */
  async #watchNodes(sink: EventSink, follow: (each: Followed) => void): Promise<void> {
    while (!sink.signal.aborted) {
      await pause(NODES_MS, sink.signal);
      if (!sink.signal.aborted) (await this.#followers()).forEach(follow);
    }
  }

  /** Until the sink is over, or the cluster has forgotten the node: another of its name begins anew. */
  async #follow({ node, follower }: Followed, sink: EventSink): Promise<void> {
    await follower.run(sink);
    this.#followed.delete(node);
    this.#places.delete(node);
  }

  /** Of the nodes that nobody follows yet. */
  async #followers(): Promise<Followed[]> {
    const { members } = this.#parts;
    const view = await members.viewIfThere();
    const names = (view?.nodes ?? []).map(({ name }) => name).filter((name) => name !== members.self);
    return names
      .filter((name) => !this.#followed.has(name))
      .map((name) => {
        this.#followed.add(name);
        return { node: name, follower: this.#follower(name) };
      });
  }

  #follower(node: string): NodeAlertFollower {
    const { call } = this.#asked;
    const { 'Last-Event-ID': _last, pretty: _pretty, wait_for_complete: _long, ...filters } = call.parameters;
    const from = this.#places.get(node);
    return new NodeAlertFollower(
      {
        ...{ node, filters, since: this.#since },
        shown: shownNode(node, call.caller),
        agents: Object.fromEntries(Object.entries(filters).filter(([name]) => WHOSE.includes(name))),
        ask: (parameters, signal) =>
          this.#parts.calls.list(node, {
            ...{ call, operation: 'getAlerts' },
            parameters: { ...parameters, pretty: false, wait_for_complete: false },
            part: { rows: 'whole' },
            ...{ limitMs: ASK_MS, signal },
          }),
        reached: (place) => this.#reached({ [node]: place }),
      },
      typeof from === 'string' ? from : undefined,
    );
  }

  /** Where this node is read to becomes where all are. */
  #merged(sink: EventSink): EventSink {
    const idOf = (own: string): string => this.#reached(unpackPlaces(own));
    return {
      signal: sink.signal,
      position: (id) => sink.position(idOf(id)),
      send: ({ id, ...event }) => sink.send({ ...event, ...(id === undefined ? {} : { id: idOf(id) }) }),
    };
  }

  #reached(places: NodePlaces): string {
    for (const [node, place] of Object.entries(places)) this.#places.set(node, place);
    return packPlaces(Object.fromEntries(this.#places)) ?? '';
  }
}
