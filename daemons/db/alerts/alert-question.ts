import type { AgentNumbers } from './agent-numbers.js';
import { type AlertJson, placeOfField } from './alert-fields.js';
import type { AlertSegment } from './alert-segment.js';
import { alertText } from './alert-words.js';
import { CandidateSearch, FEW_PAGES } from './candidate-rows.js';
import type { PageText } from './page-text.js';
import { atLeast, ofAgents, oneOf, type QuestionNode, readQuery } from './question-node.js';
import type { RowMask } from './row-mask.js';
import { isWrittenPlainly, occurs, parseSearch } from './search-terms.js';

/** Which alerts a question is about, as the contract has it (lib/bus/contracts/db-alerts.ts), with the agents that are meant. */
export type AlertScope = {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly q?: string | undefined;
  readonly filters?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly level?: number | undefined;
  readonly search?: string | undefined;
  readonly agents?: readonly string[] | undefined;
  /** Those that `among` of the contract holds for. */
  readonly members?: AgentNumbers | undefined;
};

/** Alerts of a segment that may be meant; those that are, where it is exact. */
export type Candidates = { readonly mask: RowMask; readonly isExact: boolean };

const NO_CANDIDATES: Candidates = { mask: 'none', isExact: true };

/** A question that was read: whether an alert is meant, and which alerts of a segment may be. */
export class AlertQuestion {
  readonly from: number;
  readonly to: number;
  /** Whether all can be known without the texts. */
  readonly isExact: boolean;
  readonly #nodes: readonly QuestionNode[];
  readonly #required: readonly string[];

  /**
   * @param now epoch milliseconds, for time spans in `q`
   * @throws QueryError; BusError `bad_search`
   */
  constructor(
    { from = -Infinity, to = Infinity, q, filters = {}, level, search, agents, members }: AlertScope,
    now: number,
  ) {
    this.from = from;
    this.to = to;
    const query = q === undefined ? undefined : readQuery(q, now);
    const terms = search === undefined ? [] : parseSearch(search);
    this.#nodes = [
      ...(agents === undefined ? [] : [oneOf('agent.id', agents)]),
      ...(members === undefined ? [] : [ofAgents(members)]),
      ...(level === undefined ? [] : [atLeast('rule.level', level)]),
      ...Object.entries(filters).map(([field, values]) => oneOf(field, values)),
      ...(query === undefined ? [] : query.kind === 'and' ? query.parts : [query]),
      ...terms.map((term) => ({ kind: 'text' as const, term })),
    ];
    this.#required = this.#nodes.flatMap(requiredText);
    this.isExact = this.#nodes.every(isExactNode);
  }

  /**
   * Alerts of a segment that may be meant.
   * @param isOver whether there is no time for more of what could rule some out
   * @param fewPages with so many pages that may have some, these are looked at instead of large columns
   * @throws SegmentDamage
   */
  candidates(segment: AlertSegment, isOver: () => boolean, fewPages = FEW_PAGES): Candidates {
    if (segment.rows === 0 || segment.newest < this.from || segment.oldest >= this.to) return NO_CANDIDATES;
    const search = new CandidateSearch(segment, isOver, fewPages);
    const mask = search.all(this.#nodes, this.#inTime(segment));
    return { mask, isExact: this.isExact && !search.isCut };
  }

  /** Lines of a page that may be meant, a byte for each: it is quicker than to read them. Undefined: they say nothing. */
  likelyLines(page: PageText): Uint8Array | undefined {
    if (this.#required.length === 0) return undefined;
    return page.linesWith(this.#required);
  }

  /** @param time epoch milliseconds */
  matches(alert: AlertJson, time: number): boolean {
    if (time < this.from || time >= this.to) return false;
    let text: string | undefined;
    const read = (): string => (text ??= alertText(alert));
    return this.#nodes.every((node) => holds(node, alert, time, read));
  }

  #inTime(segment: AlertSegment): RowMask {
    if (segment.oldest >= this.from && segment.newest < this.to) return 'all';
    const times = segment.times();
    const mask = new Uint8Array(segment.rows);
    for (let row = 0; row < mask.length; row += 1) {
      const time = times[row] ?? 0;
      if (time >= this.from && time < this.to) mask[row] = 1;
    }
    return mask;
  }
}

/** A text that each alert has which is meant, as it is written there. */
function requiredText(node: QuestionNode): string[] {
  if (node.kind === 'field') return node.text === undefined ? [] : [node.text];
  return node.kind === 'text' && !node.term.isExcluded && isWrittenPlainly(node.term.text) ? [node.term.text] : [];
}

function isExactNode(node: QuestionNode): boolean {
  switch (node.kind) {
    case 'and':
    case 'or':
      return node.parts.every(isExactNode);
    case 'field':
      return placeOfField(node.field) !== undefined;
    case 'time':
      return true;
    case 'text':
      return false;
  }
}

function holds(node: QuestionNode, alert: AlertJson, time: number, text: () => string): boolean {
  switch (node.kind) {
    case 'and':
      return node.parts.every((part) => holds(part, alert, time, text));
    case 'or':
      return node.parts.some((part) => holds(part, alert, time, text));
    case 'field':
      return node.test(node.read(alert));
    case 'time':
      return node.test(time);
    case 'text':
      return occurs(node.term, text()) !== node.term.isExcluded;
  }
}
